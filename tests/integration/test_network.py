"""The network as it is: TLS, proxies, HTTP/2, several addresses, broken servers."""

from __future__ import annotations

import asyncio
import datetime
import gzip
import ipaddress
import json
import socket
import ssl
from collections.abc import AsyncIterator, Awaitable, Callable
from contextlib import asynccontextmanager
from pathlib import Path

import h2.config
import h2.connection
import h2.events
import httpcore
import pytest
from cryptography import x509
from cryptography.hazmat.primitives import hashes, serialization
from cryptography.hazmat.primitives.asymmetric import ec

from probes.connections import Connections
from probes.dial import Address, connect_any
from probes.runner import measure
from probes.types import Failure, Message, Prompt, Secret, Target, Timeouts
from tests.tape_player import Player, load_tapes, playing

PROMPT = Prompt(messages=(Message(role="user", content="Say it."),), max_tokens=64)
TAPES = {tape["name"]: tape for tape in load_tapes()}
SHORT = TAPES["openai-finish-no-done"]
SOON = Timeouts(connect_s=0.5, first_token_s=1, idle_s=1, total_s=5)

CHUNK = {"choices": [{"delta": {"content": "word "}, "finish_reason": "stop"}]}
EVENTS = f"data: {json.dumps(CHUNK)}\n\ndata: [DONE]\n\n".encode()
HEAD = b"HTTP/1.1 200 OK\r\ncontent-type: text/event-stream\r\n"

Handler = Callable[[asyncio.StreamReader, asyncio.StreamWriter], Awaitable[None]]


@pytest.fixture
async def connections() -> AsyncIterator[Connections]:
    async with Connections() as shared:
        yield shared


@asynccontextmanager
async def serving(
    handler: Handler, host: str = "127.0.0.1", **options
) -> AsyncIterator[int]:
    """Serve ``handler`` on a free port; its connections end with the block."""
    tasks: set[asyncio.Task[None]] = set()

    async def handle(
        reader: asyncio.StreamReader, writer: asyncio.StreamWriter
    ) -> None:
        try:
            await handler(reader, writer)
        except (ConnectionError, asyncio.IncompleteReadError):
            pass
        finally:
            writer.close()

    def connected(reader: asyncio.StreamReader, writer: asyncio.StreamWriter) -> None:
        tasks.add(asyncio.create_task(handle(reader, writer)))

    server = await asyncio.start_server(connected, host, 0, **options)
    try:
        yield server.sockets[0].getsockname()[1]
    finally:
        server.close()
        for task in tasks:
            task.cancel()
        await asyncio.gather(*tasks, return_exceptions=True)


def saying(answer: bytes) -> Handler:
    async def handler(
        reader: asyncio.StreamReader, writer: asyncio.StreamWriter
    ) -> None:
        await reader.readuntil(b"}")
        writer.write(answer)
        await writer.drain()

    return handler


def target(port: int, scheme: str = "http", **settings) -> Target:
    url = f"{scheme}://127.0.0.1:{port}/v1"
    return Target(protocol="openai", base_url=url, model="m", **settings)


class Authority:
    """A certificate authority of one server, made for the test."""

    def __init__(self, folder: Path) -> None:
        key = ec.generate_private_key(ec.SECP256R1())
        name = x509.Name([x509.NameAttribute(x509.NameOID.COMMON_NAME, "test")])
        now = datetime.datetime.now(datetime.UTC)
        address = x509.IPAddress(ipaddress.ip_address("127.0.0.1"))
        names = x509.SubjectAlternativeName([address, x509.DNSName("localhost")])
        certificate = (
            x509.CertificateBuilder()
            .subject_name(name)
            .issuer_name(name)
            .public_key(key.public_key())
            .serial_number(x509.random_serial_number())
            .not_valid_before(now - datetime.timedelta(days=1))
            .not_valid_after(now + datetime.timedelta(days=1))
            .add_extension(names, critical=False)
            .add_extension(x509.BasicConstraints(ca=True, path_length=None), True)
            .sign(key, hashes.SHA256())
        )
        self.ca_file = folder / "ca.pem"
        self.ca_file.write_bytes(certificate.public_bytes(serialization.Encoding.PEM))
        key_file = folder / "key.pem"
        key_file.write_bytes(
            key.private_bytes(
                serialization.Encoding.PEM,
                serialization.PrivateFormat.PKCS8,
                serialization.NoEncryption(),
            )
        )
        self.context = ssl.SSLContext(ssl.PROTOCOL_TLS_SERVER)
        self.context.load_cert_chain(self.ca_file, key_file)


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
        assert result.ttft_ms == pytest.approx(100, abs=30)
        assert result.max_gap_ms is not None and result.max_gap_ms < 100
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
    assert result.ttft_ms == pytest.approx(100, abs=30)
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
    assert result.ttft_ms == pytest.approx(50, abs=30)
    assert result.gap_p50_ms == pytest.approx(50, abs=30)


async def test_http2_is_not_insisted_on(authority, connections):
    async with serving(Player(SHORT).serve, ssl=authority.context) as port:
        modern = target(port, "https", ca_file=str(authority.ca_file), http2=True)
        result = await measure(modern, PROMPT, connections=connections)
    assert result.outcome == "ok"


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


LENGTH = b"content-length: %d\r\n\r\n"


@pytest.mark.parametrize(
    ("answer", "failure"),
    [
        (b"", Failure.CONNECTION),
        (b"HTTP/1.1 20", Failure.CONNECTION),
        (b"SSH-2.0-OpenSSH_9.9\r\n\r\n", Failure.PROTOCOL),
        (HEAD + b"transfer-encoding: chunked\r\n\r\nzz\r\n", Failure.PROTOCOL),
        (HEAD + LENGTH % 9 + b"data", Failure.TRUNCATED),
        (HEAD + LENGTH % 0, Failure.TRUNCATED),
        (HEAD + b"content-encoding: gzip\r\n\r\nnot gzip", Failure.PROTOCOL),
        (b"HTTP/1.1 302 Found\r\nlocation: /\r\n" + LENGTH % 0, Failure.PROTOCOL),
        (b"HTTP/1.1 500 No\r\n" + LENGTH % 9 + b"cut", Failure.SERVER),
        (b"HTTP/1.1 500 No\r\n" + LENGTH % 99_999 + b"x" * 99_999, Failure.SERVER),
        (HEAD + b"\r\n" + b"x" * 9_000_000, Failure.PROTOCOL),
    ],
)
async def test_broken_servers_have_their_names(answer, failure, connections):
    async with serving(saying(answer)) as port:
        result = await measure(target(port), PROMPT, SOON, connections=connections)
    assert result.error is failure


async def test_a_refusal_that_never_ends_is_not_waited_for(connections):
    async def stall(reader: asyncio.StreamReader, writer: asyncio.StreamWriter) -> None:
        await reader.readuntil(b"}")
        writer.write(b"HTTP/1.1 503 No\r\n" + LENGTH % 99 + b"overloaded")
        await asyncio.sleep(60)

    async with serving(stall) as port:
        result = await measure(target(port), PROMPT, connections=connections)
    assert result.error is Failure.OVERLOADED


async def test_a_server_that_compresses_against_our_wish_is_understood(connections):
    answer = HEAD + b"content-encoding: gzip\r\n\r\n" + gzip.compress(EVENTS)
    async with serving(saying(answer)) as port:
        result = await measure(target(port), PROMPT, SOON, connections=connections)
    assert result.outcome == "ok"
    assert result.bytes == len(EVENTS)


async def test_a_long_prompt_is_sent_before_the_time_starts(connections):
    """The server reads slowly: the time counts from the last byte, not the first."""

    async def slow(reader: asyncio.StreamReader, writer: asyncio.StreamWriter) -> None:
        head = await reader.readuntil(b"\r\n\r\n")
        size = int(head.lower().split(b"content-length: ")[1].split(b"\r\n")[0])
        await asyncio.sleep(0.3)
        await reader.readexactly(size)
        writer.write(HEAD + b"\r\n" + EVENTS)

    message = Message(role="user", content="word " * 4_000_000)
    prompt = Prompt(messages=(message,), max_tokens=5)
    async with serving(slow, limit=2**16) as port:
        result = await measure(target(port), prompt, connections=connections)
    assert result.outcome == "ok"
    assert result.ttft_ms is not None and result.ttft_ms < 250


async def test_an_answer_may_come_before_the_whole_request(connections):
    async def hasty(reader: asyncio.StreamReader, writer: asyncio.StreamWriter) -> None:
        await reader.readuntil(b"\r\n\r\n")
        body = b'{"error": {"message": "too large"}}'
        writer.write(b"HTTP/1.1 413 No\r\n" + LENGTH % len(body) + body)
        await writer.drain()
        writer.close()

    message = Message(role="user", content="word " * 2_000_000)
    prompt = Prompt(messages=(message,), max_tokens=5)
    async with serving(hasty) as port:
        result = await measure(target(port), prompt, SOON, connections=connections)
    assert result.error in (Failure.CLIENT, Failure.CONNECTION)


async def test_a_connection_is_used_again_where_that_is_wanted():
    async with Connections(reuse=True) as reusing, playing(SHORT) as player:
        reused = Target(protocol="openai", base_url=player.base_url, model="m")
        first = await measure(reused, PROMPT, connections=reusing)
        assert first.connect_ms is not None
        second = await measure(reused, PROMPT, connections=reusing)
        assert second.outcome == "ok"
        assert second.connect_ms is None
        assert second.ttft_ms == pytest.approx(100, abs=30)


async def test_a_connection_that_the_server_closed_is_not():
    answer = HEAD + LENGTH % len(EVENTS) + EVENTS
    async with Connections(reuse=True) as reusing, serving(saying(answer)) as port:
        for _ in range(2):
            result = await measure(target(port), PROMPT, connections=reusing)
            assert result.outcome == "ok"
            assert result.connect_ms is not None


async def test_a_connection_whose_answer_does_not_end_is_not_kept():
    async with (
        Connections(reuse=True) as reusing,
        playing(TAPES["openai-done-then-open"]) as player,
    ):
        open_ended = Target(protocol="openai", base_url=player.base_url, model="m")
        for _ in range(2):
            result = await measure(open_ended, PROMPT, connections=reusing)
            assert result.outcome == "ok"
            assert result.connect_ms is not None


async def test_what_is_sent_is_what_the_target_says(connections):
    async with playing(SHORT) as player:
        full = Target(
            protocol="openai",
            base_url=player.base_url,
            model="m",
            api_key=Secret("k1"),
            extra_headers={"X-Org": Secret("ö"), "User-Agent": Secret("mine")},
            extra_body={"seed": 7},
        )
        await measure(full, PROMPT, connections=connections)
        (request,) = player.requests
    assert request.head.startswith("POST /v1/chat/completions HTTP/1.1\r\n")
    lines = {line.lower() for line in request.head.split("\r\n")}
    assert {"authorization: bearer k1", "user-agent: mine", "x-org: ö"} <= lines
    assert "accept-encoding: identity" in lines
    assert request.body["seed"] == 7


async def test_a_refused_parameter_is_remembered(connections):
    async with playing(TAPES["refused-max-tokens-and-temperature"]) as player:
        fussy = Target(protocol="openai", base_url=player.base_url, model="m")
        result = await measure(fussy, PROMPT, connections=connections)
        assert result.quirks == {"max_tokens", "temperature"}
        knowing = Target(
            protocol="openai",
            base_url=player.base_url,
            model="m",
            quirks=result.quirks,
        )
        again = await measure(knowing, PROMPT, connections=connections)
        bodies = [request.body for request in player.requests]
    assert again.attempts == 1
    assert [("max_tokens" in b, "temperature" in b) for b in bodies] == [
        (True, True),
        (False, True),
        (False, False),
        (False, False),
    ]
    assert all(b["max_completion_tokens"] == 64 for b in bodies[1:])


async def test_a_parameter_that_the_target_asks_for_is_not_left_out(connections):
    async with playing(TAPES["refused-stream-options"]) as player:
        insisting = Target(
            protocol="openai",
            base_url=player.base_url,
            model="m",
            extra_body={"stream_options": {"include_usage": True}},
        )
        result = await measure(insisting, PROMPT, connections=connections)
    assert (result.error, result.attempts) == (Failure.CLIENT, 1)


async def test_a_protocol_that_nobody_speaks(connections):
    strange = Target(protocol="smoke", base_url="http://h", model="m")
    with pytest.raises(KeyError):
        await measure(strange, PROMPT, connections=connections)
