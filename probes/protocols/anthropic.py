"""Anthropic messages."""

from __future__ import annotations

from dataclasses import replace

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
from probes.types import Prompt, Secret, Target

_VERSION = Secret("2023-06-01")


def build(target: Target, prompt: Prompt) -> HttpRequest:
    """Return the request, without what the target is known to refuse."""
    system = "\n\n".join(m.content for m in prompt.messages if m.role == "system")
    body: Json = {
        "model": target.model,
        "max_tokens": prompt.max_tokens,
        "messages": [
            {"role": m.role, "content": m.content}
            for m in prompt.messages
            if m.role != "system"
        ],
        "stream": True,
    }
    if system:
        body["system"] = system
    dropped = optional(target, temperature=0)
    key = {} if target.api_key is None else {"x-api-key": target.api_key}
    return HttpRequest(
        url=endpoint_url(
            target.base_url.rstrip("/").removesuffix("/v1"), "/v1/messages", {}
        ),
        headers={"anthropic-version": _VERSION, **key, **target.extra_headers},
        body=merge(body | dropped, target.extra_body),
        droppable=tuple(dropped),
    )


def read(name: str, payload: Json) -> Delta:
    """Return what one event, or one whole message, adds to the answer."""
    kind = as_text(payload.get("type")) or name
    if error := error_in_event(kind, payload):
        return Delta(error=error)
    match kind:
        case "message_start":
            message = as_object(payload.get("message"))
            usage = _usage(as_object(message.get("usage")))
            # Its output count is a placeholder until the message is complete.
            return Delta(
                model=as_text(message.get("model")) or None,
                usage=replace(usage, output_tokens=None),
            )
        case "content_block_start":
            return _block(as_object(payload.get("content_block")))
        case "content_block_delta":
            return _block(as_object(payload.get("delta")))
        case "message_delta":
            delta = as_object(payload.get("delta"))
            return Delta(
                finish=finish_reason(delta.get("stop_reason")),
                usage=_usage(as_object(payload.get("usage"))),
            )
        case "message_stop":
            return Delta(ended=True)
        case "message":
            return _whole(payload)
    return Delta()


def _block(block: Json) -> Delta:
    """Return the text of a content block, or of what is added to one."""
    return Delta(
        answer=as_text(block.get("text")),
        reasoning=as_text(block.get("thinking")),
        tool_call=as_text(block.get("name")) + as_text(block.get("partial_json")),
    )


def _whole(message: Json) -> Delta:
    blocks = as_objects(message.get("content"))
    parts = [_block(block) for block in blocks]
    calls = (written(block["input"]) for block in blocks if block.get("input"))
    return Delta(
        answer="".join(part.answer for part in parts),
        reasoning="".join(part.reasoning for part in parts),
        tool_call="".join((*(part.tool_call for part in parts), *calls)),
        finish=finish_reason(message.get("stop_reason")),
        usage=_usage(as_object(message.get("usage"))),
        model=as_text(message.get("model")) or None,
    )


def _usage(usage: Json) -> Usage:
    """Return the counts: cached input is told beside ``input_tokens``."""
    details = as_object(usage.get("output_tokens_details"))
    return Usage(
        output_tokens=as_count(usage.get("output_tokens")),
        reasoning_tokens=first_count(
            details.get("thinking_tokens"), details.get("reasoning_tokens")
        ),
        uncached_input_tokens=as_count(usage.get("input_tokens")),
        cached_input_tokens=as_count(usage.get("cache_read_input_tokens")),
        cache_write_input_tokens=as_count(usage.get("cache_creation_input_tokens")),
    )


PROTOCOL = Protocol(name="anthropic", framing="sse", build=build, read=read)
