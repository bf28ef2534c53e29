"""200 monitors at 10 s on one worker process, for five minutes, on the simulator."""

from __future__ import annotations

import tempfile
import time
from pathlib import Path

import psutil

from tests.bench.report import Row
from tests.stack import Stack, running

MONITORS = 200
INTERVAL_S = 10
MINUTES = 5

WATCH_MANY = f"""
from django.utils import timezone
from collectors.models import Endpoint, Monitor, Scenario
from collectors import monitors
Monitor.objects.update(enabled=False)
scenario = Scenario.objects.create(slug="bench", name="Bench", kind="chat",
    input_tokens=100, max_tokens=50, interval_s={INTERVAL_S})
base_url = Endpoint.objects.first().base_url
for n in range({MONITORS}):
    endpoint = Endpoint.objects.create(name=f"bench {{n}}", model="steady",
        base_url=base_url)
    monitors.choose(endpoint, {{scenario: {INTERVAL_S}}}, timezone.now())
"""


def cpu_s(process: psutil.Process) -> float:
    times = process.cpu_times()
    return times.user + times.system


def watch(stack: Stack) -> list[Row]:
    stack.run(WATCH_MANY)
    worker = stack.part("worker")
    assert worker
    time.sleep(2 * INTERVAL_S)  # warm: every monitor has been probed once
    [[start]] = stack.sql("SELECT now()")
    cpu, clock = cpu_s(worker), time.monotonic()
    time.sleep(MINUTES * 60)
    used = (cpu_s(worker) - cpu) / (time.monotonic() - clock)
    [[end]] = stack.sql("SELECT now()")
    time.sleep(2 * INTERVAL_S)  # what was begun in the span has ended
    return [*_slots(stack, start, end), *_cost(stack, start, end, used)]


def _slots(stack: Stack, start: object, end: object) -> list[Row]:
    span = "due_at >= %s AND due_at < %s"
    [[sampled]] = stack.sql(
        f"SELECT count(*) FROM collectors_sample WHERE {span}", start, end
    )
    [[missed]] = stack.sql(
        "SELECT coalesce(sum(slots), 0) FROM collectors_gap WHERE last_due_at >= %s",
        start,
    )
    expected = MONITORS * MINUTES * 60 // INTERVAL_S
    return [
        Row(
            name="slots sampled in 5 min",
            value=sampled,
            unit="slots",
            goal=f"{expected}",
        ),
        Row(name="slots missed", value=float(missed), unit="slots", goal="0"),
    ]


def _cost(stack: Stack, start: object, end: object, used: float) -> list[Row]:
    [[late, lag]] = stack.sql(
        """
        SELECT percentile_cont(0.99) WITHIN GROUP
            (ORDER BY extract(epoch FROM started_at - due_at) * 1000),
            percentile_cont(0.99) WITHIN GROUP (ORDER BY loop_lag_us) / 1000
        FROM collectors_sample WHERE due_at >= %s AND due_at < %s
        """,
        start,
        end,
    )
    return [
        Row(name="worker CPU", value=used, unit="cores", goal="< 1"),
        Row(
            name="monitors at 10 s that one worker core holds",
            value=MONITORS / used,
            unit="monitors",
        ),
        Row(name="start after its slot, p99", value=float(late), unit="ms"),
        Row(name="loop lag, p99", value=float(lag or 0), unit="ms"),
    ]


def run() -> list[Row]:
    with tempfile.TemporaryDirectory() as folder:
        Path(folder).chmod(0o755)
        with running(Path(folder) / "var") as stack:
            return watch(stack)
