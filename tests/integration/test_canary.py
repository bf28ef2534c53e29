"""A server that echoes the key, in every place where it can say anything."""

from __future__ import annotations

import json
import logging
from dataclasses import asdict

import pytest

from probes.connections import Connections
from probes.protocols import PROTOCOLS
from probes.runner import measure
from probes.types import Measurement, Message, Prompt, Secret, Target
from tests.sockets import SOON, saying, serving

KEY = "canary-3f9a1c77e2-lighthouse"
HEADER = "Bearer second-canary-77aa01bc"
ASKED = "Tell me at length about the keepers of the northern isles."
PIECES = [
    text[start : start + 10]
    for text in (KEY, HEADER.removeprefix("Bearer "), ASKED)
    for start in range(len(text) - 9)
]
OPAQUE = "finetuned0123456789abcdef0123456789"
ECHO = f"{KEY} {HEADER} {ASKED}"

CHOICE = {"delta": {"content": "word"}, "finish_reason": ECHO, "stop_reason": ECHO}
EVENTS = {
    "openai": [
        {"model": ECHO, "id": ECHO, "object": ECHO, "choices": [CHOICE]},
    ],
    "openai-responses": [
        {"type": "response.output_text.delta", "delta": "word"},
        {
            "type": "response.completed",
            "response": {
                "model": ECHO,
                "status": ECHO,
                "incomplete_details": {"reason": ECHO},
            },
        },
    ],
    "anthropic": [
        {"type": "message_start", "message": {"model": ECHO, "id": ECHO}},
        {"type": "content_block_delta", "delta": {"text": "word"}},
        {"type": "message_delta", "delta": {"stop_reason": ECHO}},
        {"type": "message_stop"},
    ],
    "gemini": [
        {
            "modelVersion": ECHO,
            "candidates": [
                {"content": {"parts": [{"text": "word"}]}, "finishReason": ECHO}
            ],
        }
    ],
    "ollama": [
        {
            "model": ECHO,
            "message": {"content": "word"},
            "done": True,
            "done_reason": ECHO,
        }
    ],
}
ERROR = {
    "error": dict.fromkeys(
        ("message", "type", "code", "param", "status", "reason"), ECHO
    )
}
HEADERS = "".join(
    f"{name}: {ECHO}\r\n"
    for name in ("server", "retry-after", "retry-after-ms", "x-request-id", "location")
)


def said(status: str, body: str, media_type: str = "text/event-stream") -> bytes:
    head = f"HTTP/1.1 {status} {ECHO}\r\n{HEADERS}content-type: {media_type}\r\n"
    return f"{head}\r\n{body}".encode()


def framed(protocol: str, payloads: list[dict[str, object]]) -> str:
    lines = map(json.dumps, payloads)
    if PROTOCOLS[protocol].framing == "ndjson":
        return "".join(f"{line}\n" for line in lines)
    return "".join(f"event: {ECHO}\ndata: {line}\n\n" for line in lines)


async def measured(
    answer: bytes, protocol: str = "openai", model: str = "m"
) -> Measurement:
    prompt = Prompt(messages=(Message(role="user", content=ASKED),), max_tokens=5)
    async with Connections() as connections, serving(saying(answer)) as port:
        echoed = Target(
            protocol=protocol,
            base_url=f"http://127.0.0.1:{port}",
            model=model,
            api_key=Secret(KEY),
            extra_headers={"x-second": Secret(HEADER)},
        )
        return await measure(echoed, prompt, SOON, connections=connections)


def assert_not_shown(shown: str) -> None:
    assert [piece for piece in PIECES if piece in shown] == []


@pytest.fixture(autouse=True)
def logged(caplog):
    """What is logged in the test tells nothing either."""
    caplog.set_level(logging.INFO)
    yield caplog
    assert_not_shown(caplog.text)


@pytest.mark.parametrize("protocol", sorted(PROTOCOLS))
async def test_an_answer_shows_no_secret(protocol):
    answer = said("200", framed(protocol, EVENTS[protocol]))
    result = await measured(answer, protocol)
    assert (result.outcome, result.chunks) == ("ok", 1)
    assert result.model_reported is not None and "[…]" in result.model_reported
    assert_not_shown(repr(asdict(result)))


@pytest.mark.parametrize("protocol", sorted(PROTOCOLS))
async def test_an_error_within_an_answer_shows_none(protocol):
    payloads = [*EVENTS[protocol][:1], {"type": "error", **ERROR}]
    result = await measured(said("200", framed(protocol, payloads)), protocol)
    assert_not_shown(repr(asdict(result)))


@pytest.mark.parametrize(
    "answer",
    [
        said("400", json.dumps(ERROR), "application/json"),
        said("429", ECHO, "text/plain"),
        said("503", f"<html>{ECHO}</html>", "text/html"),
        said("302", ""),
        said("200", f"data: {ECHO}\n\n"),
        said("200", ECHO, ECHO),
        said("200", "", f"text/{KEY}"),
        f"HTTP/1.1 {ECHO}\r\n\r\n".encode(),
        f"{ECHO}\r\n\r\n".encode(),
        f"HTTP/1.1 200 OK\r\n{ECHO}\r\n\r\n".encode(),
        f"HTTP/1.1 200 OK\r\ncontent-length: {ECHO}\r\n\r\n".encode(),
        f"HTTP/1.1 200 OK\r\ntransfer-encoding: {ECHO}\r\n\r\n".encode(),
        f"HTTP/1.1 200 OK\r\ncontent-encoding: {ECHO}\r\n\r\n{ECHO}".encode(),
        f"HTTP/1.1 200 OK\r\ntransfer-encoding: chunked\r\n\r\n{ECHO}\r\n".encode(),
    ],
)
async def test_what_is_no_answer_shows_none(answer):
    result = await measured(answer)
    assert result.outcome == "error"
    assert_not_shown(repr(asdict(result)))


@pytest.mark.parametrize(("asked", "shown"), [(OPAQUE, OPAQUE), ("m", "[…]")])
async def test_a_name_that_looks_secret_is_shown_where_it_was_asked_for(asked, shown):
    event = {"model": OPAQUE, "choices": [CHOICE]}
    result = await measured(said("200", framed("openai", [event])), model=asked)
    assert result.model_reported == shown
