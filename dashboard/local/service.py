"""A long-running process of ours: started, seen to be ready, restarted, stopped."""

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


@dataclass(frozen=True)
class Plan:
    """How to run a service, and how to see that it works."""

    name: str
    log: Path
    command: Callable[[int], Command]
    """Of the port."""
    pick_port: Callable[[], int] = lambda: 0
    """A port that is free now; 0 for a service that serves none."""
    url: Callable[[int], str] = lambda port: ""
    is_ready: Callable[[int, int], bool] = lambda pid, port: True
    """Of process id and port: whether that very process does its work."""
    is_alive: Callable[[int], bool] | None = None
    """Of the port: asked now and then, where running alone does not mean working."""
    timeout_s: float = 60.0


class Service:
    """A started ``Plan``. Usable as a context manager, which stops it at its end."""

    def __init__(self, plan: Plan) -> None:
        self.plan = plan
        self.port = plan.pick_port()
        self.command = plan.command(self.port)
        self.process: subprocess.Popen[bytes] = process.spawn(self.command, plan.log)

    @property
    def url(self) -> str:
        """Where it is served, with user and password where it has them."""
        return self.plan.url(self.port)

    def has_ended(self) -> bool:
        """Whether the process is gone."""
        return self.process.poll() is not None

    def wait_ready(self, give_up: Callable[[], bool] = lambda: False) -> None:
        """Wait until it works; take another port where somebody took ours first.

        Raises ``StartError`` with its last words where it does not come up.
        """
        for attempt in range(ATTEMPTS):
            if process.wait_until(
                lambda: self.plan.is_ready(self.process.pid, self.port),
                self.plan.timeout_s,
                give_up=lambda: self.has_ended() or give_up(),
            ):
                return
            lost_its_port = self.has_ended() and self.port and ports.is_taken(self.port)
            if not lost_its_port or attempt == ATTEMPTS - 1:
                break
            self.port = self.plan.pick_port()
            self.respawn()
        self.stop()
        log = self.plan.log
        raise StartError(
            f"{self.plan.name} did not start: {process.last_line(log)} (log: {log})"
        )

    def respawn(self) -> None:
        """Start the ended process again, on the same port: others know it by that."""
        self.command = self.plan.command(self.port)
        self.process = process.spawn(self.command, self.plan.log)

    def stop(self, hurry: Callable[[], bool] = lambda: False) -> None:
        """End it, politely unless ``hurry``, and wait until it has ended."""
        process.stop(self.process, self.command.stop_signals, hurry)

    def __enter__(self) -> Self:
        return self

    def __exit__(
        self,
        kind: type[BaseException] | None,
        error: BaseException | None,
        trace: TracebackType | None,
    ) -> None:
        self.stop()


def start(plan: Plan) -> Service:
    """Run ``plan`` on a free port and wait until it works."""
    service = Service(plan)
    service.wait_ready()
    return service
