"""Probes' results as letters, and a mail server on a real socket, for tests."""

from __future__ import annotations

import asyncio
from collections.abc import Iterator
from contextlib import contextmanager
from dataclasses import dataclass, field, replace
from datetime import datetime
from email import message_from_bytes, policy
from email.message import EmailMessage
from typing import Any

from aiosmtpd.controller import Controller
from aiosmtpd.smtp import SMTP, Envelope, Session

from alerts.defaults import ensure_default_rules
from collectors import store
from collectors.models import Monitor
from probes.types import Failure, Measurement
from tests.factories import at, make_monitor, make_objective, make_scenario

ANSWER = Measurement(
    outcome="ok",
    http_status=200,
    ttft_ms=200.0,
    total_ms=1200.0,
    tokens_per_second=40.0,
    output_tokens=41,
    chunks=41,
    uncertainty_ms=0.1,
)
RESULTS = {
    "G": ANSWER,
    "B": replace(ANSWER, ttft_ms=2400.0, total_ms=3400.0),
    "?": replace(ANSWER, ttft_ms=1001.0, total_ms=2001.0, uncertainty_ms=5.0),
    "E": Measurement(
        outcome="error", error=Failure.SERVER, http_status=503, error_text="no <GPU>"
    ),
    "T": Measurement(outcome="error", error=Failure.TIMEOUT_FIRST_TOKEN),
}


def watched_monitor(**scenario: Any) -> Monitor:
    """A monitor with TTFT limit 1 s, the default rules, and a probe every 10 s."""
    monitor = make_monitor(scenario=make_scenario(**scenario))
    make_objective(monitor.scenario)
    ensure_default_rules(monitor.scenario)
    return monitor


def probe(monitor: Monitor, due_at: datetime, letter: str) -> None:
    """Store one result the way the product does, sinks and all."""
    measurement = RESULTS[letter]
    row = store.to_row(
        measurement, monitor_id=monitor.pk, due_at=due_at, started_at=due_at
    )
    store.judged(row, measurement, monitor.scenario.objectives.last())
    assert store.record(row, measurement)


def run(monitor: Monitor, letters: str, first: int = 0) -> None:
    """A probe's result for each letter, from slot number ``first`` on."""
    for number, letter in enumerate(letters, start=first):
        probe(monitor, at(number * monitor.interval_s), letter)


@dataclass
class Mailbox:
    """What a mail server took in, and how to reach it.

    It answers ``refuse`` to all mail, where set, and knows nobody called ``unknown``.
    """

    port: int = 0
    mails: list[EmailMessage] = field(default_factory=list)
    refuse: str = ""
    unknown: str = ""

    async def handle_RCPT(
        self, _: SMTP, __: Session, envelope: Envelope, to: str, ___: list[str]
    ) -> str:
        if to == self.unknown:
            return "550 no such person"
        envelope.rcpt_tos.append(to)
        return "250 known"

    async def handle_DATA(self, _: SMTP, __: Session, envelope: Envelope) -> str:
        if self.refuse:
            return self.refuse
        assert isinstance(envelope.content, bytes)
        self.mails.append(message_from_bytes(envelope.content, policy=policy.default))
        return "250 taken"


class AnyPort(Controller):
    """A mail server that lets the system choose its port."""

    def _trigger_server(self) -> None:
        assert isinstance(self.server, asyncio.Server)
        self.port = self.server.sockets[0].getsockname()[1]
        super()._trigger_server()


@contextmanager
def mail_server() -> Iterator[Mailbox]:
    box = Mailbox()
    controller = AnyPort(box, hostname="127.0.0.1", port=0)
    controller.start()
    try:
        box.port = controller.port
        yield box
    finally:
        controller.stop()
