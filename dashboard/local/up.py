"""Everything that `make up` starts, in the order in which it can be started."""

from __future__ import annotations

import contextlib
import os
import socket
import time

from dashboard.local import (
    environment,
    leftovers,
    parts,
    ports,
    postgres,
    process,
    secret_files,
    static_files,
    valkey,
)
from dashboard.local.binaries import NoBinary
from dashboard.local.data_folder import DataFolder, InUse, Lock
from dashboard.local.parts import Parts
from dashboard.local.ports import NoFreePort
from dashboard.local.process import Job, StartError
from dashboard.local.service import Plan
from dashboard.local.stopping import StopRequest
from dashboard.local.supervisor import Supervisor

# The same at every start, so that endpoints made from its address stay right.
SIMULATOR_OFFSET = 180


def up(data_path: str, host: str, port: int) -> int:
    """Run TokenPulse until it is asked to stop. Returns the exit code for the shell."""
    stopping = StopRequest()
    stopping.listen()
    say = Say()
    try:
        data = DataFolder.at(data_path)
        with Lock(data) as lock, ports.listen(host, port) as listener:
            leftovers.end(data.record)
            return Run(data, host, listener, lock, stopping, say).until_stopped()
    except InUse as use:
        say(f"TokenPulse already runs on this data folder: {use}. Nothing was changed.")
        return 0
    except (StartError, NoBinary, NoFreePort, OSError) as error:
        say(f"TokenPulse could not start: {error}")
        return 1


class Say:
    """Prints a line of progress with the seconds since the start before it."""

    def __init__(self) -> None:
        self._start = time.monotonic()

    def __call__(self, line: str) -> None:
        # Where the terminal is gone, what was started must be stopped all the same.
        with contextlib.suppress(OSError):
            print(f"[{time.monotonic() - self._start:5.1f} s] {line}", flush=True)


class Run:
    """One run of everything on one data folder."""

    def __init__(
        self,
        data: DataFolder,
        host: str,
        listener: socket.socket,
        lock: Lock,
        stopping: StopRequest,
        say: Say,
    ) -> None:
        self._data, self._host, self._listener = data, host, listener
        self._lock, self._stopping, self._say = lock, stopping, say
        self._port: int = listener.getsockname()[1]
        self._env = environment.build(data, host, self._port, os.environ)
        self._supervisor = Supervisor(say, stopping, data.record)

    def until_stopped(self) -> int:
        """Start everything, keep it running, stop it. Returns the exit code."""
        try:
            self._start()
            self._supervisor.run()
        except (StartError, NoBinary, NoFreePort):
            if not self._stopping.requested():
                raise
        finally:
            self._say("Stopping")
            self._supervisor.stop()
        self._say("Stopped")
        return 0

    def _start(self) -> None:
        self._say(f"Data folder: {self._data.root}")
        simulator_url = self._start_what_parts_need()
        ours = Parts(self._data, self._env)
        migration = self._begin(ours, "migrate", "--no-input", "-v0")
        self._collect_static_files(ours)
        # While the database is brought up to date: both take a second of processor.
        fd = self._listener.fileno()
        web = self._supervisor.launch(ours.web(self._host, self._port, fd))
        self._finish(migration)
        self._say("The database is up to date")
        self._finish(self._begin(ours, "seed_demo", "--simulator", simulator_url))
        self._supervisor.ready(web)
        # Last, so that they do not keep the first page waiting for the processor.
        self._supervisor.launch(ours.worker())
        self._supervisor.launch(ours.beat())
        url = self._env["BASE_URL"]
        self._lock.describe(url)
        password = self._data.secret("demo_password").read_text()
        self._say(f"Page of the simulated endpoint: {simulator_url}/")
        self._say(f"Ready: {url}/  Sign in as demo with the password {password}")

    def _start_what_parts_need(self) -> str:
        """Start the embedded servers and the simulator, whose address is returned."""
        embedded = {}
        if not self._is_given("DATABASE_URL"):
            embedded["DATABASE_URL"] = self._supervisor.launch(self._postgres_plan())
        if not self._is_given("REDIS_URL"):
            plan = valkey.plan(self._data.root)
            embedded["REDIS_URL"] = self._supervisor.launch(plan)
        simulator = self._supervisor.launch(
            parts.simulator(self._data, self._port + SIMULATOR_OFFSET)
        )
        for name, service in embedded.items():
            self._supervisor.ready(service)
            secret_files.write(self._data.secret(name.lower()), service.url)
            self._env[f"{name}_FILE"] = str(self._data.secret(name.lower()))
            self._say(f"{service.plan.name} is ready on port {service.port}")
        self._supervisor.ready(simulator)
        self._say(f"Simulated endpoint is ready: {simulator.url}")
        self._env["SIMULATOR_URL"] = simulator.url
        return simulator.url

    def _is_given(self, name: str) -> bool:
        """Whether the user gave a server of their own; it has to answer then."""
        if not environment.given(name, self._env):
            return False
        if fault := environment.unreachable(name, self._env):
            raise StartError(fault)
        self._say(f"Using the server that {name} names")
        return True

    def _postgres_plan(self) -> Plan:
        cluster = postgres.prepare(self._data.root, give_up=self._stopping.requested)
        if not cluster.folder.is_relative_to(self._data.root):
            self._say(
                f"PostgreSQL's files are in {cluster.folder.parent}: "
                "the user that it runs as cannot enter the data folder"
            )
        return postgres.plan(self._data.root, cluster)

    def _collect_static_files(self, ours: Parts) -> None:
        static_files.collect(
            parts.ROOT / "static",
            parts.ROOT / "staticfiles",
            work=lambda: self._finish(
                self._begin(ours, "collectstatic", "--no-input", "-v0")
            ),
            give_up=self._stopping.requested,
        )

    def _begin(self, ours: Parts, *arguments: str) -> Job:
        return process.begin(ours.manage(*arguments), self._data.log(arguments[0]))

    def _finish(self, job: Job) -> None:
        job.finish(give_up=self._stopping.requested)
