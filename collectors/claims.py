"""Who probes which slot. Any number of schedulers and workers may call this.

A slot goes: claimed (a ``Slot`` row, not begun) → begun (the row names its worker)
→ a sample (``store``) or a gap (here). Each step is one conditional statement, so
that whoever comes second finds nothing to do.
"""

from __future__ import annotations

import logging
from collections.abc import Sequence
from dataclasses import dataclass
from datetime import datetime, timedelta

from django.db import IntegrityError, connection, transaction
from django.db.models import Exists, OuterRef, Q, QuerySet

from collectors import gaps, schedule
from collectors.models import Gap, Heartbeat, Monitor, Sample, Slot

log = logging.getLogger(__name__)

HORIZON = timedelta(seconds=1)
"""Slots are claimed this much ahead, so that each starts on its dot."""

DEAD_AFTER = timedelta(seconds=15)
"""A worker that was not seen for this long has lost what it had begun."""

LATE = timedelta(seconds=5)
"""How long after its deadline a slot is given up."""

BATCH = 500


@dataclass(frozen=True, slots=True)
class Claim:
    monitor_id: int
    due_at: datetime
    expires_at: datetime


def claim_due(now: datetime) -> list[Claim]:
    """Claim what is due until ``now + HORIZON``; account for slots that are over."""
    with transaction.atomic():
        monitors = list(
            Monitor.objects.select_for_update(skip_locked=True)
            .filter(enabled=True, next_due_at__lte=now + HORIZON)
            .order_by("next_due_at")[:BATCH]
        )
        slots = [slot for m in monitors if (slot := _claim_alone(m, now))]
        Monitor.objects.bulk_update(monitors, ["next_due_at", "claimed_until"])
    return [
        Claim(s.monitor_id, s.due_at, s.due_at + timedelta(seconds=s.interval_s))
        for s in slots
    ]


def _claim_alone(monitor: Monitor, now: datetime) -> Slot | None:
    """One monitor's trouble must not stop the others."""
    try:
        with transaction.atomic():
            return _claim(monitor, now)
    except IntegrityError:
        log.exception("monitor %s: a slot could not be claimed", monitor.pk)
        return None


def _claim(monitor: Monitor, now: datetime) -> Slot | None:
    found = schedule.due(
        monitor.next_due_at, monitor.interval_s, horizon=now + HORIZON, now=now
    )
    monitor.next_due_at = found.next_due
    monitor.claimed_until = found.next_due - timedelta(seconds=monitor.interval_s)
    if found.missed:
        gaps.add(monitor.pk, found.missed, Gap.Reason.NOT_SCHEDULED)
    if found.slot is None:
        return None
    return Slot.objects.create(
        monitor=monitor,
        due_at=found.slot,
        interval_s=monitor.interval_s,
        give_up_at=found.slot + timedelta(seconds=monitor.interval_s) + LATE,
    )


def begin(slot: Slot, worker: str, give_up_at: datetime, now: datetime) -> bool:
    """Take ``slot`` for ``worker``, unless another has it or had it.

    Where the monitor's probe before is still running on a live worker, the slot
    becomes a gap: a second probe at once would be another load than was asked for.
    """
    mine = Slot.objects.filter(pk=slot.pk, worker="")
    alive = Heartbeat.objects.filter(
        name=OuterRef("worker"), seen_at__gte=now - DEAD_AFTER
    )
    running = Slot.objects.filter(
        Exists(alive), monitor_id=slot.monitor_id, due_at__lt=slot.due_at
    )
    with transaction.atomic():
        _one_at_a_time(slot.monitor_id)
        if running.exists():
            give_up(mine, Gap.Reason.OVERLAP)
            return False
        return mine.update(worker=worker, give_up_at=give_up_at) == 1


def _one_at_a_time(monitor_id: int) -> None:
    """Let two slots of one monitor see each other. Not by the monitor's row: claiming
    passes over monitors whose row is locked."""
    with connection.cursor() as cursor:
        cursor.execute(
            "SELECT pg_advisory_xact_lock(hashtext('collectors.begin'), %s)",
            [monitor_id],
        )


def give_up(slots: QuerySet[Slot], reason: Gap.Reason | None) -> int:
    """Turn ``slots`` into gaps (or into nothing, without a reason); returns how many.

    Call it inside a transaction.
    """
    rows: Sequence[Slot] = list(
        slots.select_for_update(skip_locked=True).order_by("monitor_id", "due_at")
    )
    for row in rows:
        if reason is not None and not _has_sample(row):
            gaps.add_slot(row.monitor_id, row.due_at, row.interval_s, reason)
        row.delete()
    return len(rows)


def _has_sample(slot: Slot) -> bool:
    samples = Sample.objects.filter(monitor_id=slot.monitor_id, due_at=slot.due_at)
    return samples.exists()


def sweep(now: datetime) -> int:
    """Give up slots that were never begun in time, or whose worker is gone."""
    alive = Heartbeat.objects.filter(
        name=OuterRef("worker"), seen_at__gte=now - DEAD_AFTER
    )
    lost = Q(give_up_at__lt=now) | (~Q(worker="") & ~Exists(alive))
    with transaction.atomic():
        return give_up(Slot.objects.filter(lost), Gap.Reason.NOT_FINISHED)
