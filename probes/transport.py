"""Network streams that know when their bytes came and went.

Below httpcore, in place of its own backend: plain non-blocking sockets on the running
asyncio loop. The kernel stamps what is received, so that a token's time is when it
reached this host and not when the interpreter got round to it.

The ``timeout`` arguments of httpcore's interface are not used: one deadline rules a
whole probe, and the runner cancels what takes longer.
"""

from __future__ import annotations

import asyncio
import socket
import ssl
import time
from collections import deque
from typing import Any, NamedTuple

import httpcore

from probes.clock import ANCILLARY_BYTES, RealToMonotonic, ask_for_stamps, stamp_ns
from probes.tls import TlsStream
from probes.wire import MAX_BODY_BYTES

HEAD_BYTES = 128 * 1024
"""The most that may come before a response's body: handshakes, heads, interim ones."""

WIRE_BYTES = 2 * MAX_BODY_BYTES
"""The most that a body may be on the wire, framed and encrypted."""

_RECEIVE_BYTES = 64 * 1024
_MAX_QUEUED_BYTES = 256 * 1024


class Receive(NamedTuple):
    """What one system call received.

    ``at_ns`` is when its last bytes reached this host, ``since_ns`` when there was
    nothing of it yet; both of the monotonic clock. ``kernel``: who stamped it.
    """

    serial: int
    at_ns: int
    since_ns: int
    kernel: bool


class Send(NamedTuple):
    """The moments right before and after the system call that sent the last bytes."""

    before_ns: int
    after_ns: int


class StampedStream(httpcore.AsyncNetworkStream):
    """A connected socket. ``received`` and ``sent`` are of the latest read and write.

    ``end_was_read``: a reader was told that the peer is gone.

    It receives as soon as the loop says that there is something, not only when
    somebody reads: the sooner, the fewer bytes that came apart are lumped together.
    """

    def __init__(self, sock: socket.socket) -> None:
        self._sock = sock
        self._loop = asyncio.get_running_loop()
        self._clock = RealToMonotonic()
        self._queue: deque[tuple[Receive, bytes]] = deque()
        self._queued_bytes = 0
        self._waiter: asyncio.Future[None] | None = None
        self._error: OSError | None = None
        self._reading = False
        self._emptied_ns = time.monotonic_ns()
        self._serial = 0
        self._allowance = HEAD_BYTES
        self._closed_by_peer = False
        self.end_was_read = False
        self.received: Receive | None = None
        self.sent: Send | None = None
        ask_for_stamps(sock)
        self._resume()

    def allow(self, count: int) -> None:
        """Let ``count`` bytes be read from now on; more than that is an error.

        Not all that comes is part of an answer: without a limit a server can send
        interim responses or empty frames for as long as the probe lasts.
        """
        self._allowance = count

    async def read(self, max_bytes: int, timeout: float | None = None) -> bytes:
        while not self._queue:
            if self._closed_by_peer:
                self.end_was_read = True
                if self._error is not None:
                    raise httpcore.ReadError(str(self._error))
                return b""
            self._waiter = self._loop.create_future()
            await self._waiter
        receive, data = self._queue.popleft()
        if len(data) > max_bytes:
            self._queue.appendleft((receive, data[max_bytes:]))
            data = data[:max_bytes]
        self._queued_bytes -= len(data)
        self._allowance -= len(data)
        if self._allowance < 0:
            raise httpcore.RemoteProtocolError("the server sends far more than it may")
        self.received = receive
        if self._queued_bytes < _MAX_QUEUED_BYTES:
            self._resume()
        return data

    async def write(self, buffer: bytes, timeout: float | None = None) -> None:
        left = memoryview(buffer)
        while left:
            before_ns = time.monotonic_ns()
            try:
                count = self._sock.send(left)
            except BlockingIOError:
                await self._writable()
                continue
            except OSError as error:
                raise httpcore.WriteError(str(error)) from error
            self.sent = Send(before_ns, time.monotonic_ns())
            left = left[count:]

    async def aclose(self) -> None:
        self._pause()
        self._sock.close()

    async def start_tls(
        self,
        ssl_context: ssl.SSLContext,
        server_hostname: str | None = None,
        timeout: float | None = None,
    ) -> httpcore.AsyncNetworkStream:
        return await TlsStream.handshake(self, ssl_context, server_hostname)

    def get_extra_info(self, info: str) -> Any:
        match info:
            case "stamps":
                return self
            case "socket":
                return self._sock
            case "is_readable":
                return bool(self._queue) or self._closed_by_peer
        return None

    def _receive(self) -> None:
        now_ns = time.monotonic_ns()
        try:
            data, ancillary, _, _ = self._sock.recvmsg(_RECEIVE_BYTES, ANCILLARY_BYTES)
        except (BlockingIOError, InterruptedError):
            return
        except OSError as error:
            self._error, data, ancillary = error, b"", []
        if data:
            self._enqueue(data, stamp_ns(ancillary), now_ns)
        else:
            self._closed_by_peer = True
            self._pause()
        if self._waiter is not None and not self._waiter.done():
            self._waiter.set_result(None)

    def _enqueue(self, data: bytes, stamp: int | None, now_ns: int) -> None:
        at_ns = now_ns if stamp is None else self._clock.convert(stamp)
        self._serial += 1
        receive = Receive(self._serial, at_ns, self._emptied_ns, stamp is not None)
        self._queue.append((receive, data))
        self._queued_bytes += len(data)
        if len(data) < _RECEIVE_BYTES:
            self._emptied_ns = now_ns
        if self._queued_bytes >= _MAX_QUEUED_BYTES:
            self._pause()

    def _resume(self) -> None:
        if not self._reading and not self._closed_by_peer:
            self._loop.add_reader(self._sock, self._receive)
            self._reading = True

    def _pause(self) -> None:
        if self._reading:
            self._loop.remove_reader(self._sock)
            self._reading = False

    async def _writable(self) -> None:
        writable = self._loop.create_future()
        self._loop.add_writer(self._sock, _resolve, writable)
        try:
            await writable
        finally:
            self._loop.remove_writer(self._sock)


def _resolve(future: asyncio.Future[None]) -> None:
    if not future.done():
        future.set_result(None)
