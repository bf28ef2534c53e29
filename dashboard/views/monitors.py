"""One monitor: its charts, and what can be done to it."""

from __future__ import annotations

from datetime import timedelta

from django.contrib import messages
from django.http import HttpRequest, HttpResponse, HttpResponseRedirect
from django.shortcuts import get_object_or_404, redirect, render
from django.utils import timezone
from django.views.decorators.http import require_POST, require_safe

from collectors import monitors as changes
from collectors.models import Monitor
from dashboard import advice, live, payloads
from dashboard.views.api import DEFAULT_RANGE, RANGES
from dashboard.views.overview import FAILURES

RANGE_NAMES = {
    "15m": "15 min",
    "1h": "1 h",
    "6h": "6 h",
    "24h": "24 h",
    "7d": "7 d",
}
CHARTS = (
    ("ttft_ms", "TTFT", "time to first token"),
    ("tokens_per_second", "Tokens/s", "decode rate after the first token"),
    ("total_ms", "Completion time", "until the last token"),
)

YOUNG = timedelta(hours=1)
YOUNG_RANGE = "15m"
"""Of a younger monitor, the default range would be empty for the most part."""


def _get(pk: int) -> Monitor:
    return get_object_or_404(
        Monitor.objects.select_related("endpoint", "scenario"), pk=pk
    )


@require_safe
def detail(request: HttpRequest, pk: int) -> HttpResponse:
    monitor = _get(pk)
    young = timezone.now() - monitor.created_at < YOUNG
    default = YOUNG_RANGE if young else DEFAULT_RANGE
    chosen = request.GET.get("range", default)
    endpoint = monitor.endpoint
    leading = monitor.scenario.leading
    return render(
        request,
        "dashboard/monitor.html",
        {
            "version": payloads.VERSION,
            "monitor": monitor,
            "colour": monitor.endpoint_id % payloads.COLOURS,
            "ranges": RANGE_NAMES,
            "range": chosen if chosen in RANGES else default,
            "charts": sorted(CHARTS, key=lambda chart: chart[0] != leading),
            "failures": FAILURES,
            "advice": advice.sentences(
                base_url=endpoint.base_url,
                model=endpoint.model,
                has_key=bool(endpoint.key_encrypted or endpoint.key_variable),
            ),
        },
    )


@require_POST
def pause(request: HttpRequest, pk: int) -> HttpResponseRedirect:
    """Pause or resume, as ``enabled`` says."""
    monitor = _get(pk)
    enabled = request.POST.get("enabled") == "1"
    changes.set_enabled(monitor.pk, enabled, timezone.now())
    live.changed()
    messages.success(request, f"{monitor} is {'resumed' if enabled else 'paused'}.")
    return redirect("monitor", pk=pk)


def delete(request: HttpRequest, pk: int) -> HttpResponse:
    """Ask first; then the monitor and everything measured is gone."""
    monitor = _get(pk)
    if request.method != "POST":
        return render(request, "dashboard/monitor_delete.html", {"monitor": monitor})
    monitor.delete()
    live.changed()
    messages.success(request, f"{monitor} and its samples are deleted.")
    return redirect("overview")
