import json
from collections.abc import Callable, Iterator
from contextlib import AbstractContextManager

import pytest
from asgiref.sync import async_to_sync
from channels.layers import get_channel_layer
from django.contrib.auth import get_user_model
from django.db import transaction
from django.test import Client
from django.urls import reverse
from websockets.exceptions import ConnectionClosed, InvalidStatus
from websockets.sync.client import ClientConnection, connect
from websockets.typing import Origin

from alerts.models import MonitorState
from collectors.models import Sample
from dashboard import live, payloads
from dashboard.consumers import SIGN_IN
from tests.factories import at, make_monitor, make_sample, make_scenario

pytestmark = pytest.mark.django_db(transaction=True)


@pytest.fixture
def visitor() -> Client:
    client = Client()
    client.force_login(get_user_model().objects.create_user("alice"))
    return client


Open = Callable[..., AbstractContextManager[ClientConnection]]


@pytest.fixture
def open_socket(web_server: str, visitor: Client) -> Open:
    def open_it(*, cookie: str | None = None, origin: str | None = None):
        if cookie is None:
            cookie = f"sessionid={visitor.cookies['sessionid'].value}"
        return connect(
            f"ws://{web_server}/live/",
            additional_headers={"Cookie": cookie},
            origin=Origin(origin or f"http://{web_server}"),
        )

    return open_it


@pytest.fixture
def socket(open_socket: Open) -> Iterator[ClientConnection]:
    """A signed-in socket that has had its first frame."""
    with open_socket() as opened:
        next_frame(opened)
        yield opened


def next_frame(socket: ClientConnection) -> dict:
    return json.loads(socket.recv(timeout=10))


def store_sample() -> Sample:
    with transaction.atomic():
        row = make_sample(make_monitor(), at(0))
        live.on_sample(row)
    return row


def test_a_stranger_gets_no_frame(open_socket):
    with open_socket(cookie="sessionid=guess") as socket:
        with pytest.raises(ConnectionClosed) as closed:
            socket.recv(timeout=10)
        assert closed.value.rcvd.code == SIGN_IN


def test_another_site_gets_no_connection(open_socket):
    with pytest.raises(InvalidStatus), open_socket(origin="http://evil.example"):
        pass


def test_a_socket_says_at_once_what_time_it_is(open_socket):
    with open_socket() as socket:
        frame = next_frame(socket)
        assert frame["type"] == "frame"
        assert frame["samples"] == frame["states"] == []
        socket.send("ping")
        assert next_frame(socket)["server_ms"] >= frame["server_ms"]


def test_a_stored_sample_reaches_the_socket(socket):
    row = store_sample()
    assert next_frame(socket)["samples"] == [payloads.sample(row)]


def test_a_sample_that_is_rolled_back_is_no_news(socket):
    with transaction.atomic():
        live.on_sample(make_sample(make_monitor(), at(0)))
        transaction.set_rollback(True)
    row = store_sample()
    assert next_frame(socket)["samples"] == [payloads.sample(row)]


def test_a_socket_ends_with_its_sign_in(socket, visitor):
    visitor.logout()
    socket.send("ping")
    with pytest.raises(ConnectionClosed) as closed:
        socket.recv(timeout=10)
    assert closed.value.rcvd.code == SIGN_IN


def test_news_under_load_is_gathered():
    layer = get_channel_layer()
    payload = payloads.sample(store_sample())

    @async_to_sync
    async def frames_of_a_hundred_samples() -> list[int]:
        channel = await layer.new_channel()
        await layer.group_add(live.GROUP, channel)
        publisher = live.Publisher(every_s=0.2)
        for _ in range(100):
            publisher.sample(payload)
        sizes: list[int] = []
        while sum(sizes) < 100:
            message = await layer.receive(channel)
            sizes.append(len(message["frame"]["samples"]))
        return sizes

    assert len(frames_of_a_hundred_samples()) <= 4


def test_changed_limits_are_news(socket, visitor):
    """A page that shows the old limit beside the new word would lie."""
    scenario = make_scenario()
    address = reverse("scenario", args=[scenario.slug])
    assert visitor.post(address, {"ttft_ms_max": "50"}).status_code == 302
    frame = next_frame(socket)
    assert (frame["changed"], frame["samples"], frame["states"]) == (True, [], [])


def test_a_changed_word_is_news_with_its_reason(socket):
    monitor = make_monitor()
    row = MonitorState.objects.create(
        monitor=monitor, state="failing", why="TTFT over 2 s in 3 of the last 5 probes"
    )
    live.on_state(row)
    [state] = next_frame(socket)["states"]
    assert (state["state"], state["why"]) == ("failing", row.why)
