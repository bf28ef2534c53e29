"""Whatever an endpoint does to our own code is an outcome, and is never raised."""

from __future__ import annotations

import asyncio
import json
import logging
from collections.abc import Callable

import pytest

from probes.connections import Connections
from probes.protocols import PROTOCOLS, openai
from probes.protocols.base import Delta, Json, Protocol
from probes.runner import measure
from probes.types import Failure, Measurement, Secret, Target
from tests.sockets import EVENTS, HEAD, PROMPT, SOON, saying, serving
from tests.sockets import target as target_at

KEY = "canary-3f9a1c77e2"


def upset_by_text(name: str, payload: Json) -> Delta:
    raise ValueError(f"no idea of {json.dumps(payload)} {KEY}")


def upset_later(name: str, payload: Json) -> Delta:
    return Delta(model=["no", KEY])  # type: ignore[arg-type]


async def measured(
    monkeypatch: pytest.MonkeyPatch, read: Callable[[str, Json], Delta]
) -> Measurement:
    """Measure with a protocol that has a fault."""
    faulty = Protocol(name="faulty", framing="sse", build=openai.build, read=read)
    monkeypatch.setitem(PROTOCOLS, "faulty", faulty)
    async with Connections() as connections, serving(saying(ANSWER)) as port:
        url = f"http://127.0.0.1:{port}"
        target = Target(protocol="faulty", base_url=url, model="m", api_key=Secret(KEY))
        return await measure(target, PROMPT, SOON, connections=connections)


ANSWER = HEAD + b"\r\n" + EVENTS.partition(b"\n\n")[0] + b"\n\n" + EVENTS


@pytest.mark.parametrize(
    ("read", "kind"), [(upset_by_text, "ValueError"), (upset_later, "TypeError")]
)
async def test_a_fault_of_ours_is_an_outcome_and_is_logged(
    read, kind, monkeypatch, caplog
):
    result = await measured(monkeypatch, read)
    assert (result.outcome, result.error) == ("error", Failure.PROTOCOL)
    assert result.error_text == f"the answer could not be read: {kind}"
    assert (result.http_status, result.attempts) == (200, 1)
    (told,) = [r for r in caplog.records if r.levelno == logging.ERROR]
    assert kind in told.getMessage()
    assert KEY not in caplog.text and "word" not in caplog.text


async def test_what_was_measured_before_it_is_kept(monkeypatch):
    answers = iter([Delta(answer="word")])
    result = await measured(monkeypatch, lambda name, payload: next(answers))
    assert result.outcome == "error"
    assert result.ttft_ms is not None


async def test_a_probe_can_be_stopped():
    asked = asyncio.Event()

    async def silent(
        reader: asyncio.StreamReader, writer: asyncio.StreamWriter
    ) -> None:
        await reader.readuntil(b"}")
        writer.write(HEAD + b"\r\n")
        asked.set()
        await asyncio.sleep(60)

    async with Connections() as connections, serving(silent) as port:
        probe = asyncio.create_task(
            measure(target_at(port), PROMPT, connections=connections)
        )
        await asked.wait()
        probe.cancel()
        with pytest.raises(asyncio.CancelledError):
            await probe


async def test_json_at_the_edge_of_what_can_be_nested():
    """Some depths can be parsed but no longer be written: none of them is raised."""
    failures = set()
    async with Connections() as connections:
        for depth in range(880, 1_000):
            deep = "[" * depth + "]" * depth
            event = f'data: {{"error": {{"detail": [{{"msg": {deep}}}]}}}}\n\n'
            answer = HEAD + b"\r\n" + event.encode()
            async with serving(saying(answer)) as port:
                result = await measure(
                    target_at(port), PROMPT, SOON, connections=connections
                )
            failures.add(result.error)
    assert failures == {Failure.PROTOCOL, Failure.STREAM_ERROR}
