"""OpenAI chat completions, and the many servers that speak it.

Known habits: vLLM, SGLang, TGI, llama.cpp, Azure, OpenRouter, DeepSeek, LiteLLM,
Mistral, Groq, xAI and Ollama's compatible layer.
"""

from __future__ import annotations

from probes.protocols.base import (
    Delta,
    HttpRequest,
    Json,
    Protocol,
    ServerError,
    as_object,
    as_objects,
    as_text,
    bearer,
    chat_messages,
    endpoint_url,
    finish_reason,
    merge,
    optional,
    written,
)
from probes.protocols.errors import error_in_event
from probes.protocols.openai_usage import read_usage
from probes.types import Prompt, Secret, Target

RUNNING_USAGE = "continuous_usage_stats"
"""Parameter of vLLM and SGLang: usage with every chunk."""

KNOWS_RUNNING_USAGE = f"+{RUNNING_USAGE}"
"""The quirk of a server that was seen to be one of those."""

_PLAIN_KEYS = frozenset({"role", "content"})


def build(target: Target, prompt: Prompt) -> HttpRequest:
    """Return the request, without what the target is known to refuse."""
    quirks = target.quirks
    cap = "max_completion_tokens" if "max_tokens" in quirks else "max_tokens"
    usage: Json = {"include_usage": True}
    if KNOWS_RUNNING_USAGE in quirks:
        usage |= optional(target, continuous_usage_stats=True)
    dropped = optional(target, stream_options=usage, temperature=0)
    body: Json = {
        "model": target.model,
        "messages": chat_messages(prompt),
        "stream": True,
        cap: prompt.max_tokens,
        **dropped,
    }
    return HttpRequest(
        url=_url(target),
        headers={**authorization(target), **target.extra_headers},
        body=merge(body, target.extra_body),
        droppable=(*(name for name in usage if name == RUNNING_USAGE), *dropped, cap),
    )


def azure_url(target: Target, path: str, deployment: str) -> str:
    """Return the URL of an Azure resource, however much of it the base has."""
    base = target.base_url.rstrip("/")
    if "/deployments/" not in base and not base.endswith("/v1"):
        base = base.removesuffix("/openai")
        path = f"/openai{deployment}{path}"
    version = target.azure_api_version or ""
    return endpoint_url(base, path, {"api-version": version})


def _url(target: Target) -> str:
    if target.azure_api_version is None:
        return endpoint_url(target.base_url, "/chat/completions", {})
    return azure_url(target, "/chat/completions", f"/deployments/{target.model}")


def authorization(target: Target) -> dict[str, Secret]:
    """Return the header with the key: Azure has one of its own."""
    if target.azure_api_version is None or target.api_key is None:
        return bearer(target)
    return {"api-key": target.api_key}


def read(name: str, payload: Json) -> Delta:
    """Return what one chunk, or one whole completion, adds to the answer."""
    groq = as_object(payload.get("x_groq"))
    choice = next(iter(as_objects(payload.get("choices"))), {})
    message = as_object(choice.get("delta")) or as_object(choice.get("message"))
    content = message.get("content")
    usage = as_object(payload.get("usage")) or as_object(groq.get("usage"))
    # Most chunks have a text alone, and this runs once a token.
    is_plain = message.keys() <= _PLAIN_KEYS and not isinstance(content, list)
    return Delta(
        answer=_content(content) + as_text(message.get("refusal")),
        reasoning="" if is_plain else _reasoning(message),
        tool_call="" if is_plain else _tool_calls(message),
        finish=finish_reason(choice.get("finish_reason")),
        usage=read_usage(usage),
        model=as_text(payload.get("model")) or None,
        error=_error(name, payload, choice),
        quirks=_quirks(choice),
    )


def _error(name: str, payload: Json, choice: Json) -> ServerError | None:
    """Return an error told at any of the places where one has been seen."""
    for place in (payload, as_object(payload.get("x_groq")), choice):
        if error := error_in_event(name, place):
            return error
    return None


def _content(content: object) -> str:
    """Return the answer's text; Mistral sends a list of typed parts."""
    if not isinstance(content, list):
        return as_text(content)
    parts = (p for p in as_objects(content) if p.get("type") != "thinking")
    return "".join(as_text(part.get("text")) for part in parts)


def _reasoning(message: Json) -> str:
    """Return reasoning text. OpenRouter gives the same text under two keys."""
    for key in ("reasoning_content", "reasoning", "thinking"):
        if text := as_text(message.get(key)):
            return text
    details = as_objects(message.get("reasoning_details"))
    parts = [part.get("text") or part.get("summary") for part in details]
    for part in as_objects(message.get("content")):  # Mistral
        thinking = part.get("thinking")
        parts += [thinking, *(inner.get("text") for inner in as_objects(thinking))]
    return "".join(map(as_text, parts))


def _tool_calls(message: Json) -> str:
    """Return names and arguments of tool calls: the model wrote both."""
    functions = [as_object(message.get("function_call"))]
    for call in as_objects(message.get("tool_calls")):
        functions += [as_object(call.get("function")), as_object(call.get("custom"))]
    return "".join(
        written(function[key])
        for function in functions
        for key in ("name", "arguments", "input")
        if function.get(key)
    )


def _quirks(choice: Json) -> frozenset[str]:
    if "stop_reason" in choice or "matched_stop" in choice:
        return frozenset({KNOWS_RUNNING_USAGE})
    return frozenset()


PROTOCOL = Protocol(name="openai", framing="sse", build=build, read=read)
