"""Connections to targets, and what all probes of one event loop share."""

from __future__ import annotations

import socket
import ssl
from collections.abc import AsyncIterator, Iterable
from types import TracebackType
from typing import Any, Self

import httpcore
import httpx

from probes.clock import ask_for_stamps
from probes.dial import dial
from probes.loop_lag import LoopLag
from probes.transport import HEAD_BYTES, WIRE_BYTES, StampedStream
from probes.types import Target

Key = tuple[bytes | str | bool | int | None, ...]


class Backend(httpcore.AsyncNetworkBackend):
    """Makes the one network stream of a connection, and remembers what that took."""

    def __init__(self) -> None:
        self.stream: StampedStream | None = None
        self.dns_ms: float | None = None
        self.connect_ms: float | None = None

    async def connect_tcp(
        self,
        host: str,
        port: int,
        timeout: float | None = None,
        local_address: str | None = None,
        socket_options: Iterable[Any] | None = None,
    ) -> httpcore.AsyncNetworkStream:
        dialed = await dial(host, port)
        self.dns_ms, self.connect_ms = dialed.dns_ms, dialed.connect_ms
        self.stream = StampedStream(dialed.sock)
        return self.stream


class _Body(httpx.AsyncByteStream):
    """A response's body as httpcore gives it: nothing is read ahead."""

    def __init__(self, chunks: Any) -> None:
        self._chunks = chunks

    def __aiter__(self) -> AsyncIterator[bytes]:
        return aiter(self._chunks)

    async def aclose(self) -> None:
        await self._chunks.aclose()


class Connection(httpx.AsyncBaseTransport):
    """One connection to one target. ``backend`` knows its times."""

    def __init__(
        self, key: Key, http: httpcore.AsyncConnectionInterface, backend: Backend
    ) -> None:
        self.key = key
        self.backend = backend
        self.is_reused = False
        self._http = http

    @property
    def is_idle(self) -> bool:
        """Whether the connection can take another request: a server may hang up."""
        return self._http.is_available() and not self._http.has_expired()

    async def handle_async_request(self, request: httpx.Request) -> httpx.Response:
        """Send a request and return as its status line comes.

        Raises what httpcore raises, with the failures of ``dial`` and ``tls`` told
        apart by their own classes.
        """
        self._allow(HEAD_BYTES)
        response = await self._http.handle_async_request(
            httpcore.Request(
                method=request.method,
                url=_core_url(request.url),
                headers=request.headers.raw,
                content=request.stream,
                extensions=request.extensions,
            )
        )
        self._allow(WIRE_BYTES)
        return httpx.Response(
            response.status,
            headers=response.headers,
            stream=_Body(response.stream),
            extensions=response.extensions,
        )

    def _allow(self, count: int) -> None:
        if self.backend.stream is not None:
            self.backend.stream.allow(count)

    async def aclose(self) -> None:
        await self._http.aclose()
        if self.backend.stream is not None:
            # A connection that failed in its handshake was never httpcore's to close.
            await self.backend.stream.aclose()


class Connections:
    """What the probes of one event loop share; an async context manager.

    ``reuse`` keeps a connection open after a good answer, for the next probe of the
    same target. Without it each probe pays for a connection of its own, and says how
    much that was.
    """

    def __init__(self, *, reuse: bool = False) -> None:
        self.reuse = reuse
        self.lag = LoopLag()
        self._idle: dict[Key, list[Connection]] = {}
        self._contexts: dict[tuple[str | None, bool], ssl.SSLContext] = {}
        # The kernel stamps nothing while no socket asks for it, and is slow to begin.
        self._stamp_keeper = socket.socket(socket.AF_INET, socket.SOCK_STREAM)
        ask_for_stamps(self._stamp_keeper)

    async def __aenter__(self) -> Self:
        return self

    async def __aexit__(
        self,
        exc_type: type[BaseException] | None,
        exc: BaseException | None,
        traceback: TracebackType | None,
    ) -> None:
        self._stamp_keeper.close()
        while self._idle:
            for connection in self._idle.popitem()[1]:
                await connection.aclose()

    async def acquire(self, target: Target, url: httpx.URL) -> Connection:
        """Return an idle connection to the URL's host, or one yet to be opened.

        Raises OSError or ssl.SSLError where the target's CA file cannot be used.
        """
        origin = _core_url(url).origin
        host = (origin.scheme, origin.host, origin.port)
        key = (*host, target.ca_file, target.proxy, target.http2)
        for connection in self._idle.pop(key, []):
            if connection.is_idle:
                connection.is_reused = True
                return connection
            await connection.aclose()
        backend = Backend()
        return Connection(key, self._open(target, origin, backend), backend)

    async def release(self, connection: Connection) -> None:
        """Take back a connection: keep it where that is wanted and it can be used."""
        if self.reuse and connection.is_idle:
            self._idle.setdefault(connection.key, []).append(connection)
        else:
            await connection.aclose()

    def tls_context(self, ca_file: str | None, http2: bool) -> ssl.SSLContext:
        """Return the shared TLS context; making one costs some 40 ms of CPU."""
        key = (ca_file, http2)
        if key not in self._contexts:
            self._contexts[key] = (
                ssl.create_default_context(cafile=ca_file)
                if ca_file
                else httpx.create_ssl_context()
            )
        return self._contexts[key]

    def _open(
        self, target: Target, origin: httpcore.Origin, backend: Backend
    ) -> httpcore.AsyncConnectionInterface:
        secure = origin.scheme == b"https"
        context = self.tls_context(target.ca_file, target.http2) if secure else None
        if target.proxy is None:
            return httpcore.AsyncHTTPConnection(
                origin,
                ssl_context=context,
                http2=target.http2,
                network_backend=backend,
            )
        proxy = httpx.Proxy(target.proxy)
        over_tls = proxy.url.scheme == "https"
        return httpcore.AsyncHTTPProxy(
            _core_url(proxy.url),
            proxy_auth=proxy.raw_auth,
            proxy_ssl_context=self.tls_context(target.ca_file, False)
            if over_tls
            else None,
            ssl_context=context,
            http2=target.http2,
            network_backend=backend,
        ).create_connection(origin)


def _core_url(url: httpx.URL) -> httpcore.URL:
    return httpcore.URL(
        scheme=url.raw_scheme, host=url.raw_host, port=url.port, target=url.raw_path
    )
