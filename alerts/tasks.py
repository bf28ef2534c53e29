"""Celery's side of alerting."""

from __future__ import annotations

from celery import shared_task
from django.utils import timezone

from alerts import outbox, watch


@shared_task(name="alerts.watch")
def watch_monitors() -> None:
    """Notice monitors whose data stopped, and those that were paused."""
    watch.watch(timezone.now())


@shared_task(name="alerts.deliver")
def deliver_mail() -> None:
    """Send what the outbox holds."""
    outbox.deliver(timezone.now())
