"""Stamps, lag and deadlines: the small parts of the clockwork."""

from __future__ import annotations

import asyncio
import socket
import struct
import sys
import time
from types import SimpleNamespace
from typing import Any

import pytest

from probes import clock
from probes.deadline import Deadline, Stage
from probes.loop_lag import LoopLag
from probes.stopwatch import Stopwatch
from probes.transport import Receive, Send
from probes.types import Failure, Timeouts

MS = 1_000_000


def watch(received: Receive | None = None, sent: Send | None = None) -> Stopwatch:
    stopwatch, stream = watched()
    stream.received, stream.sent = received, sent
    return stopwatch


def watched() -> tuple[Stopwatch, Any]:
    """Return a stopwatch, and the stamps of the stream that it reads."""
    stream = SimpleNamespace(received=None, sent=None, end_was_read=False)
    backend: Any = SimpleNamespace(stream=stream)
    return Stopwatch(backend), stream


def test_arrivals_count_from_before_the_send():
    stopwatch = watch(Receive(1, 250 * MS, 120 * MS, True), Send(100 * MS, 103 * MS))
    stopwatch.mark_sent()
    assert stopwatch.arrival() == (1, 150, 20)
    assert stopwatch.arrival() is stopwatch.arrival()
    assert stopwatch.send_ms == 3
    assert stopwatch.kernel_clock is True


def test_nothing_arrived_yet():
    assert watch().arrival() == (0, 0, 0)
    assert watch().kernel_clock is None
    assert watch().send_ms == 0
    backend: Any = SimpleNamespace(stream=None)
    no_connection = Stopwatch(backend)
    no_connection.mark_sent()
    assert no_connection.arrival() == (0, 0, 0)
    assert not no_connection.peer_hung_up


def test_an_answer_before_the_request_was_out_counts_from_the_last_send():
    stopwatch = watch(Receive(1, 90 * MS, 80 * MS, True), Send(100 * MS, 101 * MS))
    assert stopwatch.arrival() == (1, 0, 0)
    stopwatch = watch(Receive(1, 90 * MS, 80 * MS, True))
    assert stopwatch.arrival() == (1, 0, 0)


def test_one_stamp_that_is_not_the_kernels_makes_the_clock_the_users():
    stopwatch, stream = watched()
    stream.sent = Send(0, 0)
    for serial, kernel in ((1, True), (2, False), (3, True)):
        stream.received = Receive(serial, 260 * MS, 0, kernel)
        stopwatch.arrival()
        assert stopwatch.arrival().serial == serial
    assert stopwatch.kernel_clock is False


def test_tls_has_a_time_of_its_own():
    stopwatch = watch()
    stopwatch.begin_tls()
    stopwatch.end_tls()
    assert 0 <= (stopwatch.tls_ms or 0) < 1000
    assert watch().tls_ms is None


def test_a_wall_clock_stamp_becomes_monotonic():
    converter = clock.RealToMonotonic()
    for _ in range(5):
        before = time.monotonic_ns()
        real = time.time_ns()
        after = time.monotonic_ns()
        assert before - MS <= converter.convert(real) <= after + MS


@pytest.mark.parametrize(("step_ms", "followed"), [(0, False), (5000, True)])
def test_a_step_of_the_wall_clock_is_followed(step_ms, followed, monkeypatch):
    converter = clock.RealToMonotonic()
    real_time_ns = time.time_ns
    monkeypatch.setattr(time, "time_ns", lambda: real_time_ns() + step_ms * MS)
    found = converter.convert(time.time_ns())
    assert found == pytest.approx(time.monotonic_ns(), abs=5 * MS)


def test_one_slow_look_at_the_clocks_is_not_believed(monkeypatch):
    converter = clock.RealToMonotonic()
    real_time_ns = time.time_ns
    looks = iter([3_000_000])
    monkeypatch.setattr(time, "time_ns", lambda: real_time_ns() + next(looks, 0))
    found = converter.convert(real_time_ns())
    assert found == pytest.approx(time.monotonic_ns(), abs=2 * MS)


def test_the_stamp_is_found_among_the_ancillary_data():
    stamp = struct.pack("qq", 7, 9)
    other = (socket.SOL_SOCKET, 1, b"")
    wrong_level = (socket.IPPROTO_TCP, clock.SO_TIMESTAMPNS, stamp)
    right = (socket.SOL_SOCKET, clock.SO_TIMESTAMPNS, stamp)
    assert clock.stamp_ns([other, wrong_level, right]) == 7_000_000_009
    assert clock.stamp_ns([other, wrong_level]) is None
    assert clock.stamp_ns([]) is None


def test_asking_for_stamps_never_fails(monkeypatch):
    with socket.socket() as sock:
        clock.ask_for_stamps(sock)
    clock.ask_for_stamps(sock)  # closed: refused
    monkeypatch.setattr(sys, "platform", "darwin")
    clock.ask_for_stamps(sock)


async def test_the_longest_lag_since_a_moment_is_known():
    loop = asyncio.get_running_loop()
    lag = LoopLag()
    assert lag.since_ms(0) == 0
    with lag, lag:
        began = loop.time()
        await asyncio.sleep(0.01)
        time.sleep(0.05)
        await asyncio.sleep(0.01)
        after = loop.time()
        assert lag.since_ms(began) >= 40
        await asyncio.sleep(0.01)
        assert lag.since_ms(after) < lag.since_ms(began)
    assert lag.since_ms(began) == 0


LIMITS = Timeouts(connect_s=0.02, first_token_s=0.03, idle_s=0.04, total_s=5)


@pytest.mark.parametrize(
    ("stage", "limits", "failure", "words"),
    [
        (Stage.CONNECT, LIMITS, Failure.TIMEOUT_CONNECT, "not connected within 0.02 s"),
        (
            Stage.FIRST_TOKEN,
            LIMITS,
            Failure.TIMEOUT_FIRST_TOKEN,
            "no token within 0.03 s",
        ),
        (Stage.NEXT_TOKEN, LIMITS, Failure.TIMEOUT_IDLE, "no further token for 0.04 s"),
        (
            Stage.NEXT_TOKEN,
            Timeouts(idle_s=9, total_s=0.02),
            Failure.TIMEOUT_TOTAL,
            "not complete within 0.02 s",
        ),
    ],
)
async def test_each_stage_has_a_time_out(stage, limits, failure, words):
    deadline = Deadline(limits)
    with pytest.raises(TimeoutError):
        async with deadline:
            deadline.enter(Stage.FIRST_TOKEN)
            deadline.enter(stage)
            await asyncio.sleep(10)
    assert deadline.failure is failure
    assert deadline.explanation == words


async def test_waiting_for_the_rest_is_no_failure_of_its_own():
    deadline = Deadline(Timeouts(total_s=7))
    async with deadline:
        deadline.enter(Stage.REST)
    assert deadline.failure is Failure.TIMEOUT_TOTAL


async def test_a_deadline_that_moves_on_does_not_fall_due():
    deadline = Deadline(Timeouts(idle_s=0.3))
    began = moved_at = time.monotonic()
    with pytest.raises(TimeoutError):
        async with deadline:
            for _ in range(8):
                deadline.enter(Stage.NEXT_TOKEN)
                moved_at = time.monotonic()
                await asyncio.sleep(0.05)
            await asyncio.sleep(10)
    assert moved_at - began > 0.3
    assert time.monotonic() - moved_at >= 0.3


async def test_a_late_loop_reads_what_came_in_time():
    deadline = Deadline(Timeouts(connect_s=0.05))
    async with deadline:
        time.sleep(0.2)
        for _ in range(9):  # as many turns of the loop as reading may take
            await asyncio.sleep(0)
        deadline.enter(Stage.FIRST_TOKEN)
        await asyncio.sleep(0.05)


async def test_a_late_loop_is_excused_once():
    deadline = Deadline(Timeouts(idle_s=0.05))
    with pytest.raises(TimeoutError):
        async with deadline:
            for _ in range(2):
                deadline.enter(Stage.NEXT_TOKEN)
                time.sleep(0.2)
                for _ in range(9):
                    await asyncio.sleep(0)
    assert deadline.failure is Failure.TIMEOUT_IDLE


async def test_a_deadline_that_is_over_at_once():
    deadline = Deadline(Timeouts(total_s=0))
    with pytest.raises(TimeoutError):
        async with deadline:
            await asyncio.sleep(10)
    assert deadline.failure is Failure.TIMEOUT_TOTAL
