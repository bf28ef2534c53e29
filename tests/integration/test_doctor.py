from datetime import timedelta
from io import StringIO

import pytest
from aiosmtpd.controller import Controller
from aiosmtpd.handlers import Sink
from django.core.management import CommandError, call_command
from django.utils import timezone

from collectors import heartbeat, partitions
from collectors.models import Heartbeat, Unrolled
from dashboard import doctor
from dashboard.local import ports
from tests.factories import make_monitor

pytestmark = pytest.mark.django_db


@pytest.fixture
def mail_server(settings):
    server = Controller(Sink(), hostname="127.0.0.1", port=ports.free(0))
    server.start()
    settings.EMAIL_BACKEND = "django.core.mail.backends.smtp.EmailBackend"
    settings.EMAIL_HOST = "127.0.0.1"
    settings.EMAIL_PORT = server.port
    yield server
    server.stop()


def alive() -> None:
    partitions.ensure(timezone.now())
    heartbeat.beat("w", Heartbeat.Kind.WORKER, timezone.now())
    heartbeat.beat(heartbeat.SCHEDULER, Heartbeat.Kind.SCHEDULER, timezone.now())


def test_all_is_well(mail_server):
    alive()
    out = StringIO()
    call_command("doctor", stdout=out)
    lines = out.getvalue().splitlines()
    assert len(lines) == len(doctor.CHECKS)
    assert all(line.startswith("✔ ") for line in lines), lines


def test_what_was_never_started_is_told_with_what_to_do(mail_server):
    out = StringIO()
    with pytest.raises(CommandError, match="storage, worker, beat"):
        call_command("doctor", stdout=out)
    said = out.getvalue()
    assert "The partition collectors_sample_" in said
    assert "celery -A dashboard.celery beat" in said


@pytest.mark.parametrize(
    ("check", "kind"),
    [
        (doctor.worker, Heartbeat.Kind.WORKER),
        (doctor.beat, Heartbeat.Kind.SCHEDULER),
    ],
)
def test_what_has_stopped_is_told_with_its_age(check, kind):
    assert not check().ok
    heartbeat.beat("x", kind, timezone.now() - timedelta(seconds=90))
    finding = check()
    assert not finding.ok
    assert "90 s" in finding.sentence or "91 s" in finding.sentence
    heartbeat.beat("x", kind, timezone.now())
    assert check().ok


def test_samples_that_nobody_counts_are_told():
    row = Unrolled.objects.create(monitor_id=1, start=timezone.now())
    assert doctor.rollups().ok
    Unrolled.objects.update(stored_at=row.stored_at - timedelta(minutes=7))
    assert not doctor.rollups().ok
    assert "7 min" in doctor.rollups().sentence


def test_a_clock_that_was_set_back_is_told():
    now = timezone.now()
    monitor = make_monitor(interval_s=60, next_due_at=now + timedelta(seconds=61))
    assert doctor.clock().ok
    monitor.next_due_at = now + timedelta(hours=1, seconds=60)
    monitor.save()
    assert "3600 s are taken" in doctor.clock().sentence.replace("3599", "3600")


def test_an_unreachable_broker_is_told_without_its_password(settings):
    settings.REDIS_URL = "redis://:canary-password@127.0.0.1:1/0"
    finding = doctor.broker()
    assert not finding.ok
    assert "REDIS_URL" in finding.sentence
    assert "canary" not in finding.sentence


def test_mail_to_nobody_is_told(settings):
    settings.ALERT_MAIL_TO = []
    assert "ALERT_MAIL_TO is empty" in doctor.mailer().sentence


def test_an_unreachable_mail_server_is_told(mail_server, settings):
    settings.EMAIL_PORT = ports.free(0)
    finding = doctor.mailer()
    assert not finding.ok
    assert "EMAIL_URL" in finding.sentence
