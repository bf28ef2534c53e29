"""The command line: what it prints, how it exits, and what it never shows."""

from __future__ import annotations

import asyncio
import json
import logging
import os
import sys
from dataclasses import fields
from typing import Any

import pytest

from probes.connections import Connections
from probes.runner import measure
from probes.types import Measurement, Message, Prompt, Secret, Target
from tests.tape_player import Tape, load_tapes, playing

TAPES = {tape["name"]: tape for tape in load_tapes()}
KEY = "canary-key-3f9a1c77e2"
HEADER = "canary-header-b81d04"
PROMPT = "canary prompt about the lighthouse keepers of the northern isles"

ECHOING: Tape = {
    "name": "echo",
    "protocol": "openai",
    "status": 400,
    "headers": {"content-type": "application/json"},
    "framing": "length",
    "steps": [
        {
            "json": {
                "error": {
                    "message": f"bad key {KEY}, header {HEADER}, input '{PROMPT}'",
                    "code": KEY,
                },
                "request": {"authorization": f"Bearer {KEY}", "prompt": PROMPT},
            }
        }
    ],
}
ECHOING_STREAM: Tape = {
    "name": "echo-stream",
    "protocol": "openai",
    "steps": [{"sse": {"error": {"message": f"{KEY} {HEADER} {PROMPT}"}}}],
}


async def run(*args: str) -> tuple[int, str, str]:
    environment = {**os.environ, "CANARY_KEY": KEY, "CANARY_HEADER": HEADER}
    process = await asyncio.create_subprocess_exec(
        *(sys.executable, "-W", "error", "-m", "probes", *args),
        stdout=asyncio.subprocess.PIPE,
        stderr=asyncio.subprocess.PIPE,
        env=environment,
    )
    output, errors = await process.communicate()
    assert process.returncode is not None
    return process.returncode, output.decode(), errors.decode()


async def ask(tape: Tape, *extra: str) -> tuple[int, str, str]:
    async with playing(tape) as player:
        return await run(
            *("--protocol", tape["protocol"], "--url", player.base_url),
            *("--model", "m", "--api-key-env", "CANARY_KEY"),
            *("--header-env", "X-Extra=CANARY_HEADER", "--prompt", PROMPT),
            *extra,
        )


async def test_json_has_every_figure_and_people_get_lines():
    status, output, _ = await ask(TAPES["openai-finish-no-done"], "--json")
    figures = json.loads(output)
    assert status == 0
    assert list(figures) == [field.name for field in fields(Measurement)]
    assert figures["tls_ms"] is None
    status, output, _ = await ask(TAPES["openai-finish-no-done"])
    assert status == 0
    assert "ttft_ms: " in output and "tls_ms" not in output


async def test_the_exit_status_says_how_it_went():
    status, output, errors = await ask(TAPES["openai-500"], "--json")
    assert (status, errors) == (1, "")
    assert json.loads(output)["error_text"] == "boom"
    status, output, errors = await run("--protocol", "openai")
    assert (status, output) == (2, "")
    assert "usage:" in errors


@pytest.mark.parametrize("tape", [ECHOING, ECHOING_STREAM], ids=lambda t: t["name"])
async def test_no_key_header_or_prompt_is_shown(tape):
    for form in ([], ["--json"]):
        status, output, errors = await ask(tape, *form)
        assert status == 1
        shown_nowhere(output + errors)


def shown_nowhere(text: str) -> None:
    for canary in (KEY, HEADER, PROMPT, "lighthouse", KEY[:14], HEADER[:16]):
        assert canary not in text


@pytest.mark.parametrize("tape", [ECHOING, ECHOING_STREAM], ids=lambda t: t["name"])
async def test_no_key_header_or_prompt_is_logged(tape, caplog):
    caplog.set_level(logging.DEBUG)
    async with playing(tape) as player, Connections() as connections:
        target = Target(
            protocol="openai",
            base_url=player.base_url,
            model="m",
            api_key=Secret(KEY),
            extra_headers={"X-Extra": Secret(HEADER)},
        )
        message = Message(role="user", content=PROMPT)
        prompt = Prompt(messages=(message,), max_tokens=5)
        result = await measure(target, prompt, connections=connections)
        head = player.requests[0].head
    assert KEY in head and HEADER in head
    said: list[Any] = [result, target, prompt]
    shown_nowhere(caplog.text + "".join(map(repr, said)))


async def test_a_key_that_no_header_can_carry_is_not_shown():
    async with playing(TAPES["openai-500"]) as player, Connections() as connections:
        target = Target(
            protocol="openai",
            base_url=player.base_url,
            model="m",
            api_key=Secret(f"{KEY}\r\nX-Injected: yes"),
        )
        prompt = Prompt(messages=(), max_tokens=5)
        result = await measure(target, prompt, connections=connections)
        assert not player.requests
    assert result.outcome == "error"
    shown_nowhere(repr(result))
