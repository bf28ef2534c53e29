"""What all protocols share: events, errors, words, and whole answers."""

from __future__ import annotations

import json
from dataclasses import astuple

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from probes.answer import Answer
from probes.protocols import PROTOCOLS
from probes.protocols.base import (
    Delta,
    Usage,
    as_count,
    finish_reason,
    written,
)
from probes.protocols.errors import error_in_body
from probes.reading import read_event
from probes.timeline import Arrival, TokenTimeline
from probes.types import FinishReason
from probes.wire import Event, ProtocolError


def read(protocol: str, payload, name: str = "") -> Delta:
    return PROTOCOLS[protocol].read(name, payload)


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
        (7.5, None),
        (1e300, None),
        (10**400, None),
        (2**31, None),
        (2.0**31, None),
        (2**31 - 1, 2**31 - 1),
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
    with pytest.raises(ProtocolError, match=r"^an event is nested too deep$"):
        written(deep)


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
    assert list(read_event(PROTOCOLS["openai"], event)) == deltas


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
        list(read_event(PROTOCOLS["openai"], Event("", text)))


@pytest.mark.parametrize(
    ("name", "payload"),
    [
        ("error", "rate " * 100_000),
        ("", json.dumps({"error": "rate " * 100_000})),
        ("", json.dumps({"error": {"message": "", "x": "rate " * 100_000}})),
        ("", json.dumps({"error": {"code": "c" * 100_000, "param": "p" * 100_000}})),
    ],
)
def test_no_more_of_an_error_is_looked_at_than_it_takes(name, payload):
    (delta,) = read_event(PROTOCOLS["openai"], Event(name, payload))
    error = delta.error
    assert error is not None
    texts = (error.message, *error.names, error.parameter or "")
    assert sum(map(len, texts)) <= 11_000


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


COUNT_KEYS = """
completion_tokens output_tokens prompt_tokens input_tokens reasoning_tokens
cached_tokens prompt_cache_hit_tokens cache_read_input_tokens cache_write_tokens
cache_creation_tokens cache_creation_input_tokens thinking_tokens total_tokens
promptTokenCount candidatesTokenCount thoughtsTokenCount toolUsePromptTokenCount
cachedContentTokenCount totalTokenCount eval_count prompt_eval_count
"""
numbers = (
    st.integers(-5, 2**31)
    | st.sampled_from([2**31 - 1, 2**31, 2**63, 10**400, -1, True])
    | st.floats()
)
counts = st.dictionaries(st.sampled_from(COUNT_KEYS.split()), numbers)


@pytest.mark.parametrize("name", sorted(PROTOCOLS))
@settings(deadline=None)
@given(counts, counts)
def test_a_count_fits_where_it_is_stored(name, told, details):
    usage = told | {
        f"{side}_tokens_details": details
        for side in ("prompt", "completion", "input", "output")
    }
    answer = Answer()
    for payload in (
        {"usage": usage, "usageMetadata": usage},
        {"type": "message_start", "message": {"usage": usage}},
        {"type": "message_delta", "usage": usage},
        {"type": "response.completed", "response": {"usage": usage}},
        {"done": True, **told},
    ):
        answer.add(read(name, payload))
        stored = (*astuple(answer.usage), answer.input_tokens)
        for count in stored:
            assert count is None or (type(count) is int and 0 <= count < 2**31)


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
