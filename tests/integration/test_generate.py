"""A generated past is one that our own counting finds right."""

from datetime import timedelta
from io import StringIO

import pytest
from django.core.management import CommandError, call_command
from django.db.models import Min, Sum

from collectors import generate, history, rollups, windows
from collectors.history import Condition
from collectors.models import Endpoint, Gap, Monitor, Rollup, Sample, Unrolled
from tests.factories import T0

pytestmark = pytest.mark.django_db

DAY = timedelta(days=1)
MONITORS = 7
SLOTS_A_DAY = 288


@pytest.fixture(autouse=True)
def keep(settings):
    settings.KEEP_RAW_DAYS = 2
    settings.KEEP_5MIN_DAYS = 3
    settings.KEEP_1H_DAYS = 4


def made(days: int = 46, monitors: int = MONITORS) -> list:
    return list(generate.generate(monitors=monitors, days=days, interval_s=300, now=T0))


def test_each_level_reaches_as_far_back_as_it_is_kept():
    assert len(made()) == 47  # T0 is a noon
    midnight = rollups.floor(T0, rollups.DAY)
    oldest = dict(Rollup.objects.values_list("resolution_s").annotate(Min("start")))
    assert oldest == {
        300: midnight - 3 * DAY,
        3_600: midnight - 4 * DAY,
        86_400: midnight - 46 * DAY,
    }
    first = Sample.objects.earliest("due_at").due_at
    assert midnight - 2 * DAY <= first < midnight - 2 * DAY + timedelta(minutes=5)


def test_every_slot_is_a_sample_or_in_a_gap():
    made()
    days = Rollup.objects.filter(resolution_s=86_400)
    samples = days.aggregate(Sum("samples"))["samples__sum"]
    missed = Gap.objects.aggregate(Sum("slots"))["slots__sum"]
    assert missed > 0
    assert samples + missed == MONITORS * SLOTS_A_DAY * 46.5
    gap = Gap.objects.first()
    grid_ms = gap.first_due_at.timestamp() * 1000 % 300_000
    assert grid_ms == gap.monitor.phase_ms


def test_counting_it_anew_changes_nothing():
    made(days=3)
    before = sorted(Rollup.objects.values_list())
    rollups.mark_range(T0 - 10 * DAY, T0)
    assert Unrolled.objects.exists()
    while rollups.roll_up():
        pass
    assert sorted(Rollup.objects.values_list()) == before


def test_incidents_are_where_they_are_said_to_be():
    made()
    monitor = Monitor.objects.order_by("pk")[2]
    days = (rollups.floor(T0, rollups.DAY) - n * DAY for n in range(46))
    hours = [day + timedelta(hours=3) for day in days]
    down = [h for h in hours if history.condition(2, h) is Condition.DOWN]
    assert down
    worst = Rollup.objects.filter(monitor=monitor).order_by("-failed")
    by_day = worst.filter(resolution_s=86_400)[: len(down)]
    assert sorted(row.start + timedelta(hours=3) for row in by_day) == sorted(down)


def test_it_is_shown_as_any_other():
    made(days=3)
    monitor = Monitor.objects.first()
    found = windows.read(monitor, start=T0 - DAY, end=T0, now=T0)
    assert len(found.buckets) == SLOTS_A_DAY
    assert found.whole["ttft_ms"].median == pytest.approx(240, rel=0.5)
    assert not Monitor.objects.filter(enabled=True).exists()


def test_the_same_seed_gives_the_same_past():
    made(days=2)
    before = list(Sample.objects.order_by("due_at").values_list("ttft_us", flat=True))
    Endpoint.objects.all().delete()
    made(days=2)
    again = list(Sample.objects.order_by("due_at").values_list("ttft_us", flat=True))
    assert sorted(map(str, again)) == sorted(map(str, before))


def test_the_command_tells_its_days_and_incidents_and_refuses_a_second_past():
    out = StringIO()
    arguments = ("generate", "--monitors", "2", "--days", "1", "--interval", "300")
    call_command(*arguments, stdout=out)
    assert "down: from 3:00 UTC for 1 h, every 30 days" in out.getvalue()
    with pytest.raises(CommandError, match="already"):
        call_command(*arguments, stdout=out)


def test_an_interval_that_does_not_fit_is_refused():
    with pytest.raises(CommandError, match="7 s does not divide five minutes"):
        call_command("generate", "--interval", "7", stdout=StringIO())
