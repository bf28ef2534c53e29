"""``make doctor`` and a missing setting: what is said where nothing can be examined.

That it finds what runs is tested where everything runs, in ``test_local_up``.
"""

from __future__ import annotations

import os
import subprocess
import sys
from pathlib import Path

from dashboard.local import ports, secret_files
from dashboard.local.data_folder import DataFolder
from tests.stack import OURS, ROOT

INHERITED = {k: v for k, v in os.environ.items() if k not in OURS}


def run(*command: str, **environment: str) -> subprocess.CompletedProcess[str]:
    return subprocess.run(
        [sys.executable, *command],
        cwd=ROOT,
        env=INHERITED | environment,
        capture_output=True,
        text=True,
        check=False,
    )


def doctor(data: Path, **environment: str) -> subprocess.CompletedProcess[str]:
    return run("-m", "dashboard.local", "doctor", "--data", str(data), **environment)


def test_a_folder_where_nothing_was_started_is_told_and_not_made(tmp_path):
    done = doctor(tmp_path / "var")
    assert (done.returncode, done.stdout) == (2, "")
    assert done.stderr.startswith(f"Nothing was ever started in {tmp_path}/var.")
    assert done.stderr.count("\n") == 1
    assert not (tmp_path / "var").exists()


def test_a_database_that_does_not_run_is_told(tmp_path):
    data = DataFolder.at(str(tmp_path))
    secret_files.write(data.secret("secret_key"), "key")
    url = f"postgres://user:canary@127.0.0.1:{ports.free()}/db"
    secret_files.write(data.secret("database_url"), url)
    secret_files.write(data.secret("redis_url"), "redis://127.0.0.1:9/0")
    done = doctor(tmp_path)
    assert (done.returncode, done.stdout) == (2, "")
    assert done.stderr.startswith("The database does not run; `make up` starts it.")
    assert done.stderr.count("\n") == 1
    assert "canary" not in done.stderr


def test_a_database_of_ones_own_is_named_by_the_same_setting(tmp_path):
    data = DataFolder.at(str(tmp_path))
    secret_files.write(data.secret("secret_key"), "key")
    address = f"127.0.0.1:{ports.free()}"
    done = doctor(
        tmp_path, DATABASE_URL=f"postgres://{address}/db", REDIS_URL="redis://x"
    )
    assert f"DATABASE_URL names {address}, which does not answer" in done.stderr


def test_a_missing_setting_is_one_line():
    done = run("manage.py", "migrate")
    assert (done.returncode, done.stdout) == (2, "")
    assert done.stderr.startswith("SECRET_KEY is not set.")
    assert done.stderr.count("\n") == 1
