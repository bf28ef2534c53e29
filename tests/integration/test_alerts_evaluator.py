"""From stored samples to states, transitions and deliveries, in a real database."""

from __future__ import annotations

import threading
from datetime import timedelta
from itertools import groupby

import pytest
from django.db import connection
from django.test.utils import CaptureQueriesContext
from django.utils import timezone

from alerts import watch
from alerts.defaults import ensure_default_rules
from alerts.models import Delivery, MonitorState, Rule, RuleState, Transition
from collectors.models import Monitor
from tests.alerting import probe, run, watched_monitor
from tests.factories import at, make_monitor, make_objective

pytestmark = pytest.mark.django_db


def word(monitor: Monitor) -> str:
    return MonitorState.objects.get(monitor=monitor).state


def happened(monitor: Monitor) -> list[tuple[str, str, int]]:
    """Each transition as its rule's figure, its kind and the second it is dated."""
    rows = Transition.objects.filter(monitor=monitor).select_related("rule")
    return [
        (
            row.rule.figure if row.rule else "",
            row.kind,
            round((row.at - at(0)).total_seconds()),
        )
        for row in rows
    ]


told: list[tuple[int, str]] = []


def state_sink(row: MonitorState) -> None:
    told.append((row.monitor_id, row.state))


@pytest.fixture(autouse=True)
def told_states(settings):
    told.clear()
    settings.STATE_SINKS = [f"{__name__}.state_sink"]
    return told


def test_slow_answers_fire_their_own_rule_once_and_clear_once():
    monitor = watched_monitor()

    run(monitor, "GBBB")
    assert word(monitor) == "failing"
    run(monitor, "BGGG", first=4)

    assert word(monitor) == "stable"
    assert happened(monitor) == [("ttft_ms", "fire", 30), ("ttft_ms", "resolve", 70)]
    fire, resolve = Transition.objects.all()
    assert (fire.value, fire.limit) == (2400, 1000)
    assert (resolve.incident, resolve.since) == (fire.seq, fire.at)
    assert Delivery.objects.count() == 2


def test_a_dead_endpoint_is_one_incident():
    monitor = watched_monitor()

    run(monitor, "GEEEEEE")

    assert word(monitor) == "failing"
    assert happened(monitor) == [("errors", "fire", 30)]


def test_an_endpoint_that_never_answers_has_no_ttft_either():
    monitor = watched_monitor()

    run(monitor, "GTTT")

    assert happened(monitor) == [("ttft_ms", "fire", 30), ("errors", "fire", 30)]


def test_what_cannot_be_told_apart_from_the_limit_is_not_counted():
    monitor = watched_monitor()

    run(monitor, "G????")

    assert word(monitor) == "stable"


def test_every_new_word_is_told_once(told_states):
    monitor = watched_monitor()

    run(monitor, "GGBBBBGGGG")

    assert {pk for pk, _ in told_states} == {monitor.pk}
    words = [word for word, _ in groupby(word for _, word in told_states)]
    assert words == ["stable", "degrading", "failing", "degrading", "stable"]


def test_what_is_wrong_is_told_as_long_as_something_is():
    monitor = watched_monitor()

    def why() -> str:
        return MonitorState.objects.get(monitor=monitor).why

    run(monitor, "GGB")
    assert why() == "TTFT over 1 s in 1 of the last 3 probes"
    run(monitor, "BB", first=3)
    assert why() == "TTFT over 1 s in 3 of the last 5 probes"
    run(monitor, "EEEE", first=5)
    assert why().startswith("4 of the last 5 probes failed; TTFT over 1 s in")
    run(monitor, "GGGGG", first=9)
    assert why() == ""


def test_a_word_is_dated_by_when_it_was_said():
    monitor = watched_monitor()
    run(monitor, "G")
    since = MonitorState.objects.get(monitor=monitor).since

    run(monitor, "G", first=1)

    assert MonitorState.objects.get(monitor=monitor).since == since
    assert timezone.now() - since < timedelta(minutes=1)


def test_the_limit_is_the_objective_that_was_in_force():
    monitor = watched_monitor()
    make_objective(monitor.scenario, valid_from=at(15), ttft_ms_max=3000)

    run(monitor, "BBBBB")

    assert happened(monitor) == []
    assert word(monitor) == "degrading"


def test_a_rule_without_a_limit_says_nothing():
    monitor = make_monitor()
    ensure_default_rules(monitor.scenario)

    run(monitor, "BBB")

    states = RuleState.objects.filter(monitor=monitor)
    assert [s.rule.figure for s in states] == ["errors"]
    assert word(monitor) == "stable"


def test_a_scenario_without_rules_has_no_word():
    monitor = make_monitor()

    run(monitor, "G")

    assert word(monitor) == "no_data"


def test_a_rule_that_is_switched_off_while_failing_says_so():
    monitor = watched_monitor()
    run(monitor, "BBB")
    Rule.objects.filter(scenario=monitor.scenario, figure="ttft_ms").update(
        enabled=False
    )

    run(monitor, "BB", first=3)

    assert happened(monitor)[1:] == [("ttft_ms", "withdraw", 30)]
    assert word(monitor) == "stable"


def test_default_rules_leave_what_is_there():
    monitor = watched_monitor()
    Rule.objects.filter(figure="errors").update(k=1, n=1, m=1, enabled=False)

    ensure_default_rules(monitor.scenario)

    assert Rule.objects.filter(scenario=monitor.scenario).count() == 4
    assert not Rule.objects.get(figure="errors").enabled


def test_who_is_told_and_of_what(settings):
    settings.ALERT_MAIL_TO = ["ops@example.org", "pm@example.org", "ops@example.org"]
    monitor = watched_monitor()

    run(monitor, "BBB")
    watch.watch(timezone.now() + timedelta(hours=1))

    assert [row.kind for row in Transition.objects.all()] == ["fire", "no_data"]
    recipients = Delivery.objects.values_list("recipient", flat=True)
    assert list(recipients) == ["ops@example.org", "pm@example.org"]


def queries_of(monitor: Monitor, letters: str, first: int = 0) -> list[int]:
    counts = []
    for number, letter in enumerate(letters, start=first):
        with CaptureQueriesContext(
            connection,
        ) as captured:
            probe(monitor, at(number * 10), letter)
        counts.append(sum("alerts_" in q["sql"] for q in captured.captured_queries))
    return counts


def test_queries_are_few_and_do_not_grow_with_monitors_or_history():
    """A quiet sample: the lock, rules, their states, and the monitor's new row."""
    first = watched_monitor()
    run(first, "GGGGG")
    alone = queries_of(first, "GGG", first=5)
    for _ in range(5):
        run(watched_monitor(), "GGB")

    assert alone == [4, 4, 4]
    assert queries_of(first, "GGG", first=8) == alone


@pytest.mark.django_db(transaction=True)
def test_evaluators_at_once_agree_on_one_incident():
    """Each slot comes from its own thread; whatever the order, one fire at most, and
    what is stored is one of the outcomes that some order gives."""
    monitor = watched_monitor()
    run(monitor, "BB")
    start = threading.Barrier(8)

    def store(number: int) -> None:
        try:
            start.wait(timeout=10)
            probe(monitor, at(number * 10), "B")
        finally:
            connection.close()

    threads = [threading.Thread(target=store, args=(n,)) for n in range(2, 10)]
    for thread in threads:
        thread.start()
    for thread in threads:
        thread.join()

    rows = Transition.objects.filter(monitor=monitor)
    assert [(row.kind, row.seq) for row in rows] == [("fire", 1)]
    state = MonitorState.objects.get(monitor=monitor)
    assert (state.state, state.last_due_at) == ("failing", at(90))


@pytest.mark.django_db(transaction=True)
def test_the_first_samples_of_a_monitor_may_come_together():
    monitor = watched_monitor()
    start = threading.Barrier(4)

    def store(number: int) -> None:
        try:
            start.wait(timeout=10)
            probe(monitor, at(number * 10), "G")
        finally:
            connection.close()

    threads = [threading.Thread(target=store, args=(n,)) for n in range(4)]
    for thread in threads:
        thread.start()
    for thread in threads:
        thread.join()

    assert word(monitor) == "stable"
    assert RuleState.objects.filter(monitor=monitor).count() == 4
