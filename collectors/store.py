"""From a measurement to rows: one sample a slot, however often it is stored."""

from __future__ import annotations

from datetime import datetime

from django.db import IntegrityError, transaction
from django.db.models import QuerySet
from psycopg import errors

from collectors import gaps, judge, partitions, rollups, sinks
from collectors.models import Monitor, Objective, Sample, Slot, Timeline
from collectors.models.samples import KEY
from probes import timeline_codec
from probes.types import Measurement

_SAME = (
    "output_tokens",
    "reasoning_tokens",
    "input_tokens",
    "cached_input_tokens",
    "cache_write_input_tokens",
    "answer_chars",
    "chunks",
    "bytes",
    "tokens_per_second",
    "slowest_1s_tokens_per_second",
    "tail_speed_ratio",
    "rebuffer_s",
    "retry_after_s",
    "http_status",
    "stall_count",
    "attempts",
    "buffered",
    "streamed",
)
_TEXT = ("error", "error_text", "finish_reason", "token_source", "clock")
_DURATIONS = (
    "ttft",
    "ttfa",
    "total",
    "end",
    "headers",
    "dns",
    "connect",
    "tls",
    "gap_p50",
    "gap_p95",
    "max_gap",
    "uncertainty",
    "loop_lag",
)


def _us(value_ms: float | None) -> int | None:
    return None if value_ms is None else round(value_ms * 1000)


def to_row(
    measurement: Measurement,
    *,
    monitor_id: int,
    due_at: datetime,
    started_at: datetime,
    vantage: str = "",
) -> Sample:
    """The row of a measurement, not yet judged."""
    return Sample(
        monitor_id=monitor_id,
        due_at=due_at,
        started_at=started_at,
        vantage=vantage,
        model_reported=(measurement.model_reported or "")[:200],
        **{name: getattr(measurement, name) for name in _SAME},
        **{name: str(getattr(measurement, name) or "")[:300] for name in _TEXT},
        **{f"{n}_us": _us(getattr(measurement, f"{n}_ms")) for n in _DURATIONS},
    )


def judged(row: Sample, measurement: Measurement, objective: Objective | None) -> None:
    """Decide ``row.good`` by the limits in force when it was due."""
    if objective is None:
        return
    row.objective_id = objective.pk
    row.good = judge.is_good(
        judge.Figures(
            ok=measurement.outcome == "ok",
            ttft_ms=measurement.ttft_ms,
            tokens_per_second=measurement.tokens_per_second,
            total_ms=measurement.total_ms,
            max_gap_ms=measurement.max_gap_ms,
            buffered=measurement.buffered,
        ),
        judge.Limits(
            ttft_ms_max=objective.ttft_ms_max,
            tokens_per_second_min=objective.tokens_per_second_min,
            total_ms_max=objective.total_ms_max,
            max_gap_ms_max=objective.max_gap_ms_max,
        ),
    )


def record(row: Sample, measurement: Measurement) -> bool:
    """Store ``row`` and its timeline, end its slot, and tell the sinks.

    Returns False, and stores nothing, where the slot has its sample already or its
    monitor was deleted meanwhile.
    """
    try:
        _record(row, measurement)
    except _MonitorGone:
        return False
    except IntegrityError as error:
        cause = error.__cause__
        if isinstance(cause, errors.UniqueViolation | errors.ForeignKeyViolation):
            _slot_of(row).delete()
            return False
        if not isinstance(cause, errors.CheckViolation):
            raise
        # No partition for that day: housekeeping did not run, or the clock jumped.
        partitions.ensure(row.due_at, days_ahead=0)
        _record(row, measurement)
    return True


class _MonitorGone(Exception):
    """The monitor was deleted while it was probed."""


def _slot_of(row: Sample) -> QuerySet[Slot]:
    return Slot.objects.filter(monitor_id=row.monitor_id, due_at=row.due_at)


def _record(row: Sample, measurement: Measurement) -> None:
    with transaction.atomic():
        was_open, _ = _slot_of(row).delete()
        if not was_open and not Monitor.objects.filter(pk=row.monitor_id).exists():
            raise _MonitorGone
        row.save(force_insert=True)
        rollups.mark(row)
        if not was_open:
            gaps.take_out(row.monitor_id, row.due_at)
        if measurement.timeline:
            key = {name: getattr(row, name) for name in KEY}
            packed = timeline_codec.encode(measurement.timeline)
            Timeline(**key, packed=packed).save(force_insert=True)
        sinks.notify("SAMPLE_SINKS", row)
