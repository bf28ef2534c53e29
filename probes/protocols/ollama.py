"""Ollama's own chat."""

from __future__ import annotations

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
    bearer,
    chat_messages,
    endpoint_url,
    finish_reason,
    merge,
    written,
)
from probes.protocols.errors import error_in_event
from probes.types import Prompt, Target


def build(target: Target, prompt: Prompt) -> HttpRequest:
    """Return the request."""
    body: Json = {
        "model": target.model,
        "messages": chat_messages(prompt),
        "stream": True,
        "options": {"num_predict": prompt.max_tokens, "temperature": 0},
    }
    base_url = target.base_url.rstrip("/").removesuffix("/api")
    return HttpRequest(
        url=endpoint_url(base_url, "/api/chat", {}),
        headers={**bearer(target), **target.extra_headers},
        body=merge(body, target.extra_body),
    )


def read(name: str, payload: Json) -> Delta:
    """Return what one line adds to the answer; a whole answer has the same shape."""
    message = as_object(payload.get("message"))
    done = payload.get("done") is True
    return Delta(
        answer=as_text(message.get("content")),
        reasoning=as_text(message.get("thinking")),
        tool_call="".join(map(_tool_call, as_objects(message.get("tool_calls")))),
        finish=finish_reason(payload.get("done_reason")) if done else None,
        usage=Usage(
            output_tokens=as_count(payload.get("eval_count")),
            input_tokens=as_count(payload.get("prompt_eval_count")),
        )
        if done
        else None,
        model=as_text(payload.get("model")) or None,
        error=error_in_event(name, payload),
        ended=done,
    )


def _tool_call(call: Json) -> str:
    function = as_object(call.get("function"))
    arguments = function.get("arguments")
    return as_text(function.get("name")) + (written(arguments) if arguments else "")


PROTOCOL = Protocol(name="ollama", framing="ndjson", build=build, read=read)
