"""Finds out how an answer is framed, and decodes it.

A server that was asked to stream may send one JSON body instead, or the right bytes
under the wrong content type. So the first byte decides and the type is a hint.
"""

from __future__ import annotations

import json
from typing import Any, Literal, Protocol

from probes.body import BodyDecoder
from probes.ndjson import NdjsonDecoder
from probes.sse import SseDecoder
from probes.wire import ByteBudget, Event, ProtocolError

Framing = Literal["sse", "ndjson"]

MAX_OBJECTS = 64
"""The most JSON objects of one event."""

MAX_VALUES = 50_000
"""The most JSON values of one event, as its brackets and commas count them."""

_INTEGER_DIGITS = 20
_EVENT_STREAM = "text/event-stream"
_SPACE = b" \t\r\n\xef\xbb\xbf"


class Decoder(Protocol):
    """Bytes in, events out; the end of the body gives what is left."""

    def feed(self, chunk: bytes) -> list[Event]: ...

    def flush(self) -> list[Event]: ...


class AnswerDecoder:
    """The decoder of one answer's body, whatever that turns out to be.

    ``streamed`` is false where one JSON body came, null as long as it is not known.
    """

    def __init__(self, framing: Framing, media_type: str) -> None:
        self._framing = framing
        self._media_type = media_type.partition(";")[0].strip().lower()
        self._budget = ByteBudget()
        self._head = bytearray()
        self._decoder: Decoder | None = None
        self._events = 0
        self.streamed: bool | None = None

    def feed(self, chunk: bytes) -> list[Event]:
        """Return the events that ``chunk`` completes; raises ProtocolError."""
        if self._decoder is None:
            chunk = chunk if self._head else chunk.lstrip(_SPACE)
            self._head += chunk
            self._decoder = self._choose(chunk)
            if self._decoder is None:
                return []
            chunk = bytes(self._head)
        return self._count(self._decoder.feed(chunk))

    def flush(self) -> list[Event]:
        """Return what the end of the body completes; raises ProtocolError."""
        events: list[Event] = []
        if self._decoder is None and self._head:
            self._decoder = self._whole_body()
            events = self._count(self._decoder.feed(bytes(self._head)))
        if self._decoder is not None:
            events += self._count(self._decoder.flush())
        if self.streamed and not self._events and self._media_type != _EVENT_STREAM:
            raise ProtocolError("the answer is neither an event stream nor JSON")
        return events

    def _count(self, events: list[Event]) -> list[Event]:
        self._events += len(events)
        if self._framing == "ndjson" and self._media_type == "application/json":
            self.streamed = self._events > 1
        return events

    def _choose(self, chunk: bytes) -> Decoder | None:
        """Return the decoder that fits, None while there is too little to tell."""
        if self._media_type == "text/html" or self._head.startswith(b"<"):
            raise ProtocolError("the answer is an HTML or XML page")
        if not self._head:
            return None
        if self._framing == "ndjson":
            return self._choose_lines(chunk)
        if self._head.startswith((b"{", b"[")):
            return self._whole_body()
        self.streamed = True
        return SseDecoder(self._budget)

    def _choose_lines(self, chunk: bytes) -> Decoder | None:
        if not self._head.startswith(b"{"):
            raise ProtocolError("the answer is not JSON")
        if self._media_type == "application/json":
            if b"\n" not in chunk:
                if len(self._head) > self._budget.limit:
                    self._budget.spend(len(self._head))
                return None
            if not _is_json(self._head.partition(b"\n")[0]):
                return self._whole_body()
        self.streamed = True
        return NdjsonDecoder(self._budget)

    def _whole_body(self) -> Decoder:
        self.streamed = False
        return BodyDecoder(self._budget)


def parse_objects(text: str) -> list[dict[str, Any]]:
    """Return the JSON objects that ``text`` is; raises ProtocolError.

    Nothing else runs while JSON is parsed, which takes up to 1 µs a value and next
    to nothing for long strings: so it is the values that are limited.
    """
    if len(text) > MAX_VALUES and sum(map(text.count, "[{,")) > MAX_VALUES:
        raise ProtocolError(f"an event has more than {MAX_VALUES} values")
    try:
        value = _JSON.decode(text)
    except (ValueError, RecursionError):
        raise ProtocolError("an event is not JSON") from None
    objects = value if isinstance(value, list) else [value]
    if len(objects) > MAX_OBJECTS:
        raise ProtocolError(f"an event has more than {MAX_OBJECTS} objects")
    if not all(isinstance(item, dict) for item in objects):
        raise ProtocolError("an event is not a JSON object")
    return objects


def _integer(digits: str) -> int | float:
    """Return an integer, a float where it is long: that takes quadratic time."""
    return int(digits) if len(digits) <= _INTEGER_DIGITS else float(digits)


_JSON = json.JSONDecoder(parse_int=_integer)


def _is_json(line: bytearray) -> bool:
    try:
        parse_objects(line.decode("utf-8", errors="replace"))
    except ProtocolError:
        return False
    return True
