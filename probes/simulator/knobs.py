"""What one simulated model is like: every truth that a measurement can be held to."""

from __future__ import annotations

import math
from dataclasses import dataclass, field
from random import Random

from probes.simulator.faults import Fault


@dataclass(frozen=True, slots=True, kw_only=True)
class Rhythm:
    """Background requests a second, swinging between two rates as a cosine.

    ``quiet_at_s`` is the moment of the lowest rate, in seconds after the start of a
    period; periods count from the Unix epoch, so one of 24 h follows the UTC day.
    """

    low_per_s: float = 0.0
    high_per_s: float = 0.0
    period_s: float = 86_400.0
    quiet_at_s: float = 0.0

    def rate_per_s(self, at_s: float) -> float:
        """Mean arrivals a second at ``at_s`` (Unix time)."""
        turn = math.tau * (at_s - self.quiet_at_s) / self.period_s
        return self.low_per_s + (self.high_per_s - self.low_per_s) * (
            (1.0 - math.cos(turn)) / 2.0
        )


@dataclass(frozen=True, slots=True, kw_only=True)
class Knobs:
    """The truth about one simulated model.

    Time to first token is queueing + ``prefill_s``. Up to ``slots`` requests are
    served at once, so a load test finds its knee there. Jitter is lognormal with
    mean 1, thus the figures below hold on average.
    """

    name: str
    about: str = ""
    seed: int = 1
    slots: int = 32
    prefill_base_ms: float = 40.0
    prefill_ms_per_1k_tokens: float = 120.0
    decode_tokens_per_s: float = 60.0
    """The rate of a request that is alone in the batch."""
    batch_slowdown: float = 0.01
    """Each further request in the batch makes a step longer by this share."""
    jitter_sigma: float = 0.08
    answer_tokens: int = 400
    """Length of an answer that ``max_tokens`` does not cut."""
    max_context_tokens: int = 131_072
    cache_block_tokens: int = 16
    cache_blocks: int = 8_192
    """Capacity of the prefix cache; 0 switches it off."""
    rhythm: Rhythm = Rhythm()
    background_prompt_tokens: int = 600
    background_output_tokens: int = 150
    background_max_queue: int = 16
    """A background request leaves at once when so many are already waiting."""
    mishaps: tuple[tuple[Fault, float], ...] = field(default=())
    """Faults that befall a request by themselves, each with its probability."""

    def prefill_s(self, uncached_tokens: int) -> float:
        """Seconds from a free slot to the first token, before jitter."""
        per_token_ms = self.prefill_ms_per_1k_tokens / 1000.0
        return (self.prefill_base_ms + uncached_tokens * per_token_ms) / 1000.0

    def step_s(self, batch: int) -> float:
        """Seconds between two tokens of one request when ``batch`` are served."""
        slowdown = 1.0 + self.batch_slowdown * (max(batch, 1) - 1)
        return slowdown / self.decode_tokens_per_s


def jitter(random: Random, sigma: float) -> float:
    """A lognormal factor with mean 1."""
    return math.exp(sigma * random.gauss(0.0, 1.0) - sigma * sigma / 2.0)


DEFAULT_MODELS = (
    Knobs(
        name="steady",
        about="A well-sized server that breathes with the UTC day.",
        seed=11,
        slots=64,
        rhythm=Rhythm(low_per_s=0.3, high_per_s=2.0, quiet_at_s=4 * 3600.0),
    ),
    Knobs(
        name="loaded",
        about="Four slots and a rush every ten minutes: watch it queue.",
        seed=12,
        slots=4,
        prefill_base_ms=60.0,
        prefill_ms_per_1k_tokens=250.0,
        decode_tokens_per_s=45.0,
        batch_slowdown=0.15,
        cache_blocks=1_024,
        rhythm=Rhythm(low_per_s=0.05, high_per_s=0.75, period_s=600.0),
        background_max_queue=6,
    ),
    Knobs(
        name="flaky",
        about="Quick on average, and something breaks now and then.",
        seed=13,
        slots=16,
        decode_tokens_per_s=80.0,
        jitter_sigma=0.3,
        rhythm=Rhythm(low_per_s=0.2, high_per_s=1.0, period_s=3_600.0),
        mishaps=(
            (Fault.SERVER_ERROR, 0.02),
            (Fault.RATE_LIMIT, 0.02),
            (Fault.STALL, 0.02),
            (Fault.CUT, 0.01),
        ),
    ),
)
"""What ``python -m probes.simulator`` serves."""
