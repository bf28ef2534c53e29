"""OpenAI responses."""

from __future__ import annotations

from dataclasses import replace

from probes.protocols.base import (
    Delta,
    HttpRequest,
    Json,
    Protocol,
    as_object,
    as_objects,
    as_text,
    chat_messages,
    endpoint_url,
    finish_reason,
    merge,
    optional,
)
from probes.protocols.errors import describe, error_in_event
from probes.protocols.openai import authorization, azure_url
from probes.protocols.openai_usage import read_usage
from probes.types import FinishReason, Prompt, Target

_LEAST_OUTPUT_TOKENS = 16
"""Fewer are refused."""

_PATH = "/responses"
_ENDS = ("response.completed", "response.incomplete", "response.done")
_FAILURES = ("response.failed", "response.cancelled", "response.error")
_TEXT = ("response.output_text.delta", "response.refusal.delta")
_TOKENLESS = ("audio", "image", "partial_image")


def build(target: Target, prompt: Prompt) -> HttpRequest:
    """Return the request, without what the target is known to refuse."""
    dropped = optional(target, temperature=0)
    body: Json = {
        "model": target.model,
        "input": chat_messages(prompt),
        "stream": True,
        "max_output_tokens": max(prompt.max_tokens, _LEAST_OUTPUT_TOKENS),
        **dropped,
    }
    if target.azure_api_version is None:
        url = endpoint_url(target.base_url, _PATH, {})
    else:
        url = azure_url(target, _PATH, deployment="")
    return HttpRequest(
        url=url,
        headers={**authorization(target), **target.extra_headers},
        body=merge(body, target.extra_body),
        droppable=tuple(dropped),
    )


def read(name: str, payload: Json) -> Delta:
    """Return what one event, or one whole response, adds to the answer.

    The events that end a part repeat its text, so only deltas count.
    """
    kind = as_text(payload.get("type")) or name
    response = as_object(payload.get("response"))
    if error := error_in_event(kind, payload):
        return Delta(error=error)
    if kind in _FAILURES:
        return Delta(error=describe(response, f"the server told {kind}"))
    if kind in _ENDS:
        return replace(_state(response), ended=True)
    if kind.endswith(".delta"):
        return _delta(kind, as_text(payload.get("delta")))
    if kind == "response.output_item.added":
        return Delta(tool_call=_call(as_object(payload.get("item"))))
    if payload.get("object") == "response":
        return _whole(payload)
    return Delta(model=as_text(response.get("model")) or None)


def _delta(kind: str, text: str) -> Delta:
    if kind in _TEXT:
        return Delta(answer=text)
    if "reasoning" in kind:
        return Delta(reasoning=text)
    return (
        Delta() if any(word in kind for word in _TOKENLESS) else Delta(tool_call=text)
    )


def _call(item: Json) -> str:
    """Return the name of a tool that the model calls with this item."""
    return as_text(item.get("name")) if "call" in as_text(item.get("type")) else ""


def _state(response: Json) -> Delta:
    """Return what the response object says of an answer that has come to its end."""
    reason = as_object(response.get("incomplete_details")).get("reason")
    status = response.get("status")
    finish = finish_reason(reason) or finish_reason(status) or FinishReason.STOP
    return Delta(
        finish=FinishReason.LENGTH
        if finish is FinishReason.STOP and reason
        else finish,
        usage=read_usage(as_object(response.get("usage"))),
        model=as_text(response.get("model")) or None,
    )


def _whole(response: Json) -> Delta:
    """Return a response that came in one body."""
    items = as_objects(response.get("output"))
    parts = [part for item in items for part in as_objects(item.get("content"))]
    texts = [as_text(part.get("text")) + as_text(part.get("refusal")) for part in parts]
    calls = [_call(item) + as_text(item.get("arguments")) for item in items]
    return replace(_state(response), answer="".join(texts), tool_call="".join(calls))


PROTOCOL = Protocol(name="openai-responses", framing="sse", build=build, read=read)
