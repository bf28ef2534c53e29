""" "Test now": one probe outside the schedule, asked for and watched by a script."""

from __future__ import annotations

from datetime import timedelta
from typing import Any, cast

from django.contrib.auth.models import User
from django.http import HttpRequest, JsonResponse
from django.shortcuts import get_object_or_404
from django.urls import reverse
from django.utils import timezone
from django.views.decorators.cache import never_cache
from django.views.decorators.http import require_POST, require_safe

from collectors import tasks
from collectors.models import Monitor, Trial
from collectors.models.targets import EndpointFields
from dashboard import advice, publishing
from dashboard.forms import TrialForm

PATIENCE = timedelta(seconds=15)
"""After this long without a worker, the page says where to look."""

NO_BROKER = (
    "Not sent: Valkey does not answer, which hands tests to the workers. "
    "`manage.py doctor` says what is missing."
)

GRACE = timedelta(seconds=60)
"""Beyond a scenario's own time-out, a trial that was begun is lost."""


def _send(trial: Trial) -> JsonResponse:
    """Store ``trial`` and have a worker run it; the broker carries its id only.

    503 where the broker does not answer: then nothing is left of the trial.
    """
    trial.save()
    try:
        publishing.publish(tasks.run_trial, trial.pk)
    except publishing.NoBroker:
        trial.delete()
        return JsonResponse({"told": NO_BROKER}, status=503)
    url = reverse("trial", args=[trial.pk])
    return JsonResponse({"id": trial.pk, "url": url}, status=201)


@require_POST
def create(request: HttpRequest) -> JsonResponse:
    """Try the values of an endpoint's form; 400 with the errors by field."""
    trial = Trial(created_by=cast(User, request.user))
    form = TrialForm(request.POST, instance=trial)
    if not form.is_valid():
        return JsonResponse({"errors": form.errors}, status=400)
    return _send(trial)


@require_POST
def create_for_monitor(request: HttpRequest, pk: int) -> JsonResponse:
    """Try a monitor's endpoint and scenario as they are stored."""
    monitor = get_object_or_404(Monitor.objects.select_related("endpoint"), pk=pk)
    names = [field.name for field in EndpointFields._meta.local_fields]
    copied = {name: getattr(monitor.endpoint, name) for name in names}
    user = cast(User, request.user)
    return _send(Trial(created_by=user, scenario_id=monitor.scenario_id, **copied))


@never_cache
@require_safe
def detail(request: HttpRequest, pk: int) -> JsonResponse:
    """How a trial of one's own goes: ``waiting``, ``running``, then ``finished``."""
    mine = Trial.objects.filter(created_by=cast(User, request.user))
    trial = get_object_or_404(mine.select_related("scenario"), pk=pk)
    return JsonResponse(_payload(trial))


def _payload(trial: Trial) -> dict[str, Any]:
    if trial.finished_at and trial.result:
        return {"status": "finished", "result": trial.result, "told": _told(trial)}
    now = timezone.now()
    if trial.started_at is None:
        return {"status": "waiting", "told": _waiting(now - trial.created_at)}
    patience = timedelta(seconds=trial.scenario.total_timeout_s) + GRACE
    if now - trial.started_at < patience:
        return {"status": "running", "told": "Waiting for the answer."}
    return {
        "status": "lost",
        "told": "The worker that ran this test is gone. Test again; its log says why.",
    }


def _waiting(waited: timedelta) -> str:
    if waited < PATIENCE:
        return "Waiting for a worker."
    return (
        f"No worker took this for {waited.seconds} s. Check that one runs: "
        "`manage.py doctor` says what is missing."
    )


def _told(trial: Trial) -> str:
    result = trial.result or {}
    if result.get("outcome") == "ok":
        return f"{trial.model} answered."
    if not result.get("error"):  # It was never sent; the text says what to do.
        return str(result.get("error_text"))
    return advice.advise(
        result["error"],
        http_status=result.get("http_status"),
        error_text=result.get("error_text"),
        base_url=trial.base_url,
        model=trial.model,
        has_key=bool(trial.key_encrypted or trial.key_variable),
    )
