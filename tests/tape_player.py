"""Plays a tape: exact bytes of HTTP at exact times, on a real socket.

``tests/tapes/README.md`` says what a tape is made of.
"""

from __future__ import annotations

import asyncio
import base64
import json
import socket
import struct
from collections.abc import AsyncIterator, Iterable
from contextlib import asynccontextmanager
from dataclasses import dataclass, field
from http import HTTPStatus
from pathlib import Path
from typing import Any

TAPES = Path(__file__).parent / "tapes"
LINGER_AT_ONCE = struct.pack("ii", 1, 0)

WATCH_S = 0.004

Tape = dict[str, Any]

BASE_PATHS = {"openai": "/v1", "openai-responses": "/v1", "gemini": "/v1beta"}


def load_tapes() -> list[Tape]:
    return [json.loads(path.read_text()) for path in sorted(TAPES.glob("*.json"))]


@dataclass
class Request:
    head: str
    body: Any


@dataclass
class Player:
    """A server that answers its n-th request with the tape's n-th take.

    ``late_ms`` is how late its own event loop was at worst, and so its bytes: a
    measurement can be no nearer to the tape than that.
    """

    tape: Tape
    port: int = 0
    late_ms: float = 0.0
    requests: list[Request] = field(default_factory=list)

    @property
    def base_url(self) -> str:
        path = BASE_PATHS.get(self.tape["protocol"], "")
        return f"http://127.0.0.1:{self.port}{path}"

    async def watch_itself(self) -> None:
        loop = asyncio.get_running_loop()
        while True:
            due = loop.time() + WATCH_S
            await asyncio.sleep(WATCH_S)
            self.late_ms = max(self.late_ms, (loop.time() - due) * 1000)

    async def serve(
        self, reader: asyncio.StreamReader, writer: asyncio.StreamWriter
    ) -> None:
        try:
            while True:
                self.requests.append(await read_request(reader))
                await self._play(self._take(), writer)
        except (asyncio.IncompleteReadError, ConnectionError):
            pass
        finally:
            writer.close()

    def _take(self) -> Tape:
        takes = self.tape.get("takes") or [self.tape]
        take: Tape = takes[min(len(self.requests), len(takes)) - 1]
        return take

    async def _play(self, take: Tape, writer: asyncio.StreamWriter) -> None:
        began = asyncio.get_running_loop().time()
        framing = take.get("framing", "chunked")
        end = take.get("end", "done")
        if end == "drop-before-headers":
            raise ConnectionAbortedError
        await until(began, take.get("headers_at_ms", 0))
        writer.write(head_of(take))
        for step in take.get("steps", []):
            await until(began, step.get("at_ms", 0))
            writer.write(framed(payload_of(step), framing))
        await until(began, take.get("end_at_ms", 0))
        if end == "hang":
            await asyncio.sleep(3600)
        if end == "reset":
            reset(writer)
        if end == "close" or framing == "close":
            raise ConnectionAbortedError
        if framing == "chunked":
            writer.write(b"0\r\n\r\n")


def reset(writer: asyncio.StreamWriter) -> None:
    sock = writer.get_extra_info("socket")
    sock.setsockopt(socket.SOL_SOCKET, socket.SO_LINGER, LINGER_AT_ONCE)
    writer.transport.abort()
    raise ConnectionResetError


async def until(began: float, at_ms: float) -> None:
    left = began + at_ms / 1000 - asyncio.get_running_loop().time()
    if left > 0:
        await asyncio.sleep(left)


async def read_request(reader: asyncio.StreamReader) -> Request:
    head = (await reader.readuntil(b"\r\n\r\n")).decode()
    headers = dict(
        line.lower().split(": ", 1) for line in head.split("\r\n")[1:] if ": " in line
    )
    body = await reader.readexactly(int(headers.get("content-length", 0)))
    return Request(head, json.loads(body) if body else None)


def head_of(take: Tape) -> bytes:
    status = take.get("status", 200)
    headers = {"content-type": "text/event-stream", **take.get("headers", {})}
    framing = take.get("framing", "chunked")
    if framing == "chunked":
        headers["transfer-encoding"] = "chunked"
    elif framing == "length":
        size = sum(len(payload_of(step)) for step in take.get("steps", []))
        headers["content-length"] = str(size)
    else:
        headers["connection"] = "close"
    reasons = {known.value: known.phrase for known in HTTPStatus}
    lines = [f"HTTP/1.1 {status} {reasons.get(status, 'Overloaded')}"]
    lines += [f"{name}: {value}" for name, value in headers.items()]
    return ("\r\n".join(lines) + "\r\n\r\n").encode()


def payload_of(step: dict[str, Any]) -> bytes:
    if "b64" in step:
        return base64.b64decode(step["b64"])
    if "raw" in step:
        return str(step["raw"]).encode()
    if "ndjson" in step:
        return json.dumps(step["ndjson"], ensure_ascii=False).encode() + b"\n"
    if "json" in step:
        return json.dumps(step["json"], ensure_ascii=False).encode()
    data = step["sse"]
    if not isinstance(data, str):
        data = json.dumps(data, ensure_ascii=False)
    name = f"event: {step['event']}\n" if "event" in step else ""
    return f"{name}data: {data}\n\n".encode()


def framed(payload: bytes, framing: str) -> bytes:
    if framing != "chunked" or not payload:
        return payload
    return b"%x\r\n%s\r\n" % (len(payload), payload)


@asynccontextmanager
async def playing(tape: Tape) -> AsyncIterator[Player]:
    """Serve ``tape`` on a free port for as long as the block lasts."""
    player = Player(tape)
    tasks = {asyncio.create_task(player.watch_itself())}

    def connected(reader: asyncio.StreamReader, writer: asyncio.StreamWriter) -> None:
        task = asyncio.create_task(player.serve(reader, writer))
        tasks.add(task)

    server = await asyncio.start_server(connected, "127.0.0.1", 0)
    player.port = server.sockets[0].getsockname()[1]
    try:
        yield player
    finally:
        server.close()
        for task in tasks:
            task.cancel()
        await asyncio.gather(*tasks, return_exceptions=True)


def differences(
    expected: dict[str, Any], got: dict[str, Any], late_ms: float = 0.0
) -> Iterable[str]:
    """Yield where ``got`` is not as ``expected``: times ±15 ms, rates ±5 %.

    ``late_ms`` widens both by as much as the server's own bytes may have been late.
    """
    span_ms = (got["total_ms"] or 0) - (got["ttft_ms"] or 0) or 1000
    for name, value in expected.items():
        found = got[name]
        if value is None or found is None or isinstance(value, bool | str):
            agrees = found == value
        elif name.endswith("_ms"):
            agrees = abs(found - value) <= 15 + 2 * late_ms
        elif name in ("tokens_per_second", "tail_speed_ratio"):
            agrees = abs(found - value) <= value * (0.05 + 2 * late_ms / span_ms)
        else:
            agrees = found == value
        if not agrees:
            yield f"{name}: expected {value}, got {found}, server late {late_ms} ms"
