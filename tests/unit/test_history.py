import statistics
from datetime import UTC, datetime, timedelta
from itertools import pairwise
from random import Random

import pytest

from collectors import history
from collectors.history import INCIDENTS, Condition, Profile

PROFILE = Profile(
    model="m", ttft_ms=400, tokens_per_second=50, input_tokens=400, output_tokens=100
)
START = datetime(2026, 1, 1, tzinfo=UTC)


def hours_like(number: int, wanted: Condition, days: int = 90) -> list[datetime]:
    hours = (START + timedelta(hours=n) for n in range(24 * days))
    return [hour for hour in hours if history.condition(number, hour) is wanted]


@pytest.mark.parametrize("incident", INCIDENTS, ids=lambda incident: incident.condition)
def test_incidents_come_when_they_are_said_to(incident):
    found = hours_like(4, incident.condition)
    wanted = range(incident.hour, incident.hour + incident.hours)
    assert {hour.hour for hour in found} == set(wanted)
    days = sorted({hour.date() for hour in found})
    assert {b - a for a, b in pairwise(days)} <= {timedelta(days=incident.every_days)}
    assert len(days) in (90 // incident.every_days, 90 // incident.every_days + 1)


def test_monitors_have_their_incidents_on_different_days():
    one, two = (hours_like(n, Condition.DOWN)[0] for n in (1, 2))
    assert one - two == timedelta(days=1)


def ttfts(hour: int, condition: Condition) -> list[float]:
    rng = Random(7)
    drawn = (history.draw(PROFILE, hour, condition, rng) for _ in range(500))
    return [m.ttft_ms for m in drawn if m.ttft_ms is not None]


def test_days_have_a_rhythm():
    busy = statistics.median(ttfts(history.BUSIEST_HOUR, Condition.CALM))
    quiet = statistics.median(ttfts(history.BUSIEST_HOUR - 12, Condition.CALM))
    assert busy / quiet == pytest.approx(1.3 / 0.7, rel=0.05)


def test_calm_hours_have_spikes_and_failures_but_few():
    found = ttfts(9, Condition.CALM)
    assert 490 <= len(found) < 500
    assert max(found) > 3 * statistics.median(found)
    assert statistics.quantiles(found, n=20)[-1] < 2 * statistics.median(found)


def test_slow_hours_are_slow_and_hours_down_are_all_failures():
    calm, slow = (
        statistics.median(ttfts(9, c)) for c in (Condition.CALM, Condition.SLOW)
    )
    assert slow / calm == pytest.approx(history.SLOWDOWN, rel=0.1)
    assert ttfts(9, Condition.DOWN) == []


def test_a_failure_has_no_figures_and_an_answer_has_all_that_lead():
    rng = Random(1)
    failed = history.draw(PROFILE, 0, Condition.DOWN, rng)
    assert (failed.outcome, failed.total_ms) == ("error", None)
    answer = history.draw(PROFILE, 0, Condition.SLOW, rng)
    assert answer.ttft_ms < answer.total_ms < answer.end_ms
    rate = (answer.output_tokens - 1) / (answer.total_ms - answer.ttft_ms) * 1000
    assert rate == pytest.approx(answer.tokens_per_second)
