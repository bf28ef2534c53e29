"""Figures, spans and headlines as people read them. Values only, no framework."""

from __future__ import annotations

from datetime import datetime, timedelta

from alerts.figures import Figure

FIGURE_NAMES = {
    Figure.TTFT_MS: "TTFT",
    Figure.TOKENS_PER_SECOND: "tokens/s",
    Figure.TOTAL_MS: "completion time",
    Figure.ERRORS: "errors",
}

SUBJECT_LENGTH = 78
NAME_LENGTH = 28
"""Long names are cut in a subject, so that the figure is seen in a list of mails."""


def quantity(figure: Figure, value: float) -> str:
    """``842 ms``, ``7.4 s``, ``61 tok/s``: two or three digits and the unit."""
    if figure is Figure.TOKENS_PER_SECOND:
        return f"{_digits(value)} tok/s"
    if value < 1000:
        return f"{_digits(value)} ms"
    return f"{_digits(value / 1000)} s"


def _digits(value: float) -> str:
    """Three significant digits at most, and no more than one after the point."""
    if value >= 10:
        return f"{value:.0f}"
    if value >= 1:
        return f"{value:.2f}".rstrip("0").rstrip(".")
    return f"{value:.1g}"


def span(length: timedelta) -> str:
    """``45 s``, ``12 min``, ``3 h 5 min``, ``2 d 4 h``."""
    seconds = max(0, round(length.total_seconds()))
    if seconds < 60:
        return f"{seconds} s"
    minutes = round(seconds / 60)
    if minutes < 60:
        return f"{minutes} min"
    hours, minutes = divmod(minutes, 60)
    if hours < 24:
        return f"{hours} h {minutes} min" if minutes else f"{hours} h"
    days, hours = divmod(hours, 24)
    return f"{days} d {hours} h" if hours else f"{days} d"


def moment(at: datetime) -> str:
    return f"{at:%Y-%m-%d %H:%M:%S} UTC"


def failure(name: str) -> str:
    """A ``probes.types.Failure`` in words that need no legend."""
    return _FAILURES.get(name, name.replace("_", " "))


_FAILURES = {
    "dns": "host name not found",
    "connection": "no connection",
    "tls": "TLS failed",
    "timeout_connect": "no connection in time",
    "timeout_first_token": "no first token in time",
    "timeout_idle": "stream stalled",
    "timeout_total": "answer not complete in time",
    "auth": "key refused",
    "rate_limited": "rate limited (429)",
    "overloaded": "overloaded",
    "client": "request refused",
    "server": "server error",
    "protocol": "answer not understood",
    "stream_error": "error inside the stream",
    "truncated": "stream cut off",
    "empty": "empty answer",
    "content_filter": "stopped by the content filter",
}


def line(text: str) -> str:
    """``text`` on one line, without control characters: fit for a header."""
    return " ".join("".join(c if c.isprintable() else " " for c in text).split())


def short(text: str, length: int = NAME_LENGTH) -> str:
    text = line(text)
    return text if len(text) <= length else text[: length - 1].rstrip() + "…"
