"""The clients that the benchmark of streams compares, each with its own processes."""

from __future__ import annotations

import json
import os
import subprocess
import sys
from collections.abc import Iterator
from contextlib import ExitStack, contextmanager
from dataclasses import asdict, dataclass
from pathlib import Path
from typing import Any, Protocol

import psutil
import psycopg

from dashboard.local import environment, postgres, process, valkey
from dashboard.local.data_folder import DataFolder
from dashboard.local.parts import ROOT, Parts
from dashboard.local.service import Plan, Service
from tests.bench.stream_load import Load, Stream, cpu_s
from tests.stack import OURS
from tests.waiting import wait_for


@dataclass(frozen=True, slots=True)
class Outcome:
    """What a client made of a load. CPU is that of all its processes."""

    streams: list[Stream]
    cpu_s: float
    rss_bytes: int


class Client(Protocol):
    def run(self, load: Load) -> Outcome: ...


class Talker:
    """A child process that answers a line with a line."""

    def __init__(self, *arguments: str, env: dict[str, str] | None = None) -> None:
        self._process = subprocess.Popen(
            [sys.executable, "-m", *arguments],
            cwd=ROOT,
            env=env,
            stdin=subprocess.PIPE,
            stdout=subprocess.PIPE,
            text=True,
        )

    def read(self) -> str:
        assert self._process.stdout
        line = self._process.stdout.readline()
        assert line, "the process has ended"
        return line.strip()

    def say(self, load: Load) -> None:
        assert self._process.stdin
        print(json.dumps(asdict(load)), file=self._process.stdin, flush=True)

    def stop(self) -> None:
        self._process.kill()
        self._process.communicate()


@contextmanager
def talking(*arguments: str, env: dict[str, str] | None = None) -> Iterator[Talker]:
    talker = Talker(*arguments, env=env)
    try:
        yield talker
    finally:
        talker.stop()


class Rival:
    """A client in one process, see ``rivals``."""

    def __init__(self, talker: Talker) -> None:
        self._talker = talker

    def run(self, load: Load) -> Outcome:
        self._talker.say(load)
        answer: dict[str, Any] = json.loads(self._talker.read())
        streams = [Stream(**stream) for stream in answer["streams"]]
        return Outcome(streams, answer["cpu_s"], answer["rss_bytes"])


class Engine:
    """The product's own workers, on a real PostgreSQL and a real Valkey."""

    def __init__(self, folder: Path, stack: ExitStack) -> None:
        self._stack = stack
        self._data = DataFolder.at(str(folder / "var"))
        self._streams = folder / "streams"
        self._streams.mkdir()
        self._parts = self._prepare()
        self._workers: list[psutil.Process] = []
        self._publisher = stack.enter_context(
            talking("tests.bench.stream_publisher", env=dict(self._parts.env))
        )

    def _prepare(self) -> Parts:
        root = self._data.root
        database = self._stack.enter_context(postgres.start(root, durable=False))
        broker = self._stack.enter_context(valkey.start(root))
        inherited = {k: v for k, v in os.environ.items() if k not in OURS}
        env = environment.build(self._data, "127.0.0.1", 0, inherited) | {
            "DATABASE_URL": database.url,
            "REDIS_URL": broker.url,
            "BENCH_STREAMS": str(self._streams),
        }
        parts = Parts(self._data, env)
        process.run(parts.manage("migrate", "-v0"), self._data.log("migrate"))
        return parts

    def grow(self, workers: int) -> None:
        """Start workers until there are so many, each as `make up` starts its one."""
        while len(self._workers) < workers:
            service = self._stack.enter_context(Service(self._plan()))
            service.wait_ready()
            self._workers.append(psutil.Process(service.process.pid))

    def _plan(self) -> Plan:
        number = len(self._workers)
        command = self._parts.worker().command(0)
        extra = ("--include", "tests.bench.tasks", "--hostname", f"bench{number}@%h")
        argv = [*command.argv, *extra]
        return Plan(
            f"worker {number}",
            self._data.log(f"worker{number}"),
            lambda _: process.Command(argv=argv, env=command.env, cwd=command.cwd),
            is_ready=lambda pid, port: self._heartbeats() > number,
        )

    def _heartbeats(self) -> int:
        """How many workers have begun to beat, which each does when all else is up."""
        query = "SELECT count(*) FROM collectors_heartbeat WHERE kind = 'worker'"
        with psycopg.connect(self._parts.env["DATABASE_URL"]) as database:
            [[count]] = database.execute(query).fetchall()
        return int(count)

    def run(self, load: Load) -> Outcome:
        before_s = self._cpu_s()
        self._publisher.say(load)
        assert self._publisher.read() == "published"
        wait_for(lambda: len(self._lines()) >= load.streams, timeout_s=30)
        used_s = self._cpu_s() - before_s
        rss_bytes = sum(worker.memory_info().rss for worker in self._workers)
        streams = [Stream(**json.loads(line)) for line in self._lines()]
        for file in self._streams.iterdir():
            file.unlink()
        return Outcome(streams, used_s, rss_bytes)

    def _cpu_s(self) -> float:
        return sum(map(cpu_s, self._workers))

    def _lines(self) -> list[str]:
        files = self._streams.iterdir()
        return [line for file in files for line in file.read_text().splitlines()]
