"""The true times of the last requests, for tests and benchmarks to compare with."""

from __future__ import annotations

import time
from array import array
from collections import deque
from dataclasses import dataclass, field
from typing import Any


@dataclass(frozen=True, slots=True)
class Stamp:
    """A moment on both clocks; the monotonic one is shared by all local processes."""

    monotonic_ns: int
    wall_ns: int

    @classmethod
    def now(cls) -> Stamp:
        return cls(time.monotonic_ns(), time.time_ns())

    def as_json(self) -> dict[str, int]:
        return {"monotonic_ns": self.monotonic_ns, "wall_ns": self.wall_ns}


@dataclass(slots=True, eq=False)
class Record:
    """One request. Times are taken when the write to the socket has returned."""

    id: str
    model: str
    stream: bool
    received: Stamp
    """When the last byte of the request had been read."""
    prompt_tokens: int
    cached_tokens: int
    outcome: str = "running"
    """``ok``, ``cut``, ``disconnected``, the status of a refusal, or ``running``."""
    queue_length: int = 0
    """Requests that waited already when this one joined the queue."""
    batch: int = 0
    """Requests in the batch, this one included, when it got its slot."""
    queued_ms: float | None = None
    first_token: Stamp | None = None
    last_token: Stamp | None = None
    latest_ms: float = 0.0
    """How late the latest token was, against the moment it was due."""
    token_ns: array[int] = field(default_factory=lambda: array("q"))
    """Monotonic time of every token."""

    @property
    def ttft_ms(self) -> float | None:
        """From the request's last byte to the first token written."""
        if self.first_token is None:
            return None
        return (self.first_token.monotonic_ns - self.received.monotonic_ns) / 1e6

    def token_written(self, late_s: float) -> None:
        self.last_token = Stamp.now()
        self.first_token = self.first_token or self.last_token
        self.latest_ms = max(self.latest_ms, late_s * 1000.0)
        self.token_ns.append(self.last_token.monotonic_ns)

    def as_json(self, with_tokens: bool) -> dict[str, Any]:
        shown: dict[str, Any] = {
            "id": self.id,
            "model": self.model,
            "stream": self.stream,
            "outcome": self.outcome,
            "prompt_tokens": self.prompt_tokens,
            "cached_tokens": self.cached_tokens,
            "tokens_written": len(self.token_ns),
            "queue_length": self.queue_length,
            "queued_ms": self.queued_ms,
            "batch": self.batch,
            "latest_ms": round(self.latest_ms, 3),
            "received": self.received.as_json(),
            "first_token": self.first_token and self.first_token.as_json(),
            "last_token": self.last_token and self.last_token.as_json(),
        }
        if with_tokens:
            shown["token_monotonic_ns"] = self.token_ns.tolist()
        return shown


class RequestLog:
    """A ring of the last ``capacity`` requests."""

    def __init__(self, capacity: int = 2_000) -> None:
        self._records: deque[Record] = deque(maxlen=capacity)

    def add(self, record: Record) -> None:
        self._records.append(record)

    def newest(self, count: int, model: str | None = None) -> list[Record]:
        """The last ``count`` requests, of ``model`` if given, oldest first."""
        chosen = [r for r in self._records if model is None or r.model == model]
        return chosen[-count:] if count > 0 else []
