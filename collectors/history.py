"""A past that never was, as real ones look: a day's rhythm, spikes, and incidents.

Values only; ``collectors.generate`` stores it.
"""

from __future__ import annotations

import math
from dataclasses import dataclass
from datetime import UTC, datetime, timedelta
from enum import StrEnum
from random import Random

from probes.types import Failure, FinishReason, Measurement

BUSIEST_HOUR = 15
RHYTHM = 0.3
"""How much slower the busiest hour (UTC) is than the mean, and the quietest quicker."""

FAILED_SHARE = 0.003
SPIKE_SHARE = 0.01
SLOWDOWN = 6
FAILURES = (Failure.SERVER, Failure.RATE_LIMITED, Failure.CONNECTION)

_EPOCH = datetime(1970, 1, 1, tzinfo=UTC)


class Condition(StrEnum):
    """What an hour of one monitor was like; all but CALM are incidents."""

    CALM = "calm"
    SLOW = "slow"
    DOWN = "down"
    UNWATCHED = "unwatched"


@dataclass(frozen=True, slots=True, kw_only=True)
class Incident:
    """Comes back every ``every_days``, from ``hour`` (UTC) for ``hours``."""

    condition: Condition
    every_days: int
    hour: int
    hours: int


INCIDENTS = (
    Incident(condition=Condition.DOWN, every_days=30, hour=3, hours=1),
    Incident(condition=Condition.SLOW, every_days=14, hour=14, hours=2),
    Incident(condition=Condition.UNWATCHED, every_days=45, hour=20, hours=1),
)


def condition(number: int, hour: datetime) -> Condition:
    """What monitor ``number`` went through in the hour that begins at ``hour``.

    Each monitor has its incidents a day before the one that is numbered below it.
    """
    day = (hour - _EPOCH) // timedelta(days=1) + number
    for incident in INCIDENTS:
        past_h = hour.hour - incident.hour
        if day % incident.every_days == 0 and 0 <= past_h < incident.hours:
            return incident.condition
    return Condition.CALM


@dataclass(frozen=True, slots=True, kw_only=True)
class Profile:
    """What an endpoint does on a mean day in one scenario."""

    model: str
    ttft_ms: float
    tokens_per_second: float
    input_tokens: int
    output_tokens: int


def draw(profile: Profile, hour: int, state: Condition, rng: Random) -> Measurement:
    """One probe in an hour of the day that was like ``state``."""
    if state is Condition.DOWN or rng.random() < FAILED_SHARE:
        return _failure(rng)
    load = 1 + RHYTHM * math.cos((hour - BUSIEST_HOUR) * math.tau / 24)
    if state is Condition.SLOW:
        load *= SLOWDOWN
    elif rng.random() < SPIKE_SHARE:
        load *= rng.paretovariate(1.5) * 3
    ttft_ms = profile.ttft_ms * load * rng.lognormvariate(0, 0.25)
    rate = round(profile.tokens_per_second / load**0.5 * rng.lognormvariate(0, 0.1), 1)
    return _answer(profile, ttft_ms, max(rate, 0.1), rng)


def _failure(rng: Random) -> Measurement:
    error = rng.choice(FAILURES)
    status = {Failure.SERVER: 503, Failure.RATE_LIMITED: 429}.get(error)
    return Measurement(
        outcome="error", error=error, http_status=status, error_text="generated"
    )


def _answer(profile: Profile, ttft_ms: float, rate: float, rng: Random) -> Measurement:
    tokens = profile.output_tokens
    gap_ms = 1000 / rate
    total_ms = ttft_ms + (tokens - 1) * gap_ms
    return Measurement(
        outcome="ok",
        http_status=200,
        ttft_ms=ttft_ms,
        ttfa_ms=ttft_ms,
        total_ms=total_ms,
        end_ms=total_ms + 1,
        headers_ms=ttft_ms * 0.9,
        output_tokens=tokens,
        input_tokens=profile.input_tokens,
        token_source="usage",
        tokens_per_second=rate,
        slowest_1s_tokens_per_second=round(rate * 0.8, 1),
        tail_speed_ratio=1.0,
        rebuffer_s=0.0,
        gap_p50_ms=gap_ms * 0.9,
        gap_p95_ms=gap_ms * 1.5,
        max_gap_ms=gap_ms * rng.uniform(2, 6),
        stall_count=0,
        answer_chars=tokens * 4,
        chunks=tokens,
        bytes=tokens * 220,
        finish_reason=FinishReason.STOP,
        streamed=True,
        clock="kernel",
        uncertainty_ms=0.05,
        loop_lag_ms=0.4,
        model_reported=profile.model,
    )
