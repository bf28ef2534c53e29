"""Keeps one answer from holding up the others that are read on the same loop.

A reader whose bytes have all come already never waits, so nothing else would run
until it is through. It has to give way by itself.
"""

from __future__ import annotations

from collections.abc import Iterator

from probes.wire import ProtocolError

MAX_PARTS = 400_000
"""The most events and deltas of one answer: some 200,000 events of one delta each."""

PIECE_BYTES = 16 * 1024
_STEPS_A_TURN = 256
_BYTES_A_STEP = PIECE_BYTES // _STEPS_A_TURN


class Pace:
    """Counts what one answer costs; each method tells whether it is time to give way.

    A turn is 16 KiB, or 256 chunks or parts, whichever comes first: a few ms.
    """

    __slots__ = ("_parts", "_steps")

    def __init__(self) -> None:
        self._steps = 0
        self._parts = 0

    def chunk(self, size: int) -> bool:
        """Count one chunk of ``size`` bytes."""
        return self._step(1 + size // _BYTES_A_STEP)

    def part(self) -> bool:
        """Count one event or delta. Raises ProtocolError where they are too many."""
        self._parts += 1
        if self._parts > MAX_PARTS:
            raise ProtocolError(f"the answer has more than {MAX_PARTS} parts")
        return self._step(1)

    def _step(self, count: int) -> bool:
        self._steps += count
        if self._steps < _STEPS_A_TURN:
            return False
        self._steps = 0
        return True


def in_pieces(chunk: bytes) -> Iterator[bytes]:
    """Cut a chunk into pieces that are decoded quickly; most chunks are one."""
    if len(chunk) <= PIECE_BYTES:
        yield chunk
        return
    for start in range(0, len(chunk), PIECE_BYTES):
        yield chunk[start : start + PIECE_BYTES]
