"""A server of ours on a free port of this machine."""

from __future__ import annotations

import subprocess
from collections.abc import Callable
from dataclasses import dataclass
from pathlib import Path
from types import TracebackType
from typing import Self

from dashboard.local import ports, process
from dashboard.local.process import Command, StartError

ATTEMPTS = 5


@dataclass
class Server:
    """A running server, to be stopped by hand or at the end of a ``with`` block."""

    name: str
    url: str
    port: int
    command: Command
    process: subprocess.Popen[bytes]

    def stop(self) -> None:
        """End it and wait until it has ended."""
        process.stop(self.process, self.command.stop_signals)

    def __enter__(self) -> Self:
        return self

    def __exit__(
        self,
        kind: type[BaseException] | None,
        error: BaseException | None,
        trace: TracebackType | None,
    ) -> None:
        self.stop()


@dataclass(frozen=True)
class Plan:
    """How to start a server once its port is known, and how to see that it is ready."""

    name: str
    log: Path
    command: Callable[[int], Command]
    url: Callable[[int], str]
    is_ready: Callable[[int, int], bool]
    """Of process id and port: whether that very process answers there."""
    timeout_s: float = 60.0


def start(
    plan: Plan, preferred: int = 0, give_up: Callable[[], bool] = lambda: False
) -> Server:
    """Start ``plan`` on a free port; take another where somebody was faster.

    Raises ``StartError`` with the server's last words where it does not come up.
    """
    for _ in range(ATTEMPTS):
        port = ports.free(preferred)
        command = plan.command(port)
        child = process.spawn(command, plan.log)
        if process.wait_until(
            lambda child=child, port=port: plan.is_ready(child.pid, port),  # type: ignore[misc]
            plan.timeout_s,
            give_up=lambda child=child: child.poll() is not None or give_up(),  # type: ignore[misc]
        ):
            return Server(plan.name, plan.url(port), port, command, child)
        ended = child.poll() is not None
        process.stop(child, command.stop_signals)
        if not (ended and ports.is_taken(port)):
            break
    raise StartError(
        f"{plan.name} did not start: {process.last_line(plan.log)} (log: {plan.log})"
    )
