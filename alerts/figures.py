"""Which figures can have a rule, and what a sample says about each. Values only.

A dead endpoint must not fire four rules. Its failures are bad in one of them,
``errors``; to the others a failed probe is unknown, except where the failure itself
is a measurement of the figure (docs/adr/0002-errors-are-one-rule.md).
"""

from __future__ import annotations

from dataclasses import dataclass
from enum import StrEnum

from alerts.rules import Limit, Reading
from probes.types import Failure


class Figure(StrEnum):
    """What a rule may judge; the latency figures are named as in the samples."""

    TTFT_MS = "ttft_ms"
    TOKENS_PER_SECOND = "tokens_per_second"
    TOTAL_MS = "total_ms"
    ERRORS = "errors"


FAILED_AT_MOST = 0.0
"""The limit of ``errors``: a probe's failures, 0 or 1. It is no matter of taste."""

RATE_MIN_TOKENS = 16
RATE_MIN_CHUNKS = 3
RATE_MIN_WINDOW_MS = 50.0
"""With less than these a rate says more about the network's packets than the model."""


@dataclass(frozen=True, slots=True, kw_only=True)
class Observed:
    """What of a sample a rule can judge. ``failure`` is "" for a complete answer."""

    failure: str = ""
    ttft_ms: float | None = None
    total_ms: float | None = None
    tokens_per_second: float | None = None
    output_tokens: int | None = None
    chunks: int | None = None
    uncertainty_ms: float = 0.0
    buffered: bool = False


def limit(figure: Figure, at: float, clear_ratio: float) -> Limit:
    is_floor = figure is Figure.TOKENS_PER_SECOND
    return Limit(at=at, is_floor=is_floor, clear_ratio=clear_ratio)


def read(figure: Figure, seen: Observed) -> Reading:
    """What ``seen`` says about ``figure``."""
    if figure is Figure.ERRORS:
        return Reading(value=float(bool(seen.failure)))
    if figure is Figure.TTFT_MS:
        return Reading(
            value=seen.ttft_ms,
            uncertainty=seen.uncertainty_ms,
            beyond=seen.failure == Failure.TIMEOUT_FIRST_TOKEN,
        )
    if seen.failure:
        # Where an answer broke off its length and rate are not the model's.
        return Reading()
    if figure is Figure.TOTAL_MS:
        return Reading(value=seen.total_ms, uncertainty=seen.uncertainty_ms)
    return _read_rate(seen)


def _read_rate(seen: Observed) -> Reading:
    if seen.buffered:
        # Whoever held the stream back took the reader's tokens/s away altogether.
        return Reading(beyond=True)
    rate, first, last = seen.tokens_per_second, seen.ttft_ms, seen.total_ms
    if rate is None or first is None or last is None:
        return Reading()
    window_ms = last - first
    tokens = seen.output_tokens or seen.chunks or 0
    chunks = seen.chunks or 0
    if (
        window_ms < RATE_MIN_WINDOW_MS
        or tokens < RATE_MIN_TOKENS
        or chunks < RATE_MIN_CHUNKS
    ):
        return Reading()
    return Reading(value=rate, uncertainty=rate * seen.uncertainty_ms / window_ms)
