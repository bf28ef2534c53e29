"""Kernel receive stamps in terms of the monotonic clock."""

from __future__ import annotations

import socket
import struct
import sys
import time

# Not in the socket module. The number is that of every Linux but Alpha, MIPS, PA-RISC
# and SPARC; where the option is refused or means something else, no stamp arrives.
SO_TIMESTAMPNS = 35

_TIMESPEC = struct.Struct("qq")
ANCILLARY_BYTES = socket.CMSG_SPACE(_TIMESPEC.size)
_STEP_NS = 50_000
_SAMPLES = 8


class RealToMonotonic:
    """Converts the kernel's wall-clock stamps to the monotonic clock.

    The two clocks differ by a constant but for steps (NTP, a person), so the
    difference is measured with care once and again only when it seems to have moved:
    one quick look is wrong by as long as the thread was put aside within it.
    """

    def __init__(self) -> None:
        self._offset_ns = _measure_offset_ns()

    def convert(self, real_ns: int) -> int:
        """Return the monotonic time in ns of a wall-clock time that is just past."""
        if abs(_look_at_offset_ns() - self._offset_ns) > _STEP_NS:
            offset_ns = _measure_offset_ns()
            if abs(offset_ns - self._offset_ns) > _STEP_NS:
                self._offset_ns = offset_ns
        return real_ns - self._offset_ns


def _look_at_offset_ns() -> int:
    return time.time_ns() - time.monotonic_ns()


def _measure_offset_ns() -> int:
    """Return wall clock minus monotonic clock, from the quickest of a few looks."""
    looks = []
    for _ in range(_SAMPLES):
        before = time.monotonic_ns()
        real = time.time_ns()
        after = time.monotonic_ns()
        looks.append((after - before, real - (before + after) // 2))
    return min(looks)[1]


def ask_for_stamps(sock: socket.socket) -> None:
    """Ask the kernel to stamp what ``sock`` receives; without success elsewhere."""
    if sys.platform == "linux":
        try:
            sock.setsockopt(socket.SOL_SOCKET, SO_TIMESTAMPNS, 1)
        except OSError:
            return


def stamp_ns(ancillary: list[tuple[int, int, bytes]]) -> int | None:
    """Return the wall-clock receive stamp among a receive's ancillary data."""
    for level, kind, data in ancillary:
        if level == socket.SOL_SOCKET and kind == SO_TIMESTAMPNS:
            seconds, nanoseconds = _TIMESPEC.unpack_from(data)
            return int(seconds) * 1_000_000_000 + int(nanoseconds)
    return None
