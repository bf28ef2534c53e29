"""Parts are killed at random moments under load; every slot stays accounted for."""

from __future__ import annotations

import itertools
import random
import signal
import time
from datetime import timedelta
from pathlib import Path

import httpx
import psutil
import pytest

from tests.stack import Stack, running
from tests.waiting import wait_for

MONITORS = 30

WATCH_MANY = f"""
from django.utils import timezone
from collectors.models import Endpoint, Scenario
from collectors import monitors
scenario = Scenario.objects.create(slug="quick", name="Quick", kind="chat",
    input_tokens=20, max_tokens=8, interval_s=2, first_token_timeout_s=3,
    idle_timeout_s=3, total_timeout_s=5)
steady = Endpoint.objects.get(name="Simulated steady")
for n in range({MONITORS}):
    endpoint = Endpoint.objects.create(name=f"load {{n}}", model="steady",
        base_url=steady.base_url)
    monitors.choose(endpoint, {{scenario: 2}}, timezone.now())
"""


@pytest.fixture
def stack(tmp_path: Path):
    tmp_path.chmod(0o755)
    with running(tmp_path / "var") as stack:
        stack.run(WATCH_MANY)
        yield stack


def newest_slot(stack: Stack) -> float:
    query = "SELECT coalesce(extract(epoch FROM max(due_at)), 0) FROM collectors_sample"
    return float(stack.sql(query)[0][0])


def kill(stack: Stack, name: str) -> float:
    """Kill a part; returns after how many seconds a newer slot had its sample."""
    victim = wait_for(lambda: stack.part(name), timeout_s=30)
    assert victim
    victim.send_signal(signal.SIGKILL)
    killed_at = time.time()
    psutil.wait_procs([victim], timeout=10)
    wait_for(lambda: stack.part(name), timeout_s=60)
    wait_for(lambda: newest_slot(stack) > killed_at, timeout_s=90)
    return time.time() - killed_at


def kill_for(stack: Stack, rounds: int, seed: int) -> None:
    chance = random.Random(seed)
    parts = ["worker", "valkey", "beat", "web"]
    for number in range(rounds):
        time.sleep(chance.uniform(0, 4))  # the moment is to be random
        name = parts[number] if number < len(parts) else chance.choice(parts)
        print(f"{name} killed; samples again after {kill(stack, name):.1f} s")


def settle(stack: Stack) -> None:
    """Stop scheduling and wait until nothing is under way."""
    stack.sql("UPDATE collectors_monitor SET enabled = false")
    open_slots = "SELECT count(*) FROM collectors_slot"
    wait_for(lambda: stack.sql(open_slots)[0][0] == 0, timeout_s=400)


def check_every_slot(stack: Stack) -> dict[str, int]:
    """Each slot of each monitor's grid has one sample or lies in one gap."""
    monitors = stack.sql("SELECT id, interval_s FROM collectors_monitor")
    seen = {"sampled": 0, "missed": 0}
    for pk, interval_s in monitors:
        interval = timedelta(seconds=interval_s)
        samples = [
            due
            for (due,) in stack.sql(
                "SELECT due_at FROM collectors_sample WHERE monitor_id = %s", pk
            )
        ]
        gaps = stack.sql(
            "SELECT first_due_at, slots FROM collectors_gap WHERE monitor_id = %s", pk
        )
        missed = [first + n * interval for first, slots in gaps for n in range(slots)]
        slots = sorted(samples + missed)
        assert len(slots) == len(set(slots)), f"monitor {pk}: a slot counts twice"
        steps = {b - a for a, b in itertools.pairwise(slots)}
        assert steps <= {interval}, f"monitor {pk}: a slot is unaccounted for: {steps}"
        seen["sampled"] += len(samples)
        seen["missed"] += len(missed)
    return seen


@pytest.mark.timeout(400)
def test_killed_parts_come_back_and_no_slot_is_lost_or_doubled(stack):
    kill_for(stack, rounds=3, seed=1)
    settle(stack)
    seen = check_every_slot(stack)
    assert seen["sampled"] > MONITORS


@pytest.mark.timeout(200)
def test_two_beats_and_two_workers_store_each_slot_once(stack):
    celery = ("celery", "-A", "dashboard")
    workers = "SELECT count(*) FROM collectors_heartbeat WHERE kind = 'worker'"
    with (
        stack.further(*celery, "worker", "-P", "threads", "-c", "50", "-n", "second"),
        stack.further(*celery, "beat"),
    ):
        wait_for(lambda: stack.sql(workers)[0][0] == 2, timeout_s=60)
        both_since = time.time()
        wait_for(lambda: newest_slot(stack) > both_since + 8, timeout_s=60)
        settle(stack)
    seen = check_every_slot(stack)
    assert seen["sampled"] > MONITORS
    asked = httpx.get(stack.simulator() + "/log?n=2000").json()
    assert len(asked["requests"]) == seen["sampled"], "no slot was probed twice"


@pytest.mark.soak
@pytest.mark.timeout(3000)
def test_twenty_rounds_of_kills(stack):
    kill_for(stack, rounds=20, seed=2)
    settle(stack)
    print(check_every_slot(stack))
