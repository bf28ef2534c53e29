"""How much of the machine others used while something was measured.

Figures of CPU and of tails mean little without: hyperthreads share a core, so the
same work takes up to twice the CPU time while another process runs beside it, and a
reader that waits for a processor finds several tokens in one lump.
"""

from __future__ import annotations

import os
import time

import psutil

from tests.bench.stream_load import cpu_s


class Others:
    """Watches from its making on. None of our processes may end meanwhile."""

    def __init__(self) -> None:
        self._began_s = time.monotonic()
        self._used_s = _used_by_others_s()

    def share(self) -> float:
        """The share of all processors' time, in percent."""
        elapsed_s = time.monotonic() - self._began_s
        used_s = _used_by_others_s() - self._used_s
        return 100 * used_s / (elapsed_s * (os.cpu_count() or 1))


def _used_by_others_s() -> float:
    times = psutil.cpu_times()
    return sum((times.user, times.nice, times.system)) - cpu_s(psutil.Process())
