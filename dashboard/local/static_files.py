"""Collect, hash and compress the static files where they are not those of last time."""

from __future__ import annotations

import fcntl
import hashlib
import os
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from importlib import metadata
from pathlib import Path

from dashboard.local.process import StartError, wait_until

# Their files are collected too, and how the work is done may change with them.
PACKAGES = ("django", "servestatic", "brotli")
NOTE = ".made-from"
LONGEST_WAIT_S = 120.0


def collect(
    source: Path, collected: Path, work: Callable[[], None], give_up: Callable[[], bool]
) -> None:
    """Do ``work``, which makes ``collected``, unless ``source`` has not changed.

    Installations with data folders of their own share one checkout's files: one of
    them works at a time.
    """
    with _alone(source, give_up):
        made_from = _digest(source)
        note = collected / NOTE
        if not note.exists() or note.read_text() != made_from:
            work()
            note.write_text(made_from)


@contextmanager
def _alone(source: Path, give_up: Callable[[], bool]) -> Iterator[None]:
    handle = os.open(source, os.O_RDONLY)

    def locked() -> bool:
        try:
            fcntl.flock(handle, fcntl.LOCK_EX | fcntl.LOCK_NB)
        except BlockingIOError:
            return False
        return True

    try:
        if not wait_until(locked, LONGEST_WAIT_S, give_up):
            raise StartError(f"another process has been collecting {source} for long")
        yield
    finally:
        os.close(handle)


def _digest(source: Path) -> str:
    """What the collected files depend on, in a few characters."""
    parts = [f"{name} {_version(name)}" for name in PACKAGES]
    for file in sorted(source.rglob("*")):
        status = file.stat()
        parts.append(
            f"{file.relative_to(source)} {status.st_size} {status.st_mtime_ns}"
        )
    return hashlib.sha256("\n".join(parts).encode()).hexdigest()


def _version(package: str) -> str:
    try:
        return metadata.version(package)
    except metadata.PackageNotFoundError:
        return "none"
