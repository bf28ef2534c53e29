"""``make up`` as its user meets it: the whole product, started and stopped for real."""

from __future__ import annotations

import os
import re
import runpy
import shutil
import signal
import subprocess
import sys
import tempfile
from collections.abc import Iterator
from pathlib import Path
from typing import Self

import httpx
import psutil
import pytest

from dashboard import doctor
from dashboard.local import ports, postgres, valkey
from tests.stack import OURS, ROOT
from tests.waiting import wait_for

READY = re.compile(r"Ready: (\S+)/  Sign in as demo with the password (\S+)")
CANARY = "canary-4d1f0a"
PARTS = ["postgres", "valkey", "simulator", "web", "worker", "beat"]


class Up:
    """A run of ``make up``, its output in a file."""

    def __init__(self, data: Path, port: int, **environment: str) -> None:
        self.data, self.output = data, Path(tempfile.mkstemp(dir=data.parent)[1])
        self.wished_port = port
        self.url = self.password = ""
        inherited = {k: v for k, v in os.environ.items() if k not in OURS}
        with self.output.open("w") as output:
            self.process = psutil.Popen(
                ["make", "up", f"DATA={data}", f"PORT={port}"],
                cwd=ROOT,
                env=inherited | environment,
                stdout=output,
                stderr=subprocess.STDOUT,
                start_new_session=True,  # a signal to all of it is as Ctrl-C
            )

    def __enter__(self) -> Self:
        return self

    def __exit__(self, *_: object) -> None:
        if self.process.poll() is None:
            self.process.terminate()
            self.process.wait(60)

    def said(self) -> str:
        return self.output.read_text()

    def wait_ready(self) -> None:
        def ready() -> re.Match[str] | None:
            assert self.process.poll() is None, self.said()
            return READY.search(self.said())

        if found := wait_for(ready, timeout_s=100):
            self.url, self.password = found.groups()

    def supervisor(self) -> psutil.Process:
        [child] = self.process.children()
        return child

    def parts(self) -> list[psutil.Process]:
        """The processes of the parts, as they were started."""
        return sorted(
            self.supervisor().children(), key=lambda p: (p.create_time(), p.pid)
        )

    def everything(self) -> list[psutil.Process]:
        return [self.process, *self.process.children(recursive=True)]


@pytest.fixture(scope="module")
def folder() -> Iterator[Path]:
    """A place for data folders, which the account that runs PostgreSQL can enter."""
    path = Path(tempfile.mkdtemp(prefix="tokenpulse-test-"))
    path.chmod(0o755)
    yield path
    shutil.rmtree(path)


@pytest.fixture(scope="module")
def up(folder: Path) -> Iterator[Up]:
    """One run for all tests that leave it as it is; its port is taken at first."""
    name = "a long folder's name, ü " + "x" * 120
    hosts = "monitor.example.org,127.0.0.1"
    with ports.listen(ports.LOOPBACK, 20_000) as taken:
        port = taken.getsockname()[1]
        with Up(folder / name, port, ALLOWED_HOSTS=hosts, CANARY_API_KEY=CANARY) as up:
            up.wait_ready()
            yield up


def sign_in(url: str, password: str) -> httpx.Response:
    with httpx.Client(base_url=url, follow_redirects=True) as client:
        page = client.get("/login/")
        token = re.search(r'name="csrfmiddlewaretoken" value="(\w+)"', page.text)
        assert token
        form = {"username": "demo", "password": password}
        form["csrfmiddlewaretoken"] = token.group(1)
        return client.post("/login/", data=form)


@pytest.mark.skipif(sys.platform != "linux", reason="the kernel's help is Linux's")
def test_nothing_survives_a_killed_supervisor_and_the_next_start_recovers(folder):
    with Up(folder / "data", 20_200) as first:
        first.wait_ready()
        everything = first.everything()
        assert len(first.parts()) == len(PARTS)
        first.supervisor().kill()
        assert not psutil.wait_procs(everything, timeout=20)[1]

    with Up(folder / "data", 20_200) as second:
        second.wait_ready()
        assert (second.url, second.password) == (first.url, first.password)
        everything = second.everything()
        os.killpg(second.process.pid, signal.SIGINT)  # as a terminal does at Ctrl-C
        assert not psutil.wait_procs(everything, timeout=40)[1]
        assert second.said().count("s] Stopped\n") == 1
    assert not (folder / "data" / "processes.json").exists()


def test_servers_of_ones_own_are_used_and_sigterm_stops_the_rest(folder):
    own = folder / "own"
    with (
        postgres.start(own, durable=False) as database,
        valkey.start(own) as broker,
        Up(
            folder / "other", 20_400, DATABASE_URL=database.url, REDIS_URL=broker.url
        ) as up,
    ):
        up.wait_ready()
        everything = up.everything()
        assert len(up.parts()) == len(PARTS) - 2
        assert not (folder / "other" / "postgres").exists()
        up.process.terminate()
        assert not psutil.wait_procs(everything, timeout=40)[1]
        assert not database.has_ended()
        assert not broker.has_ended()


def test_a_start_that_fails_says_why_and_leaves_nothing(folder):
    nowhere = f"127.0.0.1:{ports.free()}"
    with Up(folder / "bad", 20_600, DATABASE_URL=f"postgres://{nowhere}/db") as up:
        assert wait_for(lambda: up.process.poll(), timeout_s=60) == 2
    assert f"could not start: DATABASE_URL names {nowhere}, which" in up.said()
    assert not (folder / "bad" / "processes.json").exists()


def test_the_address_and_the_password_that_it_prints_are_right(up):
    page = sign_in(up.url, up.password)
    assert page.status_code == 200
    assert page.url.path == "/"
    assert "Simulated steady" in page.text


def test_a_taken_port_is_stepped_over(up):
    port = int(up.url.rsplit(":", 1)[1])
    assert up.wished_port < port <= up.wished_port + ports.STEPS


def test_the_simulators_page_is_named_right_before_the_end(up):
    lines = up.said().splitlines()
    [last] = [n for n, line in enumerate(lines) if READY.search(line)]
    found = re.search(r"s\] Page of the simulated endpoint: (\S+)", lines[last - 1])
    assert found
    assert httpx.get(found[1]).status_code == 200


def test_the_workers_log_has_no_warning_about_root(up):
    log = up.data / "log" / "worker.log"
    wait_for(lambda: "[queues]" in log.read_text(), 60)  # said after the warning
    assert "superuser" not in log.read_text()


def test_a_line_is_said_for_each_phase(up):
    for phase in ("PostgreSQL is", "Valkey is", "Simulated endpoint is", "database is"):
        assert len(re.findall(rf"\d s\] .*{phase}", up.said())) == 1


def test_a_second_start_says_where_it_runs_and_changes_nothing(up):
    def state() -> tuple[list[int], dict[str, bytes]]:
        kept = [up.data / "lock", *(up.data / "secrets").iterdir()]
        return [p.pid for p in up.parts()], {f.name: f.read_bytes() for f in kept}

    before = state()
    with Up(up.data, 20_000) as second:
        assert second.process.wait(30) == 0
    assert f"already runs on this data folder: {up.url} (process " in second.said()
    assert state() == before


def test_secrets_show_in_no_argument_and_no_environment(up):
    secrets = [file.read_text() for file in (up.data / "secrets").iterdir()]
    assert len(secrets) == 7
    for part in up.parts():
        shown = " ".join([*part.cmdline(), *part.environ().values()])
        assert not [secret for secret in secrets if secret in shown]


def test_api_keys_reach_those_alone_that_send_them(up):
    # Of these two the kernel shows what they were given; the others write over it.
    shown = {" ".join(p.cmdline()): p.environ() for p in up.parts()}
    [simulator] = [env for line, env in shown.items() if "probes.simulator" in line]
    [web] = [env for line, env in shown.items() if "uvicorn" in line]
    assert web["CANARY_API_KEY"] == CANARY
    assert CANARY not in " ".join(simulator.values())
    assert "DATABASE_URL_FILE" not in simulator


def test_the_web_servers_port_is_kept_while_it_is_started_again(up):
    web = next(p for p in up.parts() if "uvicorn" in " ".join(p.cmdline()))
    web.kill()
    # The connection waits in the socket that the supervisor holds.
    assert httpx.get(f"{up.url}/login/", timeout=60).status_code == 200
    assert "web ended (killed by SIGKILL); starting it again" in up.said()


@pytest.mark.parametrize("part", ["worker", "beat"])
def test_the_containers_health_checks_see_what_works(up, part):
    names = ("secret_key", "encryption_keys", "database_url", "redis_url")
    files = {f"{n.upper()}_FILE": str(up.data / "secrets" / n) for n in names}
    inherited = {k: v for k, v in os.environ.items() if k not in OURS}

    def checked() -> subprocess.CompletedProcess[str]:
        return subprocess.run(
            [sys.executable, "docker/health.py", part],
            cwd=ROOT,
            env=inherited | files,
            capture_output=True,
            text=True,
        )

    done = wait_for(lambda: (found := checked()).returncode == 0 and found, 60)
    assert done.stdout == "ok\n"


def test_the_web_containers_health_check_asks_under_an_allowed_name(up, monkeypatch):
    health = runpy.run_path(str(ROOT / "docker" / "health.py"))
    port = int(up.url.rsplit(":", 1)[1])
    monkeypatch.setenv("ALLOWED_HOSTS", "monitor.example.org")
    assert health["web"](port) is None
    monkeypatch.setenv("ALLOWED_HOSTS", "stranger.example.org")
    assert "Bad Request" in health["web"](port)
    assert "does not answer" in health["web"](ports.free())


def test_the_doctor_examines_what_runs(up):
    def examined() -> subprocess.CompletedProcess[str]:
        return subprocess.run(
            ["make", "doctor", f"DATA={up.data}"],
            cwd=ROOT,
            env={k: v for k, v in os.environ.items() if k not in OURS},
            capture_output=True,
            text=True,
        )

    done = wait_for(lambda: (found := examined()).returncode == 0 and found, 60)
    names = re.findall(r"^✔ (\w+):", done.stdout, re.M)
    assert len(names) == len(doctor.CHECKS), done.stdout
