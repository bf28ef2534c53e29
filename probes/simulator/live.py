"""The engine in real time: a clock that never steps, and waiting for a slot."""

from __future__ import annotations

import asyncio
import time
from collections.abc import AsyncIterator
from contextlib import asynccontextmanager
from random import Random

from probes.simulator.cache import PrefixCache
from probes.simulator.engine import Engine, Job
from probes.simulator.faults import Fault, FaultBoard
from probes.simulator.knobs import Knobs


class Clock:
    """Unix time that follows the monotonic clock, so that no deadline ever jumps."""

    def __init__(self) -> None:
        self._offset_s = time.time() - time.monotonic()

    def now_s(self) -> float:
        return time.monotonic() + self._offset_s

    async def wait_until(self, at_s: float) -> None:
        """Return at ``at_s``; at once if it has passed."""
        loop = asyncio.get_running_loop()
        due = at_s - self._offset_s
        if due <= loop.time():
            return
        reached = loop.create_future()
        timer = loop.call_at(due, _settle, reached)
        try:
            await reached
        finally:
            timer.cancel()


def _settle(future: asyncio.Future[None]) -> None:
    if not future.done():
        future.set_result(None)


class LiveModel:
    """One simulated model at work; belongs to one event loop."""

    def __init__(self, knobs: Knobs, clock: Clock) -> None:
        self.knobs = knobs
        self.faults = FaultBoard()
        self.cache = PrefixCache(knobs.cache_blocks, knobs.cache_block_tokens)
        self.engine = Engine(knobs, clock.now_s())
        self._clock = clock
        self._requests = 0
        self._waiting: dict[Job, asyncio.Future[None]] = {}

    async def run(self) -> None:
        """Keep the background load going, until cancelled."""
        while True:
            # Without background load there is nothing to wake up for.
            at_s = min(self.engine.next_event_s, self._clock.now_s() + 60.0)
            await self._clock.wait_until(at_s)
            self.engine.advance(self._clock.now_s())
            self._wake_admitted()

    def next_random(self) -> Random:
        """The source of chance of the next request: same seed, same sequence."""
        self._requests += 1
        return Random(self.knobs.seed * 1_000_003 + self._requests)

    def step_s(self) -> float:
        """Seconds until a stream's next token, as things stand now."""
        slow = self.faults.value(Fault.SLOW_DECODE, self._clock.now_s()) or 1.0
        return self.knobs.step_s(self.engine.batch) * slow

    @asynccontextmanager
    async def slot(self, prefill_s: float) -> AsyncIterator[float]:
        """Hold a slot; gives the moment at which it became free.

        Leaving the block frees the slot, also when the client went away meanwhile.
        """
        job = Job(prefill_s)
        self.engine.submit(job, self._clock.now_s())
        try:
            if job.admitted_s is None:
                self._waiting[job] = asyncio.get_running_loop().create_future()
                await self._waiting[job]
            assert job.admitted_s is not None
            yield job.admitted_s
        finally:
            self._waiting.pop(job, None)
            self.engine.release(job, self._clock.now_s())
            self._wake_admitted()

    def _wake_admitted(self) -> None:
        admitted = [job for job in self._waiting if job.admitted_s is not None]
        for job in admitted:
            _settle(self._waiting.pop(job))
