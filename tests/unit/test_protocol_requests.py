"""What each protocol asks."""

from __future__ import annotations

import json
from urllib.parse import urlsplit

import pytest

from probes.protocols import PROTOCOLS
from probes.protocols.base import (
    endpoint_url,
    merge,
)
from probes.types import Message, Prompt, Secret, Target

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


def test_several_system_prompts_are_one():
    system = Message(role="system", content="Be kind.")
    prompt = Prompt(messages=(system, *PROMPT.messages), max_tokens=5)
    body = PROTOCOLS["anthropic"].build(target("anthropic"), prompt).body
    assert body["system"] == "Be kind.\n\nBe brief."


@pytest.mark.parametrize("protocol", ["openai-responses", "anthropic", "gemini"])
def test_a_temperature_can_be_done_without(protocol):
    assert built(protocol).droppable == ("temperature",)


def test_ollama_takes_its_url_with_or_without_a_slash():
    assert built("ollama", base_url="http://h/api/").url == "http://h/api/chat"
    assert built("ollama", base_url="http://h/").url == "http://h/api/chat"
