"""Servers on real sockets that say what a test wants said."""

from __future__ import annotations

import asyncio
import datetime
import ipaddress
import json
import ssl
from collections.abc import AsyncIterator, Awaitable, Callable
from contextlib import asynccontextmanager
from pathlib import Path

from cryptography import x509
from cryptography.hazmat.primitives import hashes, serialization
from cryptography.hazmat.primitives.asymmetric import ec

from probes.types import Message, Prompt, Target, Timeouts
from tests.tape_player import load_tapes

PROMPT = Prompt(messages=(Message(role="user", content="Say it."),), max_tokens=64)
TAPES = {tape["name"]: tape for tape in load_tapes()}
SHORT = TAPES["openai-finish-no-done"]
SOON = Timeouts(connect_s=0.5, first_token_s=1, idle_s=1, total_s=5)

CHUNK = {"choices": [{"delta": {"content": "word "}, "finish_reason": "stop"}]}
EVENTS = f"data: {json.dumps(CHUNK)}\n\ndata: [DONE]\n\n".encode()
HEAD = b"HTTP/1.1 200 OK\r\ncontent-type: text/event-stream\r\n"

Handler = Callable[[asyncio.StreamReader, asyncio.StreamWriter], Awaitable[None]]


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
