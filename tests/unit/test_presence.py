"""Whether a monitor's data flows."""

from __future__ import annotations

from datetime import UTC, datetime, timedelta

import pytest

from alerts.presence import Data, Presence, arrived, look, patience
from alerts.rules import Kind

T0 = datetime(2026, 3, 1, tzinfo=UTC)
THREE_MINUTES = timedelta(minutes=3)


def at(seconds: float) -> datetime:
    return T0 + timedelta(seconds=seconds)


FLOWING = Presence(data=Data.FLOWING, since=T0)


@pytest.mark.parametrize(
    ("interval_s", "total_timeout_s", "expected_s"),
    [(60, 30, 180), (60, 300, 370), (10, 300, 320), (10, 5, 30)],
)
def test_patience(interval_s: float, total_timeout_s: float, expected_s: float):
    assert patience(interval_s, total_timeout_s).total_seconds() == expected_s


def test_silence_is_noticed_once_and_just_after_patience_ran_out():
    on_time = look(FLOWING, enabled=True, now=at(180), patience=THREE_MINUTES)
    assert on_time == (FLOWING, ())

    lost, events = look(FLOWING, enabled=True, now=at(181), patience=THREE_MINUTES)
    assert lost == Presence(data=Data.LOST, since=T0, seq=1)
    assert [(e.kind, e.seq, e.incident, e.since) for e in events] == [
        (Kind.NO_DATA, 1, 1, T0)
    ]

    assert look(lost, enabled=True, now=at(999), patience=THREE_MINUTES) == (lost, ())


def test_data_that_comes_back_is_told_with_how_long_it_was_away():
    lost = Presence(data=Data.LOST, since=T0, seq=1)

    back, events = arrived(lost, enabled=True, now=at(420))

    assert back == Presence(data=Data.FLOWING, since=at(420), seq=2)
    assert [(e.kind, e.seq, e.incident, e.since) for e in events] == [
        (Kind.DATA_BACK, 2, 1, T0)
    ]


@pytest.mark.parametrize("data", [Data.WAITING, Data.FLOWING])
def test_a_sample_in_time_is_no_event(data: Data):
    presence = Presence(data=data, since=T0)

    after, events = arrived(presence, enabled=True, now=at(60))

    assert after == Presence(data=Data.FLOWING, since=at(60))
    assert not events


def test_a_monitor_that_never_had_data_is_noticed_too():
    new = Presence(data=Data.WAITING, since=T0)

    lost, events = look(new, enabled=True, now=at(181), patience=THREE_MINUTES)

    assert lost.data is Data.LOST
    assert [e.kind for e in events] == [Kind.NO_DATA]


@pytest.mark.parametrize("data", [Data.WAITING, Data.FLOWING, Data.LOST])
def test_pausing_is_silent(data: Data):
    presence = Presence(data=data, since=T0)

    paused, events = look(presence, enabled=False, now=at(999), patience=THREE_MINUTES)

    assert paused.data is Data.PAUSED
    assert not events


def test_a_paused_monitor_stays_so_until_it_is_enabled():
    paused = Presence(data=Data.PAUSED, since=T0)

    still = look(paused, enabled=False, now=at(9999), patience=THREE_MINUTES)
    assert still == (paused, ())
    assert arrived(paused, enabled=False, now=at(5)) == (paused, ())

    woken, events = look(paused, enabled=True, now=at(9999), patience=THREE_MINUTES)
    assert woken == Presence(data=Data.WAITING, since=at(9999))
    assert not events
