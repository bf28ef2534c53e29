"""The values that flow through a probe: what is asked, and what was measured.

Every duration is in milliseconds and counts from the moment at which the request
was fully handed to the kernel, unless its name says otherwise. A figure that could
not be measured is ``None``, never 0.
"""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, field
from enum import StrEnum
from typing import Any, Literal


class Secret:
    """A string that shows itself only where it is asked to."""

    __slots__ = ("_value",)

    def __init__(self, value: str) -> None:
        self._value = value

    def reveal(self) -> str:
        return self._value

    def __repr__(self) -> str:
        return "Secret(…)"

    __str__ = __repr__

    def __eq__(self, other: object) -> bool:
        return isinstance(other, Secret) and other._value == self._value

    def __hash__(self) -> int:
        return hash(self._value)


class Failure(StrEnum):
    """Why a probe has no complete answer. The names are part of the API."""

    DNS = "dns"
    CONNECTION = "connection"
    TLS = "tls"
    TIMEOUT_CONNECT = "timeout_connect"
    TIMEOUT_FIRST_TOKEN = "timeout_first_token"
    TIMEOUT_IDLE = "timeout_idle"
    TIMEOUT_TOTAL = "timeout_total"
    AUTH = "auth"
    RATE_LIMITED = "rate_limited"
    OVERLOADED = "overloaded"
    CLIENT = "client"
    SERVER = "server"
    PROTOCOL = "protocol"
    STREAM_ERROR = "stream_error"
    TRUNCATED = "truncated"
    EMPTY = "empty"
    CONTENT_FILTER = "content_filter"


class FinishReason(StrEnum):
    """Why the server ended its answer, in one vocabulary for all protocols."""

    STOP = "stop"
    LENGTH = "length"
    TOOL_CALLS = "tool_calls"
    CONTENT_FILTER = "content_filter"
    ERROR = "error"


@dataclass(frozen=True, slots=True, kw_only=True)
class Target:
    """Where a probe goes: one model behind one base URL.

    ``base_url`` is what the vendor's own SDK takes. ``extra_body`` is merged into
    the request's JSON, ``extra_headers`` into its headers; header values are secret
    because gateways carry keys in them. ``quirks`` are parameters that this endpoint
    is known to refuse, or with a ``+`` to know, as an earlier ``Measurement.quirks``
    returned them.
    """

    protocol: str
    base_url: str
    model: str
    api_key: Secret | None = None
    extra_headers: Mapping[str, Secret] = field(default_factory=dict)
    extra_body: Mapping[str, Any] = field(default_factory=dict)
    azure_api_version: str | None = None
    ca_file: str | None = None
    proxy: str | None = field(default=None, repr=False)
    http2: bool = False
    quirks: frozenset[str] = frozenset()


@dataclass(frozen=True, slots=True, kw_only=True)
class Message:
    role: Literal["system", "user", "assistant"]
    content: str = field(repr=False)


@dataclass(frozen=True, slots=True, kw_only=True)
class Prompt:
    """What is asked. ``max_tokens`` caps the answer, in tokens."""

    messages: tuple[Message, ...]
    max_tokens: int


@dataclass(frozen=True, slots=True, kw_only=True)
class Timeouts:
    """Limits in seconds. Only token-bearing events reset ``idle_s``."""

    connect_s: float = 10.0
    first_token_s: float = 60.0
    idle_s: float = 30.0
    total_s: float = 300.0


@dataclass(frozen=True, slots=True, kw_only=True)
class Measurement:
    """One probe's result; ``docs/metrics.md`` defines each figure.

    ``timeline`` holds a pair for each token-bearing event: milliseconds from sent,
    and tokens in it (fractional where a total was shared over the events).
    """

    outcome: Literal["ok", "error"]
    error: Failure | None = None
    error_text: str | None = None
    http_status: int | None = None
    retry_after_s: float | None = None
    attempts: int = 1
    ttft_ms: float | None = None
    ttfa_ms: float | None = None
    total_ms: float | None = None
    end_ms: float | None = None
    headers_ms: float | None = None
    dns_ms: float | None = None
    connect_ms: float | None = None
    tls_ms: float | None = None
    output_tokens: int | None = None
    reasoning_tokens: int | None = None
    input_tokens: int | None = None
    cached_input_tokens: int | None = None
    cache_write_input_tokens: int | None = None
    token_source: Literal["usage", "chunks"] | None = None
    tokens_per_second: float | None = None
    gap_p50_ms: float | None = None
    gap_p95_ms: float | None = None
    max_gap_ms: float | None = None
    stall_count: int | None = None
    tail_speed_ratio: float | None = None
    slowest_1s_tokens_per_second: float | None = None
    rebuffer_s: float | None = None
    buffered: bool = False
    streamed: bool | None = None
    finish_reason: FinishReason | None = None
    model_reported: str | None = None
    answer_chars: int | None = None
    chunks: int | None = None
    bytes: int | None = None
    clock: Literal["kernel", "user"] | None = None
    uncertainty_ms: float | None = None
    loop_lag_ms: float | None = None
    quirks: frozenset[str] = frozenset()
    timeline: tuple[tuple[float, float], ...] = ()
