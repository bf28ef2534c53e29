"""Monitors with a past, and news of them."""

from __future__ import annotations

import math
from datetime import datetime, timedelta

from django.db import transaction
from django.utils import timezone

from alerts.models import MonitorState
from collectors import partitions
from collectors.models import Gap, Monitor, Sample, Scenario
from dashboard import live
from tests.factories import make_endpoint, make_monitor, make_objective, make_scenario

WHY = {
    "failing": "TTFT over 1 s in 5 of the last 5 probes; 1 of the last 5 probes failed"
}
STATES = ("failing", "stable", "stable", "degrading", "stable", "no_data")


def make_watched(
    n: int = 1,
    *,
    state: str | None = None,
    samples: int = 60,
    interval_s: int = 10,
    age_s: float = 0,
    first: int = 0,
) -> list[Monitor]:
    """``n`` monitors with ``samples`` samples up to ``age_s`` ago.

    ``first`` is the number of the first, where there are others already.
    """
    now = timezone.now() - timedelta(seconds=age_s)
    partitions.ensure(now - timedelta(seconds=samples * interval_s), days_ahead=2)
    scenarios = [_scenario(*named) for named in SCENARIOS]
    found = []
    for i in range(first, first + n):
        monitor = make_monitor(
            endpoint=make_endpoint(name=name(i)),
            scenario=scenarios[i % len(scenarios)],
            interval_s=interval_s,
        )
        word = state or STATES[i % len(STATES)]
        since = now - timedelta(minutes=5 + i)
        MonitorState.objects.create(
            monitor=monitor, state=word, since=since, why=WHY.get(word, "")
        )
        Sample.objects.bulk_create(
            make_row(monitor, now - timedelta(seconds=k * interval_s), word=word)
            for k in range(2 if word == "no_data" else samples)
        )
        found.append(monitor)
    return found


NAMES = (
    "vLLM A100",
    "Mistral via gateway",
    "llama.cpp desk",
    "Azure EU",
    "TGI staging",
    "vLLM H100",
    "Bedrock Frankfurt",
    "SGLang lab",
    "Ollama office",
    "Gemini via proxy",
)


def name(i: int) -> str:
    """The ``i``-th endpoint's name."""
    turn = i // len(NAMES)
    return NAMES[i % len(NAMES)] + (f" {turn + 1}" if turn else "")


SCENARIOS = (
    ("Chat", Scenario.Kind.CHAT, Scenario.Figure.TTFT_MS),
    ("Document summary", Scenario.Kind.SUMMARY, Scenario.Figure.TOTAL_MS),
    ("Batch", Scenario.Kind.BATCH, Scenario.Figure.TOKENS_PER_SECOND),
)


def _scenario(name: str, kind: Scenario.Kind, leading: Scenario.Figure) -> Scenario:
    if known := Scenario.objects.filter(name=name).first():
        return known
    scenario = make_scenario(name=name, slug=kind.value, kind=kind, leading=leading)
    make_objective(scenario, ttft_ms_max=1000, total_ms_max=9000)
    return scenario


def make_row(
    monitor: Monitor, due_at: datetime, *, word: str = "stable", **overrides: object
) -> Sample:
    """A sample that wanders a little; slow, and sometimes failed, where failing."""
    wave = math.sin(due_at.timestamp() / 70 + monitor.pk) + math.sin(
        due_at.timestamp() / 11
    )
    slow = 3 if word == "failing" else 1
    ttft_ms = slow * (420 + 50 * wave)
    if word == "failing" and int(due_at.timestamp() / monitor.interval_s) % 17 == 0:
        values = {"error": "server", "error_text": "out of memory", "http_status": 500}
    else:
        values = {
            "ttft_us": int(1000 * ttft_ms),
            "total_us": int(1000 * (ttft_ms + 3600)),
            "tokens_per_second": 41 + 2 * wave,
            "output_tokens": 150,
            "http_status": 200,
        }
    facts = {"started_at": due_at, "good": word == "stable", "uncertainty_us": 60}
    return Sample(
        monitor=monitor,
        due_at=due_at,
        **{**facts, **values, **overrides},
    )


def make_gap(monitor: Monitor, minutes: int) -> Gap:
    """A gap that ended a while before the samples begin."""
    end = timezone.now() - timedelta(minutes=15)
    return Gap.objects.create(
        monitor=monitor,
        first_due_at=end - timedelta(minutes=minutes),
        last_due_at=end,
        slots=minutes * 60 // monitor.interval_s,
        interval_s=monitor.interval_s,
        reason=Gap.Reason.NOT_FINISHED,
    )


def announce(monitor: Monitor, **overrides: object) -> Sample:
    """Store a sample as the worker does, and tell the open pages."""
    row = make_row(monitor, timezone.now(), **overrides)  # type: ignore[arg-type]
    with transaction.atomic():
        row.save(force_insert=True)
        live.on_sample(row)
    return row


def say(monitor: Monitor, word: str, why: str = "") -> None:
    """Change the word for ``monitor``, and tell the open pages."""
    row = MonitorState.objects.get(monitor=monitor)
    row.state, row.since, row.why = word, timezone.now(), why
    with transaction.atomic():
        row.save()
        live.on_state(row)
