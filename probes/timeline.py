"""The timing of one answer: what came when, and the figures that follow from it.

Pure: the times are arguments. The rules are in docs/metrics.md.
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import Literal, NamedTuple

from probes import smoothness
from probes.protocols.base import Delta, Usage
from probes.smoothness import Gaps
from probes.token_shares import Total, share_tokens

BUFFERED_MS = 20.0
_BUFFERED_MIN_TOKENS = 8


class Arrival(NamedTuple):
    """One receive from the network.

    ``at_ms`` is when its last bytes reached this host, ``since_ms`` the earliest
    moment at which its first ones can have, both from the moment of sending.
    """

    serial: int
    at_ms: float
    since_ms: float


@dataclass(slots=True)
class _Chunk:
    """One token-bearing event. ``followed``: more came in the same receive."""

    arrival: Arrival
    length: int
    is_answer: bool
    followed: bool = False


@dataclass(frozen=True, slots=True, kw_only=True)
class Figures:
    """What a timeline amounts to; ``Measurement`` says what each figure means."""

    ttft_ms: float | None
    ttfa_ms: float | None
    last_token_ms: float | None
    output_tokens: int | None
    token_source: Literal["usage", "chunks"] | None
    tokens_per_second: float | None
    gaps: Gaps
    tail_speed_ratio: float | None
    slowest_1s_tokens_per_second: float | None
    rebuffer_s: float | None
    buffered: bool
    chunks: int
    timeline: tuple[tuple[float, float], ...]


class TokenTimeline:
    """Gathers the token-bearing events of one answer."""

    def __init__(self) -> None:
        self._chunks: list[_Chunk] = []
        self._running: list[tuple[int, Usage]] = []
        self._reasoning_seen = False
        self._latest_serial: int | None = None
        self._latest_chunk: _Chunk | None = None

    def observe(self, arrival: Arrival, delta: Delta) -> bool:
        """Take in one event; return whether it bore a token."""
        if self._latest_chunk and arrival.serial == self._latest_serial:
            self._latest_chunk.followed = True
        self._latest_serial = arrival.serial
        length = len(delta.answer) + len(delta.reasoning) + len(delta.tool_call)
        self._latest_chunk = None
        if length:
            is_answer = bool(delta.answer or delta.tool_call)
            self._latest_chunk = _Chunk(arrival, length, is_answer)
            self._chunks.append(self._latest_chunk)
            self._reasoning_seen |= bool(delta.reasoning)
        if self._chunks and delta.usage and delta.usage.output_tokens:
            self._running.append((len(self._chunks), delta.usage))
        return bool(length)

    def __len__(self) -> int:
        """Return how many events bore a token."""
        return len(self._chunks)

    @property
    def has_tokens(self) -> bool:
        return bool(self._chunks)

    @property
    def has_answer(self) -> bool:
        return any(chunk.is_answer for chunk in self._chunks)

    def ambiguity_ms(self, late_ms: float) -> float:
        """Return how much earlier the first or the last token may have come.

        Bytes that are received together bear the stamp of the last of them. Two
        arrivals can only be received together where the reader was late, so that
        ``late_ms``, the longest it was, bounds the error as well.
        """
        ends = (self._chunks[0], self._chunks[-1]) if self._chunks else ()
        return max(
            (
                min(chunk.arrival.at_ms - chunk.arrival.since_ms, late_ms)
                for chunk in ends
                if chunk.followed
            ),
            default=0.0,
        )

    def figures(self, usage: Usage) -> Figures:
        """Return the figures, with ``usage`` as it stood at the end."""
        visible = self._visible_tokens(usage)
        timeline = self._share(usage, visible)
        times = [at_ms for at_ms, _ in timeline]
        span_ms = times[-1] - times[0] if times else 0.0
        buffered = span_ms <= BUFFERED_MS and visible > _BUFFERED_MIN_TOKENS
        rated = () if buffered else timeline
        answer = (c.arrival.at_ms for c in self._chunks if c.is_answer)
        return Figures(
            ttft_ms=times[0] if times else None,
            ttfa_ms=next(answer, None),
            last_token_ms=times[-1] if times else None,
            output_tokens=usage.output_tokens if self._told(usage) else visible or None,
            token_source=self._source(usage),
            tokens_per_second=smoothness.tokens_per_second(rated),
            gaps=smoothness.gaps(timeline),
            tail_speed_ratio=smoothness.tail_speed_ratio(rated),
            slowest_1s_tokens_per_second=smoothness.slowest_1s_tokens_per_second(rated),
            rebuffer_s=smoothness.rebuffer_s(timeline),
            buffered=buffered,
            chunks=len(timeline),
            timeline=timeline,
        )

    def _told(self, usage: Usage) -> bool:
        """Return whether the server told a number that the stream does not refute."""
        if usage.output_tokens is None:
            return False
        return usage.output_tokens > 0 or not self._chunks

    def _source(self, usage: Usage) -> Literal["usage", "chunks"] | None:
        if self._told(usage):
            return "usage"
        return "chunks" if self._chunks else None

    def _visible_tokens(self, usage: Usage) -> int:
        """Return the tokens that were streamed: hidden reasoning never was."""
        if not self._told(usage):
            return len(self._chunks)
        output = usage.output_tokens or 0
        hidden = self._hidden(usage)
        return output - hidden if output > hidden else output

    def _hidden(self, usage: Usage) -> int:
        return 0 if self._reasoning_seen else usage.reasoning_tokens or 0

    def _share(self, usage: Usage, visible: int) -> tuple[tuple[float, float], ...]:
        if not self._chunks:
            return ()
        totals = []
        if self._told(usage):
            hidden = self._hidden(usage)
            for chunks, running in self._running:
                unseen = self._hidden(running) or hidden
                totals.append(Total(chunks, (running.output_tokens or 0) - unseen))
        totals.append(Total(len(self._chunks), visible))
        tokens = share_tokens([c.length for c in self._chunks], totals)
        times = (c.arrival.at_ms for c in self._chunks)
        return tuple(zip(times, tokens, strict=True))
