"""Signs of life: a row a worker process, and one for the scheduler."""

from __future__ import annotations

import logging
import os
import socket
import threading
import uuid
from datetime import datetime, timedelta
from functools import cache

from django.db import DatabaseError, connection
from django.utils import timezone

from collectors.models import Heartbeat

log = logging.getLogger(__name__)

EVERY_S = 3.0
FORGET_AFTER = timedelta(hours=1)
SCHEDULER = "scheduler"


@cache
def name() -> str:
    """This process's own name, told apart from one with the same pid before it."""
    return f"{socket.gethostname()}:{os.getpid()}:{uuid.uuid4().hex[:8]}"


def beat(name: str, kind: Heartbeat.Kind, now: datetime) -> None:
    Heartbeat.objects.update_or_create(
        name=name,
        defaults={"kind": kind, "seen_at": now},
        create_defaults={"kind": kind, "seen_at": now, "started_at": now},
    )


def forget_dead(now: datetime) -> None:
    Heartbeat.objects.filter(
        kind=Heartbeat.Kind.WORKER, seen_at__lt=now - FORGET_AFTER
    ).delete()


class Pulse(threading.Thread):
    """Beats for this worker process until stopped."""

    def __init__(self) -> None:
        super().__init__(name="heartbeat", daemon=True)
        self._stopped = threading.Event()

    def run(self) -> None:
        while True:
            try:
                beat(name(), Heartbeat.Kind.WORKER, timezone.now())
            except DatabaseError:
                log.warning("the heartbeat could not be written; trying again")
            finally:
                connection.close()
            if self._stopped.wait(EVERY_S):
                return

    def stop(self) -> None:
        self._stopped.set()
