import pytest
from django.db import connection
from django.test.utils import CaptureQueriesContext

from collectors import series
from collectors.models import Gap, Scenario
from dashboard import payloads
from dashboard.windows import ms
from tests.factories import (
    T0,
    at,
    make_monitor,
    make_objective,
    make_sample,
    make_scenario,
)

pytestmark = pytest.mark.django_db


def test_the_newest_sample_of_each_monitor():
    one, two, none = make_monitor(), make_monitor(), make_monitor()
    for seconds in (0, 10, 86_400):
        make_sample(one, at(seconds))
    make_sample(two, at(5))
    found = series.latest([one, two, none], now=at(90_000))
    assert {k: v.due_at for k, v in found.items()} == {
        one.pk: at(86_400),
        two.pk: at(5),
    }


def test_sparks_show_the_leading_figure_and_failures_without_a_value():
    scenario = make_scenario(leading=Scenario.Figure.TOKENS_PER_SECOND)
    rate, ttft = make_monitor(scenario=scenario), make_monitor()
    make_sample(rate, at(0), tokens_per_second=20.5)
    make_sample(ttft, at(0), ttft_us=250_500)
    make_sample(ttft, at(10), error="server", ttft_us=99)
    assert series.sparks([rate, ttft], now=at(60)) == {
        rate.pk: [(ms(at(0)), 20.5)],
        ttft.pk: [(ms(at(0)), 250.5), (ms(at(10)), None)],
    }


def test_sparks_are_the_last_ones():
    monitor = make_monitor()
    for n in range(series.SPARK_POINTS + 5):
        make_sample(monitor, at(n * 10))
    points = series.sparks([monitor], now=at(10_000))[monitor.pk]
    assert len(points) == series.SPARK_POINTS
    assert points[-1][0] == ms(at((series.SPARK_POINTS + 4) * 10))


def test_limits_are_those_in_force():
    scenario = make_scenario()
    first = make_objective(scenario, valid_from=at(0), ttft_ms_max=100)
    second = make_objective(scenario, valid_from=at(100), ttft_ms_max=200)
    monitor = make_monitor(scenario=scenario)
    assert series.objective_in_force(scenario.pk, at(-1)) is None
    assert series.objective_in_force(scenario.pk, at(99)) == first
    assert series.objective_in_force(scenario.pk, at(100)) == second
    assert series.objectives_in_force(at(500)) == {scenario.pk: second}
    assert series.objectives_between(monitor, at(50), at(500)) == [first, second]
    assert series.objectives_between(monitor, at(150), at(500)) == [second]
    assert series.objectives_between(monitor, at(50), at(60)) == [first]


def test_gaps_that_touch_the_window():
    monitor = make_monitor()
    for start in (0, 100, 200):
        Gap.objects.create(
            monitor=monitor,
            first_due_at=at(start),
            last_due_at=at(start + 50),
            slots=6,
            interval_s=10,
            reason=Gap.Reason.OVERLAP,
        )
    found = series.gaps(monitor, at(120), at(180))
    assert [gap.first_due_at for gap in found] == [at(100)]


def test_the_snapshot_takes_as_many_queries_for_many_monitors_as_for_one():
    def count() -> int:
        with CaptureQueriesContext(
            connection,
        ) as queries:
            payload = payloads.snapshot(at(60))
        assert all(tile["latest"] for tile in payload["tiles"])
        return len(queries)

    make_sample(make_monitor(), T0)
    one = count()
    for _ in range(20):
        make_sample(make_monitor(), T0)
    assert count() == one
