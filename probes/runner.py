"""Measures one probe: asks, times the answer, and asks again where that is fair."""

from __future__ import annotations

import asyncio
import json
import ssl
from collections.abc import Callable, Iterator
from dataclasses import replace
from functools import partial

import httpx

from probes.connections import Connection, Connections
from probes.exchange import Exchange
from probes.failures import refused_parameter, unexpected
from probes.protocols import PROTOCOLS
from probes.protocols.base import HttpRequest, Protocol
from probes.record import Record
from probes.redact import scrub
from probes.report import report
from probes.types import Failure, Measurement, Prompt, Target, Timeouts

MAX_ATTEMPTS = 3
_MANY_CHUNKS = 5_000
_CAPS = frozenset({"max_tokens", "max_completion_tokens"})
_HEADERS = {
    "accept": "text/event-stream, application/json",
    "accept-encoding": "identity",  # a proxy that compresses holds events back
    "cache-control": "no-cache",
    "content-type": "application/json",
    "user-agent": "tokenpulse",
}


async def measure(
    target: Target,
    prompt: Prompt,
    timeouts: Timeouts = Timeouts(),  # noqa: B008 - frozen
    *,
    connections: Connections,
) -> Measurement:
    """Return what one answer of ``target`` to ``prompt`` took.

    Whatever the endpoint does is an outcome and never raised. A request that is
    refused for one of our own parameters is sent again without it, at most twice;
    the figures are those of the last request alone, and ``quirks`` is what to give
    with the target next time. Raises KeyError for a protocol that is not known.
    """
    protocol = PROTOCOLS[target.protocol]
    attempts = 0
    while True:
        attempts += 1
        request = protocol.build(target, prompt)
        record = await _exchange(protocol, request, target, timeouts, connections)
        refused = _refused(record, request, target)
        if refused is None or attempts == MAX_ATTEMPTS:
            break
        target = replace(target, quirks=_with(target.quirks, refused))
    return replace(
        await _reported(record, partial(_shown, target=target, prompt=prompt)),
        attempts=attempts,
        quirks=target.quirks | record.answer.quirks,
    )


async def _exchange(
    protocol: Protocol,
    request: HttpRequest,
    target: Target,
    timeouts: Timeouts,
    connections: Connections,
) -> Record:
    """Send one request on a connection of its own, or on an idle one."""
    try:
        http_request = _http_request(request)
        connection = await connections.acquire(target, http_request.url)
    except (httpx.InvalidURL, ssl.SSLError, OSError, ValueError) as error:
        return _unusable(error)
    began_s = asyncio.get_running_loop().time()
    with connections.lag as lag:
        try:
            exchange = Exchange(protocol, http_request, connection, timeouts)
            record = await exchange.run(drain=connections.reuse)
        finally:
            await connections.release(connection)
        record.late_ms = lag.since_ms(began_s)
    _note_phases(record, connection)
    return record


async def _reported(record: Record, show: Callable[[str], str]) -> Measurement:
    """Return the figures; those of a flood are summed up beside the loop."""
    try:
        if len(record.tokens) > _MANY_CHUNKS:
            return await asyncio.to_thread(report, record, show)
        return report(record, show)
    except Exception as error:  # a fault of ours that this endpoint found
        return Measurement(
            outcome="error",
            error=Failure.PROTOCOL,
            error_text=unexpected(error),
            http_status=record.status,
        )


def _shown(text: str, target: Target, prompt: Prompt) -> str:
    """Return what may be shown of a text of the server's, which may echo anything."""
    if text == target.model:
        return text  # long names look like secrets, and this one was told to us
    return scrub(text, _secrets(target), _contents(prompt))


def _http_request(request: HttpRequest) -> httpx.Request:
    secret = {name.lower(): value.reveal() for name, value in request.headers.items()}
    headers = [
        (name.encode(), value.encode())
        for name, value in {**_HEADERS, **secret}.items()
    ]
    content = json.dumps(request.body).encode()
    return httpx.Request("POST", request.url, headers=headers, content=content)


def _unusable(error: Exception) -> Record:
    """Return the record of a request that the target's settings do not allow."""
    record = Record()
    is_tls = isinstance(error, ssl.SSLError | OSError)
    record.fail(Failure.TLS if is_tls else Failure.CONNECTION, str(error))
    return record


def _note_phases(record: Record, connection: Connection) -> None:
    if not connection.is_reused:
        record.dns_ms = connection.backend.dns_ms
        record.connect_ms = connection.backend.connect_ms


def _refused(record: Record, request: HttpRequest, target: Target) -> str | None:
    """Return the parameter for which the server would not even begin to answer.

    A parameter that the target itself asks for is left to stand.
    """
    error = record.refusal or record.answer.error
    if error is None or record.tokens.has_tokens:
        return None
    if record.failure not in (Failure.CLIENT, Failure.SERVER, Failure.STREAM_ERROR):
        return None
    ours = (name for name in request.droppable if name not in target.extra_body)
    return refused_parameter(error, tuple(ours))


def _with(quirks: frozenset[str], refused: str) -> frozenset[str]:
    """Return ``quirks`` with one more; of the two caps only the last refusal counts."""
    if refused in _CAPS:
        quirks -= _CAPS
    return quirks | {refused}


def _secrets(target: Target) -> Iterator[str]:
    if target.api_key is not None:
        yield target.api_key.reveal()
    for value in target.extra_headers.values():
        yield value.reveal()
    if target.proxy is not None:
        proxy = httpx.URL(target.proxy)
        yield from filter(None, (proxy.username, proxy.password))


def _contents(prompt: Prompt) -> Iterator[str]:
    return (message.content for message in prompt.messages)
