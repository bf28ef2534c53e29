"""Measures for threads, on one event loop for the whole process."""

from __future__ import annotations

import asyncio
import os
import threading
import time
from concurrent.futures import Future, ThreadPoolExecutor
from dataclasses import replace
from functools import cache

from probes.connections import Connections
from probes.runner import measure
from probes.types import Measurement, Message, Prompt, Secret, Target, Timeouts

_JOIN_S = 10.0
_RESOLVER_THREADS = 64
_WARM_UP_ANSWER = (
    b"HTTP/1.1 200 OK\r\ncontent-type: text/event-stream\r\nconnection: close\r\n\r\n"
    b'data: {"choices": [{"delta": {"content": "ok"}, "finish_reason": "stop"}]}\n\n'
    b"data: [DONE]\n\n"
)


class Engine:
    """Runs probes on one asyncio loop, on behalf of any number of threads.

    It starts by itself with the first probe, so that a process that forks does so
    before there is a thread to lose.
    """

    def __init__(self) -> None:
        self._lock = threading.Lock()
        self._loop: asyncio.AbstractEventLoop | None = None
        self._thread: threading.Thread | None = None
        self._fresh: Connections
        self._reusing: Connections
        self._stopping: asyncio.Event
        self._in_flight = 0

    @property
    def in_flight(self) -> int:
        """How many probes run at this moment."""
        return self._in_flight

    def start(self) -> None:
        """Start the loop and warm it up; does nothing where it runs already.

        The warming is one discarded request to a socket of this process: the first
        request of a cold process is some 50 ms slower than all others.
        """
        with self._lock:
            if self._thread is not None:
                return
            started: Future[None] = Future()
            self._thread = threading.Thread(
                target=lambda: asyncio.run(self._serve(started)),
                name="probes",
                daemon=True,
            )
            self._thread.start()
            started.result()

    def run(
        self,
        target: Target,
        prompt: Prompt,
        timeouts: Timeouts = Timeouts(),  # noqa: B008 - frozen
        *,
        start_at: float | None = None,
        deadline: float | None = None,
        reuse: bool = False,
    ) -> Measurement:
        """Measure one probe and block the calling thread until it is done.

        ``start_at`` is the Unix time at which to begin, so that the probes of one
        tick do not all begin at once. ``deadline`` is the Unix time by which it has
        to be over: the total time-out is shortened to that. ``reuse`` goes over a
        connection that an earlier probe left open, and leaves one open.
        """
        self.start()
        assert self._loop is not None
        probe = self._probe(target, prompt, timeouts, start_at, deadline, reuse)
        return asyncio.run_coroutine_threadsafe(probe, self._loop).result()

    def stop(self) -> None:
        """Stop the loop, with what still runs on it; a later probe starts it again."""
        with self._lock:
            if self._thread is None or self._loop is None:
                return
            self._loop.call_soon_threadsafe(self._stopping.set)
            self._thread.join(_JOIN_S)
            self._thread = self._loop = None

    async def _serve(self, started: Future[None]) -> None:
        """Be the loop's main task: prepare, then wait for the end."""
        self._stopping = asyncio.Event()
        # Names are resolved in threads, and one dead resolver must not hold up the
        # probes of all other hosts.
        asyncio.get_running_loop().set_default_executor(
            ThreadPoolExecutor(_RESOLVER_THREADS, thread_name_prefix="resolver")
        )
        async with Connections() as fresh, Connections(reuse=True) as reusing:
            try:
                self._fresh, self._reusing = fresh, reusing
                fresh.tls_context(None, False)
                await _warm_up(fresh)
                self._loop = asyncio.get_running_loop()
            except BaseException as error:
                started.set_exception(error)
                raise
            started.set_result(None)
            await self._stopping.wait()

    async def _probe(
        self,
        target: Target,
        prompt: Prompt,
        timeouts: Timeouts,
        start_at: float | None,
        deadline: float | None,
        reuse: bool,
    ) -> Measurement:
        if start_at is not None:
            await asyncio.sleep(start_at - time.time())
        if deadline is not None:
            left_s = max(0.0, deadline - time.time())
            timeouts = replace(timeouts, total_s=min(timeouts.total_s, left_s))
        connections = self._reusing if reuse else self._fresh
        self._in_flight += 1
        try:
            return await measure(target, prompt, timeouts, connections=connections)
        finally:
            self._in_flight -= 1


async def _warm_up(connections: Connections) -> None:
    """Send one request to a socket of our own, and forget it."""

    async def answer(
        reader: asyncio.StreamReader, writer: asyncio.StreamWriter
    ) -> None:
        await reader.readuntil(b"}")
        writer.write(_WARM_UP_ANSWER)
        writer.close()

    server = await asyncio.start_server(answer, "127.0.0.1", 0)
    async with server:
        port = server.sockets[0].getsockname()[1]
        target = Target(
            protocol="openai",
            base_url=f"http://127.0.0.1:{port}",
            model="warm-up",
            api_key=Secret("warm-up"),
        )
        prompt = Prompt(messages=(Message(role="user", content=""),), max_tokens=1)
        await measure(target, prompt, connections=connections)


@cache
def _engine_of(pid: int) -> Engine:
    return Engine()


def shared_engine() -> Engine:
    """Return this process's engine; a forked child has one of its own."""
    return _engine_of(os.getpid())
