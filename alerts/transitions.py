"""Events become rows: what happened, and a delivery for each person to be told.

Both are written in the transaction that decided, so that no decision is lost and
none is told twice. ``outbox`` sends them later.
"""

from __future__ import annotations

from collections.abc import Iterable, Mapping
from datetime import datetime

from django.conf import settings

from alerts.models import Delivery, Transition
from alerts.rules import Event, Kind

MAILED = frozenset({Kind.FIRE, Kind.RESOLVE, Kind.WITHDRAW})
"""Lost data is shown and recorded, not mailed: every endpoint's failure is a sample,
so that a slot without one is our own fault and says nothing about the endpoint."""


def to_row(
    event: Event,
    *,
    monitor_id: int,
    rule_id: int | None = None,
    value: float | None = None,
    limit: float | None = None,
    facts: Mapping[str, object] | None = None,
) -> Transition:
    return Transition(
        monitor_id=monitor_id,
        rule_id=rule_id,
        seq=event.seq,
        kind=event.kind.value,
        incident=event.incident,
        at=event.at,
        since=event.since,
        value=value,
        limit=limit,
        facts=facts or {},
    )


def record(rows: Iterable[Transition], now: datetime) -> None:
    """Store ``rows`` and put what is to be mailed into the outbox."""
    stored = Transition.objects.bulk_create(rows)
    recipients = dict.fromkeys(settings.ALERT_MAIL_TO)
    Delivery.objects.bulk_create(
        Delivery(transition=row, recipient=to, created_at=now, next_attempt_at=now)
        for row in stored
        if row.kind in MAILED
        for to in recipients
    )
