"""The one wire format: pages, API and socket all speak it.

Times are Unix milliseconds (``_ms`` on a moment), durations milliseconds, rates
tokens per second; what was not measured is ``None``. ``v`` counts incompatible
changes; a page that meets another number reloads itself.
"""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from datetime import datetime
from typing import Literal, TypedDict

from django.urls import reverse

from alerts.models import MonitorState
from collectors import series
from collectors.models import Gap, Monitor, Objective, Sample
from dashboard import windows
from dashboard.windows import WindowPayload, ms

VERSION = 1
COLOURS = 8
"""How many colours endpoints are told apart by; static/css/app.css has as many."""


class SamplePayload(TypedDict):
    key: str
    monitor: int
    due_ms: int
    ok: bool
    good: bool | None
    error: str | None
    error_text: str | None
    http_status: int | None
    ttft_ms: float | None
    ttfa_ms: float | None
    total_ms: float | None
    tokens_per_second: float | None
    max_gap_ms: float | None
    output_tokens: int | None
    input_tokens: int | None
    finish_reason: str | None
    clock: str | None
    uncertainty_ms: float | None


class LimitsPayload(TypedDict):
    from_ms: int | None
    ttft_ms: float | None
    tokens_per_second: float | None
    total_ms: float | None
    max_gap_ms: float | None


class StatePayload(TypedDict):
    monitor: int
    state: str
    since_ms: int
    why: str


class TilePayload(TypedDict):
    monitor: int
    endpoint: str
    model: str
    scenario: str
    kind: str
    leading: str
    interval_s: int
    colour: int
    url: str
    limits: LimitsPayload
    state: StatePayload
    latest: SamplePayload | None
    spark: list[tuple[int, float | None]]


class SnapshotPayload(TypedDict):
    type: Literal["snapshot"]
    v: int
    server_ms: int
    tiles: list[TilePayload]


class FramePayload(TypedDict):
    """What the socket carries: news since the frame before.

    ``changed``: endpoints, monitors or limits are other than they were, so that the
    page must fetch its snapshot anew.
    """

    type: Literal["frame"]
    v: int
    server_ms: int
    samples: list[SamplePayload]
    states: list[StatePayload]
    changed: bool


class GapPayload(TypedDict):
    from_ms: int
    to_ms: int
    slots: int
    reason: str
    text: str


class SeriesPayload(WindowPayload):
    """A monitor's page: its window, what ``compare`` asked for beside it, and more."""

    type: Literal["series"]
    v: int
    server_ms: int
    state: StatePayload
    compare: WindowPayload | None
    limits: list[LimitsPayload]
    gaps: list[GapPayload]
    samples: list[SamplePayload]


def _from_us(value: int | None) -> float | None:
    return None if value is None else value / 1000


def sample(row: Sample) -> SamplePayload:
    key = (row.monitor_id, ms(row.due_at), row.sweep, row.rung, row.stream, row.turn)
    return {
        "key": ":".join(map(str, (*key, row.attempt))),
        "monitor": row.monitor_id,
        "due_ms": ms(row.due_at),
        "ok": not row.error,
        "good": row.good,
        "error": row.error or None,
        "error_text": row.error_text or None,
        "http_status": row.http_status,
        "ttft_ms": _from_us(row.ttft_us),
        "ttfa_ms": _from_us(row.ttfa_us),
        "total_ms": _from_us(row.total_us),
        "tokens_per_second": row.tokens_per_second,
        "max_gap_ms": _from_us(row.max_gap_us),
        "output_tokens": row.output_tokens,
        "input_tokens": row.input_tokens,
        "finish_reason": row.finish_reason or None,
        "clock": row.clock or None,
        "uncertainty_ms": _from_us(row.uncertainty_us),
    }


def limits(objective: Objective | None) -> LimitsPayload:
    return {
        "from_ms": ms(objective.valid_from) if objective else None,
        "ttft_ms": objective.ttft_ms_max if objective else None,
        "tokens_per_second": objective.tokens_per_second_min if objective else None,
        "total_ms": objective.total_ms_max if objective else None,
        "max_gap_ms": objective.max_gap_ms_max if objective else None,
    }


def state(row: MonitorState) -> StatePayload:
    return {
        "monitor": row.monitor_id,
        "state": row.state,
        "since_ms": ms(row.since),
        "why": row.why,
    }


def tile(
    monitor: Monitor,
    *,
    objective: Objective | None,
    word: StatePayload,
    latest: Sample | None,
    spark: Sequence[tuple[int, float | None]],
) -> TilePayload:
    return {
        "monitor": monitor.pk,
        "endpoint": monitor.endpoint.name,
        "model": monitor.endpoint.model,
        "scenario": monitor.scenario.name,
        "kind": monitor.scenario.kind,
        "leading": monitor.scenario.leading,
        "interval_s": monitor.interval_s,
        "colour": monitor.endpoint_id % COLOURS,
        "url": reverse("monitor", args=[monitor.pk]),
        "limits": limits(objective),
        "state": word,
        "latest": sample(latest) if latest else None,
        "spark": list(spark),
    }


def snapshot(now: datetime) -> SnapshotPayload:
    """Everything the overview and the wall show, in a constant number of queries."""
    monitors = list(Monitor.objects.select_related("endpoint", "scenario"))
    objectives = series.objectives_in_force(now)
    words = {row.monitor_id: state(row) for row in MonitorState.objects.all()}
    latest = series.latest(monitors, now)
    sparks = series.sparks(monitors, now)
    return {
        "type": "snapshot",
        "v": VERSION,
        "server_ms": ms(now),
        "tiles": [
            tile(
                m,
                objective=objectives.get(m.scenario_id),
                word=words.get(m.pk) or unknown(m),
                latest=latest.get(m.pk),
                spark=sparks.get(m.pk, ()),
            )
            for m in monitors
        ],
    }


def unknown(monitor: Monitor) -> StatePayload:
    """The word for a monitor that nothing has judged yet."""
    return {
        "monitor": monitor.pk,
        "state": MonitorState.State.NO_DATA if monitor.enabled else "paused",
        "since_ms": ms(monitor.created_at),
        "why": "",
    }


def frame(
    now: datetime,
    samples: Iterable[SamplePayload] = (),
    states: Iterable[StatePayload] = (),
    changed: bool = False,
) -> FramePayload:
    return {
        "type": "frame",
        "v": VERSION,
        "server_ms": ms(now),
        "samples": list(samples),
        "states": list(states),
        "changed": changed,
    }


def gap(row: Gap) -> GapPayload:
    return {
        "from_ms": ms(row.first_due_at),
        "to_ms": ms(row.last_due_at) + row.interval_s * 1000,
        "slots": row.slots,
        "reason": row.reason,
        "text": str(Gap.Reason(row.reason).label),
    }


def monitor_series(
    monitor: Monitor,
    *,
    start: datetime,
    end: datetime,
    points: int = windows.POINTS,
    compare: Monitor | Literal["before"] | None = None,
) -> SeriesPayload:
    """A monitor's charts, its gaps and its last samples between two moments.

    ``compare`` adds another monitor's window, or the monitor's own of the time before.
    """
    word = MonitorState.objects.filter(monitor=monitor).first()
    beside = None
    if compare == "before":
        beside = windows.payload(monitor, start - (end - start), start, end, points)
    elif compare:
        beside = windows.payload(compare, start, end, end, points)
    return {
        **windows.payload(monitor, start, end, end, points),
        "type": "series",
        "v": VERSION,
        "server_ms": ms(end),
        "state": state(word) if word else unknown(monitor),
        "compare": beside,
        "limits": [limits(o) for o in series.objectives_between(monitor, start, end)],
        "gaps": [gap(g) for g in series.gaps(monitor, start, end)],
        "samples": [sample(s) for s in series.last_samples(monitor, start, end)],
    }
