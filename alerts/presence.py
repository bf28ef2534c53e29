"""Whether a monitor's data flows. Values only, no framework.

Silence is told apart from sickness: a rule keeps its state while no sample comes,
since no news of an endpoint is neither good news nor bad.
"""

from __future__ import annotations

from dataclasses import dataclass, replace
from datetime import datetime, timedelta
from enum import StrEnum

from alerts.rules import Event, Kind

GRACE_S = 10.0
"""For connecting, queueing and storing, beyond a probe's own time-outs."""


class Data(StrEnum):
    """``waiting``: watched, and no sample yet; ``lost``: overdue."""

    WAITING = "waiting"
    FLOWING = "flowing"
    LOST = "lost"
    PAUSED = "paused"


@dataclass(frozen=True, slots=True, kw_only=True)
class Presence:
    """``since``: when the newest sample arrived, or watching began. ``seq`` numbers
    the monitor's events of this kind."""

    data: Data
    since: datetime
    seq: int = 0


Step = tuple[Presence, tuple[Event, ...]]


def patience(interval_s: float, total_timeout_s: float) -> timedelta:
    """How long silence is normal. Two samples arrive at most an interval and a whole
    probe apart: the slot after a slow probe may be one that it left no room for."""
    return timedelta(
        seconds=max(3 * interval_s, interval_s + total_timeout_s + GRACE_S)
    )


def arrived(presence: Presence, *, enabled: bool, now: datetime) -> Step:
    """Take in a sample. One that was under way when its monitor was paused does not
    wake it."""
    if not enabled:
        return presence, ()
    flowing = replace(presence, data=Data.FLOWING, since=now)
    if presence.data is not Data.LOST:
        return flowing, ()
    return _emit(flowing, Kind.DATA_BACK, now, presence)


def look(
    presence: Presence, *, enabled: bool, now: datetime, patience: timedelta
) -> Step:
    """Compare with the clock. Returns ``presence`` itself where nothing changed."""
    data = presence.data
    if not enabled:
        paused = replace(presence, data=Data.PAUSED)
        return (presence if data is Data.PAUSED else paused), ()
    if data is Data.PAUSED:
        return replace(presence, data=Data.WAITING, since=now), ()
    if data is Data.LOST or now - presence.since <= patience:
        return presence, ()
    lost = replace(presence, data=Data.LOST)
    return _emit(lost, Kind.NO_DATA, now, presence)


def _emit(after: Presence, kind: Kind, at: datetime, before: Presence) -> Step:
    seq = before.seq + 1
    event = Event(
        kind=kind,
        at=at,
        seq=seq,
        incident=seq if kind is Kind.NO_DATA else before.seq,
        since=before.since,
    )
    return replace(after, seq=seq), (event,)
