"""The one deadline of an exchange, moved as it proceeds."""

from __future__ import annotations

import asyncio
from enum import IntEnum, auto
from types import TracebackType
from typing import Self

from probes.types import Failure, Timeouts

USAGE_WAIT_S = 1.0
"""How long a complete answer's token counts and end marker are waited for."""

REFUSAL_WAIT_S = 2.0
"""How long the text of a refusal is waited for: its status is known already."""

_LATE_S = 0.02


class Stage(IntEnum):  # of numbers: each token looks one up, and they hash fast
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
    """The end of each stage, never past the total: an async context manager.

    Raises TimeoutError in the block when the time is up. Each token moves the end, so
    that is only a number; the one timer looks at it when it fires.
    """

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
        self._ends_at = self._give_up_at
        self._timeout = asyncio.timeout(None)
        self._timer: asyncio.TimerHandle | None = None
        self._was_excused = False

    async def __aenter__(self) -> Self:
        await self._timeout.__aenter__()
        self.enter(Stage.CONNECT)
        return self

    async def __aexit__(
        self,
        exc_type: type[BaseException] | None,
        exc: BaseException | None,
        traceback: TracebackType | None,
    ) -> None:
        if self._timer is not None:
            self._timer.cancel()
        await self._timeout.__aexit__(exc_type, exc, traceback)

    def enter(self, stage: Stage) -> None:
        """Wait for ``stage`` from now on, for as long as it may take."""
        self._stage = stage
        ends_at = self._loop.time() + self._limits[stage]
        self._ends_at = min(ends_at, self._give_up_at)
        if self._timer is None or self._ends_at < self._timer.when():
            self._look()

    def _look(self) -> None:
        """End it where the time is up, look again at the end otherwise.

        Where the loop itself was late, what came in time still lies unread: it has
        one short chance.
        """
        if self._timer is not None:
            self._timer.cancel()
        late_s = self._loop.time() - self._ends_at
        if late_s < 0:
            self._timer = self._loop.call_at(self._ends_at, self._look)
        elif late_s > _LATE_S and not self._was_excused:
            self._was_excused = True
            self._timer = self._loop.call_later(_LATE_S, self._look)
        else:
            self._timeout.reschedule(self._ends_at)

    @property
    def failure(self) -> Failure:
        """What it means that the time was up."""
        if self._ends_at == self._give_up_at:
            return Failure.TIMEOUT_TOTAL
        return _FAILURES.get(self._stage, Failure.TIMEOUT_TOTAL)

    @property
    def explanation(self) -> str:
        """The same in words."""
        limit_s = self._limits[self._stage]
        match self.failure:
            case Failure.TIMEOUT_CONNECT:
                return f"not connected within {limit_s:g} s"
            case Failure.TIMEOUT_FIRST_TOKEN:
                return f"no token within {limit_s:g} s"
            case Failure.TIMEOUT_IDLE:
                return f"no further token for {limit_s:g} s"
        return f"not complete within {self._total_s:g} s"
