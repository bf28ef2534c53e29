"""Monitors whose data stops, and monitors that are paused."""

from __future__ import annotations

from datetime import datetime, timedelta
from itertools import groupby

import pytest
from django.db import connection
from django.test.utils import CaptureQueriesContext
from django.utils import timezone

from alerts import watch
from alerts.models import MonitorState, RuleState, Transition
from collectors.models import Monitor
from tests.alerting import run, watched_monitor
from tests.factories import make_monitor

pytestmark = pytest.mark.django_db

told: list[str] = []


def state_sink(row: MonitorState) -> None:
    told.append(row.state)


@pytest.fixture(autouse=True)
def told_states(settings):
    told.clear()
    settings.STATE_SINKS = [f"{__name__}.state_sink"]
    return told


def word(monitor: Monitor) -> str:
    return MonitorState.objects.get(monitor=monitor).state


def later(seconds: float) -> datetime:
    return timezone.now() + timedelta(seconds=seconds)


def test_silence_is_told_once_and_holds_what_the_rules_knew(told_states):
    monitor = watched_monitor(total_timeout_s=5)  # patience: 30 s
    run(monitor, "BBB")

    watch.watch(later(25))
    assert word(monitor) == "failing"
    watch.watch(later(31))
    watch.watch(later(99))

    assert word(monitor) == "no_data"
    words = [word for word, _ in groupby(told_states)]
    assert words == ["degrading", "failing", "no_data"]
    assert RuleState.objects.get(rule__figure="ttft_ms").phase == "firing"
    kinds = Transition.objects.values_list("kind", flat=True)
    assert list(kinds) == ["fire", "no_data"]


def test_a_slow_probe_is_not_silence():
    """Its interval is 10 s, but an answer may take 300."""
    monitor = watched_monitor(total_timeout_s=300)
    run(monitor, "G")

    watch.watch(later(310))

    assert word(monitor) == "stable"


def test_data_that_comes_back_goes_on_where_it_was(told_states):
    monitor = watched_monitor(total_timeout_s=5)
    run(monitor, "BBB")
    watch.watch(later(31))

    run(monitor, "G", first=9)

    assert word(monitor) == "degrading"
    kinds = Transition.objects.values_list("kind", flat=True)
    assert list(kinds) == ["fire", "no_data", "data_back"]


def test_a_paused_monitor_says_so_and_misses_nothing(told_states):
    monitor = watched_monitor(total_timeout_s=5)
    run(monitor, "G")
    Monitor.objects.update(enabled=False)

    watch.watch(later(1))
    watch.watch(later(9999))

    assert told_states == ["stable", "paused"]
    assert not Transition.objects.exists()


def test_a_woken_monitor_waits_for_data_before_it_says_anything(told_states):
    monitor = watched_monitor(total_timeout_s=5)
    run(monitor, "G")
    Monitor.objects.update(enabled=False)
    watch.watch(later(1))
    Monitor.objects.update(enabled=True)

    watch.watch(later(1000))
    watch.watch(later(1029))

    assert word(monitor) == "no_data"
    assert not Transition.objects.exists()  # its data is not late yet
    run(monitor, "G", first=100)
    assert told_states == ["stable", "paused", "no_data", "stable"]


def test_a_probe_that_was_under_way_does_not_wake_a_paused_monitor():
    monitor = watched_monitor()
    run(monitor, "G")
    Monitor.objects.update(enabled=False)
    watch.watch(later(1))

    run(monitor, "B", first=1)

    assert word(monitor) == "paused"


def test_a_new_monitor_has_a_row_before_it_has_data(told_states):
    monitor = make_monitor()

    watch.watch(timezone.now())

    assert word(monitor) == "no_data"
    assert told_states == []


def test_a_monitor_that_cannot_be_looked_at_does_not_hide_the_others():
    broken, other = (
        watched_monitor(total_timeout_s=5),
        watched_monitor(total_timeout_s=5),
    )
    run(broken, "G")
    run(other, "G")
    now = timezone.now()
    Transition.objects.create(  # the number that its next event would have
        monitor=broken, kind="no_data", seq=1, incident=1, at=now, since=now
    )

    watch.watch(later(31))

    assert (word(broken), word(other)) == ("stable", "no_data")


def test_queries_do_not_grow_with_monitors():
    for _ in range(3):
        run(watched_monitor(), "G")
    with CaptureQueriesContext(connection) as few:
        assert watch.watch(timezone.now()) == 0
    for _ in range(5):
        run(watched_monitor(), "G")
    with CaptureQueriesContext(connection) as many:
        assert watch.watch(timezone.now()) == 0

    assert len(few) == len(many) == 2
