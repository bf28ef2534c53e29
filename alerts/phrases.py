"""Figures, spans and headlines as people read them. Values only, no framework."""

from __future__ import annotations

from collections.abc import Sequence
from datetime import datetime, timedelta

from alerts.figures import Figure

FIGURE_NAMES = {
    Figure.TTFT_MS: "TTFT",
    Figure.TOKENS_PER_SECOND: "tokens/s",
    Figure.TOTAL_MS: "completion time",
    Figure.ERRORS: "errors",
}

SUBJECT_LENGTH = 78
SHORTEST_NAME = 12


def quantity(figure: Figure, value: float) -> str:
    """``842 ms``, ``7.42 s``, ``61 tok/s``: as precise as the pages show it."""
    if figure is Figure.TOKENS_PER_SECOND:
        return f"{_plain(value, 1 if value < 9.95 else 0)} tok/s"
    if value < 999.5:
        return f"{_plain(value, 1 if value < 9.95 else 0)} ms"
    seconds = value / 1000
    decimals = 2 if seconds < 9.995 else 1 if seconds < 99.95 else 0
    return f"{_plain(seconds, decimals)} s"


def _plain(value: float, decimals: int) -> str:
    """In a sentence the zeros that keep columns still on a page are noise."""
    text = f"{value:.{decimals}f}"
    return text.rstrip("0").rstrip(".") if "." in text else text


def trouble(figure: Figure, limit: float, window: Sequence[bool]) -> str:
    """Why a rule is not ok: ``TTFT over 2 s in 3 of the last 5 probes``.

    ``window`` is the rule's: the last outcomes, True for bad.
    """
    of = f"{sum(window)} of the last {len(window)}"
    if not any(window):
        return f"{_capital(FIGURE_NAMES[figure])} within its limit again"
    if figure is Figure.ERRORS:
        return f"{of} probes failed"
    side = "under" if figure is Figure.TOKENS_PER_SECOND else "over"
    name = _capital(FIGURE_NAMES[figure])
    return f"{name} {side} {quantity(figure, limit)} in {of} probes"


def _capital(text: str) -> str:
    return text[0].upper() + text[1:]


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


def short(text: str, length: int) -> str:
    return text if len(text) <= length else text[: length - 3].rstrip() + "..."


def subject(word: str, scenario: str, endpoint: str, what: str) -> str:
    """One line in which long names give way to the figures.

    Our own part is ASCII, so that filters and lists that decode nothing can read it.
    """
    scenario, endpoint, what = line(scenario), line(endpoint), line(what)
    room = SUBJECT_LENGTH - len(f"{word}:  on : {what}")
    scenario = short(scenario, max(SHORTEST_NAME, room // 2, room - len(endpoint)))
    endpoint = short(endpoint, max(SHORTEST_NAME, room - len(scenario)))
    return f"{word}: {scenario} on {endpoint}: {what}"
