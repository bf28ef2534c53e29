"""Errors in the many shapes in which servers tell them."""

from __future__ import annotations

import json
from typing import Any

from probes.protocols.base import Json, ServerError, as_object, as_objects

MAX_MESSAGE_CHARS = 10_000
"""The most of an event's error that is looked at; far less of it is shown."""

_NAME_KEYS = ("type", "code", "status", "error_type", "reason")
_MAX_NAME_CHARS = 100
_MESSAGE_KEYS = ("message", "detail", "error_message", "msg")


def error_in_event(name: str, payload: Json) -> ServerError | None:
    """Return the error that an event of a stream tells, None where it tells none."""
    if name == "error" or payload.get("error") or payload.get("object") == "error":
        return describe(payload, "the server told an error")
    return None


def error_in_body(text: str) -> ServerError:
    """Return the error in the body of a refusal, be it JSON or plain text."""
    try:
        payload = json.loads(text)
    except (ValueError, RecursionError):
        return ServerError(message=text)
    if isinstance(payload, list) and payload:
        payload = payload[0]
    return describe(as_object(payload), text)


def describe(payload: Json, otherwise: str) -> ServerError:
    """Return an error object's message and names, be it wrapped or bare.

    ``otherwise`` is the message of one that has none.
    """
    told = payload.get("error")
    inner = as_object(told) or payload
    message = (told if isinstance(told, str) else _message(inner)) or otherwise
    parameter = inner.get("param")
    names = _names(inner) if inner is payload else _names(inner) + _names(payload)
    return ServerError(
        message=message[:MAX_MESSAGE_CHARS],
        names=names,
        parameter=parameter[:_MAX_NAME_CHARS] if isinstance(parameter, str) else None,
    )


def _names(error: Json) -> tuple[str, ...]:
    values = [error.get(key) for key in _NAME_KEYS]
    return tuple(
        str(value)[:_MAX_NAME_CHARS] for value in values if isinstance(value, str | int)
    )


def _message(error: Json) -> str:
    """Return the text that is meant for people."""
    for key in _MESSAGE_KEYS:
        value = error.get(key)
        if isinstance(value, str) and value:
            return value
        if complaints := _complaints(value):
            return complaints
    return ""


def _complaints(value: Any) -> str:
    """Return what a validator says of each field, without the input it repeats."""
    items = as_objects(as_object(value).get("detail", value))
    return "; ".join(f"{_path(item.get('loc'))}: {item.get('msg')}" for item in items)


def _path(steps: object) -> str:
    return ".".join(map(str, steps)) if isinstance(steps, list) else ""
