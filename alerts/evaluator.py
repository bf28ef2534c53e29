"""From a stored sample to decisions. The deciding itself is in ``rules``."""

from __future__ import annotations

from collections.abc import Iterable
from dataclasses import dataclass
from datetime import datetime

from django.utils import timezone

from alerts import board, facts, figures, phrases, presence, rules, transitions
from alerts.figures import Figure, Observed
from alerts.models import Rule, RuleState, Transition
from alerts.rules import Event, Phase
from collectors import series
from collectors.models import Monitor, Objective, Sample

PHASES_TOLD = (Phase.FIRING, Phase.RECOVERING, Phase.PENDING)

KEPT = ("phase", "window", "good_run", "announced", "seq", "since")
"""What is stored of a ``rules.RuleState``; ``last_at`` is the same for all rules of a
monitor and lies with it, so that a sample that changes nothing writes nothing here."""


def on_sample(sample: Sample) -> None:
    """Judge ``sample`` by its scenario's rules; one of ``SAMPLE_SINKS``.

    It is called in the transaction that stores the sample. Samples of one monitor
    wait for each other here, so that each is judged after what was known before it.
    """
    now = timezone.now()
    row = board.lock(sample.monitor_id, now)
    monitor = row.monitor
    here, events = presence.arrived(
        board.presence_of(row), enabled=monitor.enabled, now=now
    )
    verdicts = _judge(monitor, sample, last_at=row.last_due_at)
    _keep(verdicts)
    news = [transitions.to_row(event, monitor_id=monitor.pk) for event in events]
    news += [t for v in verdicts for t in _news(v, monitor, sample)]
    if news:
        transitions.record(news, now)
    row.last_due_at = max(row.last_due_at or sample.due_at, sample.due_at)
    phases = [v.after.phase for v in verdicts if v.limit is not None]
    board.settle(row, here, phases, now, why=_why(verdicts))


@dataclass(frozen=True, slots=True, kw_only=True)
class Verdict:
    """What a sample did to a rule. ``limit`` is ``None`` while the rule sleeps."""

    rule: Rule
    row: RuleState
    after: rules.RuleState
    events: tuple[Event, ...]
    limit: float | None
    value: float | None = None


def _why(verdicts: Iterable[Verdict]) -> str:
    """What is wrong, the worst first; empty where nothing is."""
    told = [
        (PHASES_TOLD.index(v.after.phase), _trouble(v))
        for v in verdicts
        if v.limit is not None and v.after.phase in PHASES_TOLD
    ]
    return "; ".join(text for _, text in sorted(told))


def _trouble(verdict: Verdict) -> str:
    assert verdict.limit is not None
    figure = Figure(verdict.rule.figure)
    return phrases.trouble(figure, verdict.limit, verdict.after.window)


def _judge(
    monitor: Monitor, sample: Sample, *, last_at: datetime | None
) -> list[Verdict]:
    limits = _limits(series.objective_in_force(monitor.scenario_id, sample.due_at))
    rows = {row.rule_id: row for row in RuleState.objects.filter(monitor=monitor)}
    seen = _observed(sample)
    return [
        _verdict(
            rule,
            rows.get(rule.pk) or RuleState(monitor=monitor, rule=rule),
            limits[Figure(rule.figure)] if rule.enabled else None,
            seen=seen,
            at=sample.due_at,
            last_at=last_at,
        )
        for rule in Rule.objects.filter(scenario_id=monitor.scenario_id)
    ]


def _verdict(
    rule: Rule,
    row: RuleState,
    limit: float | None,
    *,
    seen: Observed,
    at: datetime,
    last_at: datetime | None,
) -> Verdict:
    before = _state(row, last_at)
    if limit is None:
        after, events = rules.withdraw(before, at)
        return Verdict(rule=rule, row=row, after=after, events=events, limit=None)
    figure = Figure(rule.figure)
    reading = figures.read(figure, seen)
    outcome = rules.classify(reading, figures.limit(figure, limit, rule.clear_ratio))
    after, events = rules.step(rule.spec, before, at, outcome)
    return Verdict(
        rule=rule,
        row=row,
        after=after,
        events=events,
        limit=limit,
        value=reading.value,
    )


def _limits(objective: Objective | None) -> dict[Figure, float | None]:
    limits: dict[Figure, float | None] = dict.fromkeys(Figure)
    limits[Figure.ERRORS] = figures.FAILED_AT_MOST
    if objective is not None:
        limits[Figure.TTFT_MS] = objective.ttft_ms_max
        limits[Figure.TOKENS_PER_SECOND] = objective.tokens_per_second_min
        limits[Figure.TOTAL_MS] = objective.total_ms_max
    return limits


def _observed(sample: Sample) -> Observed:
    return Observed(
        failure=sample.error,
        ttft_ms=facts.ms(sample.ttft_us),
        total_ms=facts.ms(sample.total_us),
        tokens_per_second=sample.tokens_per_second,
        output_tokens=sample.output_tokens,
        chunks=sample.chunks,
        uncertainty_ms=facts.ms(sample.uncertainty_us) or 0.0,
        buffered=sample.buffered,
    )


def _state(row: RuleState, last_at: datetime | None) -> rules.RuleState:
    return rules.RuleState(
        phase=Phase(row.phase),
        window=tuple(row.window),
        good_run=row.good_run,
        announced=row.announced,
        seq=row.seq,
        since=row.since,
        last_at=last_at,
    )


def _keep(verdicts: Iterable[Verdict]) -> None:
    """Store the states that changed."""
    old: list[RuleState] = []
    new: list[RuleState] = []
    for verdict in verdicts:
        row = verdict.row
        if verdict.after == _state(row, verdict.after.last_at):
            continue
        for name in KEPT:
            setattr(row, name, getattr(verdict.after, name))
        (old if row.pk else new).append(row)
    if old:
        RuleState.objects.bulk_update(old, KEPT)
    if new:
        RuleState.objects.bulk_create(new)


def _news(verdict: Verdict, monitor: Monitor, sample: Sample) -> list[Transition]:
    return [
        transitions.to_row(
            event,
            monitor_id=monitor.pk,
            rule_id=verdict.rule.pk,
            value=verdict.value,
            limit=verdict.limit,
            facts=facts.gather(monitor, sample, verdict.rule, verdict.after),
        )
        for event in verdict.events
    ]
