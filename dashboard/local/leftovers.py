"""Processes that outlived a supervisor which was killed, ended before the next start.

On Linux the kernel ends them itself (``process.spawn``), and here only the last of them
is waited for; elsewhere this is what ends them.
"""

from __future__ import annotations

import contextlib
import json
from collections.abc import Iterable
from pathlib import Path

import psutil

from dashboard.local.service import Service

GRACE_S = 10.0
# How far two readings of one process's start may lie apart when clocks are set.
SAME_START_S = 2.0


def write(record: Path, services: Iterable[Service]) -> None:
    """Note what runs: process id, start time, and the signal that ends it best."""
    rows = []
    for service in services:
        with contextlib.suppress(psutil.NoSuchProcess):
            started = psutil.Process(service.process.pid).create_time()
            number = int(service.command.stop_signals[0][0])
            rows.append([service.process.pid, started, number])
    record.write_text(json.dumps(rows))


def end(record: Path) -> None:
    """End whatever of ``record`` still runs, and wait until it has ended."""
    try:
        rows = json.loads(record.read_text())
    except (OSError, ValueError):
        return
    found = []
    for pid, started, number in rows:
        with contextlib.suppress(psutil.NoSuchProcess):
            process = psutil.Process(pid)
            if abs(process.create_time() - started) < SAME_START_S:
                process.send_signal(number)
                found.append(process)
    for process in psutil.wait_procs(found, timeout=GRACE_S)[1]:
        with contextlib.suppress(psutil.NoSuchProcess):
            process.kill()
    psutil.wait_procs(found, timeout=GRACE_S)
    record.unlink(missing_ok=True)
