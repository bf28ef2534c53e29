"""The rules' state machine: known sequences, and what holds for every sequence."""

from __future__ import annotations

from dataclasses import replace
from datetime import UTC, datetime, timedelta

import pytest
from hypothesis import given
from hypothesis import strategies as st

from alerts.rules import (
    Event,
    Kind,
    Limit,
    Outcome,
    Phase,
    Reading,
    RuleSpec,
    RuleState,
    classify,
    default_spec,
    step,
    withdraw,
)

T0 = datetime(2026, 3, 1, tzinfo=UTC)
LETTERS = {
    "G": Outcome.GOOD,
    "B": Outcome.BAD,
    "~": Outcome.GREY,
    "?": Outcome.UNKNOWN,
}


def minute(number: int) -> datetime:
    return T0 + timedelta(minutes=number)


def feed(
    outcomes: str, rule: RuleSpec | None = None, state: RuleState | None = None
) -> tuple[str, list[Event], RuleState]:
    """Phases as letters, events, and the last state; the first sample is minute 1."""
    state = state or RuleState()
    phases = ""
    events: list[Event] = []
    for number, letter in enumerate(outcomes, start=1):
        state, news = step(rule or RuleSpec(), state, minute(number), LETTERS[letter])
        phases += state.phase.value[0].upper()
        events += news
    return phases, events, state


@pytest.mark.parametrize(
    ("outcomes", "phases", "expected"),
    [
        pytest.param("GGBBBGGG", "OOPPFRRO", "fire@5 resolve@8", id="clean"),
        pytest.param("GBGGGGBGGGGG", "OPPPPPPPPPPO", "", id="single blips"),
        pytest.param("GBGBGBGBGBGB", "OPPPPFRFRFRF", "fire@6", id="alternating"),
        pytest.param(
            "BBB~~~~~~G~GGG", "PPFFFFFFFRFRRO", "fire@3 resolve@14", id="grey holds"
        ),
        pytest.param("B?B?B", "PPPPF", "fire@5", id="unknown never counts"),
        pytest.param("G?????", "OOOOOO", "", id="all unknown"),
        pytest.param("BBB", "PPF", "fire@3", id="bad from the start"),
        pytest.param("~~~", "UUU", "", id="grey says nothing yet"),
        pytest.param("B~~~~~", "PPPPPO", "", id="pending ends without a good one"),
        pytest.param(
            "BBBG?GG", "PPFRRRO", "fire@3 resolve@7", id="unknown while clearing"
        ),
        pytest.param(
            "BBBGGGBBGB", "PPFRROPPPF", "fire@3 resolve@6 fire@10", id="window cleared"
        ),
    ],
)
def test_sequence(outcomes: str, phases: str, expected: str):
    found, events, _ = feed(outcomes)

    assert found == phases
    told = [f"{e.kind}@{(e.at - T0) // timedelta(minutes=1)}" for e in events]
    assert " ".join(told) == expected


def test_duplicates_and_late_samples_are_ignored():
    state = RuleState()
    for number in (1, 1, 1, 2, 1):
        state, events = step(RuleSpec(), state, minute(number), Outcome.BAD)
        assert not events

    assert state.window == (True, True)


def test_an_incident_is_numbered_and_dated_by_its_beginning():
    _, events, state = feed("BBBGGGBBBGGG")

    assert [(e.kind, e.seq, e.incident) for e in events] == [
        (Kind.FIRE, 1, 1),
        (Kind.RESOLVE, 2, 1),
        (Kind.FIRE, 3, 3),
        (Kind.RESOLVE, 4, 3),
    ]
    assert [e.since for e in events] == [minute(n) for n in (3, 3, 9, 9)]
    assert state.since is None and not state.announced


def test_a_withdrawn_rule_ends_its_incident_aloud_and_keeps_its_numbering():
    *_, firing = feed("BBB")

    blank, events = withdraw(firing, minute(4))

    assert [(e.kind, e.seq, e.incident) for e in events] == [(Kind.WITHDRAW, 2, 1)]
    assert blank == RuleState(seq=2, last_at=minute(3))
    assert withdraw(blank, minute(5)) == (blank, ())


def test_a_withdrawn_rule_that_told_nothing_is_silent():
    *_, pending = feed("BB")

    blank, events = withdraw(pending, minute(3))

    assert not events
    assert blank == RuleState(last_at=minute(2))


@pytest.mark.parametrize(("k", "n", "m"), [(0, 5, 3), (6, 5, 3), (3, 5, 0)])
def test_a_rule_that_cannot_fire_or_clear_is_refused(k: int, n: int, m: int):
    with pytest.raises(ValueError, match="no rule"):
        RuleSpec(k=k, n=n, m=m)


def test_slow_probing_fires_sooner():
    assert default_spec(299) == RuleSpec(k=3, n=5, m=3)
    assert default_spec(300) == RuleSpec(k=2, n=3, m=2)


CEILING = Limit(at=1000, clear_ratio=0.85)
FLOOR = Limit(at=20, is_floor=True, clear_ratio=0.85)


@pytest.mark.parametrize(
    ("limit", "value", "outcome"),
    [
        (CEILING, 0, "good"),
        (CEILING, 850, "good"),
        (CEILING, 850.1, "grey"),
        (CEILING, 1000, "grey"),  # a limit may be used up, as in the objectives
        (CEILING, 1000.1, "bad"),
        (FLOOR, 19.9, "bad"),
        (FLOOR, 20, "grey"),
        (FLOOR, 22.9, "grey"),
        (FLOOR, 23, "good"),
        (Limit(at=1000), 1000, "good"),
        (CEILING, None, "unknown"),
        (CEILING, float("nan"), "unknown"),
    ],
)
def test_outcome(limit: Limit, value: float | None, outcome: str):
    assert classify(Reading(value=value), limit) == outcome


@pytest.mark.parametrize(
    ("value", "uncertainty", "outcome"),
    [
        (1100, 100, "bad"),
        (1100, 100.1, "unknown"),
        (900, 100, "grey"),
        (900, 100.1, "unknown"),
        (400, 100.1, "good"),
    ],
)
def test_less_sure_than_its_distance_to_the_limit_is_unknown(
    value: float, uncertainty: float, outcome: str
):
    assert classify(Reading(value=value, uncertainty=uncertainty), CEILING) == outcome


def test_beyond_any_limit_is_bad_without_a_value():
    assert classify(Reading(beyond=True), CEILING) is Outcome.BAD


specs = st.builds(
    lambda k, extra, m: RuleSpec(k=k, n=k + extra, m=m),
    st.integers(1, 5),
    st.integers(0, 5),
    st.integers(1, 5),
)
sequences = st.text(alphabet="GB~?", max_size=60)


@given(specs, sequences)
def test_fires_only_on_k_bad_of_the_last_n_known(rule: RuleSpec, outcomes: str):
    _, events, _ = feed(outcomes, rule)

    for event in events:
        if event.kind is Kind.FIRE:
            so_far = outcomes[: (event.at - T0) // timedelta(minutes=1)]
            known = so_far.replace("?", "")
            assert known[-rule.n :].count("B") >= rule.k
            assert known[-1] == "B"


@given(specs, sequences)
def test_resolves_exactly_on_the_mth_good_in_a_row(rule: RuleSpec, outcomes: str):
    """An oracle of another make: how many good ones the known outcomes end with."""
    state = RuleState()
    for number, letter in enumerate(outcomes, start=1):
        firing = state.phase in (Phase.FIRING, Phase.RECOVERING)
        state, events = step(rule, state, minute(number), LETTERS[letter])
        known = outcomes[:number].replace("?", "")
        run = len(known) - len(known.rstrip("G"))
        resolved = any(e.kind is Kind.RESOLVE for e in events)
        assert resolved == (firing and letter == "G" and run >= rule.m)


@given(specs, sequences)
def test_fire_and_resolve_alternate_and_are_numbered_without_gaps(
    rule: RuleSpec, outcomes: str
):
    _, events, state = feed(outcomes, rule)

    assert [e.seq for e in events] == list(range(1, len(events) + 1))
    assert [e.kind for e in events[::2]] == [Kind.FIRE] * len(events[::2])
    assert [e.kind for e in events[1::2]] == [Kind.RESOLVE] * len(events[1::2])
    assert state.seq == len(events)
    assert state.announced == (len(events) % 2 == 1)


@given(specs, sequences, st.data())
def test_a_replay_changes_nothing(rule: RuleSpec, outcomes: str, data: st.DataObject):
    """Whatever was delivered may be delivered again, in any order."""
    *_, state = feed(outcomes, rule)
    again = st.integers(1, max(1, len(outcomes)))
    for number in data.draw(st.lists(again, max_size=10)) if outcomes else ():
        outcome = data.draw(st.sampled_from(Outcome))
        assert step(rule, state, minute(number), outcome) == (state, ())


@given(specs, sequences)
def test_unknown_outcomes_leave_no_trace(rule: RuleSpec, outcomes: str):
    _, events, state = feed(outcomes, rule)
    _, known_events, known_state = feed(outcomes.replace("?", ""), rule)

    assert replace(state, last_at=None, since=None) == replace(
        known_state, last_at=None, since=None
    )
    assert [(e.kind, e.seq) for e in events] == [(e.kind, e.seq) for e in known_events]


@given(specs, sequences)
def test_what_is_remembered_stays_small(rule: RuleSpec, outcomes: str):
    *_, state = feed(outcomes, rule)

    assert len(state.window) <= rule.n
    assert state.good_run <= rule.m
