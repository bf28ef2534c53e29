"""Newline-delimited JSON, cut into lines as the bytes come in."""

from __future__ import annotations

from probes.wire import ByteBudget, Event


class NdjsonDecoder:
    """Turns bytes into one event a line. Only LF ends a line; CR before it is space."""

    def __init__(self, budget: ByteBudget | None = None) -> None:
        self._budget = budget or ByteBudget()
        self._line = bytearray()

    def feed(self, chunk: bytes) -> list[Event]:
        """Return the lines that ``chunk`` completes.

        Raises ProtocolError where the answer grows over the limit.
        """
        self._budget.spend(len(chunk))
        first, *others = chunk.split(b"\n")
        self._line += first
        events: list[Event] = []
        for start in others:
            events += self.flush()
            self._line += start
        return events

    def flush(self) -> list[Event]:
        """Return the line that the end of the body left without its LF."""
        line = self._line.decode("utf-8", errors="replace").strip()
        self._line.clear()
        return [Event("", line)] if line else []
