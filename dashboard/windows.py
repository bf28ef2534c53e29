"""The wire format of charts: a window's buckets as columns. See ``payloads``."""

from __future__ import annotations

from collections.abc import Sequence
from datetime import datetime
from typing import TypedDict

from collectors import windows
from collectors.models import Monitor
from collectors.spreads import FIGURES, Point, Spread

POINTS = windows.POINTS


class FigurePayload(TypedDict):
    """A column of the chart: the median of each bucket, and its bad tail.

    ``tail`` is the 95th percentile of a duration and the 5th of a rate.
    """

    median: list[float | None]
    tail: list[float | None]


class EndsPayload(TypedDict):
    """The least and the greatest value of each bucket, so that no spike is lost."""

    low: list[float | None]
    high: list[float | None]


class SummaryPayload(TypedDict):
    """A figure over the whole window. ``far_tail`` is the 99th percentile of a
    duration, the 1st of a rate, and None for fewer than 300 values."""

    count: int
    mean: float | None
    low: float | None
    high: float | None
    median: float | None
    tail: float | None
    far_tail: float | None


class WindowPayload(TypedDict):
    """Columns with one entry a bucket that has samples; ``due_ms`` is its start."""

    monitor: int
    from_ms: int
    to_ms: int
    bucket_s: int
    due_ms: list[int]
    count: list[int]
    failed: list[int]
    figures: dict[str, FigurePayload]
    ends: dict[str, EndsPayload]
    summary: dict[str, SummaryPayload]


def ms(moment: datetime) -> int:
    return round(moment.timestamp() * 1000)


def payload(
    monitor: Monitor, start: datetime, end: datetime, now: datetime, points: int
) -> WindowPayload:
    found = windows.read(monitor, start=start, end=end, now=now, points=points)
    columns = {name: [b.points[name] for b in found.buckets] for name in FIGURES}
    return {
        "monitor": monitor.pk,
        "from_ms": ms(start),
        "to_ms": ms(end),
        "bucket_s": found.bucket_s,
        "due_ms": [bucket.at_ms for bucket in found.buckets],
        "count": [bucket.samples for bucket in found.buckets],
        "failed": [bucket.failed for bucket in found.buckets],
        "figures": {name: _figure(column) for name, column in columns.items()},
        "ends": {name: _ends(column) for name, column in columns.items()},
        "summary": {name: _summary(spread) for name, spread in found.whole.items()},
    }


def _figure(column: Sequence[Point]) -> FigurePayload:
    return {"median": [s.median for s in column], "tail": [s.tail for s in column]}


def _ends(column: Sequence[Point]) -> EndsPayload:
    return {"low": [s.low for s in column], "high": [s.high for s in column]}


def _summary(spread: Spread) -> SummaryPayload:
    return {
        "count": spread.count,
        "mean": spread.mean,
        "low": spread.low,
        "high": spread.high,
        "median": spread.median,
        "tail": spread.tail,
        "far_tail": spread.far_tail,
    }
