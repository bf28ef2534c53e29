"""Mail that is to be sent, and is sent: once, or where SMTP cannot tell, once more.

A delivery is claimed by pushing its next attempt into the future, in one short
transaction; whoever dies while sending leaves a claim that simply runs out. Mail is
sent outside any transaction, so that a slow server holds no lock.
"""

from __future__ import annotations

import logging
import smtplib
import socket
import time
from datetime import datetime, timedelta

from django.core import mail
from django.core.mail.backends.base import BaseEmailBackend
from django.db import transaction
from django.db.models import Exists, F, OuterRef, QuerySet

from alerts.mail import compose
from alerts.models import Delivery

log = logging.getLogger(__name__)

BATCH = 20
CLAIM = timedelta(minutes=5)
"""How long a claim holds. A sender begins no mail in its last three minutes."""

SEND_FOR_S = 120.0
GIVE_UP_AFTER = timedelta(hours=6)
FIRST_WAIT = timedelta(minutes=1)
LONGEST_WAIT = timedelta(minutes=15)


def deliver(now: datetime) -> int:
    """Send the mail that is due at ``now``; returns how many were sent.

    A failed mail is tried again after 1, 2, 4, 8, then every 15 minutes, refused ones
    too, since most refusals are a server's set-up being mended. It is dead after 6 h.
    """
    claimed = claim(now)
    if not claimed:
        return 0
    connection = mail.get_connection()
    try:
        if not _opened(connection, claimed, now):
            return 0
        return send_all(claimed, connection, now)
    finally:
        connection.close()


def _opened(
    connection: BaseEmailBackend, claimed: list[Delivery], now: datetime
) -> bool:
    """Connect, or put all of ``claimed`` off at once: a server that does not answer
    must cost this thread one time-out, since it has probes to run too."""
    try:
        connection.open()
    except Exception as error:
        for delivery in claimed:
            failed(delivery, error, now)
        return False
    return True


def send_all(
    claimed: list[Delivery], connection: BaseEmailBackend, now: datetime
) -> int:
    """Send one after the other over ``connection``; returns how many were sent."""
    deadline = time.monotonic() + SEND_FOR_S
    sent = 0
    for delivery in claimed:
        if time.monotonic() > deadline:
            break  # the rest is claimed anew when this claim has run out
        try:
            connection.send_messages([compose(delivery)])
        except Exception as error:
            failed(delivery, error, now)
            connection.close()
        else:
            _pending(delivery).update(status=Delivery.Status.SENT, sent_at=now)
            sent += 1
    return sent


def claim(now: datetime) -> list[Delivery]:
    """Take what is due for this sender alone.

    Mail of one rule reaches a person in order: while that an endpoint fails could not
    be sent, that it recovered waits, since it would be read the other way round.
    """
    pending = Delivery.objects.filter(status=Delivery.Status.PENDING)
    earlier = pending.filter(
        recipient=OuterRef("recipient"),
        transition__monitor=OuterRef("transition__monitor"),
        transition__rule=OuterRef("transition__rule"),
        transition__seq__lt=OuterRef("transition__seq"),
    )
    due = pending.filter(~Exists(earlier), next_attempt_at__lte=now)
    with transaction.atomic():
        rows = list(
            due.select_for_update(skip_locked=True, of=("self",))
            .select_related("transition__rule")
            .order_by("next_attempt_at")[:BATCH]
        )
        Delivery.objects.filter(pk__in=[row.pk for row in rows]).update(
            attempts=F("attempts") + 1, next_attempt_at=now + CLAIM
        )
    for row in rows:
        row.attempts += 1
    return rows


def _pending(delivery: Delivery) -> QuerySet[Delivery]:
    return Delivery.objects.filter(pk=delivery.pk, status=Delivery.Status.PENDING)


def failed(delivery: Delivery, error: Exception, now: datetime) -> None:
    """Put ``delivery`` off, or give it up, unless another sender has it by now."""
    log.warning("delivery %s failed: %s", delivery.pk, reason(error))
    dead = now - delivery.created_at >= GIVE_UP_AFTER
    wait = min(FIRST_WAIT * 2 ** min(delivery.attempts - 1, 10), LONGEST_WAIT)
    _pending(delivery).filter(attempts=delivery.attempts).update(
        status=Delivery.Status.DEAD if dead else Delivery.Status.PENDING,
        next_attempt_at=now + wait,
        last_error=reason(error),
    )


def reason(error: Exception) -> str:
    """What went wrong in our own words: a server's may echo what it was sent."""
    match error:
        case smtplib.SMTPAuthenticationError():
            return f"the mail server refused our sign-in ({error.smtp_code})"
        case smtplib.SMTPRecipientsRefused():
            codes = sorted({code for code, _ in error.recipients.values()})
            return (
                f"the mail server refused the recipient ({', '.join(map(str, codes))})"
            )
        case smtplib.SMTPResponseException():
            return f"the mail server answered {error.smtp_code}"
        case smtplib.SMTPServerDisconnected():
            return "the mail server closed the connection"
        case TimeoutError():
            return "the mail server did not answer in time"
        case socket.gaierror():
            return "the mail server's name was not found"
        case ConnectionRefusedError():
            return "nothing listens where the mail server should be"
        case _:
            return type(error).__name__
