"""One request and its answer on one connection, timed."""

from __future__ import annotations

import asyncio
import contextlib
from collections.abc import AsyncIterator
from typing import Any

import httpcore
import httpx

from probes.connections import Connection
from probes.deadline import Deadline, Stage
from probes.decoder import AnswerDecoder
from probes.dial import ResolveError
from probes.failures import refusal, stream_failure, unexpected
from probes.pace import Pace, in_pieces
from probes.protocols.base import Delta, Protocol
from probes.protocols.errors import error_in_body
from probes.reading import read_event
from probes.record import Record
from probes.stopwatch import Stopwatch
from probes.timeline import Arrival
from probes.tls import TlsError
from probes.types import Failure, Timeouts
from probes.wire import Event, ProtocolError

_MAX_REFUSAL_BYTES = 64 * 1024
_LEAST_STATUS, _HIGHEST_STATUS = 100, 999
_DRAIN_S = 0.25


class Exchange:
    """Sends one request over a connection and reads the answer to its end."""

    def __init__(
        self,
        protocol: Protocol,
        request: httpx.Request,
        connection: Connection,
        timeouts: Timeouts,
    ) -> None:
        self._protocol = protocol
        self._request = request
        self._connection = connection
        self._deadline = Deadline(timeouts)
        self._stopwatch = Stopwatch(connection.backend)
        self._record = Record()
        self._pace = Pace()
        self._is_tunnelling = False
        request.extensions["trace"] = self._trace

    async def run(self, *, drain: bool = False) -> Record:
        """Return what was measured; an endpoint's fault is part of that.

        ``drain`` reads on to the end of the body behind the end marker, so that the
        connection can be used again.
        """
        record = self._record
        try:
            async with self._deadline:
                await self._converse(drain)
        except TimeoutError:
            record.fail_unless_complete(
                self._deadline.failure, self._deadline.explanation
            )
        except (ProtocolError, httpx.DecodingError) as error:
            record.fail_unless_complete(Failure.PROTOCOL, str(error))
        except (httpcore.NetworkError, httpcore.ProtocolError) as error:
            record.fail_unless_complete(self._network_failure(error), str(error))
        except httpcore.ProxyError as error:
            record.fail(Failure.CONNECTION, f"the proxy refused: {error}")
        except Exception as error:  # a fault of ours that this endpoint found
            record.fail(Failure.PROTOCOL, unexpected(error))
        finally:
            # Else the request holds us and we the request: garbage that only a pause
            # for all streams would find.
            self._request.extensions.clear()
        record.judge()
        record.kernel_clock = self._stopwatch.kernel_clock
        record.send_ms = self._stopwatch.send_ms
        record.tls_ms = self._stopwatch.tls_ms
        return record

    async def _converse(self, drain: bool) -> None:
        response = await self._connection.handle_async_request(self._request)
        try:
            if not _LEAST_STATUS <= response.status_code <= _HIGHEST_STATUS:
                raise ProtocolError("the status is none of HTTP")
            self._record.status = response.status_code
            self._record.headers = response.headers
            self._record.headers_ms = self._stopwatch.arrival().at_ms
            if response.is_success:
                body = _body(response)
                await self._read_answer(response.headers, body)
                if drain:
                    await _drain(body)
            else:
                await self._read_refusal(response)
        finally:
            await response.aclose()

    async def _read_answer(
        self, headers: httpx.Headers, body: AsyncIterator[bytes]
    ) -> None:
        """Read up to the end marker, an error, or the end of the body."""
        record = self._record
        decoder = AnswerDecoder(self._protocol.framing, headers.get("content-type", ""))
        record.bytes = 0
        async for chunk in body:
            record.bytes += len(chunk)
            for piece in in_pieces(chunk):
                events = decoder.feed(piece)
                record.streamed = decoder.streamed
                if await self._take(events):
                    return
                if self._pace.chunk(len(piece)):
                    await asyncio.sleep(0)
        await self._take_rest(decoder)
        record.streamed = decoder.streamed
        if record.streamed is False or not self._protocol.has_end_marker:
            record.end_ms = self._stopwatch.arrival().at_ms

    async def _take(self, events: list[Event]) -> bool:
        """Take in events; return whether the answer is over."""
        arrival = self._stopwatch.arrival()
        for event in events:
            if self._pace.part():
                await asyncio.sleep(0)
            for delta in read_event(self._protocol, event):
                if self._add(arrival, delta):
                    return True
                if self._pace.part():
                    await asyncio.sleep(0)
        return False

    def _add(self, arrival: Arrival, delta: Delta) -> bool:
        """Take in what one event added; return whether the answer is over."""
        record = self._record
        bore_token = record.tokens.observe(arrival, delta)
        record.answer.add(delta)
        if delta.error is not None:
            record.fail(stream_failure(delta.error), delta.error.message)
            return True
        if delta.ended:
            record.end_ms = arrival.at_ms
            return True
        if bore_token or delta.finish or delta.usage:
            self._await_more()
        return False

    def _await_more(self) -> None:
        if self._record.answer.finish is not None:
            self._deadline.enter(Stage.REST)
        elif self._record.tokens.has_tokens:
            self._deadline.enter(Stage.NEXT_TOKEN)

    async def _take_rest(self, decoder: AnswerDecoder) -> None:
        """Take in what the end of the body left in the decoder."""
        events = decoder.flush()
        try:
            await self._take(events)
        except ProtocolError:
            # An event that was cut off in its middle: the answer is not malformed,
            # it is truncated.
            if not decoder.streamed:
                raise

    async def _read_refusal(self, response: httpx.Response) -> None:
        """Note why the server refused; its status tells that much without its text."""
        self._deadline.enter(Stage.REFUSAL)
        text = bytearray()
        try:
            async for chunk in _body(response):
                text += chunk[: _MAX_REFUSAL_BYTES - len(text)]
                if len(text) == _MAX_REFUSAL_BYTES:
                    break
        finally:
            error = error_in_body(text.decode("utf-8", errors="replace"))
            self._record.refusal = error
            self._record.bytes = len(text)
            self._record.fail(refusal(error, response.status_code), error.message)

    async def _trace(self, name: str, info: dict[str, Any]) -> None:
        """Follow httpcore's progress; a CONNECT to a proxy is not our request."""
        match name.partition(".")[2]:
            case "start_tls.started":
                self._stopwatch.begin_tls()
            case "start_tls.complete":
                self._stopwatch.end_tls()
            case "send_request_headers.started":
                self._is_tunnelling = info["request"].method == b"CONNECT"
                self._enter_first_token()
            case "send_request_body.complete":
                self._stopwatch.mark_sent()
                self._enter_first_token()

    def _enter_first_token(self) -> None:
        if not self._is_tunnelling:
            self._deadline.enter(Stage.FIRST_TOKEN)

    def _network_failure(self, error: Exception) -> Failure:
        """Return what it means that the connection failed where it did."""
        if isinstance(error, ResolveError):
            return Failure.DNS
        if isinstance(error, TlsError):
            return Failure.TLS
        if isinstance(error, httpcore.ConnectError):
            return Failure.CONNECTION
        if not self._stopwatch.peer_hung_up:
            return Failure.PROTOCOL
        return Failure.TRUNCATED if self._record.status else Failure.CONNECTION


def _body(response: httpx.Response) -> AsyncIterator[bytes]:
    """Return the bytes of the body, without httpx's layers where those do nothing."""
    codings = response.headers.get("content-encoding", "")
    if "," in codings:
        # Each layer may grow a thousandfold, before anybody can look at it.
        raise ProtocolError("the answer is compressed more than once")
    if codings:
        return response.aiter_bytes()
    assert isinstance(response.stream, httpx.AsyncByteStream)
    return aiter(response.stream)


async def _drain(body: AsyncIterator[bytes]) -> None:
    """Read on to the end of the body, if that comes soon."""
    with contextlib.suppress(TimeoutError):
        async with asyncio.timeout(_DRAIN_S):
            async for _ in body:
                pass
