"""Samples become rollups of 5 minutes, those of an hour, those of a day.

Nothing is ever added to a rollup: it is counted anew from what lies below it, so that
doing it again changes nothing (docs/adr/0003-rollups.md).
"""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Sequence
from datetime import datetime, timedelta
from itertools import groupby, pairwise
from operator import itemgetter
from typing import Any

from django.db import connection, transaction

from collectors import schedule, sketch
from collectors.models import Sample, Unrolled
from collectors.models.rollups import from_column, to_column
from collectors.sketch import Sketch
from collectors.tally import COUNTS, SKETCHES, Tally, merged

MINUTES_5, HOUR, DAY = LEVELS_S = (300, 3_600, 86_400)

BATCH = 2_000
"""Marks to work off in one transaction: some tenths of a second of work."""

_COLUMNS = ("monitor_id", "start", *COUNTS, *SKETCHES)

Key = tuple[int, datetime]
"""A monitor's id and a bucket's start."""


def floor(moment: datetime, resolution_s: int) -> datetime:
    """The start of the bucket that ``moment`` lies in."""
    moment_ms = schedule.to_ms(moment)
    return schedule.from_ms(moment_ms - moment_ms % (resolution_s * 1000))


def mark(row: Sample) -> None:
    """Have ``row`` counted. Call it in the transaction that stores the row."""
    start = floor(row.due_at, MINUTES_5)
    Unrolled.objects.create(monitor_id=row.monitor_id, start=start)


def mark_range(start: datetime, end: datetime) -> None:
    """Have all samples due in ``[start, end)`` counted, again or for the first time."""
    with connection.cursor() as cursor:
        cursor.execute(
            """
            INSERT INTO collectors_unrolled (monitor_id, start, stored_at)
            SELECT DISTINCT monitor_id, date_bin('5 minutes', due_at, 'epoch'), now()
            FROM collectors_sample WHERE due_at >= %s AND due_at < %s
            ORDER BY 1, 2
            """,
            [start, end],
        )


def roll_up(batch: int = BATCH) -> int:
    """Work off the oldest marks; returns how many, 0 where another worker is at it.

    Only one may be: of two that count the same bucket, the one that looked first could
    write last.
    """
    with transaction.atomic(), connection.cursor() as cursor:
        cursor.execute(
            "SELECT pg_try_advisory_xact_lock(hashtext('collectors.rollups'))"
        )
        if cursor.fetchone() != (True,):
            return 0
        cursor.execute(
            """
            DELETE FROM collectors_unrolled WHERE id IN
                (SELECT id FROM collectors_unrolled ORDER BY id LIMIT %s)
            RETURNING monitor_id, start
            """,
            [batch],
        )
        marks = cursor.fetchall()
        # Each statement sees what is committed by then: all that was marked is there.
        if marks:
            _count_anew(set(marks))
        return len(marks)


def _count_anew(keys: set[Key]) -> None:
    _keep(MINUTES_5, _of_samples(keys))
    for finer_s, level_s in pairwise(LEVELS_S):
        keys = {(monitor_id, floor(start, level_s)) for monitor_id, start in keys}
        _keep(level_s, _of_rollups(finer_s, level_s, keys))


def _of_samples(keys: set[Key]) -> Iterator[tuple[Key, Tally]]:
    with connection.cursor() as cursor:
        cursor.execute(
            """
            SELECT b.monitor_id, b.start, s.* FROM unnest(%s::int[], %s::timestamptz[])
                AS b(monitor_id, start)
            CROSS JOIN LATERAL (
                SELECT count(*), count(*) FILTER (WHERE error <> ''),
                    count(*) FILTER (WHERE good), count(*) FILTER (WHERE NOT good),
                    array_agg(ttft_us) FILTER (WHERE error = ''),
                    array_agg(total_us) FILTER (WHERE error = ''),
                    array_agg(round(tokens_per_second * 1000)::int)
                        FILTER (WHERE error = ''),
                    array_agg(max_gap_us) FILTER (WHERE error = '')
                FROM collectors_sample WHERE monitor_id = b.monitor_id
                    AND due_at >= b.start AND due_at < b.start + interval '5 minutes'
                    AND due_at >= %s AND due_at < %s
                HAVING count(*) > 0
            ) AS s
            """,
            [*_arrays(keys), *_span(keys)],
        )
        for monitor_id, start, *rest in cursor.fetchall():
            counts, columns = rest[: len(COUNTS)], rest[len(COUNTS) :]
            tally = Tally(tuple(counts), tuple(map(_sketch, columns)))
            yield (monitor_id, start), tally


def _sketch(values: Sequence[int | None] | None) -> Sketch:
    return sketch.of([value for value in values or () if value is not None])


def _of_rollups(
    finer_s: int, level_s: int, keys: set[Key]
) -> Iterator[tuple[Key, Tally]]:
    with connection.cursor() as cursor:
        cursor.execute(
            f"""
            SELECT b.monitor_id, b.start, {", ".join((*COUNTS, *SKETCHES))}
            FROM unnest(%s::int[], %s::timestamptz[]) AS b(monitor_id, start)
            JOIN collectors_rollup AS r ON resolution_s = %s
                AND r.monitor_id = b.monitor_id AND r.start >= b.start
                AND r.start < b.start + %s * interval '1 second'
            ORDER BY 1, 2
            """,
            [*_arrays(keys), finer_s, level_s],
        )
        for key, rows in groupby(cursor.fetchall(), key=itemgetter(0, 1)):
            yield key, merged(_tally(row[2:]) for row in rows)


def _tally(columns: Sequence[Any]) -> Tally:
    counts, packed = columns[: len(COUNTS)], columns[len(COUNTS) :]
    return Tally(tuple(counts), tuple(map(from_column, packed)))


def _keep(resolution_s: int, found: Iterable[tuple[Key, Tally]]) -> None:
    """Store what buckets come to, over what is there.

    One that counts fewer samples than the rollup it would replace is not whole:
    retention has taken what lay below. Then the rollup stands.
    """
    rows = [
        (*key, *tally.counts, *map(to_column, tally.sketches)) for key, tally in found
    ]
    if not rows:
        return
    types = ("int", "timestamptz", *["int"] * len(COUNTS), *["bytea"] * len(SKETCHES))
    names = ", ".join(_COLUMNS)
    with connection.cursor() as cursor:
        cursor.execute(
            f"""
            INSERT INTO collectors_rollup AS r (resolution_s, {names})
            SELECT %s, * FROM unnest({", ".join(f"%s::{type}[]" for type in types)})
            ON CONFLICT (monitor_id, resolution_s, start) DO UPDATE SET
                {", ".join(f"{c} = excluded.{c}" for c in _COLUMNS[2:])}
            WHERE r.samples <= excluded.samples
            """,
            [resolution_s, *(list(column) for column in zip(*rows, strict=True))],
        )


def _arrays(keys: set[Key]) -> tuple[list[int], list[datetime]]:
    ordered = sorted(keys)
    return [monitor_id for monitor_id, _ in ordered], [start for _, start in ordered]


def _span(keys: set[Key]) -> tuple[datetime, datetime]:
    """All of ``keys`` lie in it; it lets the planner leave out other partitions."""
    starts = [start for _, start in keys]
    return min(starts), max(starts) + timedelta(seconds=MINUTES_5)
