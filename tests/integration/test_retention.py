"""What is deleted is old, counted, and told before."""

import threading
from datetime import timedelta
from io import StringIO

import pytest
from django.core.management import call_command
from django.db import connection, transaction

from collectors import partitions, retention, rollups, tasks
from collectors.models import Rollup, Sample, Timeline
from tests.factories import T0, make_monitor, make_sample

# Tables are dropped and rewritten, which a test's own transaction would forbid.
pytestmark = pytest.mark.django_db(transaction=True)

DAY = timedelta(days=1)


@pytest.fixture(autouse=True)
def keep(settings):
    settings.KEEP_RAW_DAYS = 3
    settings.KEEP_5MIN_DAYS = 5
    settings.KEEP_1H_DAYS = 10
    settings.KEEP_1D_DAYS = 0


@pytest.fixture
def monitor():
    """With a sample at noon of each of twelve days, the last of them ``T0``'s."""
    found = make_monitor()
    for days in range(12):
        make_sample(found, T0 - days * DAY)
    return found


def counted() -> None:
    rollups.mark_range(T0 - 30 * DAY, T0 + DAY)
    while rollups.roll_up():
        pass


def days_of_samples() -> int:
    return Sample.objects.filter(due_at__lte=T0).count()


def rollups_left() -> dict[int, int]:
    return {
        resolution_s: Rollup.objects.filter(resolution_s=resolution_s).count()
        for resolution_s in rollups.LEVELS_S
    }


def test_whole_days_are_deleted_with_their_timelines(monitor):
    counted()
    key = {"monitor": monitor, "due_at": T0 - 8 * DAY}
    Timeline.objects.create(**key, packed=b"\x01")
    retention.carry_out(retention.plan(T0))
    # The day that has begun, and three whole ones before it.
    assert days_of_samples() == 4
    assert not Timeline.objects.exists()
    assert rollups_left() == {300: 6, 3_600: 11, 86_400: 12}


def test_doing_it_again_finds_nothing(monitor):
    counted()
    retention.carry_out(retention.plan(T0))
    again = retention.plan(T0)
    old = [p for p in again.partitions if p.day >= T0 - 30 * DAY]
    assert (old, [rows for *_, rows in again.rollups()]) == ([], [0, 0])


def test_samples_that_no_rollup_counts_stay(monitor):
    rollups.mark_range(T0 - 8 * DAY, T0 - 7 * DAY)
    plan = retention.plan(T0)
    eighth = rollups.floor(T0 - 8 * DAY, rollups.DAY)
    assert {p.day for p in plan.waiting} == {eighth}
    retention.carry_out(plan)
    assert Sample.objects.filter(due_at=T0 - 8 * DAY).exists()
    assert not Sample.objects.filter(due_at=T0 - 9 * DAY).exists()


def test_zero_days_is_for_ever(monitor, settings):
    settings.KEEP_RAW_DAYS = settings.KEEP_5MIN_DAYS = settings.KEEP_1H_DAYS = 0
    counted()
    plan = retention.plan(T0)
    assert (plan.partitions, plan.waiting, list(plan.rollups())) == ([], [], [])


def test_it_is_shown_before_it_is_done(monitor, at_t0):
    counted()
    out = StringIO()
    call_command("retention", stdout=out)
    assert "delete collectors_sample_20260218, 0.0 MB" in out.getvalue()
    assert "delete 6 rollups of 300 s before 2026-02-24" in out.getvalue()
    assert "delete 1 rollups of 3600 s before 2026-02-19" in out.getvalue()
    assert "Nothing was deleted" in out.getvalue()
    assert days_of_samples() == 12
    call_command("retention", "--apply", stdout=out)
    assert days_of_samples() == 4


@pytest.fixture
def at_t0(monkeypatch):
    monkeypatch.setattr("django.utils.timezone.now", lambda: T0)


def test_the_task_deletes_and_packs(monitor, at_t0):
    counted()
    tasks.retain()
    assert days_of_samples() == 4
    left = {p.day: p.packed for p in partitions.existing("collectors_sample")}
    today = rollups.floor(T0, rollups.DAY)
    assert left[today - DAY]
    assert not left[today]


def test_packing_keeps_every_row(monitor):
    before = sorted(Sample.objects.values_list())
    retention.pack(T0)
    assert sorted(Sample.objects.values_list()) == before


def test_an_order_that_cannot_be_kept_is_refused(settings):
    assert retention.check_settings() == []
    settings.KEEP_5MIN_DAYS = 2
    settings.KEEP_1D_DAYS = 9
    assert [str(error.msg).split(":")[0] for error in retention.check_settings()] == [
        "KEEP_5MIN_DAYS is less than KEEP_RAW_DAYS",
        "KEEP_1D_DAYS is less than KEEP_1H_DAYS",
    ]


def test_what_is_in_use_is_left_for_the_next_run(caplog, monkeypatch):
    monkeypatch.setattr(partitions, "LOCK_WAIT_S", 0.1)
    make_sample(make_monitor(), T0 - 8 * DAY)
    counted()
    held, let_go = threading.Event(), threading.Event()

    def read_slowly() -> None:
        with transaction.atomic():
            assert days_of_samples() == 1
            held.set()
            assert let_go.wait(30)
        connection.close()

    thread = threading.Thread(target=read_slowly)
    thread.start()
    assert held.wait(10)
    retention.carry_out(retention.plan(T0))
    retention.pack(T0)
    assert "collectors_sample_20260221 is in use" in caplog.text
    assert days_of_samples() == 1
    let_go.set()
    thread.join()
    retention.carry_out(retention.plan(T0))
    assert days_of_samples() == 0
