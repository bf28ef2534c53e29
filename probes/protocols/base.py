"""What every protocol speaks in: a request to send, and what an event told.

A protocol is two pure functions. ``build`` makes the request. ``read`` turns one
event into a ``Delta``; it is also given the one body of a server that does not
stream, because vendors give that nearly the same shape. Neither keeps any state.
"""

from __future__ import annotations

import json
from collections.abc import Callable, Mapping
from dataclasses import dataclass, field
from typing import Any
from urllib.parse import urlencode, urlsplit, urlunsplit

from probes.decoder import Framing
from probes.types import FinishReason, Prompt, Secret, Target
from probes.wire import ProtocolError

Json = dict[str, Any]

_COUNT_LIMIT = 2**31  # what is counted is stored in four bytes


@dataclass(frozen=True, slots=True, kw_only=True)
class HttpRequest:
    """A POST to send. ``droppable``: the parameters it can do without or replace."""

    url: str
    headers: Mapping[str, Secret]
    body: Json
    droppable: tuple[str, ...] = ()


@dataclass(frozen=True, slots=True, kw_only=True)
class Usage:
    """Token counts as the server told them so far; null where it did not.

    ``uncached_input_tokens`` is for vendors that count cached input beside the
    rest; the whole input is then the sum of the three.
    """

    output_tokens: int | None = None
    reasoning_tokens: int | None = None
    input_tokens: int | None = None
    uncached_input_tokens: int | None = None
    cached_input_tokens: int | None = None
    cache_write_input_tokens: int | None = None


@dataclass(frozen=True, slots=True, kw_only=True)
class ServerError:
    """An error as the server told it; ``names`` are its type, code and status."""

    message: str
    names: tuple[str, ...] = ()
    parameter: str | None = None


@dataclass(frozen=True, slots=True, kw_only=True)
class Delta:
    """What one event adds to the answer.

    ``tool_call`` is any other output than text that the reader waits for. ``ended``
    is the protocol's end marker. ``quirks`` are what the event gave away about its
    server, see ``Target.quirks``.
    """

    answer: str = ""
    reasoning: str = ""
    tool_call: str = ""
    finish: FinishReason | None = None
    usage: Usage | None = None
    model: str | None = None
    error: ServerError | None = None
    ended: bool = False
    quirks: frozenset[str] = field(default_factory=frozenset)


@dataclass(frozen=True, slots=True, kw_only=True)
class Protocol:
    """One vendor's way to ask and to answer.

    ``has_end_marker`` is false where nothing but the body's end follows the finish
    reason, so that the body's end is the marker.
    """

    name: str
    framing: Framing
    build: Callable[[Target, Prompt], HttpRequest]
    read: Callable[[str, Json], Delta]
    has_end_marker: bool = True


_FINISH_REASONS = {
    FinishReason.STOP: "stop end_turn stop_sequence eos eos_token pause_turn completed",
    FinishReason.LENGTH: (
        "length max_tokens model_length max_output_tokens model_context_window_exceeded"
    ),
    FinishReason.TOOL_CALLS: "tool_calls tool_call tool_use function_call",
    FinishReason.CONTENT_FILTER: (
        "content_filter refusal safety recitation language blocklist "
        "prohibited_content spii image_safety"
    ),
    FinishReason.ERROR: (
        "error abort aborted cancelled failed insufficient_system_resource "
        "malformed_function_call unexpected_tool_call"
    ),
}
_FINISH_BY_WORD = {
    word: reason for reason, words in _FINISH_REASONS.items() for word in words.split()
}
_NO_REASON = ("", "null", "none", "finish_reason_unspecified")


def finish_reason(value: object) -> FinishReason | None:
    """Return a vendor's finish reason in our words; one we do not know is ``stop``."""
    if not isinstance(value, str) or value.lower() in _NO_REASON:
        return None
    return _FINISH_BY_WORD.get(value.lower(), FinishReason.STOP)


def as_object(value: object) -> Json:
    """Return ``value`` where it is a JSON object, an empty one otherwise."""
    return value if isinstance(value, dict) else {}


def as_objects(value: object) -> list[Json]:
    """Return the JSON objects of a JSON list, none where it is no list."""
    if not isinstance(value, list):
        return []
    return [item for item in value if isinstance(item, dict)]


def as_text(value: object) -> str:
    """Return ``value`` where it is a string, an empty one otherwise."""
    return value if isinstance(value, str) else ""


def written(value: object) -> str:
    """Return arguments of a tool call as the model wrote them: text or JSON.

    Raises ProtocolError where they are nested deeper than anybody would.
    """
    if isinstance(value, str):
        return value
    try:
        return json.dumps(value)
    except RecursionError:
        raise ProtocolError("an event is nested too deep") from None


def as_count(value: object) -> int | None:
    """Return ``value`` where it is a whole number that can count something."""
    if isinstance(value, bool) or not isinstance(value, int | float):
        return None
    if not 0 <= value < _COUNT_LIMIT:
        return None
    return int(value) if value == int(value) else None


def first_count(*values: object) -> int | None:
    """Return the first of ``values`` that is a count."""
    return next((n for n in map(as_count, values) if n is not None), None)


def endpoint_url(base_url: str, path: str, query: Mapping[str, str]) -> str:
    """Return ``base_url`` with ``path`` and ``query`` added, its own query kept."""
    scheme, host, base_path, base_query, _ = urlsplit(base_url)
    queries = "&".join(filter(None, (base_query, urlencode(query))))
    return urlunsplit((scheme, host, base_path.rstrip("/") + path, queries, ""))


def merge(body: Json, extra: Mapping[str, Any]) -> Json:
    """Return ``body`` patched with ``extra`` as RFC 7396 has it: null removes."""
    merged = dict(body)
    for key, value in extra.items():
        if value is None:
            merged.pop(key, None)
        elif isinstance(value, Mapping):
            merged[key] = merge(as_object(merged.get(key)), value)
        else:
            merged[key] = value
    return merged


def optional(target: Target, **parameters: Any) -> Json:
    """Return those of ``parameters`` that the target is not known to refuse."""
    return {
        name: value for name, value in parameters.items() if name not in target.quirks
    }


def bearer(target: Target) -> dict[str, Secret]:
    """Return the usual authorization header, none where there is no key."""
    if target.api_key is None:
        return {}
    return {"authorization": Secret(f"Bearer {target.api_key.reveal()}")}


def chat_messages(prompt: Prompt) -> list[Json]:
    """Return the prompt as the list of messages that most vendors take."""
    return [{"role": m.role, "content": m.content} for m in prompt.messages]
