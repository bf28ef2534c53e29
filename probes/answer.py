"""What one answer has told so far, apart from its timing."""

from __future__ import annotations

from dataclasses import fields

from probes.protocols.base import Delta, ServerError, Usage, as_count
from probes.types import FinishReason

_USAGE_FIELDS = tuple(field.name for field in fields(Usage))


class Answer:
    """Sums up the deltas of one answer.

    ``is_complete`` once a finish reason or the protocol's end marker came.
    """

    def __init__(self) -> None:
        self.finish: FinishReason | None = None
        self.usage = Usage()
        self.model: str | None = None
        self.error: ServerError | None = None
        self.ended = False
        self.chars = 0
        self.quirks: frozenset[str] = frozenset()
        self._has_tool_call = False

    @property
    def is_complete(self) -> bool:
        return self.ended or self.finish is not None

    @property
    def finish_reason(self) -> FinishReason | None:
        """The reason; vendors without a word for tool calls say ``stop`` for them."""
        if self.finish is FinishReason.STOP and self._has_tool_call:
            return FinishReason.TOOL_CALLS
        return self.finish

    @property
    def input_tokens(self) -> int | None:
        """All input tokens, whether the vendor counts cached ones within or beside."""
        usage = self.usage
        if usage.uncached_input_tokens is None:
            return usage.input_tokens
        cached = usage.cached_input_tokens or 0
        written = usage.cache_write_input_tokens or 0
        return as_count(usage.uncached_input_tokens + cached + written)

    def add(self, delta: Delta) -> None:
        """Take in one event's delta."""
        self.finish = delta.finish or self.finish
        self.model = delta.model or self.model
        self.error = self.error or delta.error
        self.ended |= delta.ended
        self.chars += len(delta.answer)
        self.quirks |= delta.quirks
        self._has_tool_call |= bool(delta.tool_call)
        if delta.usage is not None:
            self.usage = _later(self.usage, delta.usage)


def _later(told: Usage, now: Usage) -> Usage:
    """Return the counts as they stand: the latest ones, none is added up.

    Zero replaces nothing, because gateways send zeros for what they do not know.
    """
    return Usage(
        **{
            name: _latest(getattr(told, name), getattr(now, name))
            for name in _USAGE_FIELDS
        }
    )


def _latest(told: int | None, now: int | None) -> int | None:
    return now or (now if told is None else told)
