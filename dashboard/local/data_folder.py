"""The folder that holds all of one installation, used by one supervisor at a time."""

from __future__ import annotations

import fcntl
import os
from dataclasses import dataclass
from pathlib import Path
from types import TracebackType
from typing import Self


@dataclass(frozen=True)
class DataFolder:
    """Where what lies in the data folder."""

    root: Path

    @classmethod
    def at(cls, path: str) -> DataFolder:
        """The data folder ``path``, made where it is missing."""
        root = Path(path).expanduser().resolve()
        root.mkdir(parents=True, exist_ok=True)
        for name in ("log", "mail", "secrets"):
            (root / name).mkdir(mode=0o700, exist_ok=True)
        return cls(root)

    @property
    def mail(self) -> Path:
        """Mails that a trial installation would have sent, a file each."""
        return self.root / "mail"

    @property
    def record(self) -> Path:
        """The processes of the running supervisor."""
        return self.root / "processes.json"

    def secret(self, name: str) -> Path:
        """The file of one secret."""
        return self.root / "secrets" / name

    def log(self, name: str) -> Path:
        """The log file of one part."""
        return self.root / "log" / f"{name}.log"


class InUse(RuntimeError):
    """Another supervisor uses the folder; the message says where it is to be found."""


class Lock:
    """The sole right to a data folder, which the kernel takes back when we end."""

    def __init__(self, folder: DataFolder) -> None:
        self._path = folder.root / "lock"

    def __enter__(self) -> Self:
        self._file = self._path.open("a+")
        try:
            fcntl.flock(self._file, fcntl.LOCK_EX | fcntl.LOCK_NB)
        except BlockingIOError:
            with self._file as file:
                file.seek(0)
                raise InUse(file.read() or "it is still starting") from None
        self.describe("it is still starting")
        return self

    def describe(self, state: str) -> None:
        """Leave word for whoever finds the folder in use."""
        self._file.truncate(0)
        self._file.write(f"{state} (process {os.getpid()})")
        self._file.flush()

    def __exit__(
        self,
        kind: type[BaseException] | None,
        error: BaseException | None,
        trace: TracebackType | None,
    ) -> None:
        self._file.close()
