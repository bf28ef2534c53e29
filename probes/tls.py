"""TLS over any stream, so that the stream below still sees the real bytes come in."""

from __future__ import annotations

import ssl
from collections.abc import Callable
from typing import Any, TypeVar

import httpcore

_READ_BYTES = 64 * 1024

T = TypeVar("T")


class TlsError(httpcore.ConnectError):
    """The handshake failed: certificate, protocol version, or no TLS at all."""


class TlsStream(httpcore.AsyncNetworkStream):
    """Ciphers between two memory buffers, and moves those over ``below``."""

    def __init__(
        self,
        below: httpcore.AsyncNetworkStream,
        context: ssl.SSLContext,
        server_hostname: str | None,
    ) -> None:
        self._below = below
        self._incoming = ssl.MemoryBIO()
        self._outgoing = ssl.MemoryBIO()
        self._ssl = context.wrap_bio(
            self._incoming, self._outgoing, server_hostname=server_hostname
        )

    @classmethod
    async def handshake(
        cls,
        below: httpcore.AsyncNetworkStream,
        context: ssl.SSLContext,
        server_hostname: str | None,
    ) -> TlsStream:
        """Return a stream on which TLS is agreed; raises TlsError."""
        stream = cls(below, context, server_hostname)
        try:
            await stream._pump(stream._ssl.do_handshake)
        except (ssl.SSLError, httpcore.NetworkError) as error:
            raise TlsError(str(error)) from error
        return stream

    async def read(self, max_bytes: int, timeout: float | None = None) -> bytes:
        try:
            return await self._pump(lambda: self._ssl.read(max_bytes))
        except (ssl.SSLZeroReturnError, ssl.SSLEOFError):
            return b""
        except ssl.SSLError as error:
            raise httpcore.ReadError(str(error)) from error

    async def write(self, buffer: bytes, timeout: float | None = None) -> None:
        if not buffer:
            return
        try:
            await self._pump(lambda: self._ssl.write(buffer))
        except ssl.SSLError as error:
            raise httpcore.WriteError(str(error)) from error

    async def aclose(self) -> None:
        await self._below.aclose()

    async def start_tls(
        self,
        ssl_context: ssl.SSLContext,
        server_hostname: str | None = None,
        timeout: float | None = None,
    ) -> httpcore.AsyncNetworkStream:
        return await TlsStream.handshake(self, ssl_context, server_hostname)

    def get_extra_info(self, info: str) -> Any:
        return self._ssl if info == "ssl_object" else self._below.get_extra_info(info)

    async def _pump(self, step: Callable[[], T]) -> T:
        """Run one step of TLS, with as many reads and writes below as it needs."""
        while True:
            try:
                result = step()
            except ssl.SSLWantReadError:
                await self._send_pending()
                if received := await self._below.read(_READ_BYTES):
                    self._incoming.write(received)
                else:
                    self._incoming.write_eof()
            else:
                await self._send_pending()
                return result

    async def _send_pending(self) -> None:
        if pending := self._outgoing.read():
            await self._below.write(pending)
