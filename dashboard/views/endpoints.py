"""Endpoints: the list, and one form for adding and editing."""

from __future__ import annotations

from django.contrib import messages
from django.db import transaction
from django.http import HttpRequest, HttpResponse
from django.shortcuts import get_object_or_404, redirect, render
from django.utils import timezone
from django.views.decorators.http import require_safe

from collectors import monitors
from collectors.models import Endpoint
from dashboard import live, payloads
from dashboard.forms import EndpointForm


@require_safe
def index(request: HttpRequest) -> HttpResponse:
    endpoints = Endpoint.objects.prefetch_related("monitors__scenario")
    rows = [(e, e.pk % payloads.COLOURS, e.monitors.all()) for e in endpoints]
    return render(request, "dashboard/endpoints.html", {"rows": rows})


def add(request: HttpRequest) -> HttpResponse:
    return _form(request, None)


def edit(request: HttpRequest, pk: int) -> HttpResponse:
    return _form(request, get_object_or_404(Endpoint, pk=pk))


def _form(request: HttpRequest, endpoint: Endpoint | None) -> HttpResponse:
    form = EndpointForm(request.POST or None, instance=endpoint)
    if request.method == "POST" and form.is_valid():
        with transaction.atomic():
            saved = form.save()
            monitors.choose(saved, form.chosen(), timezone.now())
        live.changed()
        messages.success(request, _told(saved, len(form.chosen())))
        return redirect("overview")
    form.described()
    return render(
        request,
        "dashboard/endpoint_form.html",
        {"form": form, "endpoint": form.stored},
        status=400 if form.errors else 200,
    )


def _told(endpoint: Endpoint, watched: int) -> str:
    if not watched:
        return f"{endpoint} is saved. No scenario is chosen, so it is not probed."
    scenarios = "1 scenario" if watched == 1 else f"{watched} scenarios"
    return f"{endpoint} is saved and is now probed in {scenarios}."


def delete(request: HttpRequest, pk: int) -> HttpResponse:
    """Ask first; then the endpoint, its monitors and their samples are gone."""
    endpoint = get_object_or_404(Endpoint, pk=pk)
    if request.method != "POST":
        return render(
            request,
            "dashboard/endpoint_delete.html",
            {"endpoint": endpoint, "monitors": endpoint.monitors.count()},
        )
    endpoint.delete()
    live.changed()
    messages.success(request, f"{endpoint} and all that was measured are deleted.")
    return redirect("endpoints")
