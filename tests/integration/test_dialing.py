"""Names, several addresses, and connections that do not come about."""

from __future__ import annotations

import asyncio
import socket
from collections.abc import AsyncIterator

import httpcore
import pytest

from probes.connections import Connections
from probes.dial import Address, connect_any
from probes.runner import measure
from probes.types import Failure, Target
from tests.sockets import (
    EVENTS,
    HEAD,
    PROMPT,
    SHORT,
    SOON,
    saying,
    serving,
    target,
)
from tests.tape_player import playing


@pytest.fixture
async def connections() -> AsyncIterator[Connections]:
    async with Connections() as shared:
        yield shared


def listening(host: str = "127.0.0.1", backlog: int = 8) -> socket.socket:
    family = socket.AF_INET6 if ":" in host else socket.AF_INET
    sock = socket.socket(family, socket.SOCK_STREAM)
    sock.bind((host, 0))
    sock.listen(backlog)
    return sock


def address_of(sock: socket.socket) -> Address:
    return Address(sock.family, sock.getsockname())


@pytest.fixture
def deaf():
    """A server whose queue is full: connecting to it hangs."""
    server = listening(backlog=0)
    waiting = []
    for _ in range(4):
        client = socket.socket()
        client.setblocking(False)
        client.connect_ex(server.getsockname())
        waiting.append(client)
    yield server
    for sock in (server, *waiting):
        sock.close()


@pytest.fixture
def closed() -> Address:
    """An address that refuses."""
    with listening() as server:
        return address_of(server)


async def test_the_address_that_answers_is_taken(deaf, closed):
    with listening() as live:
        for others in ([], [closed], [closed, closed], [address_of(deaf), closed]):
            sock = await connect_any([*others, address_of(live)])
            assert sock.getpeername() == live.getsockname()
            sock.close()


async def test_both_families_are_tried():
    if not socket.has_ipv6:
        pytest.skip("no IPv6 here")
    with listening("::1") as six:
        port = six.getsockname()[1]
        four = Address(socket.AF_INET, ("127.0.0.1", port))
        sock = await connect_any([four, address_of(six)])
        assert sock.family == socket.AF_INET6
        sock.close()


async def test_a_url_may_name_an_ipv6_address(connections):
    if not socket.has_ipv6:
        pytest.skip("no IPv6 here")
    answering = saying(HEAD + b"\r\n" + EVENTS)
    async with serving(answering, host="::1") as port:
        by_number = Target(
            protocol="openai", base_url=f"http://[::1]:{port}/v1", model="m"
        )
        result = await measure(by_number, PROMPT, SOON, connections=connections)
    assert result.outcome == "ok"
    assert result.dns_ms is None


async def test_every_address_refuses(closed):
    with pytest.raises(httpcore.ConnectError):
        await connect_any([closed, closed])


async def test_giving_up_leaves_no_attempt_behind(deaf):
    before = len(asyncio.all_tasks())
    with pytest.raises(TimeoutError):
        await asyncio.wait_for(connect_any([address_of(deaf)] * 3), 0.6)
    assert len(asyncio.all_tasks()) == before


async def test_connecting_takes_too_long(deaf, connections):
    result = await measure(
        target(deaf.getsockname()[1]), PROMPT, SOON, connections=connections
    )
    assert result.error is Failure.TIMEOUT_CONNECT
    assert result.error_text == "not connected within 0.5 s"


async def test_connecting_is_refused(closed, connections):
    result = await measure(
        target(closed.sockaddr[1]), PROMPT, SOON, connections=connections
    )
    assert result.error is Failure.CONNECTION


@pytest.mark.parametrize("host", ["no-such-host.invalid", "a" * 70 + ".example"])
async def test_a_host_without_an_address(host, connections):
    unknown = Target(protocol="openai", base_url=f"http://{host}/v1", model="m")
    result = await measure(unknown, PROMPT, connections=connections)
    assert result.error is Failure.DNS


async def test_a_name_has_a_time_of_its_own(connections):
    async with playing(SHORT) as player:
        named = player.base_url.replace("127.0.0.1", "localhost")
        by_name = Target(protocol="openai", base_url=named, model="m")
        result = await measure(by_name, PROMPT, connections=connections)
        assert result.outcome == "ok"
        assert result.dns_ms is not None
        by_number = Target(protocol="openai", base_url=player.base_url, model="m")
        result = await measure(by_number, PROMPT, connections=connections)
        assert result.dns_ms is None
        assert result.connect_ms is not None


async def test_a_url_that_is_none(connections):
    broken = Target(protocol="openai", base_url="http://h:port/v1", model="m")
    result = await measure(broken, PROMPT, connections=connections)
    assert result.error is Failure.CONNECTION
