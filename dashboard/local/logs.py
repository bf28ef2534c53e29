"""Log files of a bounded size."""

from __future__ import annotations

import shutil
from pathlib import Path

MAX_BYTES = 5_000_000


def bound(log: Path, max_bytes: int = MAX_BYTES) -> None:
    """Move the content of a log that has grown too long to ``<log>.1``.

    Its writer keeps the file open, so the file itself is emptied; the writer appends,
    and so goes on at its new end.
    """
    if log.exists() and log.stat().st_size > max_bytes:
        shutil.copyfile(log, log.with_name(f"{log.name}.1"))
        with log.open("r+b") as file:
            file.truncate(0)
