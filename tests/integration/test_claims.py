from concurrent.futures import ThreadPoolExecutor
from datetime import timedelta

import pytest
from django.db import connection
from hypothesis import HealthCheck, given, settings
from hypothesis import strategies as st

from collectors import claims, gaps, heartbeat, monitors, schedule
from collectors.models import Gap, Heartbeat, Monitor, Slot
from tests.factories import T0, at, make_monitor, make_sample, make_scenario

pytestmark = pytest.mark.django_db


def begin(slot: Slot, worker: str, now=T0) -> bool:
    heartbeat.beat(worker, Heartbeat.Kind.WORKER, now)
    return claims.begin(slot, worker, now + timedelta(seconds=60), now)


def test_a_due_slot_is_claimed_once_and_the_next_is_an_interval_later():
    monitor = make_monitor()
    assert claims.claim_due(T0) == [claims.Claim(monitor.pk, T0, at(10))]
    assert claims.claim_due(T0) == []
    monitor.refresh_from_db()
    assert monitor.next_due_at == at(10)
    assert Slot.objects.get().due_at == T0


def test_a_paused_monitor_is_never_due():
    make_monitor(enabled=False)
    assert claims.claim_due(at(100)) == []


def test_slots_that_nobody_scheduled_are_one_gap():
    monitor = make_monitor()
    assert [c.due_at for c in claims.claim_due(at(35))] == [at(30)]
    gap = Gap.objects.get()
    assert (gap.first_due_at, gap.last_due_at, gap.slots) == (T0, at(20), 3)
    assert gap.reason == Gap.Reason.NOT_SCHEDULED
    assert gap.monitor == monitor


def test_a_gap_that_goes_on_stays_one_row():
    make_monitor()
    claims.claim_due(at(0))
    claims.sweep(at(30))
    claims.claim_due(at(10))
    claims.sweep(at(40))
    gap = Gap.objects.get()
    assert (gap.first_due_at, gap.last_due_at, gap.slots) == (T0, at(10), 2)


def test_a_slot_is_begun_by_one_worker_only():
    make_monitor()
    claims.claim_due(T0)
    slot = Slot.objects.get()
    assert begin(slot, "one")
    assert not begin(slot, "two")
    assert Slot.objects.get().worker == "one"


def test_a_probe_that_still_runs_makes_the_next_slot_a_gap():
    make_monitor()
    claims.claim_due(T0)
    assert begin(Slot.objects.get(), "one")
    claims.claim_due(at(10))
    second = Slot.objects.get(due_at=at(10))
    assert not begin(second, "two", now=at(10))
    assert Gap.objects.get().reason == Gap.Reason.OVERLAP
    assert Slot.objects.get().due_at == T0


def test_a_dead_worker_holds_up_nobody():
    make_monitor()
    claims.claim_due(T0)
    assert begin(Slot.objects.get(), "dead", now=at(-20))
    claims.claim_due(at(10))
    assert begin(Slot.objects.get(due_at=at(10)), "alive", now=at(10))


@pytest.mark.parametrize("begun", [True, False])
def test_what_no_worker_finishes_becomes_a_gap(begun):
    make_monitor()
    claims.claim_due(T0)
    if begun:
        assert begin(Slot.objects.get(), "one")
    assert claims.sweep(at(10)) == 0
    assert claims.sweep(at(16)) == 1
    assert Gap.objects.get().reason == Gap.Reason.NOT_FINISHED
    assert not Slot.objects.exists()


def test_a_long_probe_of_a_live_worker_is_left_alone():
    make_monitor()
    claims.claim_due(T0)
    assert begin(Slot.objects.get(), "one")
    heartbeat.beat("one", Heartbeat.Kind.WORKER, at(50))
    assert claims.sweep(at(50)) == 0
    heartbeat.beat("one", Heartbeat.Kind.WORKER, at(61))
    assert claims.sweep(at(61)) == 1


@pytest.mark.django_db(transaction=True)
def test_two_schedulers_at_once_claim_each_slot_once():
    scenario = make_scenario(interval_s=1)
    for _ in range(30):
        make_monitor(scenario=scenario)

    def schedule_for_ten_seconds() -> list[claims.Claim]:
        try:
            return [c for tick in range(10) for c in claims.claim_due(at(tick))]
        finally:
            connection.close()

    with ThreadPoolExecutor(4) as pool:
        runs = [pool.submit(schedule_for_ten_seconds) for _ in range(4)]
        found = [(c.monitor_id, c.due_at) for run in runs for c in run.result()]
    assert len(found) == len(set(found))
    missed = sum(Gap.objects.values_list("slots", flat=True))
    first_free = Monitor.objects.values_list("next_due_at", flat=True)
    slots = sum((due - T0) / timedelta(seconds=1) for due in first_free)
    assert len(found) + missed == slots


def test_a_resumed_monitor_never_repeats_a_slot_that_was_claimed_ahead():
    monitor = make_monitor(next_due_at=at(0.8))
    [claim] = claims.claim_due(T0)
    monitors.set_enabled(monitor.pk, False, at(0.1))
    monitors.set_enabled(monitor.pk, True, at(0.2))
    monitor.refresh_from_db()
    assert monitor.next_due_at > claim.due_at


@settings(suppress_health_check=[HealthCheck.function_scoped_fixture], deadline=None)
@given(
    st.lists(
        st.tuples(
            st.sampled_from(["tick", "pause", "resume", 1, 2, 3, 5, 60]),
            st.integers(0, 3000),
        ),
        max_size=30,
    )
)
def test_no_slot_is_claimed_twice_whatever_people_press(steps):
    """Pausing, resuming and other intervals, at any moment between the ticks."""
    Monitor.objects.all().delete()  # of the examples before
    monitor = make_monitor(interval_s=5)
    now, claimed = T0, []
    for step, wait_ms in steps:
        now += timedelta(milliseconds=wait_ms)
        if step == "tick":
            claimed += [c.due_at for c in claims.claim_due(now)]
        elif step in ("pause", "resume"):
            monitors.set_enabled(monitor.pk, step == "resume", now)
        else:
            monitors.choose(monitor.endpoint, {monitor.scenario: step}, now)
    missed = [
        gap.first_due_at + n * timedelta(seconds=gap.interval_s)
        for gap in Gap.objects.filter(monitor=monitor)
        for n in range(gap.slots)
    ]
    slots = claimed + missed
    assert len(slots) == len(set(slots))


def test_one_monitor_s_trouble_does_not_stop_the_others(caplog):
    broken, other = make_monitor(), make_monitor()
    Slot.objects.create(monitor=broken, due_at=T0, interval_s=10, give_up_at=at(60))
    assert [c.monitor_id for c in claims.claim_due(T0)] == [other.pk]
    assert f"monitor {broken.pk}: a slot could not be claimed" in caplog.text
    assert {c.monitor_id for c in claims.claim_due(at(10))} == {broken.pk, other.pk}


def test_a_slot_that_has_its_sample_never_becomes_a_gap():
    monitor = make_monitor()
    claims.claim_due(T0)
    make_sample(monitor, T0)
    assert claims.sweep(at(60)) == 1
    assert not Gap.objects.exists()


def test_a_gap_that_is_known_already_is_no_trouble():
    monitor = make_monitor()
    run = schedule.run_of(T0, at(20), 10)
    for _ in range(2):
        gaps.add(monitor.pk, run, Gap.Reason.OVERLAP)
        gaps.add_slot(monitor.pk, at(10), 10, Gap.Reason.NOT_FINISHED)
    assert Gap.objects.get().slots == 3


def test_a_late_sample_leaves_gaps_of_another_grid_alone():
    monitor = make_monitor()
    gaps.add(monitor.pk, schedule.run_of(T0, at(40), 10), Gap.Reason.OVERLAP)
    gaps.take_out(monitor.pk, at(7))
    assert Gap.objects.get().slots == 5
