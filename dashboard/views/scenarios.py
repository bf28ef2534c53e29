"""Scenarios: what each asks, and its limits, which are dated and never rewritten."""

from __future__ import annotations

from django.contrib import messages
from django.http import HttpRequest, HttpResponse
from django.shortcuts import get_object_or_404, redirect, render
from django.utils import timezone
from django.views.decorators.http import require_safe

from collectors import series
from collectors.models import Objective, Scenario
from dashboard import live
from dashboard.forms import LimitsForm


@require_safe
def index(request: HttpRequest) -> HttpResponse:
    limits = series.objectives_in_force(timezone.now())
    rows = [(s, limits.get(s.pk)) for s in Scenario.objects.all()]
    return render(request, "dashboard/scenarios.html", {"rows": rows})


def edit(request: HttpRequest, slug: str) -> HttpResponse:
    scenario = get_object_or_404(Scenario, slug=slug)
    now = timezone.now()
    current = series.objective_in_force(scenario.pk, now)
    fresh = Objective(scenario=scenario, valid_from=now)
    form = LimitsForm(request.POST or None, instance=fresh, current=current)
    if request.method == "POST" and form.is_valid():
        if form.has_changed():
            form.save()
            live.changed()
            messages.success(request, f"The limits of {scenario} are changed from now.")
        return redirect("scenario", slug=slug)
    form.described()
    return render(
        request,
        "dashboard/scenario.html",
        {
            "scenario": scenario,
            "form": form,
            "history": scenario.objectives.order_by("-valid_from", "-id")[:20],
        },
        status=400 if form.errors else 200,
    )
