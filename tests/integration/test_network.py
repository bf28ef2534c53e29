"""Broken servers, long prompts, connections used again, refused parameters."""

from __future__ import annotations

import asyncio
import gzip
from collections.abc import AsyncIterator

import pytest

from probes.connections import Connections
from probes.runner import measure
from probes.types import Failure, Message, Prompt, Secret, Target
from tests.sockets import (
    EVENTS,
    HEAD,
    PROMPT,
    SHORT,
    SOON,
    TAPES,
    saying,
    serving,
    target,
)
from tests.tape_player import playing


@pytest.fixture
async def connections() -> AsyncIterator[Connections]:
    async with Connections() as shared:
        yield shared


LENGTH = b"content-length: %d\r\n\r\n"


@pytest.mark.parametrize(
    ("answer", "failure"),
    [
        (b"", Failure.CONNECTION),
        (b"HTTP/1.1 20", Failure.CONNECTION),
        (b"SSH-2.0-OpenSSH_9.9\r\n\r\n", Failure.PROTOCOL),
        (HEAD + b"transfer-encoding: chunked\r\n\r\nzz\r\n", Failure.PROTOCOL),
        (HEAD + LENGTH % 9 + b"data", Failure.TRUNCATED),
        (HEAD + LENGTH % 0, Failure.TRUNCATED),
        (HEAD + b"content-encoding: gzip\r\n\r\nnot gzip", Failure.PROTOCOL),
        (b"HTTP/1.1 302 Found\r\nlocation: /\r\n" + LENGTH % 0, Failure.PROTOCOL),
        (b"HTTP/1.1 500 No\r\n" + LENGTH % 9 + b"cut", Failure.SERVER),
        (b"HTTP/1.1 500 No\r\n" + LENGTH % 99_999 + b"x" * 99_999, Failure.SERVER),
        (HEAD + b"\r\n" + b"x" * 9_000_000, Failure.PROTOCOL),
    ],
)
async def test_broken_servers_have_their_names(answer, failure, connections):
    async with serving(saying(answer)) as port:
        result = await measure(target(port), PROMPT, SOON, connections=connections)
    assert result.error is failure


async def test_a_refusal_that_never_ends_is_not_waited_for(connections):
    async def stall(reader: asyncio.StreamReader, writer: asyncio.StreamWriter) -> None:
        await reader.readuntil(b"}")
        writer.write(b"HTTP/1.1 503 No\r\n" + LENGTH % 99 + b"overloaded")
        await asyncio.sleep(60)

    async with serving(stall) as port:
        result = await measure(target(port), PROMPT, connections=connections)
    assert result.error is Failure.OVERLOADED


async def test_a_server_that_compresses_against_our_wish_is_understood(connections):
    answer = HEAD + b"content-encoding: gzip\r\n\r\n" + gzip.compress(EVENTS)
    async with serving(saying(answer)) as port:
        result = await measure(target(port), PROMPT, SOON, connections=connections)
    assert result.outcome == "ok"
    assert result.bytes == len(EVENTS)


async def test_a_long_prompt_is_sent_before_the_time_starts(connections):
    """The server reads slowly: the time counts from the last byte, not the first."""

    async def slow(reader: asyncio.StreamReader, writer: asyncio.StreamWriter) -> None:
        head = await reader.readuntil(b"\r\n\r\n")
        size = int(head.lower().split(b"content-length: ")[1].split(b"\r\n")[0])
        await asyncio.sleep(0.3)
        await reader.readexactly(size)
        writer.write(HEAD + b"\r\n" + EVENTS)

    message = Message(role="user", content="word " * 4_000_000)
    prompt = Prompt(messages=(message,), max_tokens=5)
    async with serving(slow, limit=2**16) as port:
        result = await measure(target(port), prompt, connections=connections)
    assert result.outcome == "ok"
    assert result.ttft_ms is not None and result.ttft_ms < 250


async def test_an_answer_may_come_before_the_whole_request(connections):
    async def hasty(reader: asyncio.StreamReader, writer: asyncio.StreamWriter) -> None:
        await reader.readuntil(b"\r\n\r\n")
        body = b'{"error": {"message": "too large"}}'
        writer.write(b"HTTP/1.1 413 No\r\n" + LENGTH % len(body) + body)
        await writer.drain()
        writer.close()

    message = Message(role="user", content="word " * 2_000_000)
    prompt = Prompt(messages=(message,), max_tokens=5)
    async with serving(hasty) as port:
        result = await measure(target(port), prompt, SOON, connections=connections)
    assert result.error in (Failure.CLIENT, Failure.CONNECTION)


async def test_a_connection_is_used_again_where_that_is_wanted():
    async with Connections(reuse=True) as reusing, playing(SHORT) as player:
        reused = Target(protocol="openai", base_url=player.base_url, model="m")
        first = await measure(reused, PROMPT, connections=reusing)
        assert first.connect_ms is not None
        second = await measure(reused, PROMPT, connections=reusing)
        assert second.outcome == "ok"
        assert second.connect_ms is None
        assert 99 < (second.ttft_ms or 0) < 900


async def test_a_connection_that_the_server_closed_is_not():
    answer = HEAD + LENGTH % len(EVENTS) + EVENTS
    async with Connections(reuse=True) as reusing, serving(saying(answer)) as port:
        for _ in range(2):
            result = await measure(target(port), PROMPT, connections=reusing)
            assert result.outcome == "ok"
            assert result.connect_ms is not None


async def test_a_connection_whose_answer_does_not_end_is_not_kept():
    async with (
        Connections(reuse=True) as reusing,
        playing(TAPES["openai-done-then-open"]) as player,
    ):
        open_ended = Target(protocol="openai", base_url=player.base_url, model="m")
        for _ in range(2):
            result = await measure(open_ended, PROMPT, connections=reusing)
            assert result.outcome == "ok"
            assert result.connect_ms is not None


async def test_what_is_sent_is_what_the_target_says(connections):
    async with playing(SHORT) as player:
        full = Target(
            protocol="openai",
            base_url=player.base_url,
            model="m",
            api_key=Secret("k1"),
            extra_headers={"X-Org": Secret("ö"), "User-Agent": Secret("mine")},
            extra_body={"seed": 7},
        )
        await measure(full, PROMPT, connections=connections)
        (request,) = player.requests
    assert request.head.startswith("POST /v1/chat/completions HTTP/1.1\r\n")
    lines = {line.lower() for line in request.head.split("\r\n")}
    assert {"authorization: bearer k1", "user-agent: mine", "x-org: ö"} <= lines
    assert "accept-encoding: identity" in lines
    assert request.body["seed"] == 7


async def test_a_refused_parameter_is_remembered(connections):
    async with playing(TAPES["refused-max-tokens-and-temperature"]) as player:
        fussy = Target(protocol="openai", base_url=player.base_url, model="m")
        result = await measure(fussy, PROMPT, connections=connections)
        assert result.quirks == {"max_tokens", "temperature"}
        knowing = Target(
            protocol="openai",
            base_url=player.base_url,
            model="m",
            quirks=result.quirks,
        )
        again = await measure(knowing, PROMPT, connections=connections)
        bodies = [request.body for request in player.requests]
    assert again.attempts == 1
    assert [("max_tokens" in b, "temperature" in b) for b in bodies] == [
        (True, True),
        (False, True),
        (False, False),
        (False, False),
    ]
    assert all(b["max_completion_tokens"] == 64 for b in bodies[1:])


async def test_a_parameter_that_the_target_asks_for_is_not_left_out(connections):
    async with playing(TAPES["refused-stream-options"]) as player:
        insisting = Target(
            protocol="openai",
            base_url=player.base_url,
            model="m",
            extra_body={"stream_options": {"include_usage": True}},
        )
        result = await measure(insisting, PROMPT, connections=connections)
    assert (result.error, result.attempts) == (Failure.CLIENT, 1)


async def test_a_protocol_that_nobody_speaks(connections):
    strange = Target(protocol="smoke", base_url="http://h", model="m")
    with pytest.raises(KeyError):
        await measure(strange, PROMPT, connections=connections)
