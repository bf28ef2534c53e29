"""What many values were, in some dozens of bytes: a sum, the ends, and percentiles.

A sketch counts values in buckets that each reach 4 % further than the one before, so
that any percentile of any number of values is known to 2 %. Two sketches merge by
adding their counts, in whatever order, into exactly the sketch of all their values.
Values are whole numbers from 0 on: microseconds, or thousandths of a token a second.
"""

from __future__ import annotations

import math
from bisect import bisect_left
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass, field
from itertools import accumulate, chain, pairwise

GAMMA = 1.04
RELATIVE_ERROR = (GAMMA - 1) / (GAMMA + 1)
"""How far a percentile may lie from the value of that rank: 1.96 %."""

_PER_E = 1 / math.log(GAMMA)
_MIDDLE = 2 / (GAMMA + 1)
_HEAD = 4


@dataclass(frozen=True, slots=True)
class Sketch:
    """``total`` is the sum of the values, ``low`` and ``high`` the ends; all are exact.

    ``buckets`` maps 0 to the number of zeros, and each ``i`` from 1 on to the number of
    values in ``(GAMMA ** (i - 2), GAMMA ** (i - 1)]``; its keys are in order.
    """

    total: int = 0
    low: int = 0
    high: int = 0
    buckets: Mapping[int, int] = field(default_factory=dict)

    @property
    def count(self) -> int:
        return sum(self.buckets.values())

    def percentile(self, percent: int) -> float | None:
        """The value of nearest rank, within ``RELATIVE_ERROR``; None without values."""
        return self.percentiles(percent)[0] if self.buckets else None

    def percentiles(self, *percents: int) -> list[float]:
        """Several at once, of one value at least."""
        indices = list(self.buckets)
        reached = list(accumulate(self.buckets.values()))
        found = []
        for percent in percents:
            rank = max(1, -(-percent * reached[-1] // 100))
            middle = _middle(indices[bisect_left(reached, rank)])
            found.append(min(max(middle, self.low), self.high))
        return found


EMPTY = Sketch()


def of(values: Sequence[int], weight: int = 1) -> Sketch:
    """The sketch of ``values``, each counted ``weight`` times.

    A negative value counts as 0: a clock that was set between two stamps makes one.
    """
    if not values:
        return EMPTY
    low = min(values)
    if low < 0:
        return of([max(value, 0) for value in values], weight)
    buckets: dict[int, int] = {}
    for value in values:
        index = 1 + math.ceil(math.log(value) * _PER_E) if value else 0
        buckets[index] = buckets.get(index, 0) + weight
    return Sketch(sum(values) * weight, low, max(values), _in_order(buckets))


def merged(sketches: Iterable[Sketch]) -> Sketch:
    """The sketch of all values of ``sketches``."""
    full = [sketch for sketch in sketches if sketch.buckets]
    if len(full) <= 1:
        return full[0] if full else EMPTY
    buckets: dict[int, int] = {}
    for sketch in full:
        for index, count in sketch.buckets.items():
            buckets[index] = buckets.get(index, 0) + count
    return Sketch(
        total=sum(sketch.total for sketch in full),
        low=min(sketch.low for sketch in full),
        high=max(sketch.high for sketch in full),
        buckets=_in_order(buckets),
    )


def encode(sketch: Sketch) -> bytes:
    """LEB128 varints: total, low, the way to high, and the first bucket; then for each
    bucket the way from the one before, and its count."""
    first = next(iter(sketch.buckets), 0)
    ways = (b - a for a, b in pairwise([first, *sketch.buckets]))
    pairs = zip(ways, sketch.buckets.values(), strict=True)
    head = (sketch.total, sketch.low, sketch.high - sketch.low, first)
    packed = bytearray()
    for number in (*head, *chain.from_iterable(pairs)):
        while number > 0x7F:
            packed.append(number & 0x7F | 0x80)
            number >>= 7
        packed.append(number)
    return bytes(packed)


def decode(packed: bytes) -> Sketch:
    """The sketch that was encoded. Raises ``ValueError`` for anything else."""
    if packed[-1:] > b"\x7f":
        raise ValueError("a sketch that was cut off")
    head, at = _varints(packed, _HEAD)
    body = packed[at:]
    # Bytes are numbers already where all are small, which is nearly always.
    numbers = body if body.isascii() else _varints(body, len(body))[0]
    if not numbers or len(numbers) % 2:
        raise ValueError("not a sketch")
    total, low, reach, first = head
    indices = accumulate(numbers[2::2], initial=first + numbers[0])
    buckets = dict(zip(indices, numbers[1::2], strict=True))
    return Sketch(total, low, low + reach, buckets)


def _middle(index: int) -> float:
    return _MIDDLE * GAMMA ** (index - 1) if index else 0.0


def _in_order(buckets: dict[int, int]) -> dict[int, int]:
    return {index: buckets[index] for index in sorted(buckets)}


def _varints(packed: bytes, most: int) -> tuple[list[int], int]:
    """The first numbers, ``most`` at most, and where the one after them begins."""
    numbers: list[int] = []
    number = shift = 0
    for at, byte in enumerate(packed):
        if byte > 0x7F:
            number |= (byte & 0x7F) << shift
            shift += 7
            continue
        numbers.append(number | byte << shift)
        if len(numbers) == most:
            return numbers, at + 1
        number = shift = 0
    return numbers, len(packed)
