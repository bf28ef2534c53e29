"""From framed events to what they add to an answer."""

from __future__ import annotations

from collections.abc import Iterator

from probes.decoder import parse_objects
from probes.protocols.base import Delta, Protocol, ServerError
from probes.protocols.errors import MAX_MESSAGE_CHARS
from probes.wire import Event, ProtocolError

_END_MARKER = "[DONE]"
_KEEP_ALIVE_NAMES = frozenset({"ping", "keepalive", "keep-alive", "heartbeat"})


def read_event(protocol: Protocol, event: Event) -> Iterator[Delta]:
    """Yield what one event adds, nothing where it is a keep-alive.

    Raises ProtocolError where its text is not JSON. Some gateways forget the empty
    line between two events, so lines that are JSON each for itself are taken so.
    """
    text = event.data.strip()
    if not text or text.startswith(":") or event.name in _KEEP_ALIVE_NAMES:
        return
    if text == _END_MARKER:
        yield Delta(ended=True)
        return
    try:
        payloads = parse_objects(text)
    except ProtocolError:
        if event.name == "error":
            yield Delta(error=ServerError(message=text[:MAX_MESSAGE_CHARS]))
            return
        lines = text.split("\n")
        if len(lines) == 1:
            raise
        for line in lines:
            yield from read_event(protocol, Event(event.name, line))
        return
    for payload in payloads:
        yield protocol.read(event.name, payload)
