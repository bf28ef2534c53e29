"""Rollups hold what the samples held, however late those came, and once only."""

import os
import threading
import time
from datetime import UTC, datetime, timedelta

import pytest
from django.db import connection, transaction

from collectors import rollups, sketch, store
from collectors.models import Rollup, Sample, Unrolled
from collectors.rollups import DAY, HOUR, MINUTES_5
from probes.types import Failure, Measurement
from tests.factories import T0, at, make_monitor, make_objective, make_sample
from tests.waiting import wait_for

pytestmark = pytest.mark.django_db

FAILED = Measurement(outcome="error", error=Failure.SERVER, http_status=500)


def answer(ttft_ms: float) -> Measurement:
    return Measurement(
        outcome="ok",
        ttft_ms=ttft_ms,
        total_ms=ttft_ms * 4,
        tokens_per_second=41.5,
        max_gap_ms=24,
        streamed=True,
    )


def stored(monitor, due_at: datetime, measurement: Measurement) -> Sample:
    row = store.to_row(
        measurement, monitor_id=monitor.pk, due_at=due_at, started_at=due_at
    )
    store.judged(row, measurement, monitor.scenario.objectives.first())
    assert store.record(row, measurement)
    return row


def roll_up_all() -> int:
    return sum(iter(rollups.roll_up, 0))


def contents() -> list[tuple[object, ...]]:
    return sorted(Rollup.objects.values_list())


def only(resolution_s: int) -> Rollup:
    return Rollup.objects.get(resolution_s=resolution_s)


def test_a_rollup_counts_what_was_stored():
    monitor = make_monitor()
    make_objective(monitor.scenario, ttft_ms_max=250)
    for n, ttft_ms in enumerate((100, 200, 300)):
        stored(monitor, at(n * 10), answer(ttft_ms))
    stored(monitor, at(30), FAILED)
    assert roll_up_all() == 4
    for resolution_s in (MINUTES_5, HOUR, DAY):
        row = only(resolution_s)
        assert row.start == rollups.floor(T0, resolution_s)
        assert (row.samples, row.failed, row.good, row.bad) == (4, 1, 2, 2)
        assert row.ttft_us == sketch.of([100_000, 200_000, 300_000])
        assert row.total_us == sketch.of([400_000, 800_000, 1_200_000])
        assert row.millitokens_per_s == sketch.of([41_500] * 3)
        assert row.max_gap_us == sketch.of([24_000] * 3)


def test_a_sample_without_limits_is_neither_good_nor_bad():
    stored(make_monitor(), T0, answer(100))
    roll_up_all()
    assert (only(DAY).samples, only(DAY).good, only(DAY).bad) == (1, 0, 0)


def test_nothing_but_failures_leaves_no_figures():
    stored(make_monitor(), T0, FAILED)
    roll_up_all()
    assert only(DAY).ttft_us == sketch.EMPTY


def test_each_bucket_holds_its_own_and_coarser_ones_hold_them_all():
    monitor, other = make_monitor(), make_monitor()
    for seconds in (-1, 0, 299, 300, 3_599, 3_600, 12 * 3_600):
        stored(monitor, at(seconds), answer(100 + seconds % 7))
    stored(other, T0, answer(999))
    roll_up_all()
    mine = Rollup.objects.filter(monitor=monitor)
    five = mine.filter(resolution_s=MINUTES_5).order_by("start")
    assert list(five.values_list("start", "samples")) == [
        (at(-300), 1),
        (T0, 2),
        (at(300), 1),
        (at(3_300), 1),
        (at(3_600), 1),
        (at(12 * 3_600), 1),
    ]
    days = mine.filter(resolution_s=DAY).order_by("start")
    assert [row.samples for row in days] == [6, 1]
    hours = mine.filter(resolution_s=HOUR)
    assert days[0].ttft_us == sketch.merged(
        row.ttft_us for row in hours if row.start < days[1].start
    )


def test_a_late_sample_is_counted_when_it_comes():
    monitor = make_monitor()
    stored(monitor, T0, answer(100))
    stored(monitor, at(7_200), answer(100))
    roll_up_all()
    stored(monitor, at(10), answer(300))
    assert roll_up_all() == 1
    row = Rollup.objects.get(resolution_s=MINUTES_5, start=T0)
    assert row.ttft_us == sketch.of([100_000, 300_000])
    assert only(DAY).samples == 3


def test_counting_again_changes_nothing():
    monitor = make_monitor()
    for n in range(40):
        stored(monitor, at(n * 100), answer(100 + n))
    roll_up_all()
    before = contents()
    rollups.mark_range(at(-86_400), at(86_400))
    assert roll_up_all() == 14  # one mark a bucket
    assert contents() == before


def test_rollups_that_are_lost_can_be_made_anew():
    monitor = make_monitor()
    for n in range(40):
        stored(monitor, at(n * 100), answer(100 + n))
    roll_up_all()
    before = contents()
    Rollup.objects.all().delete()
    rollups.mark_range(at(0), at(4_000))
    roll_up_all()
    assert contents() == before


def test_small_batches_come_to_the_same():
    monitor = make_monitor()
    for n in range(30):
        stored(monitor, at(n * 100), answer(100 + n))
    with transaction.atomic():
        roll_up_all()
        whole = contents()
        transaction.set_rollback(True)
    with transaction.atomic():
        while rollups.roll_up(batch=7):
            pass
        assert contents() == whole


def test_what_retention_took_stays_counted():
    monitor = make_monitor()
    for n in range(3):
        stored(monitor, at(n), answer(100))
    roll_up_all()
    Sample.objects.all().delete()
    stored(monitor, at(100), answer(500))
    roll_up_all()
    assert [row.samples for row in Rollup.objects.all()] == [3, 3, 3]


def test_a_sample_that_was_not_stored_is_not_marked():
    monitor = make_monitor()
    row = stored(monitor, T0, answer(100))
    again = store.to_row(
        answer(200), monitor_id=monitor.pk, due_at=T0, started_at=row.started_at
    )
    assert not store.record(again, answer(200))
    assert Unrolled.objects.count() == 1


def test_the_night_the_clocks_change_has_all_its_hours(monkeypatch):
    monkeypatch.setenv("TZ", "Europe/Berlin")
    time.tzset()
    try:
        monitor = make_monitor()
        night = datetime(2026, 10, 25, tzinfo=UTC)
        for minutes in range(0, 24 * 60, 30):
            stored(monitor, night + timedelta(minutes=minutes), answer(100))
        roll_up_all()
    finally:
        monkeypatch.undo()
        os.environ.setdefault("TZ", "UTC")
        time.tzset()
    hours = Rollup.objects.filter(resolution_s=HOUR)
    assert [row.samples for row in hours] == [2] * 24
    assert (only(DAY).start, only(DAY).samples) == (night, 48)


def in_thread(work) -> threading.Thread:
    def run() -> None:
        try:
            work()
        finally:
            connection.close()

    thread = threading.Thread(target=run)
    thread.start()
    return thread


@pytest.mark.django_db(transaction=True)
def test_a_sample_stored_meanwhile_is_left_for_the_next_time():
    monitor = make_monitor()
    stored(monitor, T0, answer(100))
    inserted, go_on = threading.Event(), threading.Event()

    def store_slowly() -> None:
        with transaction.atomic():
            stored(monitor, at(10), answer(200))
            inserted.set()
            assert go_on.wait(10)

    thread = in_thread(store_slowly)
    assert inserted.wait(10)
    assert roll_up_all() == 1
    assert only(DAY).samples == 1
    go_on.set()
    thread.join()
    assert roll_up_all() == 1
    assert only(DAY).samples == 2


@pytest.mark.django_db(transaction=True)
def test_two_workers_count_each_sample_once():
    monitor = make_monitor()
    for n in range(60):
        stored(monitor, at(n * 60), answer(100 + n))

    def until_none_is_left() -> None:
        while Unrolled.objects.exists():
            rollups.roll_up(batch=3)

    for thread in [in_thread(until_none_is_left) for _ in range(2)]:
        thread.join()
    assert only(DAY).ttft_us == sketch.of([1000 * (100 + n) for n in range(60)])
    assert only(HOUR).samples == 60


@pytest.mark.django_db(transaction=True)
def test_while_another_counts_nothing_is_done_and_nothing_lost():
    monitor = make_monitor()
    stored(monitor, T0, answer(100))
    held, let_go = threading.Event(), threading.Event()

    def hold() -> None:
        with transaction.atomic(), connection.cursor() as cursor:
            cursor.execute(
                "SELECT pg_advisory_xact_lock(hashtext('collectors.rollups'))"
            )
            held.set()
            assert let_go.wait(10)

    thread = in_thread(hold)
    assert held.wait(10)
    assert rollups.roll_up() == 0
    assert not Rollup.objects.exists()
    let_go.set()
    thread.join()
    assert wait_for(rollups.roll_up) == 1


def test_samples_from_before_there_were_rollups_are_counted():
    monitor = make_monitor()
    make_sample(monitor, T0)
    rollups.mark_range(T0, at(1))
    roll_up_all()
    assert only(DAY).samples == 1
