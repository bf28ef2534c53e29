"""Whether a sample is good: it is complete and keeps every limit. Values only."""

from __future__ import annotations

from dataclasses import dataclass


@dataclass(frozen=True, slots=True, kw_only=True)
class Limits:
    """A scenario's limits; ``None`` is no limit."""

    ttft_ms_max: float | None = None
    tokens_per_second_min: float | None = None
    total_ms_max: float | None = None
    max_gap_ms_max: float | None = None


@dataclass(frozen=True, slots=True, kw_only=True)
class Figures:
    """What of a sample can break a limit."""

    ok: bool
    ttft_ms: float | None = None
    tokens_per_second: float | None = None
    total_ms: float | None = None
    max_gap_ms: float | None = None
    buffered: bool = False


def is_good(figures: Figures, limits: Limits) -> bool:
    """A figure that an answer is too short to have breaks no limit; a rate that is
    missing because something held the stream back does."""
    if not figures.ok or (figures.buffered and limits.tokens_per_second_min):
        return False
    ceilings = (
        (figures.ttft_ms, limits.ttft_ms_max),
        (figures.total_ms, limits.total_ms_max),
        (figures.max_gap_ms, limits.max_gap_ms_max),
    )
    if any(v is not None and top is not None and v > top for v, top in ceilings):
        return False
    rate, floor = figures.tokens_per_second, limits.tokens_per_second_min
    return rate is None or floor is None or rate >= floor
