"""How monitors kept their limits: good samples of those judged, and how many there are.

Read from rollups, the coarsest that fit: of 90 days, some hours at both ends and the
days between.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from datetime import datetime, timedelta

from django.db import connection

from collectors.rollups import HOUR, LEVELS_S, MINUTES_5, floor

FINE_UP_TO = timedelta(days=2)
"""The ends of a longer stretch need be no more exact than to the hour."""

Piece = tuple[int, datetime, datetime]
"""Rollups of so many seconds, from a start to before another."""


@dataclass(frozen=True, slots=True)
class Share:
    """``good + bad`` samples were judged; ``missed`` slots have no sample."""

    samples: int
    failed: int
    good: int
    bad: int
    missed: int

    @property
    def attainment(self) -> float | None:
        judged = self.good + self.bad
        return self.good / judged if judged else None

    @property
    def coverage(self) -> float | None:
        due = self.samples + self.missed
        return self.samples / due if due else None


def pieces(start: datetime, end: datetime) -> list[Piece]:
    """The fewest stretches of rollups that make up ``start`` to ``end``.

    The stretch is widened to whole hours, a short one to five minutes.
    """
    finest_s = HOUR if end - start > FINE_UP_TO else MINUTES_5
    levels = [level_s for level_s in LEVELS_S if level_s >= finest_s]
    return _pieces(floor(start, finest_s), _ceil(end, finest_s), levels)


def _pieces(start: datetime, end: datetime, levels: Sequence[int]) -> list[Piece]:
    *finer, coarsest_s = levels
    first, last = _ceil(start, coarsest_s), floor(end, coarsest_s)
    if first >= last:
        return _pieces(start, end, finer) if finer and start < end else []
    middle = [(coarsest_s, first, last)]
    if not finer:
        return middle
    return [*_pieces(start, first, finer), *middle, *_pieces(last, end, finer)]


def _ceil(moment: datetime, resolution_s: int) -> datetime:
    below = floor(moment, resolution_s)
    return below if below == moment else below + timedelta(seconds=resolution_s)


def shares_between(start: datetime, end: datetime) -> dict[int, Share]:
    """How each monitor kept its limits, by monitor id. ``start`` is before ``end``."""
    found = pieces(start, end)
    missed = _missed(found[0][1], found[-1][2])
    with connection.cursor() as cursor:
        cursor.execute(
            """
            SELECT m.id, coalesce(sum(r.samples), 0), coalesce(sum(r.failed), 0),
                coalesce(sum(r.good), 0), coalesce(sum(r.bad), 0)
            FROM unnest(%s::int[], %s::timestamptz[], %s::timestamptz[])
                AS p(resolution_s, first, until)
            CROSS JOIN collectors_monitor AS m
            CROSS JOIN LATERAL (
                -- Summed here, so that each stretch of a monitor is looked up by index:
                -- a join of them all would read the whole table.
                SELECT sum(samples) AS samples, sum(failed) AS failed,
                    sum(good) AS good, sum(bad) AS bad
                FROM collectors_rollup WHERE monitor_id = m.id
                    AND resolution_s = p.resolution_s
                    AND start >= p.first AND start < p.until
            ) AS r
            GROUP BY m.id ORDER BY m.id
            """,
            [list(column) for column in zip(*found, strict=True)],
        )
        return {
            monitor_id: Share(samples, failed, good, bad, missed.get(monitor_id, 0))
            for monitor_id, samples, failed, good, bad in cursor.fetchall()
        }


def _missed(start: datetime, end: datetime) -> dict[int, int]:
    """Slots without a sample that were due in ``[start, end)``, by monitor id."""
    with connection.cursor() as cursor:
        cursor.execute(
            """
            SELECT monitor_id, sum(
                least(ceil(extract(epoch FROM %s - first_due_at) / interval_s), slots)
                - greatest(ceil(extract(epoch FROM %s - first_due_at) / interval_s), 0)
            )::int
            FROM collectors_gap WHERE last_due_at >= %s AND first_due_at < %s
            GROUP BY monitor_id
            """,
            [end, start, start, end],
        )
        return dict(cursor.fetchall())
