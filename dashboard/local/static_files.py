"""Whether the static files have to be collected, hashed and compressed once more."""

from __future__ import annotations

import hashlib
from importlib import metadata
from pathlib import Path

# Their files are collected too, and how the work is done may change with them.
PACKAGES = ("django", "servestatic", "brotli")
NOTE = ".made-from"


def digest(source: Path) -> str:
    """What the collected files depend on, in a few characters."""
    parts = [f"{name} {_version(name)}" for name in PACKAGES]
    for file in sorted(source.rglob("*")):
        status = file.stat()
        parts.append(
            f"{file.relative_to(source)} {status.st_size} {status.st_mtime_ns}"
        )
    return hashlib.sha256("\n".join(parts).encode()).hexdigest()


def are_current(collected: Path, made_from: str) -> bool:
    """Whether ``collected`` was made from the source that has this ``digest``."""
    note = collected / NOTE
    return note.exists() and note.read_text() == made_from


def note_current(collected: Path, made_from: str) -> None:
    """Note after the work which ``digest``, taken before it, it was done for."""
    (collected / NOTE).write_text(made_from)


def _version(package: str) -> str:
    try:
        return metadata.version(package)
    except metadata.PackageNotFoundError:
        return "none"
