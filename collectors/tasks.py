"""Celery's side of collecting. Only ids and times travel through the queue."""

from __future__ import annotations

import gc
from datetime import timedelta

from celery import shared_task
from celery.signals import worker_ready, worker_shutting_down
from django.utils import timezone

from collectors import (
    claims,
    heartbeat,
    partitions,
    pipeline,
    retention,
    rollups,
    schedule,
)
from collectors.models import Heartbeat, Trial
from probes.engine import shared_engine

TRIALS_KEPT = timedelta(days=7)

_pulse: list[heartbeat.Pulse] = []


@shared_task(name="collectors.tick")
def tick() -> None:
    """Claim what is due and hand it to the workers."""
    now = timezone.now()
    for claim in claims.claim_due(now):
        if claim.expires_at <= timezone.now():
            continue  # this machine was held up; the sweep makes it a gap
        probe.apply_async(
            (claim.monitor_id, schedule.to_ms(claim.due_at)), expires=claim.expires_at
        )
    heartbeat.beat(heartbeat.SCHEDULER, Heartbeat.Kind.SCHEDULER, now)


@shared_task(name="collectors.probe")
def probe(monitor_id: int, due_ms: int) -> None:
    pipeline.collect(monitor_id, schedule.from_ms(due_ms))


@shared_task(name="collectors.run_trial")
def run_trial(trial_id: int) -> None:
    pipeline.run_trial(trial_id)


@shared_task(name="collectors.sweep")
def sweep() -> None:
    claims.sweep(timezone.now())


@shared_task(name="collectors.roll_up")
def roll_up() -> None:
    while rollups.roll_up():
        pass


@shared_task(name="collectors.retain")
def retain() -> None:
    now = timezone.now()
    retention.carry_out(retention.plan(now))
    retention.pack(now)


@shared_task(name="collectors.housekeep")
def housekeep() -> None:
    now = timezone.now()
    partitions.ensure(now)
    heartbeat.forget_dead(now)
    Trial.objects.filter(created_at__lt=now - TRIALS_KEPT).delete()


@worker_ready.connect
def _start(**_: object) -> None:
    """Warm up before the first slot: a cold engine's first figures would be wrong."""
    shared_engine().start()
    partitions.ensure(timezone.now())
    _pulse.append(heartbeat.Pulse())
    _pulse[-1].start()
    _collect_garbage_rarely()


@worker_shutting_down.connect
def _stop(**_: object) -> None:
    for pulse in _pulse:
        pulse.stop()


def _collect_garbage_rarely() -> None:
    """Keep the garbage collector from holding up all threads for 100 ms at a time.

    Tokens that come meanwhile are received in one lump, and only the last one's time
    is known. What is loaded by now is never garbage, so it need not be looked through;
    and what probes leave behind is found young, by the collections that are short.
    """
    gc.collect()
    gc.freeze()
    young, middle_aged, _ = gc.get_threshold()
    gc.set_threshold(young, middle_aged, 1000)
