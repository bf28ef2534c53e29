"""Services are kept running, watched, told about in a line, and stopped in order."""

from __future__ import annotations

import os
import re
import signal
import subprocess
import sys
from collections.abc import Callable, Iterator
from pathlib import Path

import psutil
import pytest

from dashboard.local import leftovers, process, supervisor
from dashboard.local.process import Command, StartError, wait_until
from dashboard.local.service import Plan, Service
from dashboard.local.stopping import StopRequest
from dashboard.local.supervisor import Supervisor

WAIT = "import signal; signal.pause()"
# Says that it is ready, notes its name when asked to end, and ends.
NOTE_THE_END = """
import signal, sys
def end(*_):
    with open(sys.argv[2], "a") as file: print(sys.argv[1], file=file)
    sys.exit()
signal.signal(signal.SIGTERM, end)
print("ready", flush=True)
signal.pause()
"""
STUBBORN = """
import signal
signal.signal(signal.SIGTERM, signal.SIG_IGN)
print("ready", flush=True)
while True: signal.pause()
"""


class Stage:
    """A supervisor, what it said, and plans of small real processes for it."""

    def __init__(self, folder: Path) -> None:
        self.folder = folder
        self.said: list[str] = []
        self.clock = 0.0
        self.stopping = StopRequest(lambda: self.clock)
        self.record = folder / "processes.json"
        self.supervisor = Supervisor(self.said.append, self.stopping, self.record)

    def plan(self, name: str, code: str, *arguments: str, grace_s: float = 5) -> Plan:
        log = self.folder / f"{name}.log"
        command = Command(
            [sys.executable, "-c", code, *arguments],
            stop_signals=((signal.SIGTERM, grace_s),),
        )
        return Plan(
            name,
            log,
            lambda port: command,
            is_ready=lambda pid, port: log.read_text().startswith("ready"),
        )

    def look_until(self, condition: Callable[[], bool]) -> None:
        def looked() -> bool:
            self.supervisor.look()
            return condition()

        assert wait_until(looked, timeout_s=20), self.said


@pytest.fixture
def stage(tmp_path: Path) -> Iterator[Stage]:
    stage = Stage(tmp_path)
    yield stage
    stage.supervisor.stop()


def runs_anew(service: Service, pid: int) -> Callable[[], bool]:
    return lambda: service.process.pid != pid and not service.has_ended()


def test_a_killed_service_is_started_again_and_told(stage):
    service = stage.supervisor.launch(stage.plan("worker", WAIT))
    pid = service.process.pid
    service.process.kill()
    stage.look_until(runs_anew(service, pid))
    [line] = stage.said
    assert line.startswith("worker ended (killed by SIGKILL); starting it again in 0.5")
    assert line.endswith("worker.log")


def test_a_failing_service_gives_its_reason_and_is_started_ever_later(stage):
    code = "import sys; sys.exit('the key is missing')"
    stage.supervisor.launch(stage.plan("worker", code))
    stage.look_until(lambda: len(stage.said) == 3)
    assert all("(exit code 1: the key is missing)" in line for line in stage.said)
    delays = [re.findall(r"again in (\S+) s", line) for line in stage.said]
    assert delays == [["0.5"], ["1"], ["2"]]


def test_a_service_that_ran_long_is_started_soon_again(stage, monkeypatch):
    monkeypatch.setattr(supervisor, "STEADY_AFTER_S", 0.0)
    service = stage.supervisor.launch(stage.plan("worker", WAIT))
    for _ in range(2):
        pid = service.process.pid
        service.process.kill()
        stage.look_until(runs_anew(service, pid))
    assert len(stage.said) == 2
    assert all("again in 0.5 s" in line for line in stage.said)


def test_a_service_that_hangs_is_ended_and_started_again(stage, monkeypatch):
    monkeypatch.setattr(supervisor, "WATCH_EVERY_S", 0.05)
    asked: list[int] = []
    plan = stage.plan("web", WAIT)
    hung = Plan(
        plan.name,
        plan.log,
        plan.command,
        is_alive=lambda port: bool(asked.append(port)),
    )
    service = stage.supervisor.launch(hung)
    pid = service.process.pid
    stage.look_until(runs_anew(service, pid))
    assert stage.said[0] == "web runs but does not answer: ending it"
    assert "web ended (killed by SIGKILL)" in stage.said[1]
    assert len(asked) >= supervisor.MISSES_ALLOWED


def test_a_service_that_answers_is_left_alone(stage, monkeypatch):
    monkeypatch.setattr(supervisor, "WATCH_EVERY_S", 0.0)
    answers = iter([False, False, True] * 5)
    asked: list[bool] = []

    def is_alive(port: int) -> bool:
        asked.append(next(answers, True))
        return asked[-1]

    plan = stage.plan("web", WAIT)
    service = stage.supervisor.launch(
        Plan(plan.name, plan.log, plan.command, is_alive=is_alive)
    )
    pid = service.process.pid
    stage.look_until(lambda: len(asked) > 15)
    assert stage.said == []
    assert service.process.pid == pid


def test_services_end_in_the_reverse_order_of_their_start(stage):
    note = stage.folder / "ended"
    for name in ("database", "web", "beat"):
        service = stage.supervisor.launch(
            stage.plan(name, NOTE_THE_END, name, str(note))
        )
        stage.supervisor.ready(service)
    stage.supervisor.stop()
    assert note.read_text().split() == ["beat", "web", "database"]
    assert not stage.record.exists()


def test_a_stubborn_service_is_killed_after_its_grace(stage):
    service = stage.supervisor.launch(stage.plan("web", STUBBORN, grace_s=0.1))
    stage.supervisor.ready(service)
    stage.supervisor.stop()
    assert service.process.returncode == -signal.SIGKILL


def test_a_second_request_hurries(stage):
    service = stage.supervisor.launch(stage.plan("worker", STUBBORN, grace_s=60))
    stage.supervisor.ready(service)
    for _ in range(2):
        stage.clock += 1.0
        stage.stopping.note(signal.SIGINT)
    stage.supervisor.stop()  # within the test's time limit
    assert service.process.returncode == -signal.SIGKILL


def test_the_echo_of_one_request_does_not_hurry():
    times = iter([10.0, 10.3])
    stopping = StopRequest(lambda: next(times))
    stopping.note(signal.SIGTERM)
    stopping.note(signal.SIGTERM)
    assert stopping.requested()
    assert not stopping.hurried()


def test_a_service_that_never_comes_up_says_why(stage):
    service = stage.supervisor.launch(
        stage.plan("web", "import sys; sys.exit('no settings')")
    )
    with pytest.raises(StartError, match=r"web did not start: no settings \(log: .*\)"):
        stage.supervisor.ready(service)


def test_a_program_that_is_missing_is_named(tmp_path):
    with pytest.raises(StartError, match="cannot run /no/such/program"):
        process.spawn(Command(["/no/such/program"]), tmp_path / "log")


def test_a_command_that_fails_says_why(tmp_path):
    command = Command([sys.executable, "-c", "import sys; sys.exit('no table')"])
    with pytest.raises(StartError, match="failed: no table"):
        process.run(command, tmp_path / "log")


def test_a_command_is_ended_when_we_are_asked_to_stop(tmp_path):
    log = tmp_path / "log"
    command = Command([sys.executable, "-c", f"print('ready', flush=True); {WAIT}"])
    with pytest.raises(StartError, match="did not finish"):
        process.run(command, log, give_up=lambda: log.read_bytes() == b"ready\n")


def test_what_a_killed_supervisor_left_is_ended(stage):
    service = stage.supervisor.launch(stage.plan("worker", WAIT))
    left = psutil.Process(service.process.pid)
    leftovers.end(stage.record)
    assert not left.is_running()
    assert not stage.record.exists()


def test_a_stranger_with_a_process_id_of_ours_is_left_alone(stage):
    service = stage.supervisor.launch(stage.plan("worker", WAIT))
    pid, number = service.process.pid, int(signal.SIGTERM)
    stage.record.write_text(f"[[{pid}, {psutil.boot_time()}, {number}]]")
    leftovers.end(stage.record)
    assert not service.has_ended()


@pytest.mark.parametrize("content", ["", "[[1", None])
def test_a_broken_record_is_no_reason_not_to_start(tmp_path, content):
    record = tmp_path / "processes.json"
    if content is not None:
        record.write_text(content)
    leftovers.end(record)


@pytest.mark.skipif(sys.platform != "linux", reason="the kernel's help is Linux's")
def test_services_end_with_a_supervisor_that_is_killed(tmp_path):
    code = f"""
from pathlib import Path
from dashboard.local.process import Command, spawn
child = spawn(Command(["sleep", "600"]), Path({str(tmp_path / "log")!r}))
print(child.pid, flush=True)
input()
"""
    parent = subprocess.Popen(
        [sys.executable, "-c", code],
        stdin=subprocess.PIPE,
        stdout=subprocess.PIPE,
        cwd=Path(__file__).parents[2],
    )
    with parent:
        assert parent.stdout is not None
        child = psutil.Process(int(parent.stdout.readline()))
        os.kill(parent.pid, signal.SIGKILL)
    assert not psutil.wait_procs([child], timeout=10)[1]
