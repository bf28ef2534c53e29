"""TLS with an authority of our own, HTTP proxies, and HTTP/2."""

from __future__ import annotations

import asyncio
import json
from collections.abc import AsyncIterator
from pathlib import Path

import h2.config
import h2.connection
import h2.events
import pytest

from probes.connections import Connections
from probes.runner import measure
from probes.types import Failure
from tests.sockets import (
    CHUNK,
    HEAD,
    PROMPT,
    SHORT,
    SOON,
    Authority,
    saying,
    serving,
    target,
)
from tests.tape_player import Player


@pytest.fixture
async def connections() -> AsyncIterator[Connections]:
    async with Connections() as shared:
        yield shared


@pytest.fixture
def authority(tmp_path: Path) -> Authority:
    return Authority(tmp_path)


async def test_tls_with_an_authority_of_ones_own(authority, connections):
    player = Player(SHORT)
    async with serving(player.serve, ssl=authority.context) as port:
        trusting = target(port, "https", ca_file=str(authority.ca_file))
        result = await measure(trusting, PROMPT, connections=connections)
        assert result.error_text is None
        assert result.tls_ms is not None and result.tls_ms > 0
        assert 99 < (result.ttft_ms or 0) < 900
        assert result.gap_p50_ms is not None and result.gap_p50_ms > 5
        assert result.clock == "kernel"
        strange = target(port, "https")
        result = await measure(strange, PROMPT, connections=connections)
        assert result.error is Failure.TLS
        assert result.http_status is None


async def test_a_server_that_speaks_no_tls(connections):
    async with serving(saying(HEAD + b"\r\n")) as port:
        result = await measure(
            target(port, "https"), PROMPT, SOON, connections=connections
        )
    assert result.error in (Failure.TLS, Failure.TIMEOUT_CONNECT)


async def test_a_tls_handshake_that_hangs_is_a_matter_of_connecting(connections):
    async def silent(
        reader: asyncio.StreamReader, writer: asyncio.StreamWriter
    ) -> None:
        await asyncio.sleep(60)

    async with serving(silent) as port:
        result = await measure(
            target(port, "https"), PROMPT, SOON, connections=connections
        )
    assert result.error is Failure.TIMEOUT_CONNECT


async def test_an_authority_that_is_no_certificate(tmp_path, connections):
    nonsense = tmp_path / "ca.pem"
    nonsense.write_text("no certificate")
    for ca_file in (nonsense, tmp_path / "missing.pem"):
        untrusting = target(1, "https", ca_file=str(ca_file))
        result = await measure(untrusting, PROMPT, connections=connections)
        assert result.error is Failure.TLS


class ForwardProxy:
    """An HTTP proxy: forwards plain requests and tunnels the others."""

    def __init__(self) -> None:
        self.requests: list[str] = []

    async def serve(
        self, reader: asyncio.StreamReader, writer: asyncio.StreamWriter
    ) -> None:
        head = (await reader.readuntil(b"\r\n\r\n")).decode()
        self.requests.append(head)
        method, where, _ = head.split(" ", 2)
        authority = where if method == "CONNECT" else where.split("/")[2]
        host, _, port = authority.rpartition(":")
        up_reader, up_writer = await asyncio.open_connection(host, int(port))
        if method == "CONNECT":
            writer.write(b"HTTP/1.1 200 Connected\r\n\r\n")
        else:
            up_writer.write(head.encode())
        try:
            await asyncio.gather(
                self._pump(reader, up_writer), self._pump(up_reader, writer)
            )
        finally:
            up_writer.close()

    async def _pump(
        self, reader: asyncio.StreamReader, writer: asyncio.StreamWriter
    ) -> None:
        while data := await reader.read(65_536):
            writer.write(data)


@pytest.mark.parametrize("scheme", ["http", "https"])
async def test_a_proxy_is_gone_through(scheme, authority, connections):
    proxy, player = ForwardProxy(), Player(SHORT)
    options = {"ssl": authority.context} if scheme == "https" else {}
    async with (
        serving(player.serve, **options) as port,
        serving(proxy.serve) as proxy_port,
    ):
        proxied = target(
            port,
            scheme,
            ca_file=str(authority.ca_file),
            proxy=f"http://user:pa55word@127.0.0.1:{proxy_port}",
        )
        result = await measure(proxied, PROMPT, connections=connections)
    assert result.error_text is None
    assert 99 < (result.ttft_ms or 0) < 900
    assert (result.tls_ms is not None) is (scheme == "https")
    (head,) = proxy.requests
    assert head.startswith("CONNECT " if scheme == "https" else "POST http://")
    assert "Proxy-Authorization: Basic" in head


async def test_a_proxy_that_refuses_is_a_matter_of_the_connection(connections):
    denial = b"HTTP/1.1 407 Proxy Authentication Required\r\ncontent-length: 0\r\n\r\n"

    async def deny(reader: asyncio.StreamReader, writer: asyncio.StreamWriter) -> None:
        await reader.readuntil(b"\r\n\r\n")
        writer.write(denial)

    async with serving(deny) as port:
        proxied = target(1, "https", proxy=f"http://u:pa55word@127.0.0.1:{port}")
        result = await measure(proxied, PROMPT, connections=connections)
    assert result.error is Failure.CONNECTION
    assert "407" in (result.error_text or "")
    assert "pa55word" not in str(result)


async def test_a_proxy_of_a_kind_that_is_not_known(connections):
    proxied = target(1, proxy="gopher://127.0.0.1:1")
    result = await measure(proxied, PROMPT, connections=connections)
    assert result.error is Failure.CONNECTION


async def serve_http2(
    reader: asyncio.StreamReader, writer: asyncio.StreamWriter
) -> None:
    """Answer one request with an event each 50 ms, in frames of its own."""
    h2_connection = h2.connection.H2Connection(
        h2.config.H2Configuration(client_side=False)
    )
    h2_connection.initiate_connection()
    writer.write(h2_connection.data_to_send())
    while data := await reader.read(65_536):
        for event in h2_connection.receive_data(data):
            if isinstance(event, h2.events.StreamEnded):
                stream = event.stream_id
                headers = [(":status", "200"), ("content-type", "text/event-stream")]
                h2_connection.send_headers(stream, headers)
                for _ in range(3):
                    writer.write(h2_connection.data_to_send())
                    await asyncio.sleep(0.05)
                    piece = f"data: {json.dumps(CHUNK)}\n\n".encode()
                    h2_connection.send_data(stream, piece)
                h2_connection.send_data(stream, b"data: [DONE]\n\n", end_stream=True)
        writer.write(h2_connection.data_to_send())


async def test_http2_where_the_server_agrees(authority, connections):
    authority.context.set_alpn_protocols(["h2"])
    async with serving(serve_http2, ssl=authority.context) as port:
        modern = target(port, "https", ca_file=str(authority.ca_file), http2=True)
        result = await measure(modern, PROMPT, connections=connections)
    assert result.error_text is None
    assert result.chunks == 3
    assert 49 < (result.ttft_ms or 0) < 900
    assert 20 < (result.gap_p50_ms or 0) < 500


@pytest.mark.parametrize("status", ["70000", "2oo", "-1", ""])
async def test_a_status_that_http2_does_not_check(status, authority, connections):
    async def serve(reader: asyncio.StreamReader, writer: asyncio.StreamWriter) -> None:
        server = h2.connection.H2Connection(
            h2.config.H2Configuration(
                client_side=False, validate_outbound_headers=False
            )
        )
        server.initiate_connection()
        writer.write(server.data_to_send())
        while data := await reader.read(65_536):
            for event in server.receive_data(data):
                if isinstance(event, h2.events.StreamEnded):
                    server.send_headers(event.stream_id, [(":status", status)])
                    server.send_data(event.stream_id, b"", end_stream=True)
            writer.write(server.data_to_send())

    authority.context.set_alpn_protocols(["h2"])
    async with serving(serve, ssl=authority.context) as port:
        modern = target(port, "https", ca_file=str(authority.ca_file), http2=True)
        result = await measure(modern, PROMPT, SOON, connections=connections)
    assert result.error is Failure.PROTOCOL
    assert result.http_status is None


async def test_http2_is_not_insisted_on(authority, connections):
    async with serving(Player(SHORT).serve, ssl=authority.context) as port:
        modern = target(port, "https", ca_file=str(authority.ca_file), http2=True)
        result = await measure(modern, PROMPT, connections=connections)
    assert result.outcome == "ok"
