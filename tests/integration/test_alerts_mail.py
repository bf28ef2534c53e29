"""Mail through a real SMTP server on a socket: once each, in order, sooner or later."""

from __future__ import annotations

import threading
from collections.abc import Iterator
from datetime import timedelta
from email.message import EmailMessage

import pytest
from django.core.mail import get_connection
from django.db import connection
from django.utils import timezone

from alerts import outbox
from alerts.models import Delivery
from alerts.tasks import deliver_mail
from collectors.models import Endpoint
from tests.alerting import Mailbox, mail_server, run, watched_monitor

pytestmark = pytest.mark.django_db(transaction=True)

Status = Delivery.Status


@pytest.fixture
def smtp(settings) -> None:
    """Mail goes to a real server; a test says which port it is at."""
    settings.EMAIL_BACKEND = "django.core.mail.backends.smtp.EmailBackend"
    settings.EMAIL_HOST = "127.0.0.1"
    settings.EMAIL_TIMEOUT = 5
    settings.BASE_URL = "https://pulse.example.org"


@pytest.fixture
def mailbox(smtp, settings) -> Iterator[Mailbox]:
    with mail_server() as box:
        settings.EMAIL_PORT = box.port
        yield box


def body_of(mail: EmailMessage, kind: str) -> str:
    part = mail.get_body((kind,))
    assert part is not None
    return str(part.get_content())


def test_firing_and_clearing_are_one_mail_each(mailbox: Mailbox):
    monitor = watched_monitor(name="Chat")
    Endpoint.objects.update(name="gpt-x")

    run(monitor, "BBBB")
    deliver_mail()
    run(monitor, "GGGG", first=4)
    deliver_mail()
    deliver_mail()

    assert [mail["Subject"] for mail in mailbox.mails] == [
        "FAILING: Chat on gpt-x: TTFT 2.4 s (limit 1 s)",
        "RESOLVED: Chat on gpt-x: TTFT 200 ms after 40 s (limit 1 s)",
    ]
    assert {mail["To"] for mail in mailbox.mails} == {"ops@example.org"}
    assert set(Delivery.objects.values_list("status", "attempts")) == {(Status.SENT, 1)}


def test_a_mail_says_what_to_look_at(mailbox: Mailbox):
    monitor = watched_monitor()
    run(monitor, "GBBB")
    deliver_mail()

    [mail] = mailbox.mails
    for body in (body_of(mail, "plain"), body_of(mail, "html")):
        assert "TTFT was above its limit in 3 of the last 4 probes." in body
        assert "2026-03-01 12:00:30 UTC" in body
        assert "TTFT 2.4 s, 40 tok/s, complete after 3.4 s" in body
        assert f"https://pulse.example.org/monitors/{monitor.pk}/" in body


def test_mails_of_one_incident_are_one_thread(mailbox: Mailbox):
    monitor = watched_monitor()
    run(monitor, "BBBGGGBBB")
    while Delivery.objects.filter(status=Status.PENDING).exists():
        deliver_mail()

    roots = [mail["References"] for mail in mailbox.mails]
    assert roots[0] == roots[1] != roots[2]
    assert [mail["In-Reply-To"] for mail in mailbox.mails] == roots
    ids = {mail["Message-ID"] for mail in mailbox.mails}
    assert len(ids) == 3
    assert not ids & set(roots)
    assert {mail["Auto-Submitted"] for mail in mailbox.mails} == {"auto-generated"}


def test_what_an_endpoint_says_cannot_become_markup_or_headers(mailbox: Mailbox):
    monitor = watched_monitor(name="a\r\nBcc: t@x <b>")
    run(monitor, "EEE")
    deliver_mail()

    [mail] = mailbox.mails
    assert mail["Bcc"] is None
    assert "a Bcc: t@x" in mail["Subject"]
    assert "no <GPU>" in body_of(mail, "plain")
    assert "no &lt;GPU&gt;" in body_of(mail, "html")
    assert "<b>" not in body_of(mail, "html")


def test_a_mail_server_that_is_down_delays_but_loses_nothing(
    mailbox: Mailbox, settings
):
    monitor = watched_monitor()
    run(monitor, "BBB")
    now = timezone.now()
    settings.EMAIL_PORT = closed_port()

    assert outbox.deliver(now) == 0

    row = Delivery.objects.get()
    assert (row.status, row.attempts) == (Status.PENDING, 1)
    assert row.last_error == "nothing listens where the mail server should be"
    settings.EMAIL_PORT = mailbox.port
    assert outbox.deliver(now + timedelta(seconds=59)) == 0
    assert outbox.deliver(now + timedelta(seconds=60)) == 1
    assert [mail["Subject"][:8] for mail in mailbox.mails] == ["FAILING:"]


def closed_port() -> int:
    with mail_server() as box:
        return box.port


def test_waits_grow_and_end(mailbox: Mailbox):
    """A server that is up and refuses: the mail is tried for 6 hours, then is dead."""
    mailbox.refuse = "554 not today"
    run(watched_monitor(), "BBB")
    start = now = timezone.now()
    waits = []
    while (row := Delivery.objects.get()).status == Status.PENDING:
        outbox.deliver(now)
        row.refresh_from_db()
        waits.append((row.next_attempt_at - now) // timedelta(minutes=1))
        now = row.next_attempt_at

    assert waits[:6] == [1, 2, 4, 8, 15, 15]
    assert set(waits[6:]) == {15}
    assert timedelta(hours=6) <= now - start <= timedelta(hours=6, minutes=30)
    assert row.status == Status.DEAD
    assert row.last_error == "the mail server answered 554"
    assert not mailbox.mails


def test_recovery_is_not_told_before_the_failure(mailbox: Mailbox):
    monitor = watched_monitor()
    run(monitor, "BBB")
    now = timezone.now()
    mailbox.refuse = "451 later"
    outbox.deliver(now)
    mailbox.refuse = ""
    run(monitor, "GGG", first=3)

    assert outbox.deliver(now + timedelta(seconds=30)) == 0
    assert outbox.deliver(now + timedelta(seconds=60)) == 1
    assert outbox.deliver(now + timedelta(seconds=61)) == 1

    words = [mail["Subject"].partition(":")[0] for mail in mailbox.mails]
    assert words == ["FAILING", "RESOLVED"]


def test_one_refused_mail_does_not_keep_others_back(mailbox: Mailbox, settings):
    settings.ALERT_MAIL_TO = ["gone@example.org", "ops@example.org"]
    mailbox.unknown = "gone@example.org"
    run(watched_monitor(), "BBB")

    assert outbox.deliver(timezone.now()) == 1

    gone, ops = Delivery.objects.order_by("id")
    assert (gone.status, ops.status) == (Status.PENDING, Status.SENT)
    assert gone.last_error == "the mail server refused the recipient (550)"


def test_two_senders_at_once_send_each_mail_once(mailbox: Mailbox):
    for _ in range(12):
        run(watched_monitor(), "BBB")
    now = timezone.now()
    start = threading.Barrier(4)
    sent: list[int] = []

    def send() -> None:
        try:
            start.wait(timeout=10)
            sent.append(outbox.deliver(now))
        finally:
            connection.close()

    threads = [threading.Thread(target=send) for _ in range(4)]
    for thread in threads:
        thread.start()
    for thread in threads:
        thread.join()

    assert sum(sent) == 12
    assert (
        len({mail["Message-ID"] for mail in mailbox.mails}) == len(mailbox.mails) == 12
    )


def test_the_claim_of_a_sender_that_died_runs_out(mailbox: Mailbox):
    run(watched_monitor(), "BBB")
    now = timezone.now()
    assert len(outbox.claim(now)) == 1  # and then its process is gone

    assert outbox.deliver(now + outbox.CLAIM - timedelta(seconds=1)) == 0
    assert outbox.deliver(now + outbox.CLAIM) == 1


def test_a_sender_that_lost_its_claim_changes_nothing(mailbox: Mailbox):
    run(watched_monitor(), "BBB")
    now = timezone.now()
    [slow] = outbox.claim(now)
    assert outbox.deliver(now + outbox.CLAIM) == 1

    outbox.failed(slow, TimeoutError(), now)

    assert Delivery.objects.get().status == Status.SENT


def test_a_mail_that_took_longer_than_its_claim_is_sent_all_the_same(mailbox: Mailbox):
    """Else it would be sent again and again by whoever claims it next."""
    run(watched_monitor(), "BBB")
    claimed_before = outbox.claim(timezone.now())
    claimed_again = outbox.claim(timezone.now() + outbox.CLAIM)
    assert claimed_before == claimed_again

    with get_connection() as server:
        assert outbox.send_all(claimed_before, server, timezone.now()) == 1

    assert Delivery.objects.get().status == Status.SENT


def test_no_secret_gets_into_the_reason(smtp, settings):
    """A server without sign-in refuses us; what is kept of it is our own text."""
    settings.EMAIL_HOST_USER, settings.EMAIL_HOST_PASSWORD = "me", "hunter2"
    run(watched_monitor(), "BBB")
    with mail_server() as box:
        settings.EMAIL_PORT = box.port
        outbox.deliver(timezone.now())

    row = Delivery.objects.get()
    assert row.status == Status.PENDING
    assert row.last_error
    assert "hunter2" not in row.last_error
