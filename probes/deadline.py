"""The one deadline of an exchange, moved as it proceeds."""

from __future__ import annotations

import asyncio
from enum import Enum, auto

from probes.types import Failure, Timeouts

USAGE_WAIT_S = 1.0
"""How long a complete answer's token counts and end marker are waited for."""

REFUSAL_WAIT_S = 2.0
"""How long the text of a refusal is waited for: its status is known already."""


class Stage(Enum):
    """What is being waited for."""

    CONNECT = auto()
    FIRST_TOKEN = auto()
    NEXT_TOKEN = auto()
    REST = auto()
    REFUSAL = auto()


_FAILURES = {
    Stage.CONNECT: Failure.TIMEOUT_CONNECT,
    Stage.FIRST_TOKEN: Failure.TIMEOUT_FIRST_TOKEN,
    Stage.NEXT_TOKEN: Failure.TIMEOUT_IDLE,
}


class Deadline:
    """The end of each stage, never past the total; ``timeout`` enforces it."""

    def __init__(self, timeouts: Timeouts) -> None:
        self._loop = asyncio.get_running_loop()
        self._total_s = timeouts.total_s
        self._give_up_at = self._loop.time() + timeouts.total_s
        self._limits = {
            Stage.CONNECT: timeouts.connect_s,
            Stage.FIRST_TOKEN: timeouts.first_token_s,
            Stage.NEXT_TOKEN: timeouts.idle_s,
            Stage.REST: USAGE_WAIT_S,
            Stage.REFUSAL: REFUSAL_WAIT_S,
        }
        self._stage = Stage.CONNECT
        self._is_total = False
        self.timeout = asyncio.timeout(None)

    def enter(self, stage: Stage) -> None:
        """Wait for ``stage`` from now on, for as long as it may take."""
        self._stage = stage
        ends_at = self._loop.time() + self._limits[stage]
        self._is_total = ends_at > self._give_up_at
        self.timeout.reschedule(min(ends_at, self._give_up_at))

    @property
    def failure(self) -> Failure:
        """What it means that the time was up."""
        if self._is_total or self._stage not in _FAILURES:
            return Failure.TIMEOUT_TOTAL
        return _FAILURES[self._stage]

    @property
    def explanation(self) -> str:
        """The same in words."""
        limit_s = self._total_s if self._is_total else self._limits[self._stage]
        return {
            Failure.TIMEOUT_CONNECT: f"not connected within {limit_s:g} s",
            Failure.TIMEOUT_FIRST_TOKEN: f"no token within {limit_s:g} s",
            Failure.TIMEOUT_IDLE: f"no further token for {limit_s:g} s",
            Failure.TIMEOUT_TOTAL: f"not complete within {limit_s:g} s",
        }[self.failure]
