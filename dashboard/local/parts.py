"""The parts of TokenPulse itself: what each is run by and how it is seen to work."""

from __future__ import annotations

import http.client
import signal
import sys
from collections.abc import Mapping
from dataclasses import dataclass
from pathlib import Path

from dashboard.local import inherited, ports
from dashboard.local.data_folder import DataFolder
from dashboard.local.process import Command
from dashboard.local.service import Plan

ROOT = Path(__file__).resolve().parents[2]
# A probe waits for its answer in a thread: as many can be under way at once.
WORKER_THREADS = 200
ANSWER_TIMEOUT_S = 2.0
# Celery's, at length: whoever tries this out as root has chosen to.
ROOT_WARNING = "You're running the worker with superuser privileges"


def simulator(data: DataFolder, preferred_port: int) -> Plan:
    """The simulated endpoint that the demo measures."""
    return Plan(
        "simulator",
        data.log("simulator"),
        lambda port: _python(
            inherited.harmless("PYTHONPATH"),
            *("-m", "probes.simulator", "--port", str(port)),
        ),
        pick_port=lambda: ports.free(preferred_port),
        url=lambda port: f"http://{ports.LOOPBACK}:{port}",
        is_ready=ports.listens,
    )


@dataclass(frozen=True)
class Parts:
    """Plans of the parts that need the settings, which ``env`` holds."""

    data: DataFolder
    env: Mapping[str, str]

    def manage(self, *arguments: str) -> Command:
        """A management command."""
        return _python(self.env, "manage.py", *arguments)

    def web(self, host: str, port: int, socket_fd: int) -> Plan:
        """The web server, on a socket that we hold: its port cannot be lost."""
        command = _python(
            self.env,
            *("-m", "uvicorn", "dashboard.asgi:application"),
            *("--fd", str(socket_fd), "--timeout-graceful-shutdown", "3"),
            *("--no-access-log", "--no-proxy-headers"),
            pass_fds=(socket_fd,),
        )
        address = {"0.0.0.0": "127.0.0.1", "::": "::1"}.get(host, host)
        return Plan(
            "web",
            self.data.log("web"),
            lambda _: command,
            pick_port=lambda: port,
            is_ready=lambda _, port: answers(address, port, "/healthz"),
            # A page that needs no database: what ails that is no fault of this process.
            is_alive=lambda port: answers(address, port, "/login/"),
        )

    def worker(self) -> Plan:
        """The process that probes; at its end, probes under way get a moment."""
        command = _python(
            self.env,
            *("-W", f"ignore:{ROOT_WARNING}"),
            *("-m", "celery", "-A", "dashboard", "worker", "--pool", "threads"),
            *("--concurrency", str(WORKER_THREADS)),
            *("--without-gossip", "--without-mingle"),
            grace_s=5.0,
        )
        return Plan("worker", self.data.log("worker"), lambda _: command)

    def beat(self) -> Plan:
        """The clock that calls for probes."""
        command = _python(self.env, "-m", "celery", "-A", "dashboard", "beat")
        return Plan("beat", self.data.log("beat"), lambda _: command)


def _python(
    env: Mapping[str, str],
    *arguments: str,
    pass_fds: tuple[int, ...] = (),
    grace_s: float = 4.0,
) -> Command:
    return Command(
        argv=[sys.executable, *arguments],
        env=env,
        cwd=ROOT,
        pass_fds=pass_fds,
        stop_signals=((signal.SIGTERM, grace_s),),
    )


def answers(host: str, port: int, path: str) -> bool:
    """Whether a web server answers, with anything but an error of its own."""
    connection = http.client.HTTPConnection(host, port, timeout=ANSWER_TIMEOUT_S)
    try:
        connection.request("GET", path)
        return connection.getresponse().status < 500
    except (OSError, http.client.HTTPException):
        return False
    finally:
        connection.close()
