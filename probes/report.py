"""Makes the record of an exchange into a measurement."""

from __future__ import annotations

from collections.abc import Mapping
from datetime import UTC, datetime
from email.utils import parsedate_to_datetime
from typing import Literal

from probes.loop_lag import TICK_S
from probes.record import Record
from probes.redact import printable
from probes.types import Failure, Measurement

_MAX_MODEL_CHARS = 200
_COMPLETE = (None, Failure.EMPTY, Failure.CONTENT_FILTER)


def report(record: Record, error_text: str | None) -> Measurement:
    """Return all figures of one exchange; ``error_text`` is fit to be shown."""
    answer = record.answer
    figures = record.tokens.figures(answer.usage)
    told = figures.token_source == "usage" or record.streamed
    has_body = record.streamed is not None
    return Measurement(
        outcome="ok" if record.failure is None else "error",
        error=record.failure,
        error_text=error_text,
        http_status=record.status,
        retry_after_s=retry_after_s(record.headers, datetime.now(UTC))
        if record.refusal
        else None,
        ttft_ms=_round(figures.ttft_ms),
        ttfa_ms=_round(figures.ttfa_ms),
        total_ms=_round(figures.last_token_ms) if record.failure in _COMPLETE else None,
        end_ms=_round(record.end_ms),
        headers_ms=_round(record.headers_ms),
        dns_ms=_round(record.dns_ms),
        connect_ms=_round(record.connect_ms),
        tls_ms=_round(record.tls_ms),
        output_tokens=figures.output_tokens if told else None,
        reasoning_tokens=answer.usage.reasoning_tokens,
        input_tokens=answer.input_tokens,
        cached_input_tokens=answer.usage.cached_input_tokens,
        cache_write_input_tokens=answer.usage.cache_write_input_tokens,
        token_source=figures.token_source if told else None,
        tokens_per_second=_round(figures.tokens_per_second),
        gap_p50_ms=_round(figures.gaps.p50_ms),
        gap_p95_ms=_round(figures.gaps.p95_ms),
        max_gap_ms=_round(figures.gaps.max_ms),
        stall_count=figures.gaps.stall_count,
        tail_speed_ratio=_round(figures.tail_speed_ratio),
        slowest_1s_tokens_per_second=_round(figures.slowest_1s_tokens_per_second),
        rebuffer_s=_round(figures.rebuffer_s),
        buffered=figures.buffered,
        streamed=record.streamed,
        finish_reason=answer.finish_reason,
        model_reported=printable(answer.model, _MAX_MODEL_CHARS)
        if answer.model
        else None,
        answer_chars=answer.chars if has_body else None,
        chunks=figures.chunks if has_body else None,
        bytes=record.bytes,
        clock=_clock(record),
        uncertainty_ms=_round(_uncertainty_round(record)),
        loop_lag_ms=_round(record.late_ms),
        timeline=tuple((round(t, 3), round(n, 3)) for t, n in figures.timeline),
    )


def retry_after_s(headers: Mapping[str, str], now: datetime) -> float | None:
    """Return the seconds that the server asks to wait, in whichever form it does."""
    milliseconds = _number(headers.get("retry-after-ms"))
    if milliseconds is not None:
        return milliseconds / 1000
    value = headers.get("retry-after")
    seconds = _number(value)
    if seconds is not None or value is None:
        return seconds
    try:
        moment = parsedate_to_datetime(value)
    except ValueError:
        return None
    return max(0.0, (moment.astimezone(UTC) - now).total_seconds())


def _number(value: str | None) -> float | None:
    try:
        number = float(value or "")
    except ValueError:
        return None
    return number if 0 <= number < float("inf") else None


def _clock(record: Record) -> Literal["kernel", "user"] | None:
    if record.kernel_clock is None:
        return None
    return "kernel" if record.kernel_clock else "user"


def _uncertainty_round(record: Record) -> float | None:
    """Return by how much the first or the last token's time may be wrong.

    Sending took a moment; several events may have come in one receive; and without
    the kernel's stamps the event loop may have been late.
    """
    if not record.tokens.has_tokens:
        return None
    late_ms = record.late_ms + TICK_S * 1000
    reading_ms = record.tokens.ambiguity_ms(late_ms)
    if not record.kernel_clock:
        reading_ms = max(reading_ms, late_ms)
    return record.send_ms + reading_ms


def _round(value: float | None) -> float | None:
    return None if value is None else round(value, 3)
