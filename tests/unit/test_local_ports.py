"""Ports are stepped over where they are taken, and held where they are promised."""

import os
import socket

import pytest

from dashboard.local import ports


@pytest.fixture
def taken():
    """A port of this machine that somebody else serves, with a free one after it."""
    for _ in range(50):
        with ports.listen(ports.LOOPBACK) as held:
            port = held.getsockname()[1]
            if port < 65_000 and not ports.is_taken(port + 1):
                yield port
                return
    raise AssertionError("no two neighbouring ports were free")


def test_a_taken_port_is_stepped_over(taken):
    with ports.listen(ports.LOOPBACK, taken) as held:
        assert taken < held.getsockname()[1] <= taken + ports.STEPS
    assert taken < ports.free(taken) <= taken + ports.STEPS


def test_a_free_port_is_taken_as_wished(taken):
    assert ports.free(taken + 1) == taken + 1


def test_taken_and_free_are_told_apart(taken):
    assert ports.is_taken(taken)
    assert not ports.is_taken(taken + 1)


def test_who_listens_is_told_apart(taken):
    assert ports.listens(os.getpid(), taken)
    assert not ports.listens(os.getppid(), taken)
    assert not ports.listens(os.getpid(), taken + 1)


def test_a_host_that_is_not_ours_is_named():
    with pytest.raises(ports.NoFreePort, match=r"192\.0\.2\.1:8000: "):
        ports.listen("192.0.2.1", 8000)


def test_the_end_of_all_ports_is_an_end():
    with ports.listen(ports.LOOPBACK, 65_535) as held:
        assert held.getsockname()[1] == 65_535
        with pytest.raises(ports.NoFreePort, match="65535 to 65535 are taken"):
            ports.listen(ports.LOOPBACK, 65_535)


def test_answers_do_not_wait_for_an_acknowledgement():
    with (
        ports.listen(ports.LOOPBACK) as held,
        socket.create_connection(held.getsockname()),
    ):
        accepted, _ = held.accept()
        with accepted:
            assert accepted.getsockopt(socket.IPPROTO_TCP, socket.TCP_NODELAY)
