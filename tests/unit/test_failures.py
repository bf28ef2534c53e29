"""What a failure is called."""

from __future__ import annotations

from datetime import UTC, datetime

import pytest

from probes.failures import refusal, refused_parameter, status_failure, stream_failure
from probes.protocols.base import Delta, ServerError, Usage
from probes.record import Record
from probes.report import report, retry_after_s
from probes.timeline import Arrival
from probes.types import Failure, FinishReason

WORD = Delta(answer="word ")
NOW = datetime(2026, 12, 1, 12, tzinfo=UTC)


def error(message: str = "", *names: str, parameter: str | None = None) -> ServerError:
    return ServerError(message=message, names=names, parameter=parameter)


@pytest.mark.parametrize(
    ("status", "failure"),
    [
        (301, Failure.PROTOCOL),
        (400, Failure.CLIENT),
        (401, Failure.AUTH),
        (403, Failure.AUTH),
        (404, Failure.CLIENT),
        (429, Failure.RATE_LIMITED),
        (499, Failure.CLIENT),
        (500, Failure.SERVER),
        (503, Failure.SERVER),
        (529, Failure.OVERLOADED),
    ],
)
def test_a_status_has_a_meaning_of_its_own(status, failure):
    assert status_failure(status) is failure
    assert refusal(error("boom", "server_error"), status) is failure


@pytest.mark.parametrize(
    ("told", "failure"),
    [
        (error("", "overloaded_error"), Failure.OVERLOADED),
        (error("", "server_is_overloaded"), Failure.OVERLOADED),
        (error("", "slow_down"), Failure.OVERLOADED),
        (error("", "529"), Failure.OVERLOADED),
        (error("", "rate_limit_error"), Failure.RATE_LIMITED),
        (error("", "RESOURCE_EXHAUSTED"), Failure.RATE_LIMITED),
        (error("", "too_many_requests"), Failure.RATE_LIMITED),
        (error("", "ThrottlingException"), Failure.RATE_LIMITED),
        (error("", "429"), Failure.RATE_LIMITED),
        (error("", "content_filter"), Failure.CONTENT_FILTER),
        (error("The model is overloaded."), Failure.OVERLOADED),
        (error("Rate limit reached"), Failure.RATE_LIMITED),
        (error("Too Many Requests"), Failure.RATE_LIMITED),
        (error("rate limit", "overloaded_error"), Failure.OVERLOADED),
    ],
)
def test_a_name_wins_over_the_status_and_over_where_it_was_told(told, failure):
    assert refusal(told, 500) is failure
    assert stream_failure(told) is failure


def test_an_error_without_a_name_is_one_of_the_stream():
    assert stream_failure(error("boom", "500")) is Failure.STREAM_ERROR
    assert stream_failure(error("overloading", "4290")) is Failure.STREAM_ERROR


def test_what_a_refusal_says_of_the_request_is_no_name():
    for status in (400, 401, 404, 422):
        told = error("the method overloaded is unknown, rate limit")
        assert refusal(told, status) is status_failure(status)
    assert refusal(error("", "overloaded_error"), 400) is Failure.OVERLOADED


ALL = ("continuous_usage_stats", "stream_options", "temperature", "max_tokens")


@pytest.mark.parametrize(
    ("told", "refused"),
    [
        (
            error("Unrecognized request argument supplied: stream_options"),
            "stream_options",
        ),
        (
            error("body.stream_options: Extra inputs are not permitted"),
            "stream_options",
        ),
        (error("bad value", parameter="temperature"), "temperature"),
        (error("temperature: range 1 to 2"), "temperature"),
        (error("", parameter="stream_options.include_usage"), "stream_options"),
        (
            error("Unknown parameter: 'stream_options.continuous_usage_stats'"),
            "continuous_usage_stats",
        ),
        (
            error("Use 'max_completion_tokens' instead", parameter="max_tokens"),
            "max_tokens",
        ),
        (error("", "unsupported_parameter", parameter="max_tokens"), "max_tokens"),
        (error("max_tokens is too large: 9", parameter="max_tokens"), None),
        (error("Unsupported parameter: max_tokens_to_sample"), None),
        (error("max_completion_tokens is not supported"), None),
        (error("unknown model"), None),
    ],
)
def test_a_refused_parameter_is_one_of_ours_that_the_error_names(told, refused):
    assert refused_parameter(told, ALL) == refused


def record(*deltas: Delta, streamed: bool | None = True, **fields) -> Record:
    found = Record(streamed=streamed, status=200, **fields)
    for index, delta in enumerate(deltas):
        found.answer.add(delta)
        found.tokens.observe(Arrival(index, 100.0 + 20 * index, 0.0), delta)
    return found


FILTERED = Delta(finish=FinishReason.CONTENT_FILTER)
STOPPED = Delta(finish=FinishReason.STOP)
ENDED = Delta(ended=True)


@pytest.mark.parametrize(
    ("deltas", "failure", "words"),
    [
        ([WORD, STOPPED], None, ""),
        ([WORD, ENDED], None, ""),
        ([Delta(tool_call="f"), ENDED], None, ""),
        ([WORD], Failure.TRUNCATED, "the answer ended without a finish reason"),
        ([], Failure.TRUNCATED, "the answer ended without a finish reason"),
        ([ENDED], Failure.EMPTY, "the answer has no token"),
        ([STOPPED], Failure.EMPTY, "the answer has no token"),
        (
            [Delta(reasoning="hm"), ENDED],
            Failure.EMPTY,
            "the answer has only reasoning",
        ),
        (
            [WORD, FILTERED],
            Failure.CONTENT_FILTER,
            "the content filter ended the answer",
        ),
        ([FILTERED], Failure.CONTENT_FILTER, "the content filter ended the answer"),
        (
            [WORD, Delta(finish=FinishReason.ERROR)],
            Failure.STREAM_ERROR,
            "the server ended the answer as failed",
        ),
    ],
)
def test_an_answer_that_came_to_its_end_is_judged(deltas, failure, words):
    found = record(*deltas)
    found.judge()
    assert (found.failure, found.failure_text) == (failure, words)


@pytest.mark.parametrize(
    ("deltas", "failure", "words"),
    [
        ([WORD], None, ""),
        ([], Failure.PROTOCOL, "the JSON is not an answer"),
        ([STOPPED], Failure.EMPTY, "the answer has no token"),
        ([ENDED], Failure.EMPTY, "the answer has no token"),
    ],
)
def test_one_body_need_not_say_why_it_ends(deltas, failure, words):
    found = record(*deltas, streamed=False)
    found.judge()
    assert (found.failure, found.failure_text) == (failure, words)


def test_the_first_failure_stays():
    found = record(WORD)
    found.fail(Failure.DNS, "first")
    found.fail(Failure.TLS, "second")
    found.judge()
    assert (found.failure, found.failure_text) == (Failure.DNS, "first")


def test_what_happens_to_an_answer_on_its_way_does():
    found = record(WORD)
    found.fail_unless_complete(Failure.TRUNCATED, "gone")
    assert (found.failure, found.failure_text) == (Failure.TRUNCATED, "gone")


def test_what_happens_to_a_complete_answer_does_not_matter():
    found = record(WORD, Delta(finish=FinishReason.STOP))
    found.fail_unless_complete(Failure.TRUNCATED, "gone")
    assert found.failure is None


@pytest.mark.parametrize(
    ("headers", "seconds"),
    [
        ({}, None),
        ({"retry-after": "7"}, 7),
        ({"retry-after": "0.5"}, 0.5),
        ({"retry-after": "-1"}, None),
        ({"retry-after": "inf"}, None),
        ({"retry-after": "nan"}, None),
        ({"retry-after": "1e300"}, 604_800),
        ({"retry-after": "1e-300"}, 0),
        ({"retry-after-ms": "1e300"}, 604_800),
        ({"retry-after-ms": "nan", "retry-after": "-7"}, None),
        ({"retry-after": "Fri, 31 Dec 9999 23:59:59 GMT"}, 604_800),
        ({"retry-after": "Fri, 31 Dec 9999 23:59:59 -0100"}, None),
        ({"retry-after": "Mon, 01 Jan 0001 00:00:00 +0100"}, 0),
        ({"retry-after": "Tue, 01 Dec 2026 12:00:30 -9999"}, None),
        ({"retry-after": "Tue, 01 Dec 99999999999 12:00:30 GMT"}, None),
        ({"retry-after": "soon"}, None),
        ({"retry-after": "Tue, 01 Dec 2026 12:00:30 GMT"}, 30),
        ({"retry-after": "Tue, 01 Dec 2026 11:00:00 GMT"}, 0),
        ({"retry-after-ms": "1500", "retry-after": "2"}, 1.5),
        ({"retry-after-ms": "x", "retry-after": "2"}, 2),
    ],
)
def test_servers_ask_to_wait_in_several_ways(headers, seconds):
    assert retry_after_s(headers, NOW) == seconds


def test_a_complete_answer_has_all_figures():
    found = record(
        WORD,
        Delta(answer="word ", model="m\n" + "x" * 300),
        Delta(finish=FinishReason.STOP, usage=Usage(output_tokens=2)),
        kernel_clock=True,
        send_ms=0.1,
        late_ms=0.5,
        bytes=99,
        end_ms=140.00049,
    )
    found.judge()
    result = report(found, str)
    assert (result.outcome, result.error) == ("ok", None)
    assert (result.ttft_ms, result.total_ms, result.end_ms) == (100, 120, 140)
    assert result.tokens_per_second == 50
    assert (result.answer_chars, result.chunks, result.bytes) == (10, 2, 99)
    assert result.clock == "kernel"
    assert result.uncertainty_ms == 0.1
    assert result.loop_lag_ms == 0.5
    assert list(result.timeline) == [(100, 1), (120, 1)]
    assert result.model_reported == "m " + "x" * 197 + "…"


def test_an_incomplete_answer_keeps_what_was_measured_but_has_no_total():
    found = record(WORD, WORD, kernel_clock=False, late_ms=4.0, send_ms=1.0)
    found.judge()
    result = report(found, lambda text: f"<{text}>")
    assert (result.outcome, result.error) == ("error", "truncated")
    assert result.error_text == "<the answer ended without a finish reason>"
    assert result.ttft_ms == 100 and result.total_ms is None
    assert (result.output_tokens, result.token_source) == (2, "chunks")
    assert result.clock == "user"
    assert result.uncertainty_ms == 1 + 2 * (4 + 2)


def test_nothing_received_has_no_figures():
    found = Record()
    found.fail(Failure.DNS, "no such host")
    result = report(found, str)
    for name in (
        "clock",
        "uncertainty_ms",
        "chunks",
        "answer_chars",
        "bytes",
        "ttft_ms",
    ):
        assert getattr(result, name) is None
    assert result.retry_after_s is None


def test_one_body_without_usage_has_no_count_of_tokens():
    found = record(WORD, streamed=False)
    found.judge()
    result = report(found, str)
    assert (result.output_tokens, result.token_source) == (None, None)
    found = record(Delta(answer="a", usage=Usage(output_tokens=3)), streamed=False)
    result = report(found, str)
    assert (result.output_tokens, result.token_source) == (3, "usage")


def test_a_duration_fits_where_it_is_stored():
    """A process that was stopped for an hour finds that its loop was late by that."""
    hour_ms = 3_600_000.0
    found = record(WORD, STOPPED, kernel_clock=False, late_ms=hour_ms, end_ms=hour_ms)
    result = report(found, str)
    for told_ms in (result.loop_lag_ms, result.uncertainty_ms, result.end_ms):
        assert told_ms is not None and 2_000_000 < told_ms < 2**31 / 1000


def test_only_a_refusal_asks_to_wait():
    found = Record(headers={"retry-after": "7"}, refusal=error("slow down"), status=429)
    found.fail(Failure.RATE_LIMITED, "slow down")
    assert report(found, str).retry_after_s == 7
    assert report(record(WORD, headers={"retry-after": "7"}), str).retry_after_s is None
