"""When a figure is bad for long enough to tell people. Values only, no framework.

A rule judges one figure of one monitor. It fires when ``k`` of the last ``n`` known
outcomes are bad, and clears after ``m`` good ones in a row. An unknown outcome counts
neither for nor against: what the prober could not tell must not page anybody.
"""

from __future__ import annotations

from dataclasses import dataclass, replace
from datetime import datetime
from enum import StrEnum


class Outcome(StrEnum):
    """What one sample says. Grey lies between the clear level and the limit."""

    GOOD = "good"
    GREY = "grey"
    BAD = "bad"
    UNKNOWN = "unknown"


class Phase(StrEnum):
    """Where a rule stands for one monitor."""

    UNKNOWN = "unknown"
    OK = "ok"
    PENDING = "pending"
    FIRING = "firing"
    RECOVERING = "recovering"


ALARMED = frozenset({Phase.FIRING, Phase.RECOVERING})


class Kind(StrEnum):
    """What happened. Each is stored as a transition; the names are permanent."""

    FIRE = "fire"
    RESOLVE = "resolve"
    WITHDRAW = "withdraw"
    NO_DATA = "no_data"
    DATA_BACK = "data_back"


@dataclass(frozen=True, slots=True, kw_only=True)
class RuleSpec:
    """Fire at ``k`` bad of the last ``n`` known, clear after ``m`` good in a row.

    Raises ``ValueError`` for a rule that could never fire or never clear.
    """

    k: int = 3
    n: int = 5
    m: int = 3

    def __post_init__(self) -> None:
        if not (1 <= self.k <= self.n and self.m >= 1):
            raise ValueError(f"{self.k} of {self.n}, clear after {self.m}: no rule")


SLOW_PROBING_S = 300


def default_spec(interval_s: int) -> RuleSpec:
    """3 of 5 is about one false alarm in 200 days at 1 % stray slow answers and a
    probe a minute; slow probing cannot wait for that many."""
    return RuleSpec(k=2, n=3, m=2) if interval_s >= SLOW_PROBING_S else RuleSpec()


@dataclass(frozen=True, slots=True, kw_only=True)
class Limit:
    """A limit, in the figure's own unit, and how far inside it clearing begins.

    ``clear_ratio`` 0.85 clears a ceiling at 85 % of it and a floor at 115 %. The
    limit itself still keeps the objective, as everywhere in the product.
    """

    at: float
    is_floor: bool = False
    clear_ratio: float = 1.0

    def breached(self, value: float) -> bool:
        return value < self.at if self.is_floor else value > self.at

    def cleared(self, value: float) -> bool:
        if self.is_floor:
            return value >= self.at * (2 - self.clear_ratio)
        return value <= self.at * self.clear_ratio


@dataclass(frozen=True, slots=True, kw_only=True)
class Reading:
    """One sample's word on one figure.

    ``beyond`` is set where there is no value because it would be worse than any
    limit: no first token within the time-out is a TTFT, if an endless one.
    ``uncertainty`` is in the unit of ``value``.
    """

    value: float | None = None
    uncertainty: float = 0.0
    beyond: bool = False


def classify(reading: Reading, limit: Limit) -> Outcome:
    """Judge a reading. One that is less sure than its distance to the limit is
    unknown: it may lie on either side."""
    value = reading.value
    if reading.beyond:
        return Outcome.BAD
    if value is None or value != value:
        return Outcome.UNKNOWN
    if reading.uncertainty > abs(value - limit.at):
        return Outcome.UNKNOWN
    if limit.breached(value):
        return Outcome.BAD
    return Outcome.GOOD if limit.cleared(value) else Outcome.GREY


@dataclass(frozen=True, slots=True, kw_only=True)
class Event:
    """Something to tell. ``seq`` numbers the events of one (monitor, rule), without
    gaps; ``incident`` is the ``seq`` that opened what this event belongs to."""

    kind: Kind
    at: datetime
    seq: int
    incident: int
    since: datetime


@dataclass(frozen=True, slots=True, kw_only=True)
class RuleState:
    """All that a rule remembers; storing it is enough to survive a restart.

    ``window`` holds the last known outcomes, oldest first, True for bad. ``good_run``
    counts good outcomes in a row, up to ``m``. ``announced``: people were told of the
    incident that began at ``since`` and not yet of its end.
    """

    phase: Phase = Phase.UNKNOWN
    window: tuple[bool, ...] = ()
    good_run: int = 0
    announced: bool = False
    seq: int = 0
    since: datetime | None = None
    last_at: datetime | None = None


Step = tuple[RuleState, tuple[Event, ...]]


def step(rule: RuleSpec, state: RuleState, at: datetime, outcome: Outcome) -> Step:
    """Take in the outcome of the sample due at ``at``.

    A sample that is not newer than the last one changes nothing, so that a replay or
    a late delivery can neither fire nor clear a rule.
    """
    if state.last_at is not None and at <= state.last_at:
        return state, ()
    state = replace(state, last_at=at)
    if outcome is Outcome.UNKNOWN:
        return state, ()
    good = outcome is Outcome.GOOD
    state = replace(
        state,
        window=(*state.window, outcome is Outcome.BAD)[-rule.n :],
        good_run=min(state.good_run + 1, rule.m) if good else 0,
    )
    if state.phase in ALARMED:
        return _while_alarmed(rule, state, at, good)
    return _while_calm(rule, state, at, good)


def _while_calm(rule: RuleSpec, state: RuleState, at: datetime, good: bool) -> Step:
    bad = sum(state.window)
    if bad >= rule.k:
        fired = replace(state, phase=Phase.FIRING, since=at)
        return _emit(fired, Kind.FIRE, at, announced=True)
    if bad:
        return replace(state, phase=Phase.PENDING), ()
    if good or state.phase is Phase.PENDING:
        return replace(state, phase=Phase.OK), ()
    return state, ()


def _while_alarmed(rule: RuleSpec, state: RuleState, at: datetime, good: bool) -> Step:
    if state.good_run < rule.m:
        phase = Phase.RECOVERING if good else Phase.FIRING
        return replace(state, phase=phase), ()
    return _close(replace(state, phase=Phase.OK, window=()), Kind.RESOLVE, at)


def withdraw(state: RuleState, at: datetime) -> Step:
    """Forget everything but the numbering: the rule was switched off, or its limit
    was taken away. People who were told of an incident are told that nobody looks."""
    blank = replace(state, phase=Phase.UNKNOWN, window=(), good_run=0)
    return _close(blank, Kind.WITHDRAW, at)


def _close(state: RuleState, kind: Kind, at: datetime) -> Step:
    """End the open incident, aloud where its beginning was told."""
    closed, events = (
        _emit(state, kind, at, announced=False) if state.announced else (state, ())
    )
    return replace(closed, since=None), events


def _emit(state: RuleState, kind: Kind, at: datetime, *, announced: bool) -> Step:
    seq = state.seq + 1
    event = Event(
        kind=kind,
        at=at,
        seq=seq,
        incident=seq if announced else state.seq,
        since=state.since or at,
    )
    return replace(state, seq=seq, announced=announced), (event,)
