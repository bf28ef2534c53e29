"""The measuring of `storage`, inside Django. Prints its rows as one line of JSON."""

from __future__ import annotations

import dataclasses
import itertools
import json
import statistics
import sys
import time
from collections.abc import Callable
from concurrent.futures import ThreadPoolExecutor
from datetime import datetime, timedelta
from random import Random

from django.core.management import call_command
from django.db import connection
from django.utils import timezone

from collectors import generate, history, partitions, retention, rollups, series, store
from collectors.history import Condition, Profile
from collectors.models import Monitor, Sample, Slot
from collectors.spreads import FIGURES
from dashboard import attainment, payloads
from probes.types import Measurement
from tests.bench.report import Row

MONITORS = 200
DAYS = 365
ROUNDS = 20
THREADS = 8
MINUTES_RECORDED = 10
DAY = timedelta(days=1)


def main(raw_days: int) -> None:
    call_command("migrate", verbosity=0)
    call_command("seed", stdout=sys.stderr)
    now = timezone.now()
    rows = [*fill(now), *record(now), *roll_up(now), *sizes(now), *reads(now, raw_days)]
    print(json.dumps([dataclasses.asdict(row) for row in rows]))


def sql(query: str, *parameters: float | datetime) -> list[tuple[float, ...]]:
    with connection.cursor() as cursor:
        cursor.execute(query, parameters)
        return cursor.fetchall() if cursor.description else []


def took_s(work: Callable[[], object]) -> float:
    start = time.perf_counter()
    work()
    return time.perf_counter() - start


def median_ms(work: Callable[[], object]) -> float:
    work()
    return statistics.median(took_s(work) for _ in range(ROUNDS)) * 1000


def fill(now: datetime) -> list[Row]:
    days = generate.generate(monitors=MONITORS, days=DAYS, interval_s=60, now=now)
    seconds = took_s(lambda: list(days))
    [[samples]] = sql("SELECT count(*) FROM collectors_sample")
    [[made]] = sql("SELECT count(*) FROM collectors_rollup")
    rate = (samples + made) / seconds
    return [
        Row(name="samples", value=samples, unit="rows"),
        Row(name="stored in bulk, samples and rollups", value=rate, unit="rows/s"),
    ]


def record(now: datetime) -> list[Row]:
    """By `store.record`, as a worker does: slot, sample, timeline, mark and sinks."""
    first = rollups.floor(now, rollups.HOUR) + timedelta(days=1)
    partitions.ensure(first)
    monitors = list(Monitor.objects.select_related("scenario"))
    objectives = series.objectives_in_force(now)
    slots = [
        Slot(monitor=m, due_at=at, interval_s=60, give_up_at=at + DAY)
        for at in (first + n * timedelta(minutes=1) for n in range(MINUTES_RECORDED))
        for m in monitors
    ]
    Slot.objects.bulk_create(slots)
    rng = Random(1)

    def store_one(slot: Slot, measurement: Measurement) -> None:
        row = store.to_row(
            measurement,
            monitor_id=slot.monitor_id,
            due_at=slot.due_at,
            started_at=slot.due_at,
        )
        store.judged(row, measurement, objectives[slot.monitor.scenario_id])
        assert store.record(row, measurement)
        connection.close()

    answers = [answer(slot.monitor, rng) for slot in slots]
    with ThreadPoolExecutor(THREADS) as pool:
        seconds = took_s(lambda: list(pool.map(store_one, slots, answers)))
    return [
        Row(
            name=f"stored one by one, {THREADS} threads",
            value=len(slots) / seconds,
            unit="samples/s",
            goal=f"{MONITORS / 10:.0f}: {MONITORS} monitors at 10 s",
        )
    ]


def answer(monitor: Monitor, rng: Random) -> Measurement:
    """One with the tokens' times, as many tokens as the scenario lets it have."""
    profile = Profile(
        model="gpt-4.1-mini-2025-04-14",
        ttft_ms=400,
        tokens_per_second=50,
        input_tokens=monitor.scenario.input_tokens,
        output_tokens=monitor.scenario.max_tokens,
    )
    found = history.draw(profile, 12, Condition.CALM, rng)
    waits = (rng.lognormvariate(3, 0.5) for _ in range(profile.output_tokens - 1))
    times = itertools.accumulate(waits, initial=found.ttft_ms or 0.0)
    timeline = tuple((at_ms, 1.0) for at_ms in times) if found.ttft_ms else ()
    return dataclasses.replace(found, timeline=timeline)


def roll_up(now: datetime) -> list[Row]:
    """One whole day counted anew, and what was recorded above."""
    day = rollups.floor(now, rollups.DAY) - DAY
    rollups.mark_range(day, day + DAY)
    seconds = took_s(lambda: list(iter(rollups.roll_up, 0)))
    [[samples]] = sql(
        "SELECT count(*) FROM collectors_sample WHERE due_at >= %s AND due_at < %s",
        day,
        day + DAY,
    )
    return [Row(name="rolled up", value=samples / seconds, unit="samples/s")]


def sizes(now: datetime) -> list[Row]:
    """With indexes: a day's samples as they came and packed as days over are, and the
    timelines that were recorded above."""
    as_it_came, packed = day_of_samples(now)
    timeline = bytes_a_row(f"collectors_timeline_{now + DAY:%Y%m%d}")
    rollup = bytes_a_row("collectors_rollup")
    return [
        Row(name="a sample, day over", value=packed, unit="bytes", goal="<= 200"),
        Row(name="a sample, today's", value=as_it_came, unit="bytes"),
        Row(name="a token timeline", value=timeline, unit="bytes"),
        Row(name="a rollup", value=rollup, unit="bytes"),
    ]


def day_of_samples(now: datetime) -> tuple[float, float]:
    """Bytes a row of yesterday's samples, stored again in the order of their slots."""
    yesterday = rollups.floor(now, rollups.DAY) - DAY
    then = yesterday + 9 * DAY
    partitions.ensure(then, days_ahead=0)
    columns = ", ".join(f.column for f in Sample._meta.concrete_fields if f.column)
    values = columns.replace("due_at", "due_at + interval '9 days'")
    sql(
        f"INSERT INTO collectors_sample ({columns}) SELECT {values} "
        "FROM collectors_sample WHERE due_at >= %s AND due_at < %s ORDER BY due_at",
        yesterday,
        yesterday + DAY,
    )
    [partition] = [p for p in partitions.existing("collectors_sample") if p.day == then]
    as_it_came = bytes_a_row(partition.name)
    partitions.pack(partition)
    packed = bytes_a_row(partition.name)
    partitions.drop(partition)
    return as_it_came, packed


def bytes_a_row(table: str) -> float:
    [[size]] = sql(
        f"SELECT pg_total_relation_size('{table}')::float / count(*) FROM {table}"
    )
    return size


def reads(now: datetime, raw_days: int) -> list[Row]:
    retention.pack(now)
    sql("VACUUM ANALYZE")
    overview_ms = median_ms(lambda: payloads.snapshot(now))
    return [
        Row(
            name=f"overview of {MONITORS} monitors",
            value=overview_ms,
            unit="ms",
            goal="<= 100",
        ),
        *(chart(now, days, raw_days) for days in sorted({1, 30, 365, raw_days})),
        *(shares(now, days, raw_days) for days in sorted({90, raw_days})),
    ]


def chart(now: datetime, days: int, raw_days: int) -> Row:
    monitor = Monitor.objects.select_related("endpoint", "scenario").all()[77]
    start = now - timedelta(days=days)
    ours_ms = median_ms(lambda: payloads.monitor_series(monitor, start=start, end=now))
    bucket_s = payloads.monitor_series(monitor, start=start, end=now)["bucket_s"]
    figures = ", ".join(figure.sql for figure in FIGURES.values())
    return beside_sql(
        f"chart of {days} d",
        ours_ms,
        50,
        days <= raw_days,
        f"""
        SELECT date_bin(%s * interval '1 second', due_at, 'epoch'), count(*), {figures}
        FROM collectors_sample WHERE monitor_id = %s AND due_at >= %s GROUP BY 1
        """,
        bucket_s,
        monitor.pk,
        start,
    )


def shares(now: datetime, days: int, raw_days: int) -> Row:
    start = now - timedelta(days=days)
    ours_ms = median_ms(lambda: attainment.payload(start, now))
    return beside_sql(
        f"attainment of {MONITORS} monitors over {days} d",
        ours_ms,
        200,
        days <= raw_days,
        """
        SELECT monitor_id, count(*), count(*) FILTER (WHERE good), count(good)
        FROM collectors_sample WHERE due_at >= %s GROUP BY 1
        """,
        start,
    )


def beside_sql(
    name: str,
    ours_ms: float,
    goal_ms: int,
    kept: bool,
    query: str,
    *parameters: float | datetime,
) -> Row:
    """``kept``: the samples of the whole stretch are still there to be asked."""
    return Row(
        name=name,
        value=ours_ms,
        unit="ms",
        goal=f"<= {goal_ms}",
        rival="plain SQL over samples" if kept else "",
        rival_value=median_ms(lambda: sql(query, *parameters)) if kept else None,
    )
