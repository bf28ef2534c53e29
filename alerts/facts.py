"""What a mail says of an incident, frozen when it happened.

Names may change and samples be dropped before a mail is sent; what is told stays
what was seen.
"""

from __future__ import annotations

from typing import TypedDict

from alerts.models import Rule
from alerts.rules import RuleState
from collectors.models import Monitor, Sample


class Probe(TypedDict):
    """One of the samples that led to the decision. ``at`` is ISO 8601, in UTC."""

    at: str
    failure: str
    ttft_ms: float | None
    tokens_per_second: float | None
    total_ms: float | None


class Facts(TypedDict):
    """``bad`` of the last ``known`` outcomes broke the limit; ``m`` is what clears."""

    endpoint: str
    model: str
    scenario: str
    bad: int
    known: int
    m: int
    failure: str
    failure_text: str
    probes: list[Probe]


def gather(monitor: Monitor, sample: Sample, rule: Rule, after: RuleState) -> Facts:
    """What led to ``after``; only asked for when there is something to tell."""
    newest = Sample.objects.filter(
        monitor_id=monitor.pk, due_at__lte=sample.due_at
    ).order_by("-due_at")[: max(rule.n, rule.m)]
    return {
        "endpoint": monitor.endpoint.name,
        "model": monitor.endpoint.model,
        "scenario": monitor.scenario.name,
        "bad": sum(after.window),
        "known": len(after.window),
        "m": rule.m,
        "failure": sample.error,
        "failure_text": sample.error_text,
        "probes": [_probe(row) for row in newest],
    }


def _probe(row: Sample) -> Probe:
    return {
        "at": row.due_at.isoformat(),
        "failure": row.error,
        "ttft_ms": ms(row.ttft_us),
        "tokens_per_second": row.tokens_per_second,
        "total_ms": ms(row.total_us),
    }


def ms(value_us: int | None) -> float | None:
    return None if value_us is None else value_us / 1000
