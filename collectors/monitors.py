"""Which monitors an endpoint has, and where on the grid they lie."""

from __future__ import annotations

from collections.abc import Mapping
from datetime import datetime

from django.db import transaction

from collectors import schedule
from collectors.models import Endpoint, Monitor, Scenario


def place(monitor: Monitor, interval_s: int, now: datetime) -> None:
    """Put ``monitor`` on the grid of ``interval_s``.

    Its next slot is after ``now``, and after every slot that was claimed: slots are
    claimed a little ahead, and none may be probed twice.
    """
    key = f"{monitor.endpoint_id}:{monitor.scenario_id}"
    monitor.interval_s = interval_s
    monitor.phase_ms = schedule.phase_ms(key, interval_s)
    after = max(now, monitor.claimed_until or now)
    monitor.next_due_at = schedule.next_slot(after, interval_s, monitor.phase_ms)


@transaction.atomic
def choose(endpoint: Endpoint, chosen: Mapping[Scenario, int], now: datetime) -> None:
    """Watch ``endpoint`` in exactly the ``chosen`` scenarios, at these intervals.

    A monitor that is no longer chosen is paused, not deleted: its history stays.
    """
    known = {
        m.scenario_id: m
        for m in Monitor.objects.select_for_update().filter(endpoint=endpoint)
    }
    for scenario, interval_s in chosen.items():
        monitor = known.pop(scenario.pk, None)
        if monitor is None:
            monitor = Monitor(endpoint=endpoint, scenario=scenario)
        elif monitor.enabled and monitor.interval_s == interval_s:
            continue
        monitor.enabled = True
        place(monitor, interval_s, now)
        monitor.save()
    for monitor in known.values():
        _set_enabled(monitor, False, now)


@transaction.atomic
def set_enabled(pk: int, enabled: bool, now: datetime) -> None:
    """Pause or resume. Slots of the pause are no gap: nobody asked for them."""
    _set_enabled(Monitor.objects.select_for_update().get(pk=pk), enabled, now)


def _set_enabled(monitor: Monitor, enabled: bool, now: datetime) -> None:
    if monitor.enabled == enabled:
        return
    monitor.enabled = enabled
    place(monitor, monitor.interval_s, now)
    monitor.save(update_fields=["enabled", "interval_s", "phase_ms", "next_due_at"])
