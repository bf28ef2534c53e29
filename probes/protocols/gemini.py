"""Gemini streamGenerateContent."""

from __future__ import annotations

from urllib.parse import quote

from probes.protocols.base import (
    Delta,
    HttpRequest,
    Json,
    Protocol,
    Usage,
    as_count,
    as_object,
    as_objects,
    as_text,
    endpoint_url,
    finish_reason,
    first_count,
    merge,
    optional,
    written,
)
from probes.protocols.errors import error_in_event
from probes.types import FinishReason, Prompt, Target

_ROLES = {"user": "user", "assistant": "model"}


def build(target: Target, prompt: Prompt) -> HttpRequest:
    """Return the request, without what the target is known to refuse."""
    dropped = optional(target, temperature=0)
    body: Json = {
        "contents": [
            {"role": _ROLES[m.role], "parts": [{"text": m.content}]}
            for m in prompt.messages
            if m.role in _ROLES
        ],
        "generationConfig": {"maxOutputTokens": prompt.max_tokens, **dropped},
    }
    system = [{"text": m.content} for m in prompt.messages if m.role == "system"]
    if system:
        body["systemInstruction"] = {"parts": system}
    key = {} if target.api_key is None else {"x-goog-api-key": target.api_key}
    return HttpRequest(
        url=endpoint_url(target.base_url, _path(target.model), {"alt": "sse"}),
        headers={**key, **target.extra_headers},
        body=merge(body, target.extra_body),
        droppable=tuple(dropped),
    )


def _path(model: str) -> str:
    """Return the method's path; a model may come with its collection."""
    collection = "" if "/" in model else "models/"
    return f"/{collection}{quote(model)}:streamGenerateContent"


def read(name: str, payload: Json) -> Delta:
    """Return what one chunk adds to the answer; a whole answer has the same shape."""
    candidate = next(iter(as_objects(payload.get("candidates"))), {})
    parts = as_objects(as_object(candidate.get("content")).get("parts"))
    feedback = as_object(payload.get("promptFeedback"))
    finish = finish_reason(candidate.get("finishReason"))
    return Delta(
        answer="".join(_text(part) for part in parts if not part.get("thought")),
        reasoning="".join(_text(part) for part in parts if part.get("thought")),
        tool_call="".join(map(_tool_call, parts)),
        finish=FinishReason.CONTENT_FILTER if feedback.get("blockReason") else finish,
        usage=_usage(as_object(payload.get("usageMetadata"))),
        model=as_text(payload.get("modelVersion")) or None,
        error=error_in_event(name, payload),
    )


def _text(part: Json) -> str:
    return as_text(part.get("text"))


def _tool_call(part: Json) -> str:
    call = as_object(part.get("functionCall"))
    arguments = written(call["args"]) if call.get("args") else ""
    code = as_object(part.get("executableCode")).get("code")
    return as_text(call.get("name")) + arguments + as_text(code)


def _usage(usage: Json) -> Usage | None:
    """Return the counts: thoughts are told beside the candidates' tokens.

    They are within them where the total says so.
    """
    if not usage:
        return None
    thoughts = as_count(usage.get("thoughtsTokenCount"))
    given = as_count(usage.get("promptTokenCount"))
    output = as_count(usage.get("candidatesTokenCount"))
    tools = first_count(usage.get("toolUsePromptTokenCount"), 0) or 0
    within = usage.get("totalTokenCount") == (given or 0) + tools + (output or 0)
    if thoughts and not within:
        output = (output or 0) + thoughts
    return Usage(
        output_tokens=as_count(output),
        reasoning_tokens=thoughts,
        input_tokens=None if given is None else as_count(given + tools),
        cached_input_tokens=as_count(usage.get("cachedContentTokenCount")),
    )


PROTOCOL = Protocol(
    name="gemini", framing="sse", build=build, read=read, has_end_marker=False
)
