"""From framed events to what they add to an answer."""

from __future__ import annotations

from probes.decoder import parse_objects
from probes.protocols.base import Delta, Protocol, ServerError
from probes.wire import Event, ProtocolError

_END_MARKER = "[DONE]"
_KEEP_ALIVE_NAMES = frozenset({"ping", "keepalive", "keep-alive", "heartbeat"})


def read_event(protocol: Protocol, event: Event) -> list[Delta]:
    """Return what one event adds, nothing where it is a keep-alive.

    Raises ProtocolError where its text is not JSON. Some gateways forget the empty
    line between two events, so lines that are JSON each for itself are taken so.
    """
    text = event.data.strip()
    if not text or text.startswith(":") or event.name in _KEEP_ALIVE_NAMES:
        return []
    if text == _END_MARKER:
        return [Delta(ended=True)]
    try:
        payloads = parse_objects(text)
    except ProtocolError:
        if event.name == "error":
            return [Delta(error=ServerError(message=text))]
        lines = text.split("\n")
        if len(lines) == 1:
            raise
        events = (Event(event.name, line) for line in lines)
        return [delta for line in events for delta in read_event(protocol, line)]
    return [protocol.read(event.name, payload) for payload in payloads]
