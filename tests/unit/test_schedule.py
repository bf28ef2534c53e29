from datetime import UTC, datetime, timedelta

import pytest
from hypothesis import given
from hypothesis import strategies as st

from collectors import schedule

T0 = datetime(2026, 3, 1, tzinfo=UTC)
intervals = st.integers(1, 7200)
offsets_ms = st.integers(-10_000_000, 10_000_000)


def at(seconds: float) -> datetime:
    return T0 + timedelta(seconds=seconds)


@given(intervals, st.text(min_size=1), offsets_ms)
def test_next_slot_is_later_on_the_grid_and_less_than_an_interval_away(
    interval_s, key, offset_ms
):
    phase = schedule.phase_ms(key, interval_s)
    now = T0 + timedelta(milliseconds=offset_ms)
    slot = schedule.next_slot(now, interval_s, phase)
    assert now < slot <= now + timedelta(seconds=interval_s)
    assert schedule.to_ms(slot) % (interval_s * 1000) == phase


def test_phase_depends_on_the_key_alone():
    assert schedule.phase_ms("1", 60) == schedule.phase_ms("1", 60)
    assert len({schedule.phase_ms(str(n), 60) for n in range(100)}) > 90


@given(st.datetimes(min_value=datetime(1970, 1, 1), max_value=datetime(2100, 1, 1)))
def test_milliseconds_survive_the_round_trip(naive):
    moment = naive.replace(tzinfo=UTC, microsecond=naive.microsecond // 1000 * 1000)
    assert schedule.from_ms(schedule.to_ms(moment)) == moment


def test_nothing_is_due_before_its_time():
    found = schedule.due(at(10), 10, horizon=at(9), now=at(8))
    assert found == schedule.Due(slot=None, missed=None, next_due=at(10))


def test_a_slot_is_claimed_a_little_ahead():
    found = schedule.due(at(10), 10, horizon=at(10.5), now=at(9.5))
    assert (found.slot, found.missed, found.next_due) == (at(10), None, at(20))


def test_slots_that_are_over_are_missed_and_the_current_one_is_probed():
    found = schedule.due(at(10), 10, horizon=at(46), now=at(45))
    assert found.slot == at(40)
    assert found.missed == schedule.Run(
        first=at(10), last=at(30), slots=3, interval_s=10
    )
    assert found.next_due == at(50)


@given(intervals, st.integers(0, 100_000), st.integers(0, 3_000))
def test_every_slot_up_to_the_horizon_is_claimed_or_missed_exactly_once(
    interval_s, late_s, ahead_ms
):
    now = at(late_s)
    horizon = now + timedelta(milliseconds=ahead_ms)
    found = schedule.due(T0, interval_s, horizon=horizon, now=now)
    interval = timedelta(seconds=interval_s)
    slots = 0
    if found.missed:
        assert found.missed.first == T0
        assert found.missed.last + interval <= now
        slots += found.missed.slots
    if found.slot:
        assert now - interval < found.slot <= horizon
        slots += 1
    assert found.next_due == T0 + slots * interval
    assert slots


@given(st.integers(1, 50), st.integers(1, 600), st.data())
def test_a_late_sample_leaves_the_rest_of_its_run(slots, interval_s, data):
    interval = timedelta(seconds=interval_s)
    run = schedule.run_of(T0, T0 + (slots - 1) * interval, interval_s)
    assert run.slots == slots
    hit = data.draw(st.integers(-1, slots))
    parts = schedule.without(run, T0 + hit * interval)
    inside = 0 <= hit < slots
    assert sum(part.slots for part in parts) == slots - inside
    for part in parts:
        covered = {part.first + i * interval for i in range(part.slots)}
        assert max(covered) == part.last
        assert not inside or T0 + hit * interval not in covered


@pytest.mark.parametrize("interval_s", [1, 60, 3600])
def test_a_changed_interval_keeps_the_phase_inside_it(interval_s):
    assume_ok = schedule.phase_ms("7", interval_s) < interval_s * 1000
    assert assume_ok
