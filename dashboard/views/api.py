"""JSON for the pages' own scripts; ``dashboard.payloads`` defines each answer."""

from __future__ import annotations

from datetime import datetime, timedelta
from typing import Literal

from django.http import HttpRequest, HttpResponseBase, JsonResponse
from django.shortcuts import get_object_or_404
from django.utils import timezone
from django.views.decorators.cache import never_cache
from django.views.decorators.http import require_safe

from collectors import schedule
from collectors import series as reads
from collectors.models import Monitor
from dashboard import attainment as attainments
from dashboard import payloads, windows

RANGES: dict[str, timedelta] = {
    "15m": timedelta(minutes=15),
    "1h": timedelta(hours=1),
    "6h": timedelta(hours=6),
    "24h": timedelta(hours=24),
    "7d": timedelta(days=7),
    "30d": timedelta(days=30),
    "90d": timedelta(days=90),
    "1y": timedelta(days=365),
}
DEFAULT_RANGE = "1h"


def _problem(detail: str) -> JsonResponse:
    return JsonResponse({"detail": detail}, status=400)


@never_cache
@require_safe
def snapshot(request: HttpRequest) -> HttpResponseBase:
    return JsonResponse(payloads.snapshot(timezone.now()))


@never_cache
@require_safe
def series(request: HttpRequest, pk: int) -> HttpResponseBase:
    """A monitor's charts over ``?range=``, one of ``RANGES``, up to now.

    ``points`` is how many the page has room for. ``compare`` is ``before``, for the
    monitor's own window before this one, or another monitor's id.
    """
    span = RANGES.get(request.GET.get("range", DEFAULT_RANGE))
    if span is None:
        return _problem(f"range is one of {', '.join(RANGES)}")
    try:
        points = int(request.GET.get("points", windows.POINTS))
        compare = _compared(request.GET.get("compare", ""))
    except ValueError:
        return _problem("points is a number, compare is `before` or a monitor's id")
    monitor = get_object_or_404(Monitor, pk=pk)
    now = timezone.now()
    return JsonResponse(
        payloads.monitor_series(
            monitor,
            start=now - span,
            end=now,
            points=points,
            compare=compare,
        )
    )


def _compared(text: str) -> Monitor | Literal["before"] | None:
    """Raises ValueError for what names no monitor."""
    if text == "before":
        return "before"
    return get_object_or_404(Monitor, pk=int(text)) if text else None


@never_cache
@require_safe
def attainment(request: HttpRequest) -> HttpResponseBase:
    """How every monitor kept its limits over ``?range=``, one of ``RANGES``."""
    span = RANGES.get(request.GET.get("range", "30d"))
    if span is None:
        return _problem(f"range is one of {', '.join(RANGES)}")
    now = timezone.now()
    return JsonResponse(attainments.payload(now - span, now))


def _moment(text: str) -> datetime:
    """Raises ValueError, also for a moment that no calendar has."""
    try:
        return schedule.from_ms(int(text))
    except OverflowError as error:
        raise ValueError(text) from error


@never_cache
@require_safe
def samples(request: HttpRequest, pk: int) -> HttpResponseBase:
    """A monitor's samples of slots due after ``?since_ms=`` (Unix), oldest first."""
    try:
        since = _moment(request.GET.get("since_ms", ""))
    except ValueError:
        return _problem("since_ms is a moment in Unix milliseconds")
    monitor = get_object_or_404(Monitor, pk=pk)
    now = timezone.now()
    rows = reads.samples_since(monitor, since, now)
    return JsonResponse(
        {
            "v": payloads.VERSION,
            "server_ms": windows.ms(now),
            "samples": [payloads.sample(row) for row in rows],
        }
    )
