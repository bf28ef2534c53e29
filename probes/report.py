"""Makes the record of an exchange into a measurement."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from dataclasses import replace
from datetime import UTC, datetime
from email.utils import parsedate_to_datetime
from typing import Literal

from probes.loop_lag import TICK_S
from probes.record import Record
from probes.redact import printable
from probes.timeline import Figures
from probes.types import Failure, Measurement

_MAX_MODEL_CHARS = 200
_LONGEST_WAIT_S = 604_800.0
_LONGEST_MS = 2_147_483.0
"""What fits into four bytes of µs; only a process that was stopped waits longer."""

_COMPLETE = (None, Failure.EMPTY, Failure.CONTENT_FILTER)


def report(record: Record, show: Callable[[str], str]) -> Measurement:
    """Return all figures of one exchange; ``show`` makes a server's text fit for it."""
    model = show(record.answer.model or "")
    has_body = record.streamed is not None
    measurement = Measurement(
        outcome="ok" if record.failure is None else "error",
        error=record.failure,
        error_text=show(record.failure_text) if record.failure else None,
        http_status=record.status,
        retry_after_s=_asked_to_wait_s(record),
        end_ms=_ms(record.end_ms),
        headers_ms=_ms(record.headers_ms),
        dns_ms=_ms(record.dns_ms),
        connect_ms=_ms(record.connect_ms),
        tls_ms=_ms(record.tls_ms),
        streamed=record.streamed,
        finish_reason=record.answer.finish_reason,
        model_reported=printable(model, _MAX_MODEL_CHARS) or None,
        answer_chars=record.answer.chars if has_body else None,
        bytes=record.bytes,
        clock=_clock(record),
        uncertainty_ms=_ms(_uncertainty_ms(record)),
        loop_lag_ms=_ms(record.late_ms),
    )
    figures = record.tokens.figures(record.answer.usage)
    return _with_counts(_with_timing(measurement, record, figures), record, figures)


def _with_timing(
    measurement: Measurement, record: Record, figures: Figures
) -> Measurement:
    is_complete = record.failure in _COMPLETE
    return replace(
        measurement,
        ttft_ms=_ms(figures.ttft_ms),
        ttfa_ms=_ms(figures.ttfa_ms),
        total_ms=_ms(figures.last_token_ms) if is_complete else None,
        tokens_per_second=_round(figures.tokens_per_second),
        gap_p50_ms=_ms(figures.gaps.p50_ms),
        gap_p95_ms=_ms(figures.gaps.p95_ms),
        max_gap_ms=_ms(figures.gaps.max_ms),
        stall_count=figures.gaps.stall_count,
        tail_speed_ratio=_round(figures.tail_speed_ratio),
        slowest_1s_tokens_per_second=_round(figures.slowest_1s_tokens_per_second),
        rebuffer_s=_round(figures.rebuffer_s),
        buffered=figures.buffered,
        chunks=figures.chunks if record.streamed is not None else None,
        timeline=tuple((round(t, 3), round(n, 3)) for t, n in figures.timeline),
    )


def _with_counts(
    measurement: Measurement, record: Record, figures: Figures
) -> Measurement:
    usage = record.answer.usage
    # One body is one chunk, which says nothing of how many tokens it was.
    is_counted = figures.token_source == "usage" or record.streamed
    return replace(
        measurement,
        output_tokens=figures.output_tokens if is_counted else None,
        token_source=figures.token_source if is_counted else None,
        reasoning_tokens=usage.reasoning_tokens,
        input_tokens=record.answer.input_tokens,
        cached_input_tokens=usage.cached_input_tokens,
        cache_write_input_tokens=usage.cache_write_input_tokens,
    )


def _asked_to_wait_s(record: Record) -> float | None:
    """Return how long a refusal asks to wait."""
    if record.refusal is None:
        return None
    return retry_after_s(record.headers, datetime.now(UTC))


def retry_after_s(headers: Mapping[str, str], now: datetime) -> float | None:
    """Return the seconds that the server asks to wait, in whichever form it does.

    No more than a week, whatever it says.
    """
    value = headers.get("retry-after", "")
    milliseconds = _number(headers.get("retry-after-ms", ""))
    if milliseconds is not None:
        seconds: float | None = milliseconds / 1000
    else:
        seconds = _number(value)
    if seconds is None:
        seconds = _until_s(value, now)
    return None if seconds is None else min(round(seconds, 3), _LONGEST_WAIT_S)


def _until_s(date: str, now: datetime) -> float | None:
    """Return the seconds from ``now`` to an HTTP date, 0 where that is past."""
    try:
        moment = parsedate_to_datetime(date).astimezone(UTC)
    except (ValueError, OverflowError):
        return None
    return max(0.0, (moment - now).total_seconds())


def _number(value: str) -> float | None:
    try:
        number = float(value)
    except ValueError:
        return None
    return number if 0 <= number < float("inf") else None


def _clock(record: Record) -> Literal["kernel", "user"] | None:
    if record.kernel_clock is None:
        return None
    return "kernel" if record.kernel_clock else "user"


def _uncertainty_ms(record: Record) -> float | None:
    """Return by how much the first or the last token's time may be wrong.

    Sending took a moment; several events may have come in one receive; and without
    the kernel's stamps the event loop may have been late.
    """
    if not record.tokens.has_tokens:
        return None
    # A reader may wait for the rest of one round of the loop and for most of the next;
    # the lag is that of the longer one.
    late_ms = 2 * (record.late_ms + TICK_S * 1000)
    reading_ms = record.tokens.ambiguity_ms(late_ms)
    if not record.kernel_clock:
        reading_ms = max(reading_ms, late_ms)
    return record.send_ms + reading_ms


def _ms(value: float | None) -> float | None:
    return None if value is None else round(min(value, _LONGEST_MS), 3)


def _round(value: float | None) -> float | None:
    return None if value is None else round(value, 3)
