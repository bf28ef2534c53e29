"""When a monitor is due: a fixed grid with a phase of its own. No clock, no database.

A slot is a moment ``t`` (Unix milliseconds) with ``t % interval == phase``. The grid
depends on the monitor alone, so that restarts neither shift it nor bunch it, and two
schedulers agree on what is due.
"""

from __future__ import annotations

import hashlib
from collections.abc import Sequence
from dataclasses import dataclass
from datetime import UTC, datetime, timedelta

_MS = timedelta(milliseconds=1)
_EPOCH = datetime(1970, 1, 1, tzinfo=UTC)


def phase_ms(key: str, interval_s: int) -> int:
    """Where on its grid ``key`` lies, in ``[0, interval)``; the same on any machine."""
    digest = hashlib.sha256(key.encode()).digest()[:8]
    return int.from_bytes(digest, "big") % (interval_s * 1000)


def to_ms(moment: datetime) -> int:
    """Unix milliseconds, exact (floats lose the last digit of today's clock)."""
    return (moment - _EPOCH) // _MS


def from_ms(value_ms: int) -> datetime:
    return _EPOCH + value_ms * _MS


def next_slot(after: datetime, interval_s: int, phase_ms: int) -> datetime:
    """The first slot later than ``after``."""
    interval_ms = interval_s * 1000
    after_ms = to_ms(after)
    return from_ms(after_ms - (after_ms - phase_ms) % interval_ms + interval_ms)


@dataclass(frozen=True, slots=True, kw_only=True)
class Run:
    """Slots in a row: first, last and how many, ``interval_s`` apart."""

    first: datetime
    last: datetime
    slots: int
    interval_s: int


def run_of(first: datetime, last: datetime, interval_s: int) -> Run:
    slots = round((last - first) / timedelta(seconds=interval_s)) + 1
    return Run(first=first, last=last, slots=slots, interval_s=interval_s)


@dataclass(frozen=True, slots=True, kw_only=True)
class Due:
    """What a look at the clock finds: the slot to probe, and slots that are over.

    ``missed`` are never probed late: a probe now would measure now, not then.
    """

    slot: datetime | None
    missed: Run | None
    next_due: datetime


def due(next_due: datetime, interval_s: int, horizon: datetime, now: datetime) -> Due:
    """Claim what is due up to ``horizon``, for a monitor first due at ``next_due``.

    A slot whose whole interval has passed at ``now`` is over. Slots may be claimed
    a little ahead (``horizon`` later than ``now``), so that each starts on its dot.
    """
    if next_due > horizon:
        return Due(slot=None, missed=None, next_due=next_due)
    interval = timedelta(seconds=interval_s)
    slot = next_due + (horizon - next_due) // interval * interval
    # With a horizon longer than the interval the newest slot is not the first due.
    while slot - interval >= next_due and slot - interval > now - interval:
        slot -= interval
    missed = None
    if slot > next_due:
        missed = run_of(next_due, slot - interval, interval_s)
    if slot + interval <= now:
        return Due(
            slot=None,
            missed=run_of(next_due, slot, interval_s),
            next_due=slot + interval,
        )
    return Due(slot=slot, missed=missed, next_due=slot + interval)


def without(run: Run, slot: datetime) -> Sequence[Run]:
    """``run`` after one of its slots got its sample after all: what is left of it."""
    if not run.first <= slot <= run.last:
        return (run,)
    interval = timedelta(seconds=run.interval_s)
    parts = []
    if slot > run.first:
        parts.append(run_of(run.first, slot - interval, run.interval_s))
    if slot < run.last:
        parts.append(run_of(slot + interval, run.last, run.interval_s))
    return parts
