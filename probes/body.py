"""One body that is a whole answer: what a server sends that does not stream."""

from __future__ import annotations

from probes.wire import ByteBudget, Event


class BodyDecoder:
    """Gathers the body; its only event comes from ``flush``."""

    def __init__(self, budget: ByteBudget | None = None) -> None:
        self._budget = budget or ByteBudget()
        self._body = bytearray()

    def feed(self, chunk: bytes) -> list[Event]:
        """Keep ``chunk``. Raises ProtocolError where the body grows over the limit."""
        self._budget.spend(len(chunk))
        self._body += chunk
        return []

    def flush(self) -> list[Event]:
        """Return the whole body as one event."""
        return [Event("", self._body.decode("utf-8-sig", errors="replace"))]
