"""Whose process PostgreSQL is: it refuses root, who lends it a powerless account."""

from __future__ import annotations

import pwd
import subprocess
from dataclasses import dataclass
from pathlib import Path

from dashboard.local import inherited


@dataclass(frozen=True)
class Account:
    """A user of this machine."""

    name: str
    uid: int
    gid: int


def unprivileged() -> Account:
    """The account to use in root's place: PostgreSQL's own where there is one."""
    for name in ("postgres", "nobody"):
        try:
            return _account(pwd.getpwnam(name))
        except KeyError:
            continue
    raise LookupError("this machine has neither a user postgres nor a user nobody")


def owner_of(path: Path) -> Account:
    """The account that owns ``path``. Raises ``LookupError`` for an unnamed one."""
    return _account(pwd.getpwuid(path.stat().st_uid))


def can_enter(account: Account, folder: Path) -> bool:
    """Whether ``account`` may open paths below ``folder``: asked of the kernel."""
    return _succeeds(account, ["/bin/sh", "-c", 'cd -- "$1"', "sh", str(folder)])


def can_run(account: Account, program: Path) -> bool:
    """Whether ``account`` may run ``program`` (which must know ``--version``)."""
    return _succeeds(account, [str(program), "--version"])


def _succeeds(account: Account, argv: list[str]) -> bool:
    try:
        done = subprocess.run(
            argv,
            user=account.uid,
            group=account.gid,
            extra_groups=[],
            cwd="/",
            env=inherited.harmless(),
            capture_output=True,
            check=False,
        )
    except OSError:
        return False
    return done.returncode == 0


def _account(entry: pwd.struct_passwd) -> Account:
    return Account(entry.pw_name, entry.pw_uid, entry.pw_gid)
