"""Being asked to stop: Ctrl-C, SIGTERM or a closed terminal."""

from __future__ import annotations

import signal
import time
from collections.abc import Callable
from types import FrameType

# A signal to the whole process group reaches us twice, `make` passes its own one on.
ECHO_S = 0.5


class StopRequest:
    """Whether somebody asked us to stop (Ctrl-C, SIGTERM, a closed terminal).

    The handlers only count: the code that waits looks here between two steps, so that
    no process is ever started and then forgotten half-way.
    """

    def __init__(self, clock: Callable[[], float] = time.monotonic) -> None:
        self._clock = clock
        self._count = 0
        self._last = float("-inf")

    def listen(self) -> None:
        """Take over the signals that mean stop."""
        signal.signal(signal.SIGINT, self.note)
        signal.signal(signal.SIGTERM, self.note)
        if signal.getsignal(signal.SIGHUP) is not signal.SIG_IGN:  # as under nohup
            signal.signal(signal.SIGHUP, self.note)

    def requested(self) -> bool:
        """Whether we were asked to stop."""
        return self._count > 0

    def hurried(self) -> bool:
        """Whether we were asked again: end everything at once."""
        return self._count > 1

    def note(self, number: int, frame: FrameType | None = None) -> None:
        """Take one request down; it is what the signals call."""
        now = self._clock()
        if now - self._last > ECHO_S:
            self._count += 1
        self._last = now
