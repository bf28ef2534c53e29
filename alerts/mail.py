"""The mail that tells a transition: subject, text, HTML, and headers that thread."""

from __future__ import annotations

from typing import cast
from urllib.parse import urlsplit

from django.conf import settings
from django.core.mail import EmailMultiAlternatives
from django.template.loader import render_to_string
from django.urls import reverse

from alerts.facts import Facts
from alerts.figures import Figure
from alerts.models import Delivery, Transition
from alerts.rules import Kind
from alerts.story import Story


def compose(delivery: Delivery) -> EmailMultiAlternatives:
    """The mail for one person, the same one however often it is tried."""
    story = to_story(delivery.transition)
    page = reverse("monitor", args=[delivery.transition.monitor_id])
    context = {"story": story, "url": settings.BASE_URL + page}
    message = EmailMultiAlternatives(
        subject=story.subject,
        body=render_to_string("alerts/mail.txt", context),
        to=[delivery.recipient],
        headers=_headers(delivery),
    )
    html = render_to_string("alerts/mail.html", context)
    message.attach_alternative(html, "text/html")
    return message


def to_story(transition: Transition) -> Story:
    """Raises ``ValueError`` for one that no rule made: those are not mailed."""
    if transition.rule is None:
        raise ValueError(f"{transition} has no story")
    return Story(
        kind=Kind(transition.kind),
        figure=Figure(transition.rule.figure),
        at=transition.at,
        since=transition.since,
        value=transition.value,
        limit=transition.limit,
        facts=cast(Facts, transition.facts),
    )


def _headers(delivery: Delivery) -> dict[str, str]:
    """All mails of an incident answer one root, which is never sent itself.

    The Message-ID names the delivery and not the attempt, so that a mail server can
    tell a repetition. Outlook threads by both other headers, Gmail by either.
    """
    about = delivery.transition
    host = urlsplit(settings.BASE_URL).hostname
    incident = f"alert-{about.monitor_id}-{about.rule_id}-{about.incident}"
    root = f"<{incident}@{host}>"
    return {
        "Message-ID": f"<{incident}-{about.kind}-{delivery.pk}@{host}>",
        "In-Reply-To": root,
        "References": root,
        "Auto-Submitted": "auto-generated",
        "X-Auto-Response-Suppress": "All",
    }
