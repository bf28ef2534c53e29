"""Stores a generated past: samples for as long as they are kept, rollups before."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass, field
from datetime import datetime, timedelta
from functools import cache
from random import Random

from django.db import connection, transaction

from collectors import history, partitions, retention, schedule
from collectors import monitors as grid
from collectors.defaults import ensure_scenarios
from collectors.generated_hours import FIGURES, KEY, Hour, Kind, tally_line
from collectors.history import Condition
from collectors.models import Endpoint, Gap, Monitor
from collectors.rollups import DAY, HOUR, MINUTES_5, floor
from collectors.tally import COUNTS, SKETCHES, merged

PREFIX = "Generated"
SPEEDS = (0.7, 1.0, 1.4)
LINES_AT_ONCE = 5_000
MS = timedelta(milliseconds=1)
ONE_DAY, ONE_HOUR = timedelta(days=1), timedelta(hours=1)

_COPY_SAMPLES = f"COPY collectors_sample ({', '.join((*KEY, *FIGURES))}) FROM STDIN"
_ROLLUP = ("monitor_id", "start", "resolution_s", *COUNTS, *SKETCHES)
_COPY_ROLLUPS = f"COPY collectors_rollup ({', '.join(_ROLLUP)}) FROM STDIN"


class AlreadyGenerated(Exception):
    """There are generated endpoints already."""


@dataclass(frozen=True, slots=True)
class Past:
    """One monitor's generated past; ``slots`` are its moments in an hour, as text."""

    number: int
    monitor: Monitor
    kind: Kind
    slots: list[str]


def generate(
    *, monitors: int, days: int, interval_s: int, now: datetime, seed: int = 1
) -> Iterator[datetime]:
    """Make ``monitors`` with a past of ``days``; yields each day that is stored.

    They are paused: there is nothing to probe. ``interval_s`` must divide five minutes.
    Raises ``AlreadyGenerated``, and ``ValueError`` for another interval.
    """
    if interval_s < 1 or MINUTES_5 % interval_s:
        raise ValueError(f"{interval_s} s does not divide five minutes")
    end = floor(now, HOUR)
    start = floor(now - days * ONE_DAY, DAY)
    with transaction.atomic():
        pasts = _make_monitors(monitors, interval_s, start, now, Random(seed))
    day = start
    while day < end:
        _store(pasts, day, min(day + ONE_DAY, end), now)
        yield day
        day += ONE_DAY


def _make_monitors(
    count: int, interval_s: int, start: datetime, now: datetime, rng: Random
) -> list[Past]:
    if Endpoint.objects.filter(name__startswith=PREFIX).exists():
        raise AlreadyGenerated
    scenarios = ensure_scenarios()

    @cache
    def kind(place: int, speed: float) -> Kind:
        return Kind(scenarios[place], speed, interval_s, rng)

    pasts = []
    for number in range(count):
        of_endpoint, place = divmod(number, len(scenarios))
        found = kind(place, SPEEDS[of_endpoint % len(SPEEDS)])
        monitor = _make_monitor(found, f"{PREFIX} {of_endpoint + 1}", start, now)
        pasts.append(Past(number, monitor, found, list(_slots(monitor))))
    return pasts


def _make_monitor(kind: Kind, name: str, start: datetime, now: datetime) -> Monitor:
    endpoint, _ = Endpoint.objects.get_or_create(
        name=name, model=kind.profile.model, base_url="http://127.0.0.1:9/v1"
    )
    monitor = Monitor(
        endpoint=endpoint, scenario=kind.scenario, enabled=False, created_at=start
    )
    grid.place(monitor, kind.interval_s, now)
    monitor.save()
    return monitor


def _slots(monitor: Monitor) -> Iterator[str]:
    for at_ms in range(monitor.phase_ms, HOUR * 1000, monitor.interval_s * 1000):
        minutes, ms = divmod(at_ms, 60_000)
        yield f"{minutes:02}:{ms // 1000:02}.{ms % 1000:03}+00"


@dataclass(slots=True)
class Lines:
    """What a day comes to, for COPY."""

    samples: list[str] = field(default_factory=list)
    rollups: list[str] = field(default_factory=list)
    gaps: list[Gap] = field(default_factory=list)


def _store(pasts: list[Past], day: datetime, end: datetime, now: datetime) -> None:
    """Store the hours of ``day`` before ``end``, all or none of them."""
    levels = (None, MINUTES_5, HOUR)
    kept = {level_s for level_s in levels if retention.is_kept(level_s, day, now)}
    lines = Lines()
    for past in pasts:
        _add_day(past, day, end, kept, lines)
    if None in kept:
        partitions.ensure(day, days_ahead=0)
    with transaction.atomic():
        _copy(_COPY_SAMPLES, lines.samples)
        _copy(_COPY_ROLLUPS, lines.rollups)
        Gap.objects.bulk_create(lines.gaps)


def _add_day(
    past: Past, day: datetime, end: datetime, kept: set[int | None], lines: Lines
) -> None:
    tallies = []
    for at in (day + n * ONE_HOUR for n in range((end - day) // ONE_HOUR)):
        condition = history.condition(past.number, at)
        if condition is Condition.UNWATCHED:
            lines.gaps.append(_gap(past.monitor, at))
            continue
        hour = past.kind.hour(at.hour, condition)
        tallies.append(hour.tally)
        _add_hour(past, at, hour, kept, lines)
    if tallies:
        line = tally_line(merged(tallies))
        lines.rollups.append(f"{past.monitor.pk}\t{day:%Y-%m-%d}\t{DAY}\t{line}\n")


def _add_hour(
    past: Past, at: datetime, hour: Hour, kept: set[int | None], lines: Lines
) -> None:
    clock = f"{at:%Y-%m-%d %H}:"
    start = f"{past.monitor.pk}\t{clock}"
    if None in kept:
        lines.samples += (
            f"{start}{slot}\t{clock}{slot}\t{line}\n"
            for slot, line in zip(past.slots, hour.lines, strict=True)
        )
    if MINUTES_5 in kept:
        lines.rollups += (
            f"{start}{5 * n:02}:00+00\t{MINUTES_5}\t{line}\n"
            for n, line in enumerate(hour.buckets)
        )
    if HOUR in kept:
        lines.rollups.append(f"{start}00:00+00\t{HOUR}\t{hour.line}\n")


def _gap(monitor: Monitor, hour: datetime) -> Gap:
    first = schedule.next_slot(hour - MS, monitor.interval_s, monitor.phase_ms)
    slots = HOUR // monitor.interval_s
    return Gap(
        monitor=monitor,
        first_due_at=first,
        last_due_at=first + timedelta(seconds=(slots - 1) * monitor.interval_s),
        slots=slots,
        interval_s=monitor.interval_s,
        reason=Gap.Reason.NOT_SCHEDULED,
    )


def _copy(statement: str, lines: list[str]) -> None:
    with connection.cursor() as cursor, cursor.copy(statement) as copy:
        for at in range(0, len(lines), LINES_AT_ONCE):
            copy.write("".join(lines[at : at + LINES_AT_ONCE]))
