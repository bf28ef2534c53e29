"""What the decoders share: their limit, their one error, and what they yield."""

from __future__ import annotations

from typing import NamedTuple

MAX_BODY_BYTES = 8 * 1024 * 1024
"""The most of one answer that is read; nothing that streams tokens is longer."""


class ProtocolError(Exception):
    """The bytes are not what the protocol allows. The only error a decoder raises."""


class Event(NamedTuple):
    """One event as it was framed: its name, empty where it has none, and its text."""

    name: str
    data: str


class ByteBudget:
    """Counts an answer's bytes and refuses what is over the limit."""

    __slots__ = ("limit", "used")

    def __init__(self, limit: int = MAX_BODY_BYTES) -> None:
        self.limit = limit
        self.used = 0

    def spend(self, count: int) -> None:
        self.used += count
        if self.used > self.limit:
            raise ProtocolError(f"the answer is longer than {self.limit} bytes")
