"""Slots without a sample: one row for each run of them."""

from __future__ import annotations

from datetime import datetime, timedelta

from django.db.models import F

from collectors import schedule
from collectors.models import Gap


def add(monitor_id: int, run: schedule.Run, reason: Gap.Reason) -> None:
    """Account for ``run``; a run that continues the last one lengthens its row.

    Adding what is accounted for already changes nothing.

    The caller holds what makes it the only one to account for these slots: the
    monitor's row lock, or the deleted ``Slot`` row.
    """
    known = Gap.objects.filter(monitor_id=monitor_id, interval_s=run.interval_s)
    if known.filter(first_due_at__lte=run.first, last_due_at__gte=run.last).exists():
        return
    before = known.filter(
        reason=reason,
        last_due_at=run.first - timedelta(seconds=run.interval_s),
    )
    if before.update(last_due_at=run.last, slots=F("slots") + run.slots):
        return
    Gap.objects.create(
        monitor_id=monitor_id,
        first_due_at=run.first,
        last_due_at=run.last,
        slots=run.slots,
        interval_s=run.interval_s,
        reason=reason,
    )


def add_slot(
    monitor_id: int, due_at: datetime, interval_s: int, reason: Gap.Reason
) -> None:
    add(monitor_id, schedule.run_of(due_at, due_at, interval_s), reason)


def take_out(monitor_id: int, due_at: datetime) -> None:
    """A slot given up for lost has its sample after all: it is no gap."""
    around = Gap.objects.select_for_update().filter(
        monitor_id=monitor_id, first_due_at__lte=due_at, last_due_at__gte=due_at
    )
    row = next((gap for gap in around if _on_grid(gap, due_at)), None)
    if row is None:
        return
    run = schedule.run_of(row.first_due_at, row.last_due_at, row.interval_s)
    row.delete()
    for part in schedule.without(run, due_at):
        Gap.objects.create(
            monitor_id=monitor_id,
            first_due_at=part.first,
            last_due_at=part.last,
            slots=part.slots,
            interval_s=part.interval_s,
            reason=row.reason,
        )


def _on_grid(gap: Gap, due_at: datetime) -> bool:
    """After a change of interval, gaps of another grid may lie around a slot."""
    return not (due_at - gap.first_due_at) % timedelta(seconds=gap.interval_s)
