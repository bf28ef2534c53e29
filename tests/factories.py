"""Rows for tests, with defaults that a test may override."""

from __future__ import annotations

from datetime import UTC, datetime, timedelta
from itertools import count
from typing import Any

from collectors import partitions
from collectors.models import Endpoint, Monitor, Objective, Sample, Scenario

T0 = datetime(2026, 3, 1, 12, tzinfo=UTC)
_numbers = count(1)


def at(seconds: float) -> datetime:
    return T0 + timedelta(seconds=seconds)


def make_endpoint(**overrides: Any) -> Endpoint:
    defaults = {
        "name": f"endpoint {next(_numbers)}",
        "base_url": "http://127.0.0.1:1/v1",
        "model": "test-model",
    }
    return Endpoint.objects.create(**defaults | overrides)


def make_scenario(**overrides: Any) -> Scenario:
    number = next(_numbers)
    defaults = {
        "slug": f"scenario-{number}",
        "name": f"scenario {number}",
        "kind": Scenario.Kind.CHAT,
        "input_tokens": 20,
        "max_tokens": 16,
        "interval_s": 10,
    }
    return Scenario.objects.create(**defaults | overrides)


def make_objective(scenario: Scenario, **overrides: Any) -> Objective:
    defaults = {
        "valid_from": datetime(2020, 1, 1, tzinfo=UTC),
        "ttft_ms_max": 1000,
        "tokens_per_second_min": 15,
        "total_ms_max": 20_000,
    }
    return Objective.objects.create(scenario=scenario, **defaults | overrides)


def make_monitor(**overrides: Any) -> Monitor:
    overrides.setdefault("endpoint", None)
    endpoint = overrides.pop("endpoint") or make_endpoint()
    scenario = overrides.pop("scenario", None) or make_scenario()
    defaults = {
        "interval_s": scenario.interval_s,
        "phase_ms": 0,
        "next_due_at": T0,
    }
    return Monitor.objects.create(
        endpoint=endpoint, scenario=scenario, **defaults | overrides
    )


def sample_row(monitor: Monitor, due_at: datetime = T0, **overrides: Any) -> Sample:
    """A sample of an answer that kept every limit, not stored yet."""
    defaults = {
        "started_at": due_at,
        "ttft_us": 200_000,
        "ttfa_us": 200_000,
        "total_us": 1_160_000,
        "max_gap_us": 24_000,
        "tokens_per_second": 41.5,
        "output_tokens": 41,
        "input_tokens": 12,
        "http_status": 200,
        "good": True,
        "streamed": True,
        "finish_reason": "stop",
        "token_source": "usage",
        "clock": "kernel",
        "uncertainty_us": 50,
    }
    return Sample(monitor=monitor, due_at=due_at, **defaults | overrides)


def make_sample(monitor: Monitor, due_at: datetime = T0, **overrides: Any) -> Sample:
    """The same, stored."""
    partitions.ensure(due_at, days_ahead=0)
    row = sample_row(monitor, due_at, **overrides)
    row.save(force_insert=True)
    return row
