"""The word for each monitor: locked, decided, stored, told.

A monitor's ``MonitorState`` row is the lock for all that alerting knows about it.
Nothing here takes a second lock, so there is no order of locks to keep.
"""

from __future__ import annotations

from collections.abc import Collection
from datetime import datetime

from alerts import words
from alerts.models import MonitorState
from alerts.presence import Data, Presence
from alerts.rules import Phase
from collectors import sinks

KEPT = ("state", "since", "why", "data", "data_since", "seq", "last_due_at")


def lock(monitor_id: int, now: datetime) -> MonitorState:
    """The monitor's row, made at need, held until the transaction ends.

    Call it inside a transaction.
    """
    rows = MonitorState.objects.select_for_update(of=("self",))
    rows = rows.select_related("monitor")
    row = rows.filter(monitor_id=monitor_id).first()
    if row is None:
        new = MonitorState(monitor_id=monitor_id, since=now, data_since=now)
        MonitorState.objects.bulk_create([new], ignore_conflicts=True)
        row = rows.get(monitor_id=monitor_id)
    return row


def presence_of(row: MonitorState) -> Presence:
    return Presence(data=Data(row.data), since=row.data_since, seq=row.seq)


def settle(
    row: MonitorState,
    presence: Presence,
    phases: Collection[Phase],
    now: datetime,
    why: str = "",
) -> None:
    """Store the locked ``row`` with what is now known; tell ``STATE_SINKS`` of a new
    word or a new reason, and of nothing else."""
    word = words.word(
        phases,
        no_data=presence.data in (Data.WAITING, Data.LOST),
        enabled=presence.data is not Data.PAUSED,
    )
    row.data, row.data_since, row.seq = presence.data, presence.since, presence.seq
    news = (word.value, why) != (row.state, row.why)
    if word.value != row.state:
        row.state, row.since = word.value, now
    row.why = why
    row.save(update_fields=KEPT)
    if news:
        sinks.notify("STATE_SINKS", row)
