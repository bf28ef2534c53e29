"""A token timeline in at most 2 KB, to be kept with its sample.

Each point becomes two LEB128 varints: the wait since the point before it, in units of
10 µs, and its tokens, in hundredths. A timeline too long for the room is thinned by
joining neighbours: tokens add up and the later time stands, as if both had come then.
"""

from __future__ import annotations

from collections.abc import Iterator, Sequence

MAX_BYTES = 2048
_UNITS_A_MS = 100
_UNITS_A_TOKEN = 100
_FORMAT = b"\x01"

Point = tuple[float, float]
"""Milliseconds from sent, and tokens."""


def encode(timeline: Sequence[Point]) -> bytes:
    """``timeline`` (in order of time) as at most ``MAX_BYTES`` bytes."""
    points = list(timeline)
    while len(packed := _pack(points)) > MAX_BYTES:
        points = _halved(points)
    return packed


def decode(packed: bytes) -> list[Point]:
    """The points of ``encode``'s answer, times exact to 0.01 ms.

    Raises ``ValueError`` for anything else.
    """
    if packed[:1] != _FORMAT:
        raise ValueError("not a token timeline of a known format")
    numbers = list(_numbers(packed[1:]))
    points = []
    at = 0
    for wait, tokens in zip(numbers[::2], numbers[1::2], strict=True):
        at += wait
        points.append((at / _UNITS_A_MS, tokens / _UNITS_A_TOKEN))
    return points


def _pack(points: Sequence[Point]) -> bytes:
    packed = bytearray(_FORMAT)
    before = tokens_before = 0
    total = 0.0
    for at_ms, tokens in points:
        at = max(round(at_ms * _UNITS_A_MS), before)
        total += tokens
        # Rounding the running total keeps shared tokens from adding up wrongly.
        tokens_now = round(total * _UNITS_A_TOKEN)
        packed += _varint(at - before) + _varint(tokens_now - tokens_before)
        before, tokens_before = at, tokens_now
    return bytes(packed)


def _halved(points: Sequence[Point]) -> list[Point]:
    """Neighbours joined, but for the first point: TTFT stays what it was."""
    first, rest = points[0], points[1:]
    pairs = [rest[i : i + 2] for i in range(0, len(rest), 2)]
    return [first, *((pair[-1][0], sum(t for _, t in pair)) for pair in pairs)]


def _varint(value: int) -> bytes:
    out = bytearray()
    while value > 0x7F:
        out.append(value & 0x7F | 0x80)
        value >>= 7
    out.append(value)
    return bytes(out)


def _numbers(packed: bytes) -> Iterator[int]:
    value = shift = 0
    for byte in packed:
        value |= (byte & 0x7F) << shift
        if byte & 0x80:
            shift += 7
        else:
            yield value
            value = shift = 0
    if shift:
        raise ValueError("a token timeline that is cut short")
