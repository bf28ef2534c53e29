"""Server-sent events, decoded as the bytes come in.

Follows the WHATWG event stream format: lines end with CR, LF or CRLF and with
nothing else, the space behind the colon is optional, lines that start with a colon
are comments, several ``data`` lines are one text. Two departures, both for servers
that exist: an event that the end of the body cuts off before its empty line is still
given by ``flush``, and a field named ``error`` is an event of that name (llama.cpp).
"""

from __future__ import annotations

import re

from probes.wire import ByteBudget, Event

_LINE_END = re.compile(rb"\r\n|\r|\n")
_BYTE_ORDER_MARK = "\ufeff"


class SseDecoder:
    """Turns bytes into events, however the bytes are cut. Linear in their number."""

    def __init__(self, budget: ByteBudget | None = None) -> None:
        self._budget = budget or ByteBudget()
        self._line = bytearray()
        self._after_cr = False
        self._at_start = True
        self._name = ""
        self._data: list[str] = []

    def feed(self, chunk: bytes) -> list[Event]:
        """Return the events that ``chunk`` completes.

        Raises ProtocolError where the answer grows over the limit.
        """
        self._budget.spend(len(chunk))
        if self._after_cr and chunk:
            # The CR has ended its line already, so that no event waits for this LF.
            chunk = chunk.removeprefix(b"\n")
            self._after_cr = False
        self._after_cr = self._after_cr or chunk.endswith(b"\r")
        events: list[Event] = []
        first, *others = _LINE_END.split(chunk)
        self._line += first
        for start in others:
            self._end_line(events)
            self._line += start
        return events

    def flush(self) -> list[Event]:
        """Return the event that the end of the body left without its empty line."""
        events: list[Event] = []
        if self._line:
            self._end_line(events)
        self._dispatch(events)
        return events

    def _end_line(self, events: list[Event]) -> None:
        line = self._line.decode("utf-8", errors="replace")
        self._line.clear()
        if self._at_start:
            line = line.removeprefix(_BYTE_ORDER_MARK)
            self._at_start = False
        if line:
            self._field(line)
        else:
            self._dispatch(events)

    def _field(self, line: str) -> None:
        field, _, value = line.partition(":")
        value = value.removeprefix(" ")
        if field == "data":
            self._data.append(value)
        elif field == "event":
            self._name = value
        elif field == "error":
            self._name = field
            self._data.append(value)

    def _dispatch(self, events: list[Event]) -> None:
        if self._data:
            events.append(Event(self._name, "\n".join(self._data)))
            self._data = []
        self._name = ""
