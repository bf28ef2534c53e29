"""OpenAI's chat completions as bytes: what comes in, and what goes out."""

from __future__ import annotations

import json
from collections.abc import Mapping
from dataclasses import dataclass
from typing import Any, Literal, TypeVar

from probes.simulator.tokens import ANSWER_TOKENS

DONE = b"data: [DONE]\n\n"

T = TypeVar("T")


def _json(value: object) -> bytes:
    return json.dumps(value, separators=(",", ":")).encode()


class ApiError(Exception):
    """An answer in OpenAI's error form."""

    def __init__(
        self,
        status: int,
        message: str,
        *,
        kind: str = "invalid_request_error",
        code: str | None = None,
        param: str | None = None,
        retry_after_s: int | None = None,
    ) -> None:
        super().__init__(message)
        self.status = status
        self.retry_after_s = retry_after_s
        self._error = {"message": message, "type": kind, "param": param, "code": code}

    def body(self) -> bytes:
        return _json({"error": self._error})


@dataclass(frozen=True, slots=True, kw_only=True)
class ChatRequest:
    """The parts of a request that the simulator heeds; it lets the rest pass."""

    model: str
    messages: tuple[tuple[str, str], ...]
    """Pairs of role and text."""
    max_tokens: int | None
    stream: bool
    include_usage: bool
    ignore_eos: bool


def parse_chat(body: bytes) -> ChatRequest:
    """Read a request's body. Raises ``ApiError`` (400) that names the bad field."""
    try:
        fields = json.loads(body)
    except ValueError as error:
        raise ApiError(400, f"The body is not valid JSON: {error}.") from None
    if not isinstance(fields, dict):
        raise ApiError(400, "The body must be a JSON object.")
    stream = _typed(fields, "stream", bool) or False
    options = _typed(fields, "stream_options", dict)
    if options is not None and not stream:
        raise _bad("stream_options", "is only allowed when stream is true")
    model = _typed(fields, "model", str)
    if not model:
        raise _bad("model", "is required")
    return ChatRequest(
        model=model,
        messages=_messages(fields.get("messages")),
        max_tokens=_max_tokens(fields),
        stream=stream,
        include_usage=bool(options and options.get("include_usage")),
        ignore_eos=_typed(fields, "ignore_eos", bool) or False,
    )


def _bad(param: str, problem: str) -> ApiError:
    return ApiError(400, f"'{param}' {problem}.", param=param)


def _typed(fields: Mapping[str, Any], name: str, kind: type[T]) -> T | None:
    value = fields.get(name)
    if value is None:
        return None
    if not isinstance(value, kind) or (kind is int and isinstance(value, bool)):
        raise _bad(name, f"must be of type {kind.__name__}")
    return value


def _max_tokens(fields: Mapping[str, Any]) -> int | None:
    for name in ("max_completion_tokens", "max_tokens"):
        value = _typed(fields, name, int)
        if value is not None and value < 1:
            raise _bad(name, "must be at least 1")
        if value is not None:
            return value
    return None


def _messages(value: object) -> tuple[tuple[str, str], ...]:
    if not isinstance(value, list) or not value:
        raise _bad("messages", "must be a list with at least one message")
    return tuple(_message(item, f"messages[{n}]") for n, item in enumerate(value))


def _message(item: object, param: str) -> tuple[str, str]:
    if not isinstance(item, dict) or not isinstance(item.get("role"), str):
        raise _bad(param, "must be an object with a role")
    content = item.get("content")
    if isinstance(content, list):
        texts = [part.get("text") for part in content if isinstance(part, dict)]
        content = "".join(text for text in texts if isinstance(text, str))
    if not isinstance(content, str | None):
        raise _bad(f"{param}.content", "must be a string or a list of parts")
    return item["role"], content or ""


@dataclass(frozen=True, slots=True, kw_only=True)
class Usage:
    prompt_tokens: int
    cached_tokens: int
    completion_tokens: int

    def as_json(self) -> dict[str, Any]:
        return {
            "prompt_tokens": self.prompt_tokens,
            "completion_tokens": self.completion_tokens,
            "total_tokens": self.prompt_tokens + self.completion_tokens,
            "prompt_tokens_details": {"cached_tokens": self.cached_tokens},
        }


def _delta_end(delta: Mapping[str, str], usage_field: bool) -> bytes:
    """All of a chunk after ``"choices":``, for a chunk that carries ``delta``."""
    choice = {"index": 0, "delta": delta, "logprobs": None, "finish_reason": None}
    usage = b',"usage":null' if usage_field else b""
    return _json([choice]) + usage + b"}\n\n"


# A server of many streams spends most of its time on these bytes, so all that is
# the same in every answer is encoded once, without and with a "usage" field.
_ROLE_ENDS = {
    usage: _delta_end({"role": "assistant", "content": ""}, usage)
    for usage in (False, True)
}
_TOKEN_ENDS = {
    usage: tuple(_delta_end({"content": token}, usage) for token in ANSWER_TOKENS)
    for usage in (False, True)
}


class ChunkWriter:
    """The server-sent events of one streamed answer."""

    def __init__(self, answer_id: str, created: int, model: str, usage: bool) -> None:
        common = {
            "id": answer_id,
            "object": "chat.completion.chunk",
            "created": created,
            "model": model,
        }
        self._usage = usage
        self._start = b"data: " + _json(common)[:-1] + b',"choices":'

    def role(self) -> bytes:
        """The first event; it bears no token."""
        return self._start + _ROLE_ENDS[self._usage]

    def token(self, index: int) -> bytes:
        """The event of the answer's token number ``index``, from 0."""
        ends = _TOKEN_ENDS[self._usage]
        return self._start + ends[index % len(ends)]

    def end(self, reason: Literal["stop", "length"], usage: Usage) -> bytes:
        """The events after the last token, up to the end mark."""
        choice = {"index": 0, "delta": {}, "logprobs": None, "finish_reason": reason}
        null = b',"usage":null' if self._usage else b""
        last = self._start + _json([choice]) + null + b"}\n\n"
        if self._usage:
            counts = _json(usage.as_json())
            last += self._start + b'[],"usage":' + counts + b"}\n\n"
        return last + DONE


def completion(
    answer_id: str,
    created: int,
    model: str,
    text: str,
    reason: Literal["stop", "length"],
    usage: Usage,
) -> bytes:
    """The body of an answer that is not streamed."""
    message = {"role": "assistant", "content": text, "refusal": None}
    choice = {
        "index": 0,
        "message": message,
        "logprobs": None,
        "finish_reason": reason,
    }
    return _json(
        {
            "id": answer_id,
            "object": "chat.completion",
            "created": created,
            "model": model,
            "choices": [choice],
            "usage": usage.as_json(),
        }
    )
