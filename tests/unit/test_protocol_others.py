"""What the other vendors answer."""

from __future__ import annotations

import pytest

from probes.protocols import PROTOCOLS
from probes.protocols.base import (
    Delta,
    Usage,
)
from probes.types import FinishReason


def read(protocol: str, payload, name: str = "") -> Delta:
    return PROTOCOLS[protocol].read(name, payload)


@pytest.mark.parametrize(
    ("event", "delta"),
    [
        (
            {
                "type": "message_start",
                "message": {
                    "model": "m",
                    "usage": {"input_tokens": 2, "output_tokens": 1},
                },
            },
            Delta(model="m", usage=Usage(uncached_input_tokens=2)),
        ),
        ({"type": "ping"}, Delta()),
        (
            {
                "type": "content_block_start",
                "content_block": {"type": "text", "text": ""},
            },
            Delta(),
        ),
        (
            {
                "type": "content_block_start",
                "content_block": {"type": "tool_use", "name": "f"},
            },
            Delta(tool_call="f"),
        ),
        ({"type": "content_block_delta", "delta": {"text": "a"}}, Delta(answer="a")),
        (
            {"type": "content_block_delta", "delta": {"thinking": "a"}},
            Delta(reasoning="a"),
        ),
        (
            {"type": "content_block_delta", "delta": {"partial_json": "a"}},
            Delta(tool_call="a"),
        ),
        ({"type": "content_block_delta", "delta": {"signature": "a"}}, Delta()),
        (
            {
                "type": "message_delta",
                "delta": {"stop_reason": "max_tokens"},
                "usage": {
                    "output_tokens": 9,
                    "cache_read_input_tokens": 3,
                    "cache_creation_input_tokens": 4,
                    "output_tokens_details": {"thinking_tokens": 5},
                },
            },
            Delta(
                finish=FinishReason.LENGTH,
                usage=Usage(
                    output_tokens=9,
                    reasoning_tokens=5,
                    cached_input_tokens=3,
                    cache_write_input_tokens=4,
                ),
            ),
        ),
        ({"type": "message_stop"}, Delta(ended=True)),
    ],
)
def test_anthropic_events(event, delta):
    assert read("anthropic", event) == delta
    name, unnamed = event["type"], {k: v for k, v in event.items() if k != "type"}
    assert read("anthropic", unnamed, name) == delta


def test_a_whole_message():
    found = read(
        "anthropic",
        {
            "type": "message",
            "model": "m",
            "content": [
                {"type": "thinking", "thinking": "a"},
                {"type": "text", "text": "b"},
                {"type": "tool_use", "name": "f", "input": {"q": 1}},
                {"type": "tool_use", "name": "g", "input": {}},
            ],
            "stop_reason": "tool_use",
            "usage": {"input_tokens": 2, "output_tokens": 3},
        },
    )
    assert (found.reasoning, found.answer) == ("a", "b")
    assert found.tool_call == 'fg{"q": 1}'
    assert (found.finish, found.model) == (FinishReason.TOOL_CALLS, "m")
    assert found.usage == Usage(uncached_input_tokens=2, output_tokens=3)


def test_an_anthropic_error_event():
    event = {"type": "error", "error": {"type": "overloaded_error", "message": "Over"}}
    error = read("anthropic", event).error
    assert error is not None
    assert (error.message, error.names) == ("Over", ("overloaded_error", "error"))


def gemini(*parts, **fields):
    return {"candidates": [{"content": {"parts": list(parts)}, **fields}]}


@pytest.mark.parametrize(
    ("payload", "delta"),
    [
        ({}, Delta()),
        (gemini({"text": "a"}, {"text": "b"}), Delta(answer="ab")),
        (gemini({"text": "a", "thought": True}), Delta(reasoning="a")),
        (
            gemini({"thoughtSignature": "x"}, finishReason="STOP"),
            Delta(finish=FinishReason.STOP),
        ),
        (gemini({"functionCall": {"name": "f"}}), Delta(tool_call="f")),
        (
            gemini({"functionCall": {"name": "f", "args": {"a": 1}}}),
            Delta(tool_call='f{"a": 1}'),
        ),
        (gemini({"executableCode": {"code": "a"}}), Delta(tool_call="a")),
        (
            {"promptFeedback": {"blockReason": "OTHER"}},
            Delta(finish=FinishReason.CONTENT_FILTER),
        ),
        ({"modelVersion": "m"}, Delta(model="m")),
    ],
)
def test_gemini_chunks(payload, delta):
    assert read("gemini", payload) == delta


@pytest.mark.parametrize(
    ("usage", "expected"),
    [
        ({"promptTokenCount": 3, "totalTokenCount": 3}, Usage(input_tokens=3)),
        (
            {"promptTokenCount": 3, "candidatesTokenCount": 4, "totalTokenCount": 7},
            Usage(input_tokens=3, output_tokens=4),
        ),
        (
            {"promptTokenCount": 3, "candidatesTokenCount": 4, "thoughtsTokenCount": 5},
            Usage(input_tokens=3, output_tokens=9, reasoning_tokens=5),
        ),
        (
            {"promptTokenCount": 3, "thoughtsTokenCount": 5, "totalTokenCount": 8},
            Usage(input_tokens=3, output_tokens=5, reasoning_tokens=5),
        ),
        (
            {
                "promptTokenCount": 3,
                "candidatesTokenCount": 9,
                "thoughtsTokenCount": 5,
                "totalTokenCount": 12,
            },
            Usage(input_tokens=3, output_tokens=9, reasoning_tokens=5),
        ),
        (
            {
                "promptTokenCount": 3,
                "toolUsePromptTokenCount": 2,
                "candidatesTokenCount": 4,
                "thoughtsTokenCount": 5,
                "totalTokenCount": 14,
                "cachedContentTokenCount": 1,
            },
            Usage(
                input_tokens=5,
                output_tokens=9,
                reasoning_tokens=5,
                cached_input_tokens=1,
            ),
        ),
        ({"candidatesTokenCount": 4}, Usage(output_tokens=4)),
        ({"thoughtsTokenCount": 4}, Usage(output_tokens=4, reasoning_tokens=4)),
    ],
)
def test_gemini_usage(usage, expected):
    assert read("gemini", {"usageMetadata": usage}).usage == expected


@pytest.mark.parametrize(
    ("payload", "delta"),
    [
        ({"message": {"content": "a"}, "done": False}, Delta(answer="a")),
        ({"message": {"thinking": "a"}, "done": False}, Delta(reasoning="a")),
        (
            {
                "message": {
                    "tool_calls": [{"function": {"name": "f", "arguments": {"a": 1}}}]
                }
            },
            Delta(tool_call='f{"a": 1}'),
        ),
        (
            {"message": {"tool_calls": [{"function": {"name": "f"}}]}},
            Delta(tool_call="f"),
        ),
        (
            {
                "model": "m",
                "done": True,
                "done_reason": "length",
                "eval_count": 4,
                "prompt_eval_count": 3,
            },
            Delta(
                model="m",
                finish=FinishReason.LENGTH,
                ended=True,
                usage=Usage(output_tokens=4, input_tokens=3),
            ),
        ),
        ({"done": True}, Delta(ended=True, usage=Usage())),
        ({"done": False, "done_reason": "stop"}, Delta()),
    ],
)
def test_ollama_lines(payload, delta):
    assert read("ollama", payload) == delta


@pytest.mark.parametrize("protocol", ["anthropic", "gemini", "ollama"])
def test_an_error_is_told_by_the_event_or_by_its_name(protocol):
    error = read(protocol, {"error": {"message": "gone", "code": 500}}).error
    assert error is not None and (error.message, error.names) == ("gone", ("500",))
    error = PROTOCOLS[protocol].read("error", {"message": "gone"}).error
    assert error is not None and error.message == "gone"
    assert read(protocol, {"error": None}).error is None


def test_an_anthropic_error_may_have_no_more_than_its_type():
    error = read("anthropic", {"type": "error", "message": "gone"}).error
    assert error is not None and error.message == "gone"


def test_anthropic_reasoning_may_be_called_so():
    details = {"output_tokens_details": {"reasoning_tokens": 5}}
    found = read("anthropic", {"type": "message_delta", "usage": details})
    assert found.usage == Usage(reasoning_tokens=5)


def test_all_parts_and_all_calls_count():
    thoughts = [{"text": text, "thought": True} for text in ("a", "b")]
    assert read("gemini", gemini(*thoughts)).reasoning == "ab"
    calls = [{"functionCall": {"name": name}} for name in ("f", "g")]
    assert read("gemini", gemini(*calls)).tool_call == "fg"
    calls = [{"function": {"name": name}} for name in ("f", "g")]
    assert read("ollama", {"message": {"tool_calls": calls}}).tool_call == "fg"


@pytest.mark.parametrize(
    ("usage", "output"),
    [
        ({"thoughtsTokenCount": 5, "totalTokenCount": 1}, 5),
        ({"thoughtsTokenCount": 5, "totalTokenCount": 0}, 0),
        (
            {
                "promptTokenCount": 3,
                "toolUsePromptTokenCount": 2,
                "candidatesTokenCount": 9,
                "thoughtsTokenCount": 5,
                "totalTokenCount": 14,
            },
            9,
        ),
    ],
)
def test_gemini_thoughts_are_within_the_output_where_the_total_says_so(usage, output):
    found = read("gemini", {"usageMetadata": usage}).usage
    assert found is not None and (found.output_tokens or 0) == output
