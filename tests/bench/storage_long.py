"""`storage` with 26 million samples: 90 days of 200 monitors once a minute."""

from __future__ import annotations

from tests.bench import storage
from tests.bench.report import Row


def run() -> list[Row]:
    return storage.run(raw_days=90)
