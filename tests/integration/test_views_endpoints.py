"""Adding and editing endpoints, and trying them."""

from __future__ import annotations

from datetime import timedelta

import pytest
from django.contrib.auth import get_user_model
from django.test import Client
from django.urls import reverse
from django.utils import timezone

from collectors import keys
from collectors.models import Endpoint, Monitor, Scenario, Trial
from dashboard import publishing
from tests.factories import make_endpoint, make_monitor, make_scenario

pytestmark = [pytest.mark.django_db, pytest.mark.usefixtures("plain_static_files")]

PASTED = "sk-pasted-0123456789"


@pytest.fixture
def alice():
    return get_user_model().objects.create_user("alice")


@pytest.fixture
def visitor(client: Client, alice) -> Client:
    client.force_login(alice)
    return client


@pytest.fixture
def scenario() -> Scenario:
    return make_scenario(interval_s=30)


@pytest.fixture
def sent(monkeypatch) -> list[int]:
    """The ids of trials that went to the broker; no worker runs here."""
    found: list[int] = []
    monkeypatch.setattr(publishing, "publish", lambda task, pk: found.append(pk))
    return found


def fields(scenario: Scenario, /, **overrides: str) -> dict[str, str]:
    return {
        "name": "vLLM in the cellar",
        "protocol": "openai",
        "base_url": "http://vllm:8000/v1/",
        "model": "mistral",
        f"watch_{scenario.pk}": "on",
        f"interval_{scenario.pk}": "30",
        **overrides,
    }


def stored(**overrides) -> Endpoint:
    overrides.setdefault("base_url", "http://vllm:8000/v1")
    return make_endpoint(key_encrypted=keys.encrypt(PASTED), **overrides)


def test_saving_starts_the_schedule_of_what_was_chosen(visitor, scenario):
    make_scenario()
    answer = visitor.post(reverse("endpoint-add"), fields(scenario))
    assert answer.status_code == 302
    endpoint = Endpoint.objects.get()
    assert endpoint.base_url == "http://vllm:8000/v1"
    monitor = Monitor.objects.get()
    assert (monitor.endpoint, monitor.scenario) == (endpoint, scenario)
    assert monitor.interval_s == 30
    now = timezone.now()
    assert now < monitor.next_due_at <= now + timedelta(seconds=30)


@pytest.mark.parametrize(
    ("name", "value", "words"),
    [
        ("name", "", "required"),
        ("base_url", "vllm:8000", "http://"),
        ("base_url", "ftp://vllm/v1", "http://"),
        ("base_url", "http://", "host"),
        ("base_url", "http://[::1/v1", "not a URL"),
        ("base_url", "http://host:port/v1", "not a URL"),
        ("base_url", "http://user:secret@vllm/v1", "password"),
        ("base_url", "http://vllm/v1?api_key=secret", "give the key below"),
        ("protocol", "carrier-pigeon", "valid choice"),
        ("key_variable", "HOME", "may not be read"),
        ("interval", "0", "greater than or equal to 1"),
        ("interval", "", "how often"),
        ("interval", "often", "whole number"),
    ],
)
def test_a_wrong_field_is_told_and_nothing_is_saved(
    visitor, scenario, name, value, words
):
    if name == "interval":
        name = f"interval_{scenario.pk}"
    answer = visitor.post(reverse("endpoint-add"), fields(scenario, **{name: value}))
    assert answer.status_code == 400
    assert words in " ".join(answer.context["form"].errors[name])
    page = answer.content.decode()
    assert f'aria-describedby="id_{name}-error"' in page
    assert f'id="id_{name}-error"' in page
    assert not Endpoint.objects.exists()
    assert not Monitor.objects.exists()


def test_a_name_that_is_taken_is_told(visitor, scenario):
    make_endpoint(name="vLLM in the cellar")
    answer = visitor.post(reverse("endpoint-add"), fields(scenario))
    assert "name" in answer.context["form"].errors


def test_a_pasted_key_is_stored_encrypted_and_never_shown(visitor, scenario):
    visitor.post(reverse("endpoint-add"), fields(scenario, api_key=PASTED))
    endpoint = Endpoint.objects.get()
    assert PASTED not in endpoint.key_encrypted
    assert keys.reveal(endpoint).reveal() == PASTED
    page = visitor.get(reverse("endpoint", args=[endpoint.pk])).content.decode()
    assert "A key is stored" in page
    assert PASTED not in page
    assert endpoint.key_encrypted not in page


def test_a_wrong_form_does_not_send_the_key_back(visitor, scenario):
    form = fields(scenario, api_key=PASTED, name="")
    answer = visitor.post(reverse("endpoint-add"), form)
    assert PASTED not in answer.content.decode()


def test_a_key_and_a_variable_at_once_are_refused(visitor, scenario):
    form = fields(scenario, api_key=PASTED, key_variable="MISTRAL_API_KEY")
    answer = visitor.post(reverse("endpoint-add"), form)
    assert "not both" in answer.context["form"].errors["api_key"][0]


def test_a_stored_key_stays_while_its_server_does(visitor, scenario):
    endpoint = stored()
    address = reverse("endpoint", args=[endpoint.pk])
    form = fields(scenario, name="Renamed", base_url="http://vllm:8000/v2")
    assert visitor.post(address, form).status_code == 302
    endpoint.refresh_from_db()
    assert (endpoint.name, keys.reveal(endpoint).reveal()) == ("Renamed", PASTED)


@pytest.mark.parametrize(
    "url", ["http://evil:8000/v1", "http://vllm:8001/v1", "https://vllm:8000/v1"]
)
def test_a_stored_key_does_not_go_to_another_server(visitor, scenario, url):
    endpoint = stored()
    address = reverse("endpoint", args=[endpoint.pk])
    answer = visitor.post(address, fields(scenario, base_url=url))
    assert "another server" in answer.context["form"].errors["api_key"][0]
    endpoint.refresh_from_db()
    assert endpoint.base_url == "http://vllm:8000/v1"


def test_naming_a_variable_forgets_the_stored_key(visitor, scenario):
    endpoint = stored()
    form = fields(scenario, key_variable="MISTRAL_API_KEY")
    visitor.post(reverse("endpoint", args=[endpoint.pk]), form)
    endpoint.refresh_from_db()
    assert (endpoint.key_variable, endpoint.key_encrypted) == ("MISTRAL_API_KEY", "")


def test_a_scenario_taken_away_is_paused_and_comes_back_with_its_history(
    visitor, scenario
):
    monitor = make_monitor(scenario=scenario)
    address = reverse("endpoint", args=[monitor.endpoint_id])
    form = fields(scenario)
    del form[f"watch_{scenario.pk}"]
    visitor.post(address, form)
    monitor.refresh_from_db()
    assert not monitor.enabled
    visitor.post(address, fields(scenario, **{f"interval_{scenario.pk}": "45"}))
    again = Monitor.objects.get()
    assert (again.pk, again.enabled, again.interval_s) == (monitor.pk, True, 45)


def test_an_edit_that_changes_no_interval_leaves_the_schedule_alone(visitor, scenario):
    monitor = make_monitor(scenario=scenario)
    visitor.post(reverse("endpoint", args=[monitor.endpoint_id]), fields(scenario))
    after = Monitor.objects.get()
    assert (after.next_due_at, after.phase_ms) == (monitor.next_due_at, 0)


def test_a_trial_carries_only_its_id_to_the_broker(visitor, scenario, sent, alice):
    form = fields(scenario, api_key=PASTED, scenario=str(scenario.pk), name="")
    answer = visitor.post(reverse("trials"), form)
    trial = Trial.objects.get()
    assert answer.status_code == 201
    assert answer.json() == {"id": trial.pk, "url": f"/trials/{trial.pk}/"}
    assert sent == [trial.pk]
    assert (trial.created_by, trial.scenario) == (alice, scenario)
    assert keys.reveal(trial).reveal() == PASTED
    assert not Endpoint.objects.exists()


def test_a_wrong_trial_is_not_sent_and_says_where_it_is_wrong(visitor, scenario, sent):
    form = fields(scenario, base_url="vllm", scenario=str(scenario.pk))
    answer = visitor.post(reverse("trials"), form)
    assert answer.status_code == 400
    assert list(answer.json()["errors"]) == ["base_url"]
    assert not Trial.objects.exists()


def test_a_trial_of_an_edited_endpoint_uses_its_stored_key(visitor, scenario, sent):
    endpoint = stored()
    form = fields(scenario, scenario=str(scenario.pk), endpoint=str(endpoint.pk))
    visitor.post(reverse("trials"), form)
    assert keys.reveal(Trial.objects.get()).reveal() == PASTED


def test_a_trial_sends_no_stored_key_to_another_server(visitor, scenario, sent):
    form = fields(
        scenario,
        base_url="http://evil:8000/v1",
        scenario=str(scenario.pk),
        endpoint=str(stored().pk),
    )
    answer = visitor.post(reverse("trials"), form)
    assert list(answer.json()["errors"]) == ["api_key"]
    assert not Trial.objects.exists()


def test_a_monitor_is_tried_as_it_is_stored(visitor, scenario, sent):
    monitor = make_monitor(endpoint=stored(model="m"), scenario=scenario)
    visitor.post(reverse("monitor-test", args=[monitor.pk]))
    trial = Trial.objects.get()
    assert (trial.model, trial.scenario) == ("m", scenario)
    assert keys.reveal(trial).reveal() == PASTED


def make_trial(alice, scenario, **overrides) -> Trial:
    values = {"base_url": "http://vllm:8000/v1", "model": "mistral"}
    return Trial.objects.create(
        created_by=alice, scenario=scenario, **values | overrides
    )


def told(visitor, trial) -> dict:
    return visitor.get(reverse("trial", args=[trial.pk])).json()


def test_a_trial_says_that_no_worker_takes_it(visitor, alice, scenario):
    trial = make_trial(alice, scenario)
    assert told(visitor, trial) == {
        "status": "waiting",
        "told": "Waiting for a worker.",
    }
    late = timezone.now() - timedelta(seconds=20)
    Trial.objects.update(created_at=late)
    assert "manage.py doctor" in told(visitor, trial)["told"]


def test_a_trial_whose_worker_died_is_lost_at_last(visitor, alice, scenario):
    trial = make_trial(alice, scenario, started_at=timezone.now())
    assert told(visitor, trial)["status"] == "running"
    patience = timedelta(seconds=scenario.total_timeout_s + 61)
    Trial.objects.update(started_at=timezone.now() - patience)
    assert told(visitor, trial)["status"] == "lost"


def finished(alice, scenario, **result) -> Trial:
    now = timezone.now()
    return make_trial(
        alice,
        scenario,
        started_at=now,
        finished_at=now,
        result={"error": None} | result,
    )


def test_a_finished_trial_shows_its_figures(visitor, alice, scenario):
    trial = finished(alice, scenario, outcome="ok", ttft_ms=84.0, timeline=[[84, 1]])
    answer = told(visitor, trial)
    assert answer["status"] == "finished"
    assert answer["told"] == "mistral answered."
    assert answer["result"]["timeline"] == [[84, 1]]


def test_a_failed_trial_says_what_to_do(visitor, alice, scenario):
    trial = finished(
        alice, scenario, outcome="error", error="auth", http_status=401, error_text="no"
    )
    assert "API key" in told(visitor, trial)["told"]


def test_a_trial_that_was_never_sent_says_why(visitor, alice, scenario):
    words = "MISTRAL_API_KEY is not set on this worker."
    trial = finished(alice, scenario, outcome="error", error_text=words)
    assert told(visitor, trial)["told"] == words


def test_a_trial_is_its_owners_alone(client, alice, scenario):
    trial = finished(alice, scenario, outcome="ok")
    client.force_login(get_user_model().objects.create_user("mallory"))
    assert client.get(reverse("trial", args=[trial.pk])).status_code == 404
