"""How one answer will go: its length, its first token, and what befalls it."""

from __future__ import annotations

from dataclasses import dataclass
from random import Random

from probes.simulator.faults import KINDS, Fault, FaultBoard
from probes.simulator.knobs import Knobs, jitter


@dataclass(frozen=True, slots=True, kw_only=True)
class Plan:
    """What was decided about a request when it came in."""

    tokens: int
    """Tokens of the whole answer."""
    prefill_s: float
    refuse_status: int | None = None
    retry_after_s: int | None = None
    stall_s: float = 0.0
    """Extra wait before the token ``stall_at``."""
    stall_at: int = 0
    cut_after: int | None = None
    """Tokens after which the connection closes."""

    @property
    def outcome(self) -> str:
        """How the request will end if its client stays: a word for the log."""
        if self.refuse_status is not None:
            return str(self.refuse_status)
        return "cut" if self.cut_after is not None else "ok"


def troubles(
    knobs: Knobs, board: FaultBoard, random: Random, now_s: float
) -> dict[Fault, float]:
    """The faults that this request meets: those switched on, and its own bad luck."""
    met = {
        fault: KINDS[fault].default
        for fault, chance in knobs.mishaps
        if random.random() < chance
    }
    return met | {fault: on.value for fault, on in board.active(now_s).items()}


def plan_answer(
    knobs: Knobs,
    met: dict[Fault, float],
    random: Random,
    uncached_tokens: int,
    answer_tokens: int,
) -> Plan:
    """Decide how a request is answered that meets the faults ``met``."""
    prefill_s = knobs.prefill_s(uncached_tokens) * met.get(Fault.SLOW_TTFT, 1.0)
    refuse_status = retry_after_s = cut_after = None
    if Fault.SERVER_ERROR in met:
        refuse_status = int(met[Fault.SERVER_ERROR])
    elif Fault.RATE_LIMIT in met:
        refuse_status = 429
        retry_after_s = int(met[Fault.RATE_LIMIT])
    if Fault.CUT in met:
        cut_after = max(1, min(int(met[Fault.CUT]), answer_tokens - 1))
    return Plan(
        tokens=answer_tokens,
        prefill_s=prefill_s * jitter(random, knobs.jitter_sigma),
        refuse_status=refuse_status,
        retry_after_s=retry_after_s,
        stall_s=met.get(Fault.STALL, 0.0),
        stall_at=max(1, answer_tokens // 2),
        cut_after=cut_after,
    )
