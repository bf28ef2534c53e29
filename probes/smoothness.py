"""How evenly the tokens of one stream came: pure functions of its timeline.

A timeline is a pair for each token-bearing chunk, in order: milliseconds, and tokens.
Rates read a chunk's tokens as made evenly since the chunk before it, so that a figure
does not depend on where a window happens to cut between two chunks.
"""

from __future__ import annotations

from bisect import bisect_left
from collections.abc import Sequence
from dataclasses import dataclass
from itertools import accumulate, pairwise

Timeline = Sequence[tuple[float, float]]

STALL_MS = 500.0
READING_TOKENS_PER_SECOND = 10.0
_WINDOW_MS = 1000.0
_MIN_CHUNKS_FOR_TAIL = 4


@dataclass(frozen=True, slots=True, kw_only=True)
class Gaps:
    """Waits between token-bearing chunks; null with fewer than two of them."""

    p50_ms: float | None = None
    p95_ms: float | None = None
    max_ms: float | None = None
    stall_count: int | None = None


def gaps(timeline: Timeline) -> Gaps:
    """Return the waits' percentiles, the longest, and how many were stalls."""
    waits = sorted(later - earlier for (earlier, _), (later, _) in pairwise(timeline))
    if not waits:
        return Gaps()
    return Gaps(
        p50_ms=_percentile(waits, 0.50),
        p95_ms=_percentile(waits, 0.95),
        max_ms=waits[-1],
        stall_count=sum(wait > STALL_MS for wait in waits),
    )


def _percentile(ordered: Sequence[float], share: float) -> float:
    position = share * (len(ordered) - 1)
    below = int(position)
    above = min(below + 1, len(ordered) - 1)
    return ordered[below] + (ordered[above] - ordered[below]) * (position - below)


def tokens_per_second(timeline: Timeline) -> float | None:
    """Return tokens after the first chunk over the time since the first chunk."""
    if not timeline:
        return None
    span_ms = timeline[-1][0] - timeline[0][0]
    if span_ms <= 0:
        return None
    return sum(tokens for _, tokens in timeline[1:]) / span_ms * 1000


def tail_speed_ratio(timeline: Timeline) -> float | None:
    """Return the rate of the last third of the tokens over that of the first third.

    Null with fewer than four chunks, or where either third took no time.
    """
    if len(timeline) < _MIN_CHUNKS_FOR_TAIL:
        return None
    times, totals = _curve(timeline)
    first_ms = _at(totals, times, totals[-1] / 3) - times[0]
    last_ms = times[-1] - _at(totals, times, totals[-1] * 2 / 3)
    return first_ms / last_ms if first_ms > 0 and last_ms > 0 else None


def slowest_1s_tokens_per_second(timeline: Timeline) -> float | None:
    """Return the lowest rate over any one second of the stream, null if shorter."""
    if not timeline or timeline[-1][0] - timeline[0][0] < _WINDOW_MS:
        return None
    times, totals = _curve(timeline)
    # Tokens in a window change linearly with its start between these starts, so the
    # lowest number is at one of them.
    starts = [t for t in times if t + _WINDOW_MS <= times[-1]]
    starts += [t - _WINDOW_MS for t in times if t - _WINDOW_MS >= times[0]]
    return min(
        _at(times, totals, start + _WINDOW_MS) - _at(times, totals, start)
        for start in starts
    )


def rebuffer_s(
    timeline: Timeline, rate: float = READING_TOKENS_PER_SECOND
) -> float | None:
    """Return the seconds a reader at ``rate`` tokens/s waits after the first token."""
    if not timeline:
        return None
    waited_ms = 0.0
    read_until_ms = timeline[0][0]
    for at_ms, tokens in timeline:
        if at_ms > read_until_ms:
            waited_ms += at_ms - read_until_ms
            read_until_ms = at_ms
        read_until_ms += tokens / rate * 1000
    return waited_ms / 1000


def _curve(timeline: Timeline) -> tuple[list[float], list[float]]:
    """Return the chunks' times, and the tokens since the first chunk at each."""
    later = (tokens for _, tokens in timeline[1:])
    return [at_ms for at_ms, _ in timeline], list(accumulate(later, initial=0.0))


def _at(xs: Sequence[float], ys: Sequence[float], x: float) -> float:
    """Return y at ``x`` on the line through the points; ``xs`` never falls."""
    right = min(max(bisect_left(xs, x), 1), len(xs) - 1)
    left = right - 1
    width = xs[right] - xs[left]
    if width <= 0:
        return ys[right]
    return ys[left] + (ys[right] - ys[left]) * (x - xs[left]) / width
