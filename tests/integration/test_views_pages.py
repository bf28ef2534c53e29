"""What each page answers, and that its cost does not grow with the monitors."""

from __future__ import annotations

from datetime import timedelta

import pytest
from django.contrib.auth import get_user_model
from django.db import connection
from django.test import Client
from django.test.utils import CaptureQueriesContext
from django.urls import reverse
from django.utils import timezone

from alerts.models import MonitorState
from collectors.models import Endpoint, Gap, Monitor, Scenario
from tests.factories import (
    make_endpoint,
    make_monitor,
    make_objective,
    make_sample,
    make_scenario,
)

pytestmark = [pytest.mark.django_db, pytest.mark.usefixtures("plain_static_files")]


@pytest.fixture
def visitor(client: Client) -> Client:
    client.force_login(get_user_model().objects.create_user("alice"))
    return client


def watched(n: int = 1, state: str = "stable") -> list[Monitor]:
    now = timezone.now().replace(microsecond=0)  # slots are whole seconds
    found = []
    for _ in range(n):
        scenario = make_scenario()
        make_objective(scenario)
        monitor = make_monitor(scenario=scenario)
        MonitorState.objects.create(monitor=monitor, state=state)
        make_sample(monitor, now - timedelta(seconds=10))
        make_sample(monitor, now, error="server", http_status=500, good=False)
        Gap.objects.create(
            monitor=monitor,
            first_due_at=now - timedelta(minutes=5),
            last_due_at=now - timedelta(minutes=4),
            slots=7,
            interval_s=10,
            reason=Gap.Reason.NOT_FINISHED,
        )
        found.append(monitor)
    return found


def addresses() -> list[str]:
    """Every page and every JSON address that only shows."""
    monitor = Monitor.objects.first() or make_monitor()
    one = [monitor.pk]
    return [
        *map(reverse, ("overview", "wall", "endpoints", "endpoint-add", "scenarios")),
        reverse("api-snapshot"),
        reverse("monitor", args=one),
        reverse("monitor-delete", args=one),
        reverse("endpoint", args=[monitor.endpoint_id]),
        reverse("endpoint-delete", args=[monitor.endpoint_id]),
        reverse("scenario", args=[monitor.scenario.slug]),
        reverse("api-series", args=one),
        reverse("api-samples", args=one) + "?since_ms=0",
    ]


def test_every_page_asks_for_a_sign_in(client):
    for address in addresses():
        answer = client.get(address)
        assert answer.status_code == 302, address
        assert answer.headers["Location"].startswith("/login/?next=/"), address


def test_every_page_shows_with_and_without_data(visitor):
    for address in map(reverse, ("overview", "wall", "endpoints", "scenarios")):
        assert visitor.get(address).status_code == 200, address
    watched(2)
    for address in addresses():
        assert visitor.get(address).status_code == 200, address


def test_queries_do_not_grow_with_the_monitors(visitor, django_assert_num_queries):
    watched(2)
    counted = {}
    for address in addresses():
        with CaptureQueriesContext(connection) as queries:
            visitor.get(address)
        counted[address] = len(queries)
    watched(20)
    for address, number in counted.items():
        with django_assert_num_queries(number):
            visitor.get(address)
    assert max(counted.values()) <= 10


def test_an_empty_overview_leads_to_the_first_endpoint(visitor):
    answer = visitor.get(reverse("overview"))
    assert b"Nothing is watched yet" in answer.content
    assert reverse("endpoint-add") in answer.content.decode()


def test_the_overview_has_failing_monitors_first_then_by_name(visitor):
    for name, state in (("b", "stable"), ("a", "degrading"), ("z", "failing")):
        monitor = make_monitor(endpoint=make_endpoint(name=name))
        MonitorState.objects.create(monitor=monitor, state=state)
    tiles = visitor.get(reverse("overview")).context["tiles"]
    assert [tile.monitor.endpoint.name for tile in tiles] == ["z", "a", "b"]


def test_names_are_shown_as_text_never_as_markup(visitor):
    make_monitor(endpoint=make_endpoint(name="<script>alert(1)</script>"))
    for name in ("overview", "wall", "endpoints"):
        assert b"<script>alert" not in visitor.get(reverse(name)).content


def test_an_unknown_range_falls_back_on_the_page_and_is_told_by_the_api(visitor):
    monitor = watched()[0]
    page = visitor.get(reverse("monitor", args=[monitor.pk]), {"range": "9y"})
    assert page.context["range"] == "15m"
    Monitor.objects.update(created_at=timezone.now() - timedelta(hours=2))
    page = visitor.get(reverse("monitor", args=[monitor.pk]), {"range": "9y"})
    assert page.context["range"] == "1h"
    api = visitor.get(reverse("api-series", args=[monitor.pk]), {"range": "9y"})
    assert api.status_code == 400
    assert "15m" in api.json()["detail"]


@pytest.mark.parametrize("since", ["", "x", "1e9", "9" * 30, "-" + "9" * 30])
def test_a_wrong_moment_is_told(visitor, since):
    monitor = watched()[0]
    address = reverse("api-samples", args=[monitor.pk])
    assert visitor.get(address, {"since_ms": since}).status_code == 400


def test_the_series_carries_samples_gaps_limits_and_the_word(visitor):
    monitor = watched(state="failing")[0]
    series = visitor.get(reverse("api-series", args=[monitor.pk])).json()
    assert series["state"]["state"] == "failing"
    assert [s["error"] for s in series["samples"]] == ["server", None]
    assert series["gaps"][0]["text"] == "no worker finished the probe"
    assert series["limits"][0]["ttft_ms"] == 1000
    assert sum(series["failed"]) == 1


def test_samples_since_a_moment_leave_out_what_is_older(visitor):
    monitor = watched()[0]
    address = reverse("api-samples", args=[monitor.pk])
    all_of_them = visitor.get(address, {"since_ms": 0}).json()["samples"]
    assert len(all_of_them) == 2
    later = visitor.get(address, {"since_ms": all_of_them[0]["due_ms"]}).json()
    assert later["samples"] == all_of_them[1:]


@pytest.mark.parametrize(
    "name", ["monitor", "monitor-delete", "endpoint", "trial", "api-series"]
)
def test_what_is_not_there_is_a_404(visitor, name):
    answer = visitor.get(reverse(name, args=[999]))
    assert answer.status_code == 404
    assert b"Nothing is here" in answer.content


@pytest.mark.parametrize("name", ["monitor-pause", "monitor-test", "trials"])
def test_changes_are_not_made_by_following_a_link(visitor, name):
    args = [] if name == "trials" else [watched()[0].pk]
    assert visitor.get(reverse(name, args=args)).status_code == 405


def test_changes_need_the_token_of_the_page(visitor):
    strict = Client(enforce_csrf_checks=True)
    strict.force_login(get_user_model().objects.get(username="alice"))
    monitor = watched()[0]
    answer = strict.post(reverse("monitor-pause", args=[monitor.pk]), {"enabled": "0"})
    assert answer.status_code == 403
    assert b"The form is too old" in answer.content
    monitor.refresh_from_db()
    assert monitor.enabled


def test_the_policy_allows_no_script_of_the_page_itself(visitor):
    policy = visitor.get(reverse("overview")).headers["Content-Security-Policy"]
    directives = dict(part.split(" ", 1) for part in policy.split("; "))
    assert directives["default-src"] == "'self'"
    assert directives["style-src-attr"] == "'unsafe-inline'"
    assert not {"script-src", "style-src", "connect-src"} & set(directives)


def test_a_sign_in_leads_back_but_never_to_another_site(client):
    get_user_model().objects.create_user("bob", password="s3cret-enough")
    form = {"username": "bob", "password": "s3cret-enough"}
    there = client.post("/login/", {**form, "next": "/wall"})
    assert there.headers["Location"] == "/wall"
    elsewhere = client.post("/login/", {**form, "next": "https://evil.example/"})
    assert elsewhere.headers["Location"] == "/"


def test_a_monitor_is_paused_and_resumed_where_it_was_on_its_grid(visitor):
    monitor = watched()[0]
    address = reverse("monitor-pause", args=[monitor.pk])
    assert visitor.post(address, {"enabled": "0"}).status_code == 302
    monitor.refresh_from_db()
    assert not monitor.enabled
    visitor.post(address, {"enabled": "1"})
    monitor.refresh_from_db()
    assert monitor.enabled
    assert monitor.next_due_at > timezone.now()


def test_deleting_asks_first_and_then_takes_everything(visitor):
    monitor = watched()[0]
    address = reverse("monitor-delete", args=[monitor.pk])
    assert b"nothing brings them back" in visitor.get(address).content
    assert Monitor.objects.filter(pk=monitor.pk).exists()
    visitor.post(address)
    assert not Monitor.objects.filter(pk=monitor.pk).exists()
    assert Endpoint.objects.filter(pk=monitor.endpoint_id).exists()
    visitor.post(reverse("endpoint-delete", args=[monitor.endpoint_id]))
    assert not Endpoint.objects.exists()


def test_new_limits_are_a_new_row_and_the_old_one_stays(visitor):
    scenario = make_scenario()
    old = make_objective(scenario, ttft_ms_max=1000)
    address = reverse("scenario", args=[scenario.slug])
    fields = {"ttft_ms_max": "800", "tokens_per_second_min": "15"}
    visitor.post(address, fields)
    first, second = scenario.objectives.all()
    assert (first.pk, first.ttft_ms_max) == (old.pk, 1000)
    assert (second.ttft_ms_max, second.total_ms_max) == (800, None)
    visitor.post(address, fields)
    assert scenario.objectives.count() == 2, "nothing changed, so nothing is added"


@pytest.mark.parametrize("wrong", ["-1", "0", "soon"])
def test_limits_that_make_no_sense_change_nothing(visitor, wrong):
    scenario = make_scenario()
    address = reverse("scenario", args=[scenario.slug])
    answer = visitor.post(address, {"ttft_ms_max": wrong})
    assert answer.status_code == 400
    assert not scenario.objectives.exists()
    page = answer.content.decode()
    assert 'aria-describedby="id_ttft_ms_max-error"' in page
    assert 'id="id_ttft_ms_max-error"' in page


def test_health_says_that_all_can_be_reached_without_a_sign_in(client):
    answer = client.get(reverse("healthz"))
    assert (answer.status_code, answer.json()["ok"]) == (200, True)


def test_health_says_what_cannot_be_reached_and_no_more(client, settings):
    settings.REDIS_URL = "redis://:hidden@127.0.0.1:1/0"
    answer = client.get(reverse("healthz"))
    assert answer.status_code == 503
    assert answer.json() == {"ok": False, "database": "ok", "valkey": "unreachable"}


def test_scenarios_show_their_limits(visitor):
    make_objective(make_scenario(name="Slow reader"), ttft_ms_max=1500)
    page = visitor.get(reverse("scenarios")).content.decode()
    assert "Slow reader" in page
    assert "≤ 1.5 s" in page
    assert Scenario.objects.count() == 1
