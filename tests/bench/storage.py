"""What is kept, and how quickly it is read: 200 monitors once a minute, for a year.

Samples for two days, less than a million; `storage-long` keeps them for 90, which is
26 million. Beside our reads stand plain SQL percentiles over the samples.
"""

from __future__ import annotations

import json
import os
import subprocess
import sys
import tempfile
from pathlib import Path

from dashboard.local import postgres, valkey
from tests.bench.report import Row

ROOT = Path(__file__).parents[2]


def run(raw_days: int = 2) -> list[Row]:
    with tempfile.TemporaryDirectory() as name:
        folder = Path(name)
        folder.chmod(0o755)
        database = postgres.start(folder)
        broker = valkey.start(folder)
        try:
            return _measure(database.url, broker.url, raw_days)
        finally:
            broker.stop()
            database.stop()


def _measure(database_url: str, redis_url: str, raw_days: int) -> list[Row]:
    """In a process of its own, where Django is set up on these servers."""
    code = f"from tests.bench import storage_measures as m; m.main({raw_days})"
    done = subprocess.run(
        [sys.executable, "manage.py", "shell", "--no-imports", "-c", code],
        cwd=ROOT,
        env={
            **os.environ,
            "DATABASE_URL": database_url,
            "REDIS_URL": redis_url,
            "SECRET_KEY": "bench",
            "ENCRYPTION_KEYS": f"{'A' * 43}=",
            "KEEP_RAW_DAYS": str(raw_days),
            "KEEP_5MIN_DAYS": str(max(raw_days, 7)),
            "KEEP_1H_DAYS": "91",
        },
        stdout=subprocess.PIPE,
        text=True,
        check=True,
    )
    rows: list[dict[str, object]] = json.loads(done.stdout.splitlines()[-1])
    return [Row(**row) for row in rows]  # type: ignore[arg-type]  # as they were dumped
