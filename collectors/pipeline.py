"""The life of one probe, from a claimed slot to its sample. Read this first."""

from __future__ import annotations

import dataclasses
import hashlib
import logging
import time
from datetime import UTC, datetime, timedelta
from typing import Any

from django.conf import settings
from django.db import DatabaseError, DataError, connection, transaction
from django.utils import timezone

from collectors import claims, heartbeat, keys, schedule, series, store
from collectors.models import Endpoint, Gap, Monitor, Scenario, Slot, Trial
from collectors.models.targets import EndpointFields
from probes import prompts
from probes.engine import shared_engine
from probes.types import Measurement, Prompt, Target, Timeouts

log = logging.getLogger(__name__)

BEGIN_EARLY = timedelta(milliseconds=30)
"""A slot is taken this long before its time, so that the probe starts on the dot."""

FINISH_GRACE = timedelta(seconds=60)
"""Beyond a probe's own time-outs: for connecting, asking again, and storing."""

STORE_FOR_S = 300.0
"""How long a measured sample is tried to be stored while the database is away."""


def collect(monitor_id: int, due_at: datetime) -> None:
    """Probe ``monitor_id`` for its slot ``due_at`` and store the sample."""
    slot = (
        Slot.objects.select_related("monitor__endpoint", "monitor__scenario")
        .filter(monitor_id=monitor_id, due_at=due_at, worker="")
        .first()
    )
    if slot is None:
        return
    _wait_until(due_at - BEGIN_EARLY)
    scenario = slot.monitor.scenario
    patience = timedelta(seconds=scenario.total_timeout_s) + FINISH_GRACE
    now = timezone.now()
    if not claims.begin(slot, heartbeat.name(), now + patience, now):
        return
    try:
        target = to_target(slot.monitor.endpoint)
    except keys.KeyUnavailable as error:
        log.warning("monitor %s: %s", monitor_id, error)
        return _give_up(slot, Gap.Reason.NO_KEY)
    prompt = to_prompt(scenario, nonce=f"{monitor_id}-{schedule.to_ms(due_at)}")
    connection.close()  # back to the pool: an answer may take minutes
    started_at = max(timezone.now(), due_at)
    try:
        measurement = shared_engine().run(
            target, prompt, to_timeouts(scenario), start_at=due_at.timestamp()
        )
    except Exception:
        log.exception("monitor %s: the prober failed", monitor_id)
        return _give_up(slot, Gap.Reason.PROBER_FAULT)
    _store(slot.monitor, due_at, started_at, measurement)


def _wait_until(moment: datetime) -> None:
    connection.close()
    if (ahead := (moment - timezone.now()).total_seconds()) > 0:
        time.sleep(ahead)


def _give_up(slot: Slot, reason: Gap.Reason) -> None:
    with transaction.atomic():
        claims.give_up(Slot.objects.filter(pk=slot.pk), reason)


def _store(
    monitor: Monitor, due_at: datetime, started_at: datetime, measurement: Measurement
) -> None:
    """Store the sample; while the database is away, keep it and try again."""
    row = store.to_row(
        measurement,
        monitor_id=monitor.pk,
        due_at=due_at,
        started_at=started_at,
        vantage=settings.VANTAGE,
    )
    deadline = time.monotonic() + STORE_FOR_S
    wait_s = 0.2
    while True:
        try:
            objective = series.objective_in_force(monitor.scenario_id, due_at)
            store.judged(row, measurement, objective)
            store.record(row, measurement)
            return remember_quirks(monitor.endpoint, measurement)
        except DataError:
            log.exception("monitor %s, %s: not to be stored", monitor.pk, due_at)
            slot = Slot.objects.filter(monitor=monitor, due_at=due_at)
            with transaction.atomic():
                claims.give_up(slot, Gap.Reason.PROBER_FAULT)
            return
        except DatabaseError as error:
            connection.close()
            if time.monotonic() > deadline:
                log.exception("monitor %s, %s: could not be stored", monitor.pk, due_at)
                raise
            log.warning("monitor %s: to be stored again: %s", monitor.pk, error)
            time.sleep(wait_s)
            wait_s = min(wait_s * 2, 10)


def remember_quirks(endpoint: Endpoint, measurement: Measurement) -> None:
    """What the endpoint refused once it is not asked again."""
    if new := measurement.quirks - set(endpoint.quirks):
        quirks = sorted({*endpoint.quirks, *new})
        Endpoint.objects.filter(pk=endpoint.pk).update(quirks=quirks)


def to_target(endpoint: EndpointFields) -> Target:
    """Raises ``KeyUnavailable``."""
    return Target(
        protocol=endpoint.protocol,
        base_url=endpoint.base_url,
        model=endpoint.model,
        api_key=keys.reveal(endpoint),
        quirks=frozenset(getattr(endpoint, "quirks", ())),
    )


def to_prompt(scenario: Scenario, *, nonce: str) -> Prompt:
    """The nonce makes each prompt new to the server's prefix cache."""
    return prompts.build(
        kind=scenario.kind,
        input_tokens=scenario.input_tokens,
        max_tokens=scenario.max_tokens,
        nonce=hashlib.sha256(nonce.encode()).hexdigest()[:16],
    )


def to_timeouts(scenario: Scenario) -> Timeouts:
    return Timeouts(
        first_token_s=scenario.first_token_timeout_s,
        idle_s=scenario.idle_timeout_s,
        total_s=scenario.total_timeout_s,
    )


def run_trial(trial_id: int) -> None:
    """Probe once for a "Test now" and keep the figures with the trial."""
    trial = Trial.objects.select_related("scenario").filter(pk=trial_id).first()
    if trial is None:
        return  # withdrawn: its page was told that the broker did not take it
    if not Trial.objects.filter(pk=trial_id, started_at=None).update(
        started_at=timezone.now()
    ):
        return
    try:
        target = to_target(trial)
    except keys.KeyUnavailable as error:
        return _finish_trial(trial_id, {"outcome": "error", "error_text": str(error)})
    prompt = to_prompt(trial.scenario, nonce=f"trial-{trial_id}")
    timeouts = to_timeouts(trial.scenario)
    connection.close()
    try:
        measurement = shared_engine().run(target, prompt, timeouts)
    except Exception:
        log.exception("trial %s: the prober failed", trial_id)
        failed = "TokenPulse itself failed to run this test; the worker's log says why."
        return _finish_trial(trial_id, {"outcome": "error", "error_text": failed})
    _finish_trial(trial_id, to_json(measurement))


def to_json(measurement: Measurement) -> dict[str, Any]:
    return {**dataclasses.asdict(measurement), "quirks": sorted(measurement.quirks)}


def _finish_trial(trial_id: int, result: dict[str, Any]) -> None:
    Trial.objects.filter(pk=trial_id).update(
        finished_at=datetime.now(UTC), result=result
    )
