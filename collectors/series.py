"""Reads: what pages and judgements need, each in one query."""

from __future__ import annotations

from collections.abc import Sequence
from datetime import datetime, timedelta
from operator import itemgetter

from django.db import connection
from django.db.models import Q

from collectors.models import Gap, Monitor, Objective, Sample

SPARK_POINTS = 60
TABLE_ROWS = 50
LOOK_BACK = timedelta(days=8)
"""How far the search for a monitor's newest sample goes."""


def objectives_in_force(now: datetime) -> dict[int, Objective]:
    """The limits in force at ``now``, by scenario id."""
    rows = (
        Objective.objects.filter(valid_from__lte=now)
        .order_by("scenario_id", "-valid_from", "-id")
        .distinct("scenario_id")
    )
    return {row.scenario_id: row for row in rows}


def objective_in_force(scenario_id: int, at: datetime) -> Objective | None:
    return (
        Objective.objects.filter(scenario_id=scenario_id, valid_from__lte=at)
        .order_by("-valid_from", "-id")
        .first()
    )


def objectives_between(
    monitor: Monitor, start: datetime, end: datetime
) -> list[Objective]:
    """The limits in force at ``start`` and each that replaced them before ``end``."""
    rows = list(
        Objective.objects.filter(
            scenario_id=monitor.scenario_id, valid_from__lte=end
        ).order_by("valid_from", "id")
    )
    first = max((i for i, row in enumerate(rows) if row.valid_from <= start), default=0)
    return rows[first:]


def latest(monitors: Sequence[Monitor], now: datetime) -> dict[int, Sample]:
    """The newest sample of each monitor, by monitor id."""
    # Not ``raw()``: it does not know composite primary keys.
    with connection.cursor() as cursor:
        cursor.execute(
            """
            SELECT s.* FROM unnest(%s::int[]) AS m(id)
            CROSS JOIN LATERAL (
                SELECT * FROM collectors_sample
                WHERE monitor_id = m.id AND due_at > %s
                ORDER BY due_at DESC LIMIT 1
            ) AS s
            """,
            [[m.pk for m in monitors], now - LOOK_BACK],
        )
        names = [column.name for column in cursor.description]
        rows = [Sample(**dict(zip(names, row, strict=True))) for row in cursor]
    return {row.monitor_id: row for row in rows}


def sparks(
    monitors: Sequence[Monitor], now: datetime
) -> dict[int, list[tuple[int, float | None]]]:
    """The last ``SPARK_POINTS`` values of each monitor's leading figure, oldest first.

    Each with when it was due, in Unix milliseconds. A failed probe has no value.
    """
    found: dict[int, list[tuple[int, float | None]]] = {m.pk: [] for m in monitors}
    with connection.cursor() as cursor:
        cursor.execute(
            """
            SELECT m.id, array_agg((extract(epoch FROM s.due_at) * 1000)::bigint),
                array_agg(CASE WHEN s.error = '' THEN CASE m.figure
                    WHEN 'ttft_ms' THEN s.ttft_us / 1000.0::float8
                    WHEN 'total_ms' THEN s.total_us / 1000.0::float8
                    ELSE s.tokens_per_second END END)
            FROM unnest(%s::int[], %s::text[]) AS m(id, figure)
            CROSS JOIN LATERAL (
                SELECT due_at, error, ttft_us, total_us, tokens_per_second
                FROM collectors_sample
                WHERE monitor_id = m.id AND due_at > %s
                ORDER BY due_at DESC LIMIT %s
            ) AS s
            GROUP BY m.id
            """,
            [
                [m.pk for m in monitors],
                [m.scenario.leading for m in monitors],
                now - LOOK_BACK,
                SPARK_POINTS,
            ],
        )
        for monitor_id, due_ms, values in cursor.fetchall():
            found[monitor_id] = sorted(
                zip(due_ms, values, strict=True), key=itemgetter(0)
            )
    return found


def gaps(monitor: Monitor, start: datetime, end: datetime) -> list[Gap]:
    inside = Q(last_due_at__gte=start, first_due_at__lte=end)
    return list(Gap.objects.filter(inside, monitor=monitor).order_by("first_due_at"))


def last_samples(monitor: Monitor, start: datetime, end: datetime) -> list[Sample]:
    """The newest samples, newest first."""
    rows = Sample.objects.filter(monitor=monitor, due_at__gte=start, due_at__lte=end)
    return list(rows.order_by("-due_at")[:TABLE_ROWS])


def samples_since(monitor: Monitor, since: datetime, end: datetime) -> list[Sample]:
    """Samples of slots due after ``since``, oldest first."""
    rows = Sample.objects.filter(monitor=monitor, due_at__gt=since, due_at__lte=end)
    return list(rows.order_by("due_at")[:5000])
