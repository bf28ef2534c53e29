"""A test that a person asked for, with a Valkey of its own: at work, hung and dead."""

from __future__ import annotations

import signal
import time
from collections.abc import Iterator
from pathlib import Path

import pytest
import redis
from django.contrib.auth import get_user_model
from django.test import Client
from django.urls import reverse

from collectors.models import Trial
from dashboard.local import valkey
from dashboard.local.service import Service
from tests.factories import make_monitor

pytestmark = pytest.mark.django_db


@pytest.fixture
def broker(tmp_path: Path, settings) -> Iterator[Service]:
    with valkey.start(tmp_path) as server:
        settings.REDIS_URL = server.url
        yield server


@pytest.fixture
def ask(client: Client):
    client.force_login(get_user_model().objects.create_user("alice"))
    url = reverse("monitor-test", args=[make_monitor().pk])
    return lambda: client.post(url)


def test_a_trial_waits_in_the_queue_by_its_id(broker, ask):
    answer = ask()
    assert answer.status_code == 201
    with redis.from_url(broker.url, decode_responses=True) as queue:
        [message] = queue.lrange("tokenpulse:celery", 0, -1)
    assert "collectors.run_trial" in message
    assert f'"argsrepr": "({Trial.objects.get().pk},)"' in message


@pytest.mark.parametrize("end", [signal.SIGSTOP, signal.SIGKILL], ids=["hung", "dead"])
def test_a_trial_that_valkey_does_not_take_is_told_soon_and_forgotten(broker, ask, end):
    assert ask().status_code == 201  # so that a connection could have been kept
    broker.process.send_signal(end)
    if end == signal.SIGKILL:
        broker.process.wait()
    started_at = time.monotonic()
    answer = ask()
    assert time.monotonic() - started_at < 5
    assert answer.status_code == 503
    assert "Valkey does not answer" in answer.json()["told"]
    assert Trial.objects.count() == 1
    broker.process.send_signal(signal.SIGCONT)


def test_a_trial_is_taken_again_once_valkey_answers_again(broker, ask):
    broker.process.send_signal(signal.SIGSTOP)
    assert ask().status_code == 503
    broker.process.send_signal(signal.SIGCONT)
    assert ask().status_code == 201
