"""The life of a probe in this process: real rows, a real server, the real engine."""

import json
import time
from datetime import timedelta

import pytest
import redis
from django.contrib.auth import get_user_model
from django.db import OperationalError
from django.utils import timezone

from collectors import claims, heartbeat, keys, pipeline, store, tasks
from collectors.models import Gap, Heartbeat, Sample, Slot, Timeline, Trial
from probes.engine import Engine
from tests.factories import make_endpoint, make_monitor, make_objective, make_scenario
from tests.scripted import TOKENS, ScriptedServer

pytestmark = pytest.mark.django_db(transaction=True)

CANARY = "sk-canary-0123456789abcdef"


@pytest.fixture
def server():
    with ScriptedServer() as server:
        yield server


@pytest.fixture
def monitor(server):
    scenario = make_scenario(total_timeout_s=5)
    make_objective(scenario)
    endpoint = make_endpoint(base_url=server.base_url)
    return make_monitor(
        endpoint=endpoint, scenario=scenario, next_due_at=timezone.now()
    )


def claim(monitor):
    [claim] = claims.claim_due(monitor.next_due_at)
    return claim


def test_a_slot_becomes_a_sample(monitor, server):
    due_at = claim(monitor).due_at
    pipeline.collect(monitor.pk, due_at)
    row = Sample.objects.get()
    assert (row.monitor, row.due_at, row.error) == (monitor, due_at, "")
    assert row.ttft_us == pytest.approx(server.answers[0].ttft_ms * 1000, abs=30_000)
    assert (row.output_tokens, row.input_tokens, row.good) == (TOKENS, 12, True)
    assert row.model_reported == "scripted"
    assert Timeline.objects.count() == 1
    assert not Slot.objects.exists()


def test_a_probe_starts_on_the_dot_though_it_is_claimed_ahead(monitor):
    monitor.next_due_at = timezone.now() + timedelta(seconds=0.8)
    monitor.save(update_fields=["next_due_at"])
    [claimed] = claims.claim_due(timezone.now())
    pipeline.collect(monitor.pk, claimed.due_at)
    late = Sample.objects.get().started_at - claimed.due_at
    assert timedelta(0) <= late < timedelta(seconds=0.3)


def test_a_task_that_comes_twice_probes_once(monitor, server):
    due_at = claim(monitor).due_at
    pipeline.collect(monitor.pk, due_at)
    pipeline.collect(monitor.pk, due_at)
    assert len(server.answers) == 1
    assert Sample.objects.count() == 1


def test_an_endpoint_that_refuses_the_connection_is_a_sample(monitor, server):
    monitor.endpoint.base_url = "http://127.0.0.1:1/v1"
    monitor.endpoint.save(update_fields=["base_url"])
    pipeline.collect(monitor.pk, claim(monitor).due_at)
    row = Sample.objects.get()
    assert (row.error, row.good, row.ttft_us) == ("connection", False, None)


def test_without_its_key_the_slot_is_a_gap_that_says_so(monitor, server):
    monitor.endpoint.key_variable = "UNSET_API_KEY"
    monitor.endpoint.save(update_fields=["key_variable"])
    pipeline.collect(monitor.pk, claim(monitor).due_at)
    assert Gap.objects.get().reason == Gap.Reason.NO_KEY
    assert not server.answers
    assert not Slot.objects.exists()


def test_a_fault_of_our_own_is_a_gap_and_not_the_endpoint_s(monitor, monkeypatch):
    def broken(self, *args, **options):
        raise RuntimeError("our fault")

    monkeypatch.setattr(Engine, "run", broken)
    pipeline.collect(monitor.pk, claim(monitor).due_at)
    assert Gap.objects.get().reason == Gap.Reason.PROBER_FAULT
    assert not Sample.objects.exists()


def test_a_paused_or_deleted_monitor_is_left_alone(monitor, server):
    due_at = claim(monitor).due_at
    monitor.delete()
    pipeline.collect(1, due_at)
    assert not server.answers


def test_a_sample_waits_for_the_database_to_come_back(monitor, monkeypatch):
    """Cutting the real connections would cut the test's own; the failing call stands
    for them, twice."""
    failures = iter([OperationalError("gone"), OperationalError("gone")])
    real = store.record

    def record(row, measurement):
        if error := next(failures, None):
            raise error
        return real(row, measurement)

    monkeypatch.setattr(store, "record", record)
    pipeline.collect(monitor.pk, claim(monitor).due_at)
    assert Sample.objects.count() == 1


def test_what_an_endpoint_refused_is_remembered(monitor):
    endpoint = monitor.endpoint
    for quirks in ({"b", "a"}, {"c"}, {"a"}):
        measured = store_measurement(quirks)
        pipeline.remember_quirks(endpoint, measured)
        endpoint.refresh_from_db()
    assert endpoint.quirks == ["a", "b", "c"]


def store_measurement(quirks):
    from probes.types import Measurement

    return Measurement(outcome="ok", quirks=frozenset(quirks))


def test_a_trial_measures_once_and_keeps_its_figures(server):
    user = get_user_model().objects.create_user("alice")
    trial = Trial.objects.create(
        base_url=server.base_url,
        model="m",
        scenario=make_scenario(),
        created_by=user,
        key_encrypted=keys.encrypt(CANARY),
    )
    tasks.run_trial(trial.pk)
    tasks.run_trial(trial.pk)
    trial.refresh_from_db()
    assert len(server.answers) == 1
    assert trial.result["outcome"] == "ok"
    assert len(trial.result["timeline"]) == TOKENS
    assert trial.started_at <= trial.finished_at
    assert CANARY not in json.dumps(trial.result)
    assert not Sample.objects.exists()


def test_a_trial_that_was_withdrawn_is_no_trouble():
    tasks.run_trial(1)


def test_a_trial_that_fails_by_our_own_fault_says_so(server, monkeypatch):
    def broken(self, *args, **options):
        raise RuntimeError("our fault")

    monkeypatch.setattr(Engine, "run", broken)
    trial = Trial.objects.create(
        base_url=server.base_url,
        model="m",
        scenario=make_scenario(),
        created_by=get_user_model().objects.create_user("alice"),
    )
    tasks.run_trial(trial.pk)
    trial.refresh_from_db()
    assert trial.finished_at
    assert "TokenPulse itself failed" in trial.result["error_text"]


def test_a_tick_queues_ids_and_times_alone(settings):
    endpoint = make_endpoint(key_encrypted=keys.encrypt(CANARY))
    monitor = make_monitor(endpoint=endpoint, next_due_at=timezone.now())
    tasks.tick()
    client = redis.from_url(settings.REDIS_URL)
    queued = b"".join(client.lrange("tokenpulse:celery", 0, -1))
    client.flushall()
    message = json.loads(queued)
    assert message["headers"]["argsrepr"].startswith(f"({monitor.pk}, ")
    expires = message["headers"]["expires"]
    assert expires[:19] == (Slot.objects.get().due_at + timedelta(seconds=10)).strftime(
        "%Y-%m-%dT%H:%M:%S"
    )
    assert CANARY.encode() not in queued
    assert endpoint.key_encrypted.encode() not in queued
    assert Heartbeat.objects.get().kind == Heartbeat.Kind.SCHEDULER


def test_a_worker_s_pulse_is_seen():
    pulse = heartbeat.Pulse()
    pulse.start()
    deadline = time.monotonic() + 10
    while not Heartbeat.objects.filter(name=heartbeat.name()).exists():
        assert time.monotonic() < deadline
        time.sleep(0.02)
    pulse.stop()
    pulse.join(10)
    assert not pulse.is_alive()
