"""How late an event loop runs its callbacks.

Kernel stamps do not care, but user-space times do, and so do bytes that a late
reader finds lumped together.
"""

from __future__ import annotations

import asyncio
from bisect import bisect_left
from collections import deque

TICK_S = 0.002


class LoopLag:
    """Measures the running loop's lag while anybody wants to know it."""

    def __init__(self) -> None:
        self._watchers = 0
        self._ticker: asyncio.TimerHandle | None = None
        # Peaks only: times rise and lags fall from left to right, so that the first
        # entry after a moment is the longest lag since then.
        self._peaks: deque[tuple[float, float]] = deque()

    def __enter__(self) -> LoopLag:
        self._watchers += 1
        if self._ticker is None:
            self._schedule()
        return self

    def __exit__(self, *_: object) -> None:
        self._watchers -= 1
        if not self._watchers and self._ticker is not None:
            self._ticker.cancel()
            self._ticker = None
            self._peaks.clear()

    def since_ms(self, moment_s: float) -> float:
        """Return the longest lag since ``moment_s`` of the loop's clock."""
        index = bisect_left(self._peaks, (moment_s, 0.0))
        return self._peaks[index][1] * 1000 if index < len(self._peaks) else 0.0

    def _schedule(self) -> None:
        loop = asyncio.get_running_loop()
        self._ticker = loop.call_later(TICK_S, self._tick, loop.time() + TICK_S)

    def _tick(self, due_s: float) -> None:
        now_s = asyncio.get_running_loop().time()
        lag_s = max(0.0, now_s - due_s)
        while self._peaks and self._peaks[-1][1] <= lag_s:
            self._peaks.pop()
        self._peaks.append((now_s, lag_s))
        self._schedule()
