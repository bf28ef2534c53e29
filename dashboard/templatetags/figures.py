"""Limits and intervals as people read them; ``static/js/format.js`` has its like."""

from __future__ import annotations

from django import template

register = template.Library()


def _digits(value: float) -> str:
    """Three significant digits, without zeros that nobody wrote."""
    return f"{value:.3g}" if value < 999.5 else f"{value:.0f}"


@register.filter
def duration(value_ms: float | None) -> str:
    """``842 ms``, ``7.4 s``; a dash where there is none."""
    if value_ms is None:
        return "–"
    if value_ms < 1000:
        return f"{_digits(value_ms)} ms"
    return f"{_digits(value_ms / 1000)} s"


@register.filter
def rate(tokens_per_second: float | None) -> str:
    """``61 tok/s``; a dash where there is none."""
    if tokens_per_second is None:
        return "–"
    return f"{_digits(tokens_per_second)} tok/s"


@register.filter
def interval(seconds: int) -> str:
    """``30 s``, ``5 min``, ``2 h``."""
    for size, unit in ((3600, "h"), (60, "min")):
        if seconds >= size and seconds % size == 0:
            return f"{seconds // size} {unit}"
    return f"{seconds} s"
