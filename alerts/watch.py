"""What no sample can tell: that none comes, and that a monitor was paused."""

from __future__ import annotations

import logging
from datetime import datetime

from django.core.exceptions import ObjectDoesNotExist
from django.db import DatabaseError, transaction

from alerts import board, presence, transitions
from alerts.models import MonitorState
from alerts.presence import Step
from collectors.models import Monitor

log = logging.getLogger(__name__)


def watch(now: datetime) -> int:
    """Look at every monitor, in two queries where all is well.

    Returns how many were not as they should be.
    """
    rows = MonitorState.objects.in_bulk()
    due = [
        monitor.pk
        for monitor in Monitor.objects.select_related("scenario")
        if _needs_a_look(monitor, rows.get(monitor.pk), now)
    ]
    for monitor_id in due:
        try:
            _look_at(monitor_id, now)
        except (DatabaseError, ObjectDoesNotExist):
            # Deleted meanwhile, or broken: the others are to be watched all the same.
            log.exception("monitor %s could not be looked at", monitor_id)
    return len(due)


def _needs_a_look(monitor: Monitor, row: MonitorState | None, now: datetime) -> bool:
    return row is None or _look(row, monitor, now)[0] != board.presence_of(row)


def _look(row: MonitorState, monitor: Monitor, now: datetime) -> Step:
    return presence.look(
        board.presence_of(row),
        enabled=monitor.enabled,
        now=now,
        patience=presence.patience(
            monitor.interval_s, monitor.scenario.total_timeout_s
        ),
    )


def _look_at(monitor_id: int, now: datetime) -> None:
    """Look again under the lock: a sample may have come in between."""
    with transaction.atomic():
        row = board.lock(monitor_id, now)
        after, events = _look(row, row.monitor, now)
        if after == board.presence_of(row):
            return
        transitions.record(
            [transitions.to_row(e, monitor_id=monitor_id) for e in events], now
        )
        # No rule has a say here: the data is waited for, lost, or not wanted.
        board.settle(row, after, (), now)
