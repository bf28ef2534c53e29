"""What is kept for how long, and the deleting of what is older."""

from __future__ import annotations

import logging
from collections.abc import Callable, Iterator, Mapping
from dataclasses import dataclass
from datetime import datetime, timedelta
from itertools import pairwise
from math import inf

from django.conf import settings
from django.core.checks import CheckMessage, Error
from django.db import OperationalError
from psycopg.errors import LockNotAvailable

from collectors import partitions, rollups
from collectors.models import Monitor, Rollup, Unrolled
from collectors.partitions import Partition

log = logging.getLogger(__name__)

PACK_AFTER = timedelta(hours=2)
"""A day is packed this long after its end, when its last samples have come."""

SETTINGS = {
    rollups.MINUTES_5: "KEEP_5MIN_DAYS",
    rollups.HOUR: "KEEP_1H_DAYS",
    rollups.DAY: "KEEP_1D_DAYS",
}


@dataclass(frozen=True, slots=True, kw_only=True)
class Plan:
    """What is older than it is to be kept.

    ``waiting`` are partitions with samples that no rollup counts yet: they stay.
    ``rollups_before`` says by resolution before which start rollups are deleted.
    """

    partitions: list[Partition]
    waiting: list[Partition]
    rollups_before: Mapping[int, datetime]

    def rollups(self) -> Iterator[tuple[int, datetime, int]]:
        """Resolution, moment and number of the rollups that are to be deleted."""
        for resolution_s, before in self.rollups_before.items():
            old = Rollup.objects.filter(resolution_s=resolution_s, start__lt=before)
            yield resolution_s, before, old.count()


def kept_since(days: int, now: datetime) -> datetime | None:
    """The first moment of the first UTC day that is kept; None: all are."""
    return rollups.floor(now - timedelta(days=days), rollups.DAY) if days else None


def is_kept(level_s: int | None, moment: datetime, now: datetime) -> bool:
    """Whether rollups of ``level_s``, or samples, of ``moment`` are still there."""
    name = SETTINGS[level_s] if level_s else "KEEP_RAW_DAYS"
    since = kept_since(getattr(settings, name), now)
    return since is None or since <= moment


def plan(now: datetime) -> Plan:
    old: list[Partition] = []
    if since := kept_since(settings.KEEP_RAW_DAYS, now):
        found = (p for table in partitions.TABLES for p in partitions.existing(table))
        old = [p for p in found if p.end <= since]
    waiting = [p for p in old if _is_uncounted(p)]
    before = {
        resolution_s: since
        for resolution_s, name in SETTINGS.items()
        if (since := kept_since(getattr(settings, name), now))
    }
    return Plan(
        partitions=[p for p in old if p not in waiting],
        waiting=waiting,
        rollups_before=before,
    )


def _is_uncounted(partition: Partition) -> bool:
    marks = Unrolled.objects.filter(start__gte=partition.day, start__lt=partition.end)
    return marks.exists()


def carry_out(found: Plan) -> None:
    """Delete what ``found`` names, a partition or a monitor's rollups at a time."""
    for partition in found.partitions:
        _unless_locked(partitions.drop, partition)
    monitor_ids = list(Monitor.objects.values_list("pk", flat=True))
    for resolution_s, before in found.rollups_before.items():
        for monitor_id in monitor_ids:
            Rollup.objects.filter(
                monitor_id=monitor_id, resolution_s=resolution_s, start__lt=before
            ).delete()


def pack(now: datetime) -> None:
    """Pack the samples of each day that is over and was not packed yet."""
    for partition in partitions.existing("collectors_sample"):
        if not partition.packed and partition.end + PACK_AFTER <= now:
            _unless_locked(partitions.pack, partition)


def _unless_locked(work: Callable[[Partition], None], partition: Partition) -> None:
    try:
        work(partition)
    except OperationalError as error:
        if not isinstance(error.__cause__, LockNotAvailable):
            raise
        log.warning("%s is in use; the next run tries again", partition.name)


def check_settings(**_: object) -> list[CheckMessage]:
    """Each resolution must outlive the finer one that it is counted from."""
    names = ["KEEP_RAW_DAYS", *SETTINGS.values()]
    return [
        Error(f"{coarse} is less than {fine}: it must be kept as long, or longer.")
        for fine, coarse in pairwise(names)
        if _days(coarse) < _days(fine)
    ]


def _days(name: str) -> float:
    return getattr(settings, name) or inf
