"""Slots, a first-in-first-out queue, and the background load that shares them.

A discrete-event simulation that knows no clock: callers say what time it is, in
Unix seconds, and time never runs backwards. Background requests are drawn from the
rhythm as a Poisson process and pass through the same queue as everybody else.
"""

from __future__ import annotations

import heapq
import math
from collections import deque
from dataclasses import dataclass
from random import Random

from probes.simulator.knobs import Knobs, jitter

BACKGROUND_LENGTH_SIGMA = 0.5
WARM_UP_S = 120.0


@dataclass(slots=True, eq=False)
class Job:
    """One request in the server. ``prefill_s`` starts when a slot is free."""

    prefill_s: float
    background_tokens: int = 0
    """Output of a background request; 0 marks a real one, which its caller ends."""
    admitted_s: float | None = None


class Engine:
    """The occupancy of one model's slots over time."""

    def __init__(self, knobs: Knobs, started_s: float) -> None:
        self._knobs = knobs
        self._random = Random(knobs.seed)
        self._now_s = started_s - WARM_UP_S
        self._queue: deque[Job] = deque()
        self._served: set[Job] = set()
        self._background_ends_s: list[float] = []
        self._next_arrival_s = self._draw_arrival_s(self._now_s)
        self.advance(started_s)

    @property
    def background(self) -> int:
        """Background requests that hold a slot."""
        return len(self._background_ends_s)

    @property
    def batch(self) -> int:
        """Requests that hold a slot, background included."""
        return len(self._served) + self.background

    @property
    def queue_length(self) -> int:
        return len(self._queue)

    @property
    def next_event_s(self) -> float:
        """When the background load changes next; infinite without any."""
        ends_s = self._background_ends_s[0] if self._background_ends_s else math.inf
        return min(ends_s, self._next_arrival_s)

    def advance(self, now_s: float) -> None:
        """Let everything happen that is due until ``now_s``."""
        while (event_s := self.next_event_s) <= now_s:
            self._now_s = max(self._now_s, event_s)
            if event_s == self._next_arrival_s:
                self._background_arrives()
            else:
                heapq.heappop(self._background_ends_s)
            self._admit()
        self._now_s = max(self._now_s, now_s)

    def submit(self, job: Job, now_s: float) -> None:
        """Put ``job`` at the end of the queue; it may be admitted at once."""
        self.advance(now_s)
        self._queue.append(job)
        self._admit()

    def release(self, job: Job, now_s: float) -> None:
        """End ``job``, whether it is served or still waits."""
        self.advance(now_s)
        if job in self._served:
            self._served.remove(job)
        elif job in self._queue:
            self._queue.remove(job)
        self._admit()

    def _admit(self) -> None:
        while self._queue and self.batch < self._knobs.slots:
            job = self._queue.popleft()
            job.admitted_s = self._now_s
            if job.background_tokens:
                # Its pace is fixed here, by the batch that it joins: nobody sees
                # its tokens, only the slot that it holds.
                decode_s = job.background_tokens * self._knobs.step_s(self.batch + 1)
                heapq.heappush(
                    self._background_ends_s, self._now_s + job.prefill_s + decode_s
                )
            else:
                self._served.add(job)

    def _background_arrives(self) -> None:
        knobs = self._knobs
        self._next_arrival_s = self._draw_arrival_s(self._next_arrival_s)
        length = jitter(self._random, BACKGROUND_LENGTH_SIGMA)
        if len(self._queue) < knobs.background_max_queue:
            self._queue.append(
                Job(
                    prefill_s=knobs.prefill_s(knobs.background_prompt_tokens),
                    background_tokens=max(
                        1, round(knobs.background_output_tokens * length)
                    ),
                )
            )

    def _draw_arrival_s(self, after_s: float) -> float:
        """The next arrival of a Poisson process whose rate is the rhythm's."""
        rhythm = self._knobs.rhythm
        highest = max(rhythm.low_per_s, rhythm.high_per_s)
        if highest <= 0:
            return math.inf
        at_s = after_s
        while True:
            at_s += self._random.expovariate(highest)
            if self._random.random() * highest <= rhythm.rate_per_s(at_s):
                return at_s
