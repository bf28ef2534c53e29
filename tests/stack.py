"""The whole product as `make up` runs it, for tests that fake nothing."""

from __future__ import annotations

import contextlib
import os
import re
import subprocess
import sys
import threading
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path
from typing import Any

import psutil
import psycopg

from dashboard.local import home, ports
from tests.waiting import wait_for

ROOT = Path(__file__).parents[1]
# What `tests.services` set for this process must not reach the product's own.
OURS = ("DATABASE_URL", "REDIS_URL", "SECRET_KEY", "ENCRYPTION_KEYS", "BASE_URL")


class Stack:
    """A running `make up` on a data folder of its own."""

    def __init__(self, data: Path, **environment: str) -> None:
        self.data = data
        self.url = self.password = ""
        inherited = {k: v for k, v in os.environ.items() if k not in OURS}
        self.environment = {**inherited, **environment}
        command = [sys.executable, "-m", "dashboard.local", "up", "--data", str(data)]
        self.process = subprocess.Popen(
            [*command, "--port", str(ports.free(0)), "--host", "127.0.0.1"],
            cwd=ROOT,
            env=self.environment,
            stdout=subprocess.PIPE,
            stderr=subprocess.STDOUT,
            text=True,
        )
        self.lines: list[str] = []
        self._reader = threading.Thread(target=self._read, daemon=True)
        self._reader.start()

    def _read(self) -> None:
        assert self.process.stdout
        for line in self.process.stdout:
            self.lines.append(line.rstrip())

    def wait_ready(self) -> None:
        def ready() -> re.Match[str] | None:
            assert self.process.poll() is None, "\n".join(self.lines)
            return re.search(
                r"Ready: (\S+?)/?\s+Sign in as demo with the password (\S+)",
                "\n".join(self.lines),
            )

        found = wait_for(ready, timeout_s=90)
        self.url, self.password = found.groups()

    def stop(self) -> None:
        self.process.terminate()
        self.process.wait(60)
        self._reader.join(10)
        assert self.process.stdout
        self.process.stdout.close()

    def part(self, name: str) -> psutil.Process | None:
        """The running process of a part; None while it is away.

        Known by the log it writes to: some rename themselves, and some have children.
        """
        log = str(self.data / "log" / f"{name}.log")
        for child in psutil.Process(self.process.pid).children():
            with contextlib.suppress(psutil.NoSuchProcess):
                if log in (file.path for file in child.open_files()):
                    return child
        return None

    def simulator(self) -> str:
        """The address of the simulated endpoint's own page."""
        found = re.search(
            r"Page of the simulated endpoint: (\S+)/", "\n".join(self.lines)
        )
        assert found
        return found[1]

    def secret(self, name: str) -> str:
        return (self.data / "secrets" / name).read_text().strip()

    def sql(self, query: str, *parameters: Any) -> list[tuple[Any, ...]]:
        with psycopg.connect(self.secret("database_url"), autocommit=True) as database:
            cursor = database.execute(query, parameters)
            return cursor.fetchall() if cursor.description else []

    def settings(self) -> dict[str, str]:
        """The environment of a further process of the product."""
        files = {
            f"{name.upper()}_FILE": str(self.data / "secrets" / name)
            for name in ("database_url", "redis_url", "secret_key", "encryption_keys")
        }
        return {**self.environment, **files}

    @contextmanager
    def further(self, *arguments: str) -> Iterator[None]:
        """One more process of the product, such as a second worker."""
        with (self.data / "log" / "further.log").open("ab") as log:
            process = subprocess.Popen(
                [sys.executable, "-m", *arguments],
                cwd=ROOT,
                env=self.settings(),
                stdout=log,
                stderr=log,
            )
        try:
            yield
        finally:
            process.terminate()
            process.wait(30)

    def run(self, code: str) -> str:
        """Run Python in the product's own Django shell; returns what it printed."""
        done = subprocess.run(
            [sys.executable, "manage.py", "shell", "--no-imports", "-c", code],
            cwd=ROOT,
            env=self.settings(),
            capture_output=True,
            text=True,
            check=False,
        )
        assert done.returncode == 0, done.stderr
        return done.stdout


@contextmanager
def running(data: Path, **environment: str) -> Iterator[Stack]:
    stack = Stack(data, **environment)
    try:
        stack.wait_ready()
        yield stack
    finally:
        stack.stop()
        home.remove(data)  # root's lies outside the folder
