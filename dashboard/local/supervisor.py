"""Keep services running until somebody asks to stop, then stop them in order."""

from __future__ import annotations

import signal
import time
from collections.abc import Callable
from dataclasses import dataclass
from pathlib import Path

from dashboard.local import leftovers, logs, process
from dashboard.local.process import StartError
from dashboard.local.service import Plan, Service
from dashboard.local.stopping import StopRequest

LOOK_EVERY_S = 0.2
WATCH_EVERY_S = 10.0
MISSES_ALLOWED = 3
BOUND_LOGS_EVERY_S = 30.0
FIRST_DELAY_S = 0.5
LONGEST_DELAY_S = 30.0
STEADY_AFTER_S = 60.0


@dataclass
class _Watch:
    """What the supervisor remembers of one service."""

    service: Service
    started_at: float
    start_at: float | None = None
    """When to start it again; None while it runs."""
    ends: int = 0
    misses: int = 0
    watch_at: float = 0.0


class Supervisor:
    """Runs services, tells what happens to them in a line each, and stops them."""

    def __init__(
        self, say: Callable[[str], None], stopping: StopRequest, record: Path
    ) -> None:
        self._say = say
        self._stopping = stopping
        self._record = record
        self._watches: list[_Watch] = []
        self._bound_logs_at = 0.0

    def launch(self, plan: Plan) -> Service:
        """Start a service and keep it from now on; ``ready`` waits until it works."""
        service = Service(plan)
        self._watches.append(_Watch(service, time.monotonic()))
        self._write_record()
        return service

    def ready(self, service: Service) -> None:
        """Wait until ``service`` works. Raises ``StartError`` where it does not."""
        service.wait_ready(give_up=self._stopping.requested)
        self._write_record()

    def run(self) -> None:
        """Keep everything running until we are asked to stop."""
        while not self._stopping.requested():
            self.look()
            time.sleep(LOOK_EVERY_S)

    def look(self) -> None:
        """Look once after each service: start again what ended, end what hangs."""
        for watch in self._watches:
            self._look_after(watch)
        if time.monotonic() > self._bound_logs_at:
            self._bound_logs_at = time.monotonic() + BOUND_LOGS_EVERY_S
            for watch in self._watches:
                logs.bound(watch.service.plan.log)

    def stop(self) -> None:
        """End all services, the last started first: none misses what it depends on."""
        for watch in reversed(self._watches):
            watch.service.stop(hurry=self._stopping.hurried)
        self._record.unlink(missing_ok=True)

    def _look_after(self, watch: _Watch) -> None:
        now = time.monotonic()
        if watch.start_at is not None:
            if now >= watch.start_at:
                self._start_again(watch)
        elif watch.service.has_ended():
            self._plan_restart(watch, _reason(watch.service))
        elif watch.service.plan.is_alive and now >= watch.watch_at:
            watch.watch_at = now + WATCH_EVERY_S
            self._check(watch)

    def _plan_restart(self, watch: _Watch, reason: str) -> None:
        now = time.monotonic()
        if now - watch.started_at > STEADY_AFTER_S:
            watch.ends = 0
        delay_s = min(LONGEST_DELAY_S, FIRST_DELAY_S * 2**watch.ends)
        watch.ends += 1
        watch.start_at = now + delay_s
        plan = watch.service.plan
        self._say(
            f"{plan.name} ended ({reason}); "
            f"starting it again in {delay_s:g} s. Log: {plan.log}"
        )

    def _start_again(self, watch: _Watch) -> None:
        watch.started_at = time.monotonic()
        watch.start_at, watch.misses = None, 0
        watch.watch_at = watch.started_at + WATCH_EVERY_S
        try:
            watch.service.respawn()
        except StartError as error:
            self._plan_restart(watch, str(error))
        self._write_record()

    def _check(self, watch: _Watch) -> None:
        service = watch.service
        assert service.plan.is_alive is not None
        watch.misses = 0 if service.plan.is_alive(service.port) else watch.misses + 1
        if watch.misses >= MISSES_ALLOWED:
            self._say(f"{service.plan.name} runs but does not answer: ending it")
            service.process.kill()

    def _write_record(self) -> None:
        leftovers.write(self._record, [watch.service for watch in self._watches])


def _reason(service: Service) -> str:
    """Why the ended ``service`` ended, as far as it can be told from outside."""
    code = service.process.returncode
    if code < 0:
        return f"killed by {signal.Signals(-code).name}"
    return f"exit code {code}: {process.last_line(service.plan.log)}"
