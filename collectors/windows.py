"""A monitor's figures over a stretch of time, in few enough buckets to be drawn.

Short stretches are read from samples, long ones from rollups, so that a chart of a year
costs what a chart of a day does.
"""

from __future__ import annotations

from collections.abc import Iterable
from dataclasses import dataclass
from datetime import datetime
from itertools import groupby

from django.db import connection

from collectors import retention, rollups, sketch, spreads
from collectors.models import Monitor
from collectors.models.rollups import from_column
from collectors.sketch import Sketch
from collectors.spreads import FIGURES, Points, Spreads

POINTS = 750
MAX_POINTS = 1_500
MAX_SAMPLES = 10_000
"""A stretch with more slots than this is read from rollups."""
MAX_ROLLUPS = 2_500

_MS = "(extract(epoch FROM {}) * 1000)::bigint"
"""Times come as numbers: as such they are sent on, and reading thousands is quick."""


@dataclass(frozen=True, slots=True)
class Bucket:
    """What was due in one bucket that begins at ``at_ms`` (Unix)."""

    at_ms: int
    samples: int
    failed: int
    points: Points


@dataclass(frozen=True, slots=True)
class Window:
    """Buckets that have samples, oldest first, and all of them together."""

    start: datetime
    end: datetime
    bucket_s: int
    buckets: list[Bucket]
    whole: Spreads


def read(
    monitor: Monitor,
    *,
    start: datetime,
    end: datetime,
    now: datetime,
    points: int = POINTS,
) -> Window:
    """What was due from ``start`` to ``end``, in ``points`` buckets or fewer.

    ``now`` decides what retention has left.
    """
    span_s = (end - start).total_seconds()
    points = max(2, min(points, MAX_POINTS))
    if span_s / monitor.interval_s <= MAX_SAMPLES and retention.is_kept(
        None, start, now
    ):
        bucket_s = _bucket_s(span_s, monitor.interval_s, points)
        return _of_samples(monitor, start, end, bucket_s)
    level_s = next(
        (
            level_s
            for level_s in rollups.LEVELS_S
            if span_s / level_s <= MAX_ROLLUPS
            and retention.is_kept(level_s, start, now)
        ),
        rollups.DAY,
    )
    bucket_s = _bucket_s(span_s, level_s, points)
    return _of_rollups(monitor, start, end, level_s, bucket_s)


def _bucket_s(span_s: float, unit_s: int, points: int) -> int:
    """Whole units, so that buckets hold equally much; one is cut by both ends."""
    return unit_s * max(1, -(-int(span_s) // (unit_s * (points - 1))))


def _of_samples(
    monitor: Monitor, start: datetime, end: datetime, bucket_s: int
) -> Window:
    figures = ", ".join(figure.sql for figure in FIGURES.values())
    with connection.cursor() as cursor:
        cursor.execute(
            f"""
            SELECT {_MS.format("date_bin(%s * interval '1 second', due_at, %s)")} AS at,
                count(*), count(*) FILTER (WHERE error <> ''), {figures}
            FROM collectors_sample
            WHERE monitor_id = %s AND due_at >= %s AND due_at <= %s
            GROUP BY GROUPING SETS ((at), ()) ORDER BY at
            """,
            [bucket_s, monitor.next_due_at, monitor.pk, start, end],
        )
        # The row of all buckets together has none of its own, and NULL sorts last.
        *rows, (_, _, _, *whole) = cursor.fetchall()
    buckets = [
        Bucket(at_ms, samples, failed, spreads.points_of_row(columns))
        for at_ms, samples, failed, *columns in rows
    ]
    return Window(start, end, bucket_s, buckets, spreads.spreads_of_row(whole))


def _of_rollups(
    monitor: Monitor, start: datetime, end: datetime, level_s: int, bucket_s: int
) -> Window:
    columns = ", ".join(figure.rollup for figure in FIGURES.values())
    with connection.cursor() as cursor:
        cursor.execute(
            f"""
            SELECT {_MS.format("start")}, samples, failed, {columns}
            FROM collectors_rollup WHERE monitor_id = %s AND resolution_s = %s
                AND start >= %s AND start < %s ORDER BY start
            """,
            [monitor.pk, level_s, rollups.floor(start, bucket_s), end],
        )
        rows = cursor.fetchall()
    buckets, parts = [], []
    for number, group in groupby(rows, lambda row: row[0] // (bucket_s * 1000)):
        _, samples, failed, *packed = zip(*group, strict=True)
        parts.append(_merged(packed))
        buckets.append(
            Bucket(
                number * bucket_s * 1000,
                sum(samples),
                sum(failed),
                spreads.points_of_sketches(parts[-1]),
            )
        )
    whole = {name: sketch.merged(part[name] for part in parts) for name in FIGURES}
    return Window(start, end, bucket_s, buckets, spreads.spreads_of_sketches(whole))


def _merged(columns: Iterable[Iterable[bytes | None]]) -> dict[str, Sketch]:
    return {
        name: sketch.merged(map(from_column, column))
        for name, column in zip(FIGURES, columns, strict=True)
    }
