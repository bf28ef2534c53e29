"""The engine: a loop in a thread of its own, for threads that block."""

from __future__ import annotations

import asyncio
import os
import statistics
import subprocess
import sys
import threading
import time
from collections.abc import Callable, Iterator
from concurrent.futures import ThreadPoolExecutor
from contextlib import contextmanager
from pathlib import Path

import pytest

from probes.engine import Engine, shared_engine
from probes.types import Failure, Message, Prompt, Target, Timeouts
from tests.waiting import wait_for

PROMPT = Prompt(messages=(Message(role="user", content="Say it."),), max_tokens=64)
ROOT = Path(__file__).parents[2]

# A server in a process of its own. It prints its port and then, for each answer, the
# milliseconds from when the request reached the kernel to when the first token was
# written: nothing that makes either process late is in that figure.
SERVER = """
import json, socket, struct, threading, time
CHUNK = {"choices": [{"delta": {"content": "word "}, "finish_reason": None}]}
EVENT = f"data: {json.dumps(CHUNK)}\\n\\n".encode()
HEAD = b"HTTP/1.1 200 OK\\r\\ncontent-type: text/event-stream\\r\\n"
HEAD += b"connection: close\\r\\n\\r\\n"
SO_TIMESTAMPNS = 35

def answer(sock):
    sock.setsockopt(socket.SOL_SOCKET, SO_TIMESTAMPNS, 1)
    request = b""
    while b"}]" not in request:
        data, ((_, _, stamp),), _, _ = sock.recvmsg(65536, 64)
        request += data
    seconds, nanoseconds = struct.unpack("qq", stamp)
    arrived = seconds + nanoseconds / 1e9
    sock.sendall(HEAD)
    for index in range(11):
        due = arrived + 0.1 + 0.02 * index
        time.sleep(max(0, due - time.time()))
        if index == 0:
            first = time.time()
        sock.sendall(EVENT)
    sock.sendall(b"data: [DONE]\\n\\n")
    sock.close()
    print((first - arrived) * 1000, flush=True)

server = socket.create_server(("127.0.0.1", 0))
print(server.getsockname()[1], flush=True)
while True:
    threading.Thread(target=answer, args=server.accept()[:1], daemon=True).start()
"""


class ServerProcess:
    """A stream server that says when it wrote."""

    def __init__(self) -> None:
        self._process = subprocess.Popen(
            [sys.executable, "-c", SERVER], stdout=subprocess.PIPE, text=True
        )
        self.target = Target(
            protocol="openai", base_url=f"http://127.0.0.1:{self._line()}", model="m"
        )

    def _line(self) -> str:
        assert self._process.stdout is not None
        return self._process.stdout.readline().strip()

    def true_ttft_ms(self) -> float:
        return float(self._line())

    def close(self) -> None:
        self._process.terminate()
        self._process.wait()
        assert self._process.stdout is not None
        self._process.stdout.close()


@pytest.fixture
def server() -> Iterator[ServerProcess]:
    process = ServerProcess()
    yield process
    process.close()


@pytest.fixture
def engine() -> Iterator[Engine]:
    engine = Engine()
    yield engine
    engine.stop()


@contextmanager
def burning_interpreter() -> Iterator[None]:
    """Keep the interpreter busy from another thread."""
    enough = threading.Event()

    def burn() -> None:
        number = 0
        while not enough.is_set():
            for _ in range(10_000):
                number += 1

    thread = threading.Thread(target=burn)
    thread.start()
    try:
        yield
    finally:
        enough.set()
        thread.join()


def test_threads_measure_at_the_same_time(engine, server):
    with ThreadPoolExecutor(8) as threads:
        began = time.monotonic()
        futures = [threads.submit(engine.run, server.target, PROMPT) for _ in range(8)]
        wait_for(lambda: engine.in_flight == 8)
        results = [future.result() for future in futures]
        took = time.monotonic() - began
    assert all(result.outcome == "ok" for result in results)
    assert took < 8 * 0.3
    assert engine.in_flight == 0


def test_a_busy_interpreter_moves_no_figure(engine, server):
    engine.start()
    with burning_interpreter():
        errors, rates = [], []
        for _ in range(9):
            result = engine.run(server.target, PROMPT)
            assert (result.outcome, result.clock) == ("ok", "kernel")
            assert result.ttft_ms is not None and result.tokens_per_second is not None
            errors.append(abs(result.ttft_ms - server.true_ttft_ms()))
            rates.append(result.tokens_per_second)
    assert statistics.median(errors) < 1
    assert statistics.median(rates) == pytest.approx(50, rel=0.05)


def test_a_probe_starts_when_it_is_told(engine, server):
    engine.start()
    start_at = time.time() + 0.3
    began = time.monotonic()
    result = engine.run(server.target, PROMPT, start_at=start_at)
    assert result.outcome == "ok"
    assert time.monotonic() - began >= 0.3 + 0.3


def test_a_deadline_shortens_the_total(engine, server):
    engine.start()
    result = engine.run(server.target, PROMPT, deadline=time.time() + 0.2)
    assert result.error is Failure.TIMEOUT_TOTAL
    short = Timeouts(total_s=0.15)
    result = engine.run(server.target, PROMPT, short, deadline=time.time() + 60)
    assert result.error is Failure.TIMEOUT_TOTAL


def test_connections_are_kept_only_where_that_is_wanted(engine):
    async def keep_alive(
        reader: asyncio.StreamReader, writer: asyncio.StreamWriter
    ) -> None:
        body = b'data: {"choices": [{"delta": {"content": "a"}}]}\n\ndata: [DONE]\n\n'
        head = b"HTTP/1.1 200 OK\r\ncontent-type: text/event-stream\r\n"
        try:
            while await reader.readuntil(b"}]"):
                writer.write(head + b"content-length: %d\r\n\r\n" % len(body) + body)
        except asyncio.IncompleteReadError:
            writer.close()

    ready = threading.Event()
    ports: list[int] = []
    stops: list[Callable[[], object]] = []

    async def serve() -> None:
        listener = await asyncio.start_server(keep_alive, "127.0.0.1", 0)
        ports.append(listener.sockets[0].getsockname()[1])
        loop = asyncio.get_running_loop()
        stop = asyncio.Event()
        stops.append(lambda: loop.call_soon_threadsafe(stop.set))
        ready.set()
        async with listener:
            await stop.wait()

    thread = threading.Thread(target=lambda: asyncio.run(serve()))
    thread.start()
    ready.wait()
    url = f"http://127.0.0.1:{ports[0]}"
    target = Target(protocol="openai", base_url=url, model="m")
    try:
        fresh = [engine.run(target, PROMPT).connect_ms for _ in range(2)]
        reused = [engine.run(target, PROMPT, reuse=True).connect_ms for _ in range(3)]
    finally:
        engine.stop()
        stops[0]()
        thread.join()
    assert None not in fresh
    assert reused[0] is not None
    assert reused[1:] == [None, None]


def probe_threads() -> set[threading.Thread]:
    return {thread for thread in threading.enumerate() if thread.name == "probes"}


def test_an_engine_starts_and_stops_as_often_as_it_is_asked(server):
    before = probe_threads()  # another test may have left the shared one
    engine = Engine()
    engine.stop()
    for _ in range(2):
        engine.start()
        engine.start()
        assert engine.run(server.target, PROMPT).outcome == "ok"
        engine.stop()
    assert engine.run(server.target, PROMPT).outcome == "ok"
    engine.stop()
    assert probe_threads() == before


def test_a_caller_hears_of_a_protocol_that_nobody_speaks(engine):
    with pytest.raises(KeyError):
        engine.run(Target(protocol="smoke", base_url="http://h", model="m"), PROMPT)
    assert engine.in_flight == 0


def test_a_process_has_one_engine_and_a_fork_has_its_own(server):
    engine = shared_engine()
    assert shared_engine() is engine
    assert engine.run(server.target, PROMPT).outcome == "ok"
    code = """
import os, sys
from probes.engine import shared_engine
parent = shared_engine()
if child := os.fork():
    sys.exit(os.waitstatus_to_exitcode(os.waitpid(child, 0)[1]))
os._exit(shared_engine() is parent)
"""
    environment = {**os.environ, "PYTHONPATH": str(ROOT)}
    subprocess.run([sys.executable, "-c", code], check=True, env=environment)
    engine.stop()
