"""Whatever one server pours out, the probes of all others go on."""

from __future__ import annotations

import asyncio
import gzip
import socket
import threading
import time
from collections.abc import AsyncIterator, Iterator
from contextlib import asynccontextmanager, contextmanager

import pytest

from probes.connections import Connections
from probes.runner import measure
from probes.types import Failure, Measurement, Timeouts
from probes.wire import MAX_BODY_BYTES
from tests.sockets import EVENTS, HEAD, PROMPT, target

LONGEST_HOLD_S = 1.0
"""Of the loop's own processor time. Some 40 ms were measured where nothing else fills
the heap; the fault that this is about held the loop for 22 s."""

ROOM = MAX_BODY_BYTES - 100
TOKEN = b'data:{"choices":[{"delta":{"content":"a"}}]}\n\n'
PATIENT = Timeouts(first_token_s=60, idle_s=60, total_s=60)


def filled(unit: bytes, room: int = ROOM) -> bytes:
    return unit * (room // len(unit))


def listed(unit: bytes, count: int) -> bytes:
    return b"[" + b",".join([unit] * count) + b"]"


def in_chunks_of_one_byte(body: bytes) -> bytes:
    return b"".join(b"1\r\n%c\r\n" % byte for byte in body) + b"0\r\n\r\n"


FLOODS = {
    "events": (filled(b"data:{}\n\n"), Failure.PROTOCOL),
    "events without text": (filled(b"data\n\n"), Failure.PROTOCOL),
    "empty lines": (b":" + filled(b"\n"), Failure.TRUNCATED),
    "tokens": (filled(TOKEN), Failure.TRUNCATED),
    "tokens in one event": (filled(TOKEN[:-1]), Failure.TRUNCATED),
    "objects in one event": (
        b"data:" + listed(b"{}", ROOM // 3) + b"\n\n",
        Failure.PROTOCOL,
    ),
    "objects in events": (
        filled(b"data:" + listed(b"{}", 64) + b"\n\n"),
        Failure.PROTOCOL,
    ),
    "values in one event": (
        b'data:{"a":' + listed(b"[]", 24_000) + b"}\n\n",
        Failure.TRUNCATED,
    ),
    "digits": (
        b'data:{"a":' + listed(b"9" * 4000, ROOM // 4001) + b"}\n\n",
        Failure.TRUNCATED,
    ),
    "one long text": (b'data:{"a":"' + filled(b"x") + b'"}\n\n', Failure.TRUNCATED),
    "one long body": (b'{"a":"' + filled(b"x") + b'"}', Failure.PROTOCOL),
    "one long error": (
        b'data:{"error":"' + filled(b"rate ") + b'"}\n\n',
        Failure.STREAM_ERROR,
    ),
}


@contextmanager
def pouring(answer: bytes) -> Iterator[int]:
    """Serve one answer from a thread, so that the loop is the reader's alone."""

    def serve() -> None:
        try:
            connection, _ = listener.accept()
            with connection:
                received = b""
                while not received.endswith(b"}"):
                    received += connection.recv(65_536)
                connection.sendall(answer)
                connection.shutdown(socket.SHUT_WR)
                connection.recv(1)
        except OSError:
            pass  # the reader had enough

    with socket.create_server(("127.0.0.1", 0)) as listener:
        thread = threading.Thread(target=serve)
        thread.start()
        yield listener.getsockname()[1]
        thread.join()


@asynccontextmanager
async def longest_hold() -> AsyncIterator[list[float]]:
    """Gather how much processor time each round of the loop took, in seconds."""
    held: list[float] = []

    async def watch() -> None:
        before = time.thread_time()
        while True:
            await asyncio.sleep(0.001)
            now = time.thread_time()
            held.append(now - before)
            before = now

    watcher = asyncio.create_task(watch())
    try:
        yield held
    finally:
        watcher.cancel()


async def poured(answer: bytes) -> tuple[Measurement, float]:
    """Return what was measured, and for how long the loop was held at most."""
    async with Connections() as connections, longest_hold() as held:
        with pouring(answer) as port:
            result = await measure(
                target(port), PROMPT, PATIENT, connections=connections
            )
            await asyncio.sleep(0.01)
    return result, max(held)


@pytest.mark.parametrize("name", FLOODS)
async def test_no_answer_holds_the_loop(name):
    body, failure = FLOODS[name]
    result, held_s = await poured(HEAD + b"\r\n" + body)
    assert result.error is failure, result.error_text
    assert held_s < LONGEST_HOLD_S


@pytest.mark.parametrize(
    "answer",
    [
        b"HTTP/1.1 100 Continue\r\n\r\n" * 1_000_000,
        b"HTTP/1.1 103 Early Hints\r\nlink: <x>\r\n\r\n" * 1_000_000,
        HEAD + b"transfer-encoding: chunked\r\n\r\n" + b"1;" + b"x" * 20_000_000,
        HEAD
        + b"transfer-encoding: chunked\r\n\r\n"
        + (b"1;" + b"x" * 8_000 + b"\r\n:\r\n") * 3_000,
    ],
)
async def test_what_is_no_part_of_an_answer_has_a_limit_too(answer):
    result, held_s = await poured(answer)
    assert (result.error, result.chunks or 0) == (Failure.PROTOCOL, 0)
    assert held_s < LONGEST_HOLD_S


@pytest.mark.parametrize(
    ("status", "failure"), [(200, Failure.PROTOCOL), (503, Failure.SERVER)]
)
async def test_a_bomb_does_not_go_off(status, failure):
    """What is small on the wire: compressed once they are within reason, twice not."""
    once = gzip.compress(bytes(16_000_000))
    for codings, body in ((b"gzip", once), (b"gzip, gzip", gzip.compress(once * 99))):
        head = b"HTTP/1.1 %d X\r\ncontent-type: text/event-stream\r\n" % status
        answer = head + b"content-encoding: " + codings + b"\r\n\r\n" + body
        result, held_s = await poured(answer)
        assert result.error is failure, result.error_text
        assert held_s < LONGEST_HOLD_S


async def test_a_few_interim_responses_do_no_harm():
    interim = b"HTTP/1.1 103 Early Hints\r\n\r\n" * 100
    result, _ = await poured(interim + HEAD + b"\r\n" + EVENTS)
    assert result.outcome == "ok"


async def test_an_answer_in_crumbs_does_not_hold_the_loop():
    body = in_chunks_of_one_byte(TOKEN * 2_000)
    result, held_s = await poured(HEAD + b"transfer-encoding: chunked\r\n\r\n" + body)
    assert (result.error, result.chunks) == (Failure.TRUNCATED, 2_000)
    assert held_s < LONGEST_HOLD_S
