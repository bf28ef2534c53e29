"""Faults that can be switched on, each with a value and perhaps an end."""

from __future__ import annotations

from dataclasses import dataclass
from enum import StrEnum

LONGEST_S = 7 * 86_400.0


class Fault(StrEnum):
    """What can go wrong. The values are the names in URLs."""

    SLOW_TTFT = "slow-ttft"
    SLOW_DECODE = "slow-decode"
    STALL = "stall"
    RATE_LIMIT = "429"
    SERVER_ERROR = "500"
    CUT = "cut"


@dataclass(frozen=True, slots=True)
class Kind:
    """How a fault is shown, and which values it takes."""

    label: str
    unit: str
    default: float
    low: float
    high: float
    whole: bool = False


KINDS = {
    Fault.SLOW_TTFT: Kind("Slow first token", "× prefill", 8, 1, 1000),
    Fault.SLOW_DECODE: Kind("Slow decoding", "× step", 4, 1, 1000),
    Fault.STALL: Kind("Stall mid-answer", "seconds", 6, 0.1, 600),
    Fault.RATE_LIMIT: Kind("Refuse, rate limit", "Retry-After s", 5, 0, 3600, True),
    Fault.SERVER_ERROR: Kind("Server error", "status", 500, 500, 599, True),
    Fault.CUT: Kind("Cut the stream", "tokens in", 5, 1, 100_000, True),
}


@dataclass(frozen=True, slots=True)
class Active:
    """A fault that is on. ``until_s`` is Unix time, ``None`` without an end."""

    value: float
    until_s: float | None


class FaultBoard:
    """The switches of one model. Every time is Unix time in seconds."""

    def __init__(self) -> None:
        self._on: dict[Fault, Active] = {}

    def switch_on(
        self, fault: Fault, value: float | None, now_s: float, for_s: float | None
    ) -> None:
        """Switch ``fault`` on; without a value it takes its kind's default.

        Raises ``ValueError`` with a sentence for a value or duration out of range.
        """
        kind = KINDS[fault]
        value = kind.default if value is None else value
        if not kind.low <= value <= kind.high:
            raise ValueError(
                f"{fault} takes a value from {kind.low:g} to {kind.high:g}."
            )
        if kind.whole and value != int(value):
            raise ValueError(f"{fault} takes a whole number.")
        if for_s is not None and not 0 < for_s <= LONGEST_S:
            raise ValueError(f"for_s must be above 0 and at most {LONGEST_S:g}.")
        until_s = None if for_s is None else now_s + for_s
        self._on[fault] = Active(float(value), until_s)

    def switch_off(self, fault: Fault) -> None:
        self._on.pop(fault, None)

    def clear(self) -> None:
        self._on.clear()

    def value(self, fault: Fault, now_s: float) -> float | None:
        """The value of ``fault`` if it is on, else ``None``."""
        active = self._on.get(fault)
        if active is None:
            return None
        if active.until_s is not None and active.until_s <= now_s:
            del self._on[fault]
            return None
        return active.value

    def active(self, now_s: float) -> dict[Fault, Active]:
        """The faults that are on, in the order of their kinds."""
        return {f: self._on[f] for f in Fault if self.value(f, now_s) is not None}
