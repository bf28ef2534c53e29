"""Names a failure: from an HTTP status, from what the server says, from the network."""

from __future__ import annotations

import logging
import re
import traceback

from probes.protocols.base import ServerError
from probes.types import Failure

_log = logging.getLogger(__name__)

_OVERLOADED_NAME = re.compile(r"overload|slow_down|over_capacity|^529$", re.I)
_RATE_LIMITED_NAME = re.compile(
    r"rate.?limit|too.?many.?requests|resource_exhausted|throttl|^429$", re.I
)
_FILTERED_NAME = re.compile(r"content_filter|content_policy|responsibleai", re.I)
_OVERLOADED_TEXT = re.compile(r"\boverloaded\b", re.I)
_RATE_LIMITED_TEXT = re.compile(r"\brate.?limit|too many requests", re.I)
_TEXT_IS_ABOUT_THE_REQUEST = frozenset({400, 401, 404, 422})


def named_failure(error: ServerError, status: int) -> Failure | None:
    """Return the failure that the server gives a name to, None where it gives none.

    Such a name says more than a status: gateways change the status, not the name.
    """
    for pattern, failure in (
        (_OVERLOADED_NAME, Failure.OVERLOADED),
        (_RATE_LIMITED_NAME, Failure.RATE_LIMITED),
        (_FILTERED_NAME, Failure.CONTENT_FILTER),
    ):
        if any(pattern.search(name) for name in error.names):
            return failure
    if status in _TEXT_IS_ABOUT_THE_REQUEST:
        return None
    if _OVERLOADED_TEXT.search(error.message):
        return Failure.OVERLOADED
    if _RATE_LIMITED_TEXT.search(error.message):
        return Failure.RATE_LIMITED
    return None


def status_failure(status: int) -> Failure:
    """Return what a status that is no success means by itself."""
    match status:
        case 401 | 403:
            return Failure.AUTH
        case 429:
            return Failure.RATE_LIMITED
        case 529:
            return Failure.OVERLOADED
        case _ if 400 <= status < 500:
            return Failure.CLIENT
        case _ if status >= 500:
            return Failure.SERVER
        case _:
            return Failure.PROTOCOL


def refusal(error: ServerError, status: int) -> Failure:
    """Return why a request was answered with an error status."""
    return named_failure(error, status) or status_failure(status)


def stream_failure(error: ServerError) -> Failure:
    """Return what an error that was told inside an answer means."""
    return named_failure(error, 200) or Failure.STREAM_ERROR


def refused_parameter(error: ServerError, droppable: tuple[str, ...]) -> str | None:
    """Return the first of our own parameters that the server refuses, if it is one.

    A cap is also named where it is too high, which leaving it out would not cure: it
    counts as refused only where the error says so.
    """
    for name in droppable:
        if not _names(error, name):
            continue
        if not name.startswith("max_") or _REFUSED.search(_everything(error)):
            return name
    return None


def unexpected(error: Exception) -> str:
    """Log where an answer upset us, and return what to say of it.

    Not the exception's own text: that may be a piece of the answer, or a secret.
    """
    kind = type(error).__name__
    places = "".join(traceback.format_tb(error.__traceback__))
    _log.error("an answer could not be read: %s\n%s", kind, places)
    return f"the answer could not be read: {kind}"


_REFUSED = re.compile(
    r"unsupported|not supported|unknown|unrecogni[sz]ed|unexpected|not permitted"
    r"|not allowed|extra.?(field|input|forbidden)|deprecated|instead",
    re.I,
)


def _names(error: ServerError, parameter: str) -> bool:
    pattern = rf"(?<![\w]){re.escape(parameter)}(?![\w])"
    return re.search(pattern, f"{error.parameter} {error.message}") is not None


def _everything(error: ServerError) -> str:
    return " ".join((error.message, *error.names))
