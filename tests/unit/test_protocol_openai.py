"""What OpenAI and its many relatives answer."""

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


def chunk(delta=None, finish=None, **fields):
    choice = {"index": 0, "delta": delta or {}, "finish_reason": finish}
    return {"model": "m", "choices": [choice], **fields}


@pytest.mark.parametrize(
    ("delta", "answer", "reasoning", "tool_call"),
    [
        ({"role": "assistant"}, "", "", ""),
        ({"role": "assistant", "content": ""}, "", "", ""),
        ({"content": None}, "", "", ""),
        ({"content": " "}, " ", "", ""),
        ({"content": "a", "refusal": "b"}, "ab", "", ""),
        ({"content": [{"type": "text", "text": "a"}, 7]}, "a", "", ""),
        (
            {"content": [{"type": "thinking", "thinking": "a", "text": "b"}]},
            "",
            "a",
            "",
        ),
        ({"content": [{"type": "thinking", "thinking": [{"text": "a"}]}]}, "", "a", ""),
        ({"reasoning_content": "a", "reasoning": "b"}, "", "a", ""),
        ({"reasoning": "a", "reasoning_details": [{"text": "a"}]}, "", "a", ""),
        ({"thinking": "a"}, "", "a", ""),
        (
            {"reasoning_details": [{"text": "a"}, {"summary": "b"}, {"data": "c"}]},
            "",
            "ab",
            "",
        ),
        ({"tool_calls": [{"function": {"name": "f", "arguments": ""}}]}, "", "", "f"),
        ({"tool_calls": [{"function": {"arguments": {"a": 1}}}]}, "", "", '{"a": 1}'),
        ({"tool_calls": [{"custom": {"name": "f", "input": "x"}}]}, "", "", "fx"),
        ({"function_call": {"name": "f", "arguments": "x"}}, "", "", "fx"),
    ],
)
def test_openai_tells_kinds_of_tokens_apart(delta, answer, reasoning, tool_call):
    found = read("openai", chunk(delta))
    assert (found.answer, found.reasoning, found.tool_call) == (
        answer,
        reasoning,
        tool_call,
    )
    assert found.model == "m"


def test_openai_reads_a_whole_completion():
    message = {"message": {"content": "a"}, "finish_reason": "length"}
    found = read("openai", {"choices": [message], "usage": {"prompt_tokens": 2}})
    assert (found.answer, found.finish) == ("a", FinishReason.LENGTH)
    assert found.usage == Usage(input_tokens=2)
    assert found.model is None


@pytest.mark.parametrize(
    ("usage", "expected"),
    [
        (None, None),
        ({}, None),
        (
            {"prompt_tokens": 3, "completion_tokens": 4},
            Usage(input_tokens=3, output_tokens=4),
        ),
        (
            {"input_tokens": 3, "output_tokens": 4},
            Usage(input_tokens=3, output_tokens=4),
        ),
        ({"prompt_tokens_details": {"cached_tokens": 2}}, Usage(cached_input_tokens=2)),
        ({"prompt_tokens_details": None}, Usage()),
        ({"input_tokens_details": {"cached_tokens": 0}}, Usage(cached_input_tokens=0)),
        ({"prompt_cache_hit_tokens": 2}, Usage(cached_input_tokens=2)),
        ({"cached_tokens": 2}, Usage(cached_input_tokens=2)),
        (
            {"cache_read_input_tokens": 2, "cache_creation_input_tokens": 3},
            Usage(cached_input_tokens=2, cache_write_input_tokens=3),
        ),
        (
            {"prompt_tokens_details": {"cache_write_tokens": 3}},
            Usage(cache_write_input_tokens=3),
        ),
        (
            {"prompt_tokens_details": {"cache_creation_tokens": 3}},
            Usage(cache_write_input_tokens=3),
        ),
        (
            {
                "completion_tokens": 9,
                "completion_tokens_details": {"reasoning_tokens": 4},
            },
            Usage(output_tokens=9, reasoning_tokens=4),
        ),
        (
            {"output_tokens": 9, "output_tokens_details": {"reasoning_tokens": 0}},
            Usage(output_tokens=9, reasoning_tokens=0),
        ),
        (
            {"completion_tokens": 9, "reasoning_tokens": 10},
            Usage(output_tokens=19, reasoning_tokens=10),
        ),
        (
            {"completion_tokens": 9, "reasoning_tokens": 9},
            Usage(output_tokens=9, reasoning_tokens=9),
        ),
        (
            {
                "prompt_tokens": 1,
                "completion_tokens": 9,
                "reasoning_tokens": 4,
                "total_tokens": 14,
            },
            Usage(input_tokens=1, output_tokens=13, reasoning_tokens=4),
        ),
        (
            {
                "prompt_tokens": 1,
                "completion_tokens": 9,
                "reasoning_tokens": 4,
                "total_tokens": 10,
            },
            Usage(input_tokens=1, output_tokens=9, reasoning_tokens=4),
        ),
    ],
)
def test_openai_usage_has_dialects(usage, expected):
    assert read("openai", chunk(usage=usage)).usage == expected


def test_groq_has_usage_and_errors_of_its_own():
    found = read("openai", chunk(x_groq={"usage": {"completion_tokens": 4}}))
    assert found.usage == Usage(output_tokens=4)
    error = read("openai", chunk(x_groq={"error": "over capacity"})).error
    assert error is not None and error.message == "over capacity"


def test_an_error_may_lie_in_a_choice():
    payload = chunk()
    payload["choices"][0]["error"] = {"code": 502, "message": "gone"}
    error = read("openai", payload).error
    assert error is not None and (error.message, error.names) == ("gone", ("502",))


@pytest.mark.parametrize("mark", ["stop_reason", "matched_stop"])
def test_servers_that_know_running_usage_give_themselves_away(mark):
    payload = chunk(finish="stop")
    assert read("openai", payload).quirks == frozenset()
    payload["choices"][0][mark] = None
    assert read("openai", payload).quirks == {"+continuous_usage_stats"}


def test_azure_begins_with_no_choices():
    assert read("openai", {"model": "", "choices": []}) == Delta()


@pytest.mark.parametrize(
    ("event", "delta"),
    [
        ({"type": "response.created", "response": {"model": "m"}}, Delta(model="m")),
        ({"type": "response.output_text.delta", "delta": "a"}, Delta(answer="a")),
        ({"type": "response.refusal.delta", "delta": "a"}, Delta(answer="a")),
        ({"type": "response.reasoning_text.delta", "delta": "a"}, Delta(reasoning="a")),
        (
            {"type": "response.reasoning_summary_text.delta", "delta": "a"},
            Delta(reasoning="a"),
        ),
        (
            {"type": "response.function_call_arguments.delta", "delta": "a"},
            Delta(tool_call="a"),
        ),
        ({"type": "response.audio.delta", "delta": "AAAA"}, Delta()),
        ({"type": "response.output_text.done", "text": "aaa"}, Delta()),
        (
            {
                "type": "response.output_item.added",
                "item": {"type": "function_call", "name": "f"},
            },
            Delta(tool_call="f"),
        ),
        ({"type": "response.output_item.added", "item": {"type": "message"}}, Delta()),
        (
            {
                "type": "response.completed",
                "response": {"status": "completed", "model": "m"},
            },
            Delta(finish=FinishReason.STOP, ended=True, model="m"),
        ),
        (
            {
                "type": "response.incomplete",
                "response": {
                    "status": "incomplete",
                    "incomplete_details": {"reason": "max_output_tokens"},
                },
            },
            Delta(finish=FinishReason.LENGTH, ended=True),
        ),
        (
            {
                "type": "response.incomplete",
                "response": {"incomplete_details": {"reason": "something new"}},
            },
            Delta(finish=FinishReason.LENGTH, ended=True),
        ),
        ({"type": "response.done"}, Delta(finish=FinishReason.STOP, ended=True)),
    ],
)
def test_responses_events(event, delta):
    assert read("openai-responses", event) == delta
    name, unnamed = event["type"], {k: v for k, v in event.items() if k != "type"}
    assert read("openai-responses", unnamed, name) == delta


@pytest.mark.parametrize(
    ("event", "message"),
    [
        (
            {"type": "response.failed", "response": {"error": {"message": "gone"}}},
            "gone",
        ),
        (
            {"type": "response.failed", "response": {}},
            "the server told response.failed",
        ),
        ({"type": "error", "message": "gone", "code": "server_error"}, "gone"),
        ({"type": "error", "error": {"message": "gone"}}, "gone"),
    ],
)
def test_responses_errors(event, message):
    error = read("openai-responses", event).error
    assert error is not None and error.message == message


def test_a_whole_response():
    found = read(
        "openai-responses",
        {
            "object": "response",
            "status": "completed",
            "model": "m",
            "output": [
                {"type": "reasoning", "summary": []},
                {"type": "message", "content": [{"text": "a"}, {"refusal": "b"}]},
                {"type": "function_call", "name": "f", "arguments": "{}"},
            ],
            "usage": {"input_tokens": 2, "output_tokens": 3},
        },
    )
    assert (found.answer, found.tool_call, found.model) == ("ab", "f{}", "m")
    assert found.finish is FinishReason.STOP and not found.ended
    assert found.usage == Usage(input_tokens=2, output_tokens=3)


def test_all_parts_and_all_calls_of_a_chunk_count():
    calls = [{"function": {"name": "f"}}, {"custom": {"name": "g"}}]
    delta = {"function_call": {"name": "e"}, "tool_calls": calls}
    assert read("openai", chunk(delta)).tool_call == "efg"
    thinking = [{"type": "thinking", "thinking": text} for text in ("a", "b")]
    delta = {"content": thinking, "reasoning_details": [{"text": "c"}]}
    assert read("openai", chunk(delta)).reasoning == "cab"
    assert read("openai", chunk({"reasoning": "a"})).reasoning == "a"


@pytest.mark.parametrize(
    ("response", "finish"),
    [
        ({"status": "cancelled"}, FinishReason.ERROR),
        ({"status": "completed"}, FinishReason.STOP),
        (
            {
                "status": "incomplete",
                "incomplete_details": {"reason": "content_filter"},
            },
            FinishReason.CONTENT_FILTER,
        ),
        ({"status": None, "incomplete_details": None}, FinishReason.STOP),
    ],
)
def test_a_whole_response_says_how_it_ended(response, finish):
    found = read("openai-responses", {"object": "response", **response})
    assert found.finish is finish


def test_only_a_call_is_a_tool():
    item = {"type": "message", "name": "somebody"}
    event = {"type": "response.output_item.added", "item": item}
    assert read("openai-responses", event) == Delta()
