"""Every protocol's two functions, and what they share."""

from __future__ import annotations

import json
from urllib.parse import urlsplit

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from probes.answer import Answer
from probes.protocols import PROTOCOLS
from probes.protocols.base import (
    Delta,
    Usage,
    as_count,
    endpoint_url,
    finish_reason,
    merge,
    written,
)
from probes.protocols.errors import error_in_body
from probes.reading import read_event
from probes.timeline import Arrival, TokenTimeline
from probes.types import FinishReason, Message, Prompt, Secret, Target
from probes.wire import Event, ProtocolError

PROMPT = Prompt(
    messages=(
        Message(role="system", content="Be brief."),
        Message(role="user", content="Hello"),
        Message(role="assistant", content="Hi"),
        Message(role="user", content="More"),
    ),
    max_tokens=5,
)


def target(protocol: str, **settings) -> Target:
    defaults = {"base_url": "https://api.example/v1/", "model": "m"}
    return Target(protocol=protocol, **(defaults | settings))


def built(protocol: str, **settings):
    return PROTOCOLS[protocol].build(target(protocol, **settings), PROMPT)


def read(protocol: str, payload, name: str = "") -> Delta:
    return PROTOCOLS[protocol].read(name, payload)


@pytest.mark.parametrize(
    ("protocol", "base", "url"),
    [
        ("openai", "http://h/v1", "http://h/v1/chat/completions"),
        ("openai", "http://h/v1/?k=1", "http://h/v1/chat/completions?k=1"),
        ("openai-responses", "http://h/v1", "http://h/v1/responses"),
        ("anthropic", "https://h", "https://h/v1/messages"),
        ("anthropic", "https://h/v1/", "https://h/v1/messages"),
        ("ollama", "http://h:1", "http://h:1/api/chat"),
        ("ollama", "http://h:1/api", "http://h:1/api/chat"),
        (
            "gemini",
            "https://h/v1beta",
            "https://h/v1beta/models/m:streamGenerateContent?alt=sse",
        ),
    ],
)
def test_the_url_is_the_vendors(protocol, base, url):
    assert built(protocol, base_url=base).url == url


@pytest.mark.parametrize(
    ("model", "path"),
    [
        ("gemini-9", "/b/models/gemini-9:streamGenerateContent"),
        ("models/gemini-9", "/b/models/gemini-9:streamGenerateContent"),
        ("tunedModels/a b", "/b/tunedModels/a%20b:streamGenerateContent"),
    ],
)
def test_a_gemini_model_may_name_its_collection(model, path):
    request = built("gemini", base_url="https://h/b", model=model)
    assert urlsplit(request.url).path == path


AZURE = "https://r.openai.azure.com"


@pytest.mark.parametrize(
    ("protocol", "base", "path"),
    [
        ("openai", AZURE, "/openai/deployments/m/chat/completions"),
        ("openai", AZURE + "/openai/", "/openai/deployments/m/chat/completions"),
        (
            "openai",
            AZURE + "/openai/deployments/d",
            "/openai/deployments/d/chat/completions",
        ),
        ("openai", AZURE + "/openai/v1", "/openai/v1/chat/completions"),
        ("openai-responses", AZURE, "/openai/responses"),
    ],
)
def test_azure_has_its_own_path_version_and_key(protocol, base, path):
    request = built(
        protocol, base_url=base, azure_api_version="2026-01-01", api_key=Secret("k")
    )
    assert urlsplit(request.url).path == path
    assert urlsplit(request.url).query == "api-version=2026-01-01"
    assert request.headers == {"api-key": Secret("k")}


@pytest.mark.parametrize(
    ("protocol", "header", "value"),
    [
        ("openai", "authorization", "Bearer k"),
        ("openai-responses", "authorization", "Bearer k"),
        ("ollama", "authorization", "Bearer k"),
        ("anthropic", "x-api-key", "k"),
        ("gemini", "x-goog-api-key", "k"),
    ],
)
def test_the_key_goes_where_the_vendor_looks(protocol, header, value):
    assert built(protocol, api_key=Secret("k")).headers[header] == Secret(value)
    assert header not in built(protocol).headers
    assert header not in built(protocol, azure_api_version="v").headers
    extra = {header: Secret("own")}
    assert built(protocol, api_key=Secret("k"), extra_headers=extra).headers[
        header
    ] == (Secret("own"))


TURNS = [
    {"role": "user", "content": "Hello"},
    {"role": "assistant", "content": "Hi"},
    {"role": "user", "content": "More"},
]
SYSTEM = {"role": "system", "content": "Be brief."}


def test_openai_asks_for_a_stream_with_usage():
    assert built("openai").body == {
        "model": "m",
        "messages": [SYSTEM, *TURNS],
        "stream": True,
        "stream_options": {"include_usage": True},
        "max_tokens": 5,
        "temperature": 0,
    }


def test_openai_leaves_out_what_is_refused():
    quirks = frozenset({"stream_options", "max_tokens", "temperature"})
    request = built("openai", quirks=quirks)
    assert request.body == {
        "model": "m",
        "messages": [SYSTEM, *TURNS],
        "stream": True,
        "max_completion_tokens": 5,
    }
    assert request.droppable == ("max_completion_tokens",)


def test_openai_asks_a_server_that_knows_for_running_usage():
    request = built("openai", quirks=frozenset({"+continuous_usage_stats"}))
    assert request.body["stream_options"] == {
        "include_usage": True,
        "continuous_usage_stats": True,
    }
    assert request.droppable[0] == "continuous_usage_stats"
    quirks = frozenset({"+continuous_usage_stats", "continuous_usage_stats"})
    request = built("openai", quirks=quirks)
    assert request.body["stream_options"] == {"include_usage": True}
    assert "continuous_usage_stats" not in request.droppable


def test_responses_asks_for_no_fewer_tokens_than_are_allowed():
    assert built("openai-responses").body == {
        "model": "m",
        "input": [SYSTEM, *TURNS],
        "stream": True,
        "max_output_tokens": 16,
        "temperature": 0,
    }
    many = Prompt(messages=PROMPT.messages, max_tokens=17)
    body = PROTOCOLS["openai-responses"].build(target("openai-responses"), many).body
    assert body["max_output_tokens"] == 17


def test_anthropic_has_the_system_prompt_apart():
    request = built("anthropic")
    assert request.body == {
        "model": "m",
        "system": "Be brief.",
        "messages": TURNS,
        "stream": True,
        "max_tokens": 5,
        "temperature": 0,
    }
    assert request.headers == {"anthropic-version": Secret("2023-06-01")}
    assert request.droppable == ("temperature",)
    bare = Prompt(messages=PROMPT.messages[1:2], max_tokens=5)
    assert "system" not in PROTOCOLS["anthropic"].build(target("anthropic"), bare).body


def test_gemini_calls_the_assistant_model():
    assert built("gemini").body == {
        "systemInstruction": {"parts": [{"text": "Be brief."}]},
        "contents": [
            {"role": "user", "parts": [{"text": "Hello"}]},
            {"role": "model", "parts": [{"text": "Hi"}]},
            {"role": "user", "parts": [{"text": "More"}]},
        ],
        "generationConfig": {"maxOutputTokens": 5, "temperature": 0},
    }
    bare = Prompt(messages=PROMPT.messages[1:2], max_tokens=5)
    body = PROTOCOLS["gemini"].build(target("gemini"), bare).body
    assert "systemInstruction" not in body


def test_ollama_has_options():
    assert built("ollama").body == {
        "model": "m",
        "messages": [SYSTEM, *TURNS],
        "stream": True,
        "options": {"num_predict": 5, "temperature": 0},
    }


@pytest.mark.parametrize("protocol", sorted(PROTOCOLS))
def test_a_refused_temperature_is_not_sent_again(protocol):
    request = built(protocol, quirks=frozenset({"temperature"}))
    if protocol != "ollama":
        assert "temperature" not in json.dumps(request.body)
    assert "temperature" not in request.droppable


@pytest.mark.parametrize("protocol", sorted(PROTOCOLS))
def test_extra_fields_patch_the_body(protocol):
    body = built(protocol, extra_body={"stream": None, "x": {"y": 1}}).body
    assert "stream" not in body
    assert body["x"] == {"y": 1}


def test_a_patch_goes_into_objects_and_null_removes():
    body = {"a": {"b": 1, "c": 2}, "d": 3}
    patch = {"a": {"b": None, "e": 5}, "d": {"f": 6, "g": None}, "h": None}
    assert merge(body, patch) == {"a": {"c": 2, "e": 5}, "d": {"f": 6}}
    assert body == {"a": {"b": 1, "c": 2}, "d": 3}


def test_a_url_keeps_its_own_query():
    assert (
        endpoint_url("http://h/a/?b=c", "/d", {"e": "f g"}) == "http://h/a/d?b=c&e=f+g"
    )
    assert endpoint_url("http://h", "/d", {}) == "http://h/d"


@pytest.mark.parametrize(
    ("word", "reason"),
    [
        ("stop", FinishReason.STOP),
        ("STOP", FinishReason.STOP),
        ("end_turn", FinishReason.STOP),
        ("something new", FinishReason.STOP),
        ("length", FinishReason.LENGTH),
        ("MAX_TOKENS", FinishReason.LENGTH),
        ("tool_use", FinishReason.TOOL_CALLS),
        ("function_call", FinishReason.TOOL_CALLS),
        ("SAFETY", FinishReason.CONTENT_FILTER),
        ("refusal", FinishReason.CONTENT_FILTER),
        ("error", FinishReason.ERROR),
        ("insufficient_system_resource", FinishReason.ERROR),
        ("", None),
        ("null", None),
        ("FINISH_REASON_UNSPECIFIED", None),
        (None, None),
        (3, None),
    ],
)
def test_finish_reasons_have_one_vocabulary(word, reason):
    assert finish_reason(word) is reason


@pytest.mark.parametrize(
    ("value", "count"),
    [
        (0, 0),
        (7, 7),
        (7.0, 7),
        (-1, None),
        (True, None),
        ("7", None),
        (None, None),
        (float("inf"), None),
        (float("nan"), None),
        (2**53, None),
        (2**53 - 1, 2**53 - 1),
    ],
)
def test_only_a_number_that_can_count_is_a_count(value, count):
    assert as_count(value) == count


def test_arguments_may_come_as_json_or_as_text():
    assert written('{"a"') == '{"a"'
    assert written({"a": 1}) == '{"a": 1}'


def test_arguments_nested_too_deep_are_a_protocol_error():
    deep: list[object] = []
    for _ in range(100_000):
        deep = [deep]
    with pytest.raises(ProtocolError):
        written(deep)


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
    name = event.pop("type")
    assert read("openai-responses", event, name) == delta


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
    name = event.pop("type")
    assert read("anthropic", event, name) == delta


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


@pytest.mark.parametrize(
    ("text", "message", "names", "parameter"),
    [
        ("upstream gone", "upstream gone", (), None),
        ("[" * 100_000, "[" * 100_000, (), None),
        ("7", "7", (), None),
        ("[]", "[]", (), None),
        ('{"error": "a"}', "a", (), None),
        ('{"error": "a", "error_type": "overloaded"}', "a", ("overloaded",), None),
        (
            '{"error": {"message": "a", "type": "t", "code": 7, "param": "p"}}',
            "a",
            ("t", "7"),
            "p",
        ),
        ('[{"error": {"message": "a", "status": "S"}}]', "a", ("S",), None),
        (
            '{"type": "error", "error": {"type": "t", "message": "a"}}',
            "a",
            ("t", "error"),
            None,
        ),
        ('{"object": "error", "message": "a", "code": 400}', "a", ("400",), None),
        ('{"detail": "a"}', "a", (), None),
        (
            '{"detail": [{"loc": ["body", "x"], "msg": "a", "input": "secret"}]}',
            "body.x: a",
            (),
            None,
        ),
        (
            '{"message": {"detail": [{"loc": ["x"], "msg": "a"}, {"msg": "b"}]}}',
            "x: a; : b",
            (),
            None,
        ),
        ('{"error": {"detail": "a"}}', "a", (), None),
        ('{"odd": 1}', '{"odd": 1}', (), None),
        (
            '{"error": {"message": "", "type": null, "code": true, "param": 1}}',
            None,
            ("True",),
            None,
        ),
    ],
)
def test_errors_come_in_many_shapes(text, message, names, parameter):
    error = error_in_body(text)
    assert error.message == (text if message is None else message)
    assert error.names == names
    assert error.parameter == parameter


@pytest.mark.parametrize(
    ("event", "deltas"),
    [
        (Event("", ""), []),
        (Event("", "  "), []),
        (Event("", ": PROCESSING"), []),
        (Event("ping", "not json"), []),
        (Event("", "[DONE]"), [Delta(ended=True)]),
        (Event("", '{"choices": []}'), [Delta()]),
        (Event("", '{"choices":\n []}'), [Delta()]),
        (Event("", '{"choices": []}\n: x\n[DONE]'), [Delta(), Delta(ended=True)]),
        (Event("", "[{}, {}]"), [Delta(), Delta()]),
    ],
)
def test_an_event_is_read_as_what_it_adds(event, deltas):
    assert read_event(PROTOCOLS["openai"], event) == deltas


def test_an_error_event_need_not_be_json():
    (delta,) = read_event(PROTOCOLS["openai"], Event("error", "it broke"))
    assert delta.error is not None and delta.error.message == "it broke"
    (delta,) = read_event(
        PROTOCOLS["openai"], Event("error", '{"message": "it broke"}')
    )
    assert delta.error is not None and delta.error.message == "it broke"


@pytest.mark.parametrize("text", ["it broke", '{"a": 1', '{}\n{"a"', "7"])
def test_an_event_that_is_not_json_is_a_protocol_error(text):
    with pytest.raises(ProtocolError):
        read_event(PROTOCOLS["openai"], Event("", text))


KEYS = """
choices delta message content text type usage error code param finish_reason tool_calls
function arguments name response output item status incomplete_details reason candidates
parts thought functionCall args usageMetadata thoughtsTokenCount promptTokenCount
totalTokenCount done done_reason eval_count content_block stop_reason reasoning_details
x_groq prompt_tokens_details completion_tokens completion_tokens_details detail loc msg
object input model
"""
WORDS = """
message_start message_delta message content_block_delta content_block_start error stop
response.completed response.failed response.output_item.added response thinking
response.output_text.delta
"""
keys = st.sampled_from(KEYS.split())
values = st.recursive(
    st.none()
    | st.booleans()
    | st.integers()
    | st.floats()
    | st.text(max_size=5)
    | st.sampled_from(WORDS.split()),
    lambda inner: (
        st.lists(inner, max_size=3) | st.dictionaries(keys, inner, max_size=5)
    ),
    max_leaves=25,
)


@pytest.mark.parametrize("name", sorted(PROTOCOLS))
@settings(deadline=None)
@given(st.dictionaries(keys, values, max_size=6), st.text(max_size=3))
def test_no_json_upsets_a_protocol(name, payload, event_name):
    answer, timeline = Answer(), TokenTimeline()
    for _ in range(2):
        delta = PROTOCOLS[name].read(event_name, payload)
        answer.add(delta)
        timeline.observe(Arrival(1, 1.0, 0.0), delta)
    figures = timeline.figures(answer.usage)
    assert figures.chunks == len(figures.timeline)
    assert answer.input_tokens is None or answer.input_tokens >= 0
    error_in_body(json.dumps(payload))


def state(answer: Answer) -> tuple[bool, FinishReason | None]:
    return answer.is_complete, answer.finish_reason


def test_an_answer_sums_up_its_deltas():
    answer = Answer()
    first, second = Usage(input_tokens=3, output_tokens=1), Usage(output_tokens=2)
    answer.add(Delta(answer="ab", model="first", usage=first))
    answer.add(Delta(answer="c", reasoning="xyz", usage=second))
    answer.add(Delta(quirks=frozenset({"+a"}), model="second"))
    assert (answer.chars, answer.model) == (3, "second")
    assert answer.usage == Usage(input_tokens=3, output_tokens=2)
    assert answer.input_tokens == 3
    assert answer.quirks == {"+a"}


def test_a_finish_reason_completes_an_answer():
    answer = Answer()
    answer.add(Delta(answer="ab"))
    assert state(answer) == (False, None)
    answer.add(Delta(finish=FinishReason.STOP))
    assert state(answer) == (True, FinishReason.STOP)
    answer.add(Delta())
    assert state(answer) == (True, FinishReason.STOP)


def test_the_end_marker_alone_completes_an_answer():
    answer = Answer()
    answer.add(Delta(ended=True))
    assert state(answer) == (True, None)


def test_stopping_after_a_tool_call_is_a_finish_reason_of_its_own():
    answer = Answer()
    answer.add(Delta(tool_call="f"))
    answer.add(Delta(finish=FinishReason.STOP))
    assert state(answer) == (True, FinishReason.TOOL_CALLS)
    answer.add(Delta(finish=FinishReason.LENGTH))
    assert state(answer) == (True, FinishReason.LENGTH)


def test_cached_input_that_is_told_beside_the_rest_is_added_once():
    answer = Answer()
    answer.add(Delta(usage=Usage(uncached_input_tokens=60, cached_input_tokens=2000)))
    answer.add(Delta(usage=Usage(uncached_input_tokens=60, cache_write_input_tokens=5)))
    assert answer.input_tokens == 2065
    assert answer.usage.cached_input_tokens == 2000


def test_a_zero_is_kept_where_nothing_else_was_told():
    answer = Answer()
    answer.add(Delta(usage=Usage(cached_input_tokens=0, output_tokens=0)))
    answer.add(Delta(usage=Usage()))
    assert answer.usage == Usage(cached_input_tokens=0, output_tokens=0)


def test_the_first_error_stays():
    answer = Answer()
    for message in ("first", "second"):
        answer.add(read("openai", {"error": message}))
    assert answer.error is not None and answer.error.message == "first"
