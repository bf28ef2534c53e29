"""The tiles: on a desk and on the wall. Scripts fill them and keep them live."""

from __future__ import annotations

from dataclasses import dataclass

from django.http import HttpRequest, HttpResponse
from django.shortcuts import render
from django.views.decorators.http import require_safe

from alerts import phrases
from alerts.models import MonitorState
from collectors.models import Monitor
from dashboard import payloads
from probes.types import Failure

SHAPES: dict[str, str] = {
    MonitorState.State.FAILING: "▲",
    MonitorState.State.DEGRADING: "◆",
    MonitorState.State.STABLE: "●",
    MonitorState.State.NO_DATA: "○",
    MonitorState.State.PAUSED: "‖",
}
"""Each state's shape, worst first; ``static/js/states.js`` has the same."""

STATES = [(s, SHAPES[s], MonitorState.State(s).label) for s in SHAPES]

FAILURES = {str(failure): phrases.failure(failure) for failure in Failure}
"""Each failure in a few words, for the scripts."""


@dataclass(frozen=True, slots=True)
class Tile:
    """What is known of a tile before its figures are."""

    monitor: Monitor
    state: str
    why: str

    @property
    def shape(self) -> str:
        return SHAPES[self.state]

    @property
    def word(self) -> str:
        return MonitorState.State(self.state).label

    @property
    def colour(self) -> int:
        return self.monitor.endpoint_id % payloads.COLOURS


def tiles() -> list[Tile]:
    """Every monitor's tile, failing first, then by name."""
    words = {row.monitor_id: payloads.state(row) for row in MonitorState.objects.all()}
    monitors = Monitor.objects.select_related("endpoint", "scenario")
    found = []
    for monitor in monitors:
        word = words.get(monitor.pk) or payloads.unknown(monitor)
        found.append(Tile(monitor, word["state"], word["why"]))
    return sorted(
        found,
        key=lambda t: (
            t.state != "failing",
            t.monitor.endpoint.name.casefold(),
            t.monitor.scenario.name.casefold(),
        ),
    )


@require_safe
def overview(request: HttpRequest) -> HttpResponse:
    found = tiles()
    return render(
        request,
        "dashboard/overview.html",
        {
            "version": payloads.VERSION,
            "tiles": found,
            "states": STATES,
            "failures": FAILURES,
            "endpoints": sorted({t.monitor.endpoint.name for t in found}),
            "scenarios": sorted({t.monitor.scenario.name for t in found}),
        },
    )


@require_safe
def wall(request: HttpRequest) -> HttpResponse:
    """For a screen that nobody touches; ``?theme=light`` for a bright room."""
    theme = "light" if request.GET.get("theme") == "light" else "dark"
    return render(
        request,
        "dashboard/wall.html",
        {
            "version": payloads.VERSION,
            "tiles": tiles(),
            "theme": theme,
            "states": STATES,
            "failures": FAILURES,
        },
    )
