"""From the worker that stored a sample to every open page.

The database is the truth and the socket a hint: what is sent here may be lost, and a
page that missed it fetches it. A quiet channel's first news goes out at once; under
load news is gathered and sent at most four times a second, since each message costs
every open socket.
"""

from __future__ import annotations

import logging
import threading
import time

from asgiref.sync import async_to_sync
from channels.layers import get_channel_layer
from django.db import transaction
from django.utils import timezone

from alerts.models import MonitorState
from collectors.models import Sample
from dashboard import payloads

log = logging.getLogger(__name__)

GROUP = "live"
EVERY_S = 0.25


class Publisher:
    """Gathers news and sends it from a thread of its own, so that a slow or absent
    Valkey holds nobody up. News that cannot be sent is dropped."""

    def __init__(self, every_s: float = EVERY_S) -> None:
        self._every_s = every_s
        self._news = threading.Condition()
        self._samples: list[payloads.SamplePayload] = []
        self._states: dict[int, payloads.StatePayload] = {}
        self._changed = False
        self._thread: threading.Thread | None = None

    def sample(self, payload: payloads.SamplePayload) -> None:
        with self._news:
            self._samples.append(payload)
            self._wake()

    def state(self, payload: payloads.StatePayload) -> None:
        with self._news:
            self._states[payload["monitor"]] = payload
            self._wake()

    def changed(self) -> None:
        with self._news:
            self._changed = True
            self._wake()

    def _wake(self) -> None:
        # Started at the first news, hence after any fork.
        if self._thread is None or not self._thread.is_alive():
            self._thread = threading.Thread(
                target=self._run, name="live-publisher", daemon=True
            )
            self._thread.start()
        self._news.notify()

    def _run(self) -> None:
        while True:
            frame = self._next()
            try:
                send(frame)
            except Exception as error:
                log.warning("live news could not be sent: %s", type(error).__name__)
            time.sleep(self._every_s)

    def _next(self) -> payloads.FramePayload:
        with self._news:
            self._news.wait_for(lambda: self._samples or self._states or self._changed)
            samples, states, changed = self._samples, self._states, self._changed
            self._samples, self._states, self._changed = [], {}, False
        return payloads.frame(timezone.now(), samples, states.values(), changed)


def send(frame: payloads.FramePayload) -> None:
    layer = get_channel_layer()
    assert layer is not None  # CHANNEL_LAYERS has a default
    async_to_sync(layer.group_send)(GROUP, {"type": "frame", "frame": frame})


publisher = Publisher()


def on_sample(row: Sample) -> None:
    """Sink of ``SAMPLE_SINKS``: news of a sample, once it is committed."""
    payload = payloads.sample(row)
    transaction.on_commit(lambda: publisher.sample(payload))


def on_state(row: MonitorState) -> None:
    """Sink of ``STATE_SINKS``: news of a monitor's word, once it is committed."""
    payload = payloads.state(row)
    transaction.on_commit(lambda: publisher.state(payload))


def changed() -> None:
    """News that endpoints, monitors or limits were changed, once it is committed."""
    transaction.on_commit(publisher.changed)
