"""What a sample says about each figure that can have a rule."""

from __future__ import annotations

from dataclasses import replace

import pytest

from alerts.figures import Figure, Observed, limit, read
from alerts.rules import Outcome, Reading, classify
from probes.types import Failure

ANSWER = Observed(
    ttft_ms=400,
    total_ms=2400,
    tokens_per_second=40.0,
    output_tokens=81,
    chunks=81,
    uncertainty_ms=0.5,
)


def test_an_answer_is_read_figure_by_figure():
    assert read(Figure.TTFT_MS, ANSWER) == Reading(value=400, uncertainty=0.5)
    assert read(Figure.TOTAL_MS, ANSWER) == Reading(value=2400, uncertainty=0.5)
    assert read(Figure.ERRORS, ANSWER) == Reading(value=0)


def test_a_rate_is_as_unsure_as_the_time_it_is_over():
    """2 s of decoding known to 20 ms: the rate is known to 1 %."""
    reading = read(Figure.TOKENS_PER_SECOND, replace(ANSWER, uncertainty_ms=20))

    assert reading.value == 40
    assert reading.uncertainty == pytest.approx(0.4)


@pytest.mark.parametrize("name", Failure)
def test_a_dead_endpoint_fires_the_rule_for_errors_alone(name: Failure):
    """Without a value every failure is bad in ``errors`` only, but for one of TTFT."""
    dead = Observed(failure=name)
    outcomes = {
        figure: classify(read(figure, dead), limit(figure, at, 0.85))
        for figure, at in {
            Figure.TTFT_MS: 1000.0,
            Figure.TOKENS_PER_SECOND: 20.0,
            Figure.TOTAL_MS: 9000.0,
            Figure.ERRORS: 0.0,
        }.items()
    }

    endless = name is Failure.TIMEOUT_FIRST_TOKEN
    assert outcomes == {
        Figure.TTFT_MS: Outcome.BAD if endless else Outcome.UNKNOWN,
        Figure.TOKENS_PER_SECOND: Outcome.UNKNOWN,
        Figure.TOTAL_MS: Outcome.UNKNOWN,
        Figure.ERRORS: Outcome.BAD,
    }


def test_a_cut_answer_keeps_its_ttft_and_no_more():
    cut = replace(ANSWER, failure="truncated")

    assert read(Figure.TTFT_MS, cut).value == 400
    assert read(Figure.TOTAL_MS, cut) == Reading()
    assert read(Figure.TOKENS_PER_SECOND, cut) == Reading()


def test_an_answer_is_good_for_the_rule_for_errors():
    reading = read(Figure.ERRORS, ANSWER)

    assert classify(reading, limit(Figure.ERRORS, 0, 0.85)) is Outcome.GOOD


def test_a_stream_that_was_held_back_breaks_the_floor_only():
    held = replace(ANSWER, buffered=True, tokens_per_second=None)

    assert read(Figure.TOKENS_PER_SECOND, held) == Reading(beyond=True)
    assert read(Figure.TTFT_MS, held).value == 400


@pytest.mark.parametrize(
    "short",
    [
        {"output_tokens": 15, "chunks": 15},
        {"chunks": 2},
        {"total_ms": 449.9},
        {"ttft_ms": None},
        {"total_ms": None},
        {"tokens_per_second": None},
        {"output_tokens": None, "chunks": None},
    ],
)
def test_too_little_stream_for_a_rate_says_nothing(short: dict[str, float | None]):
    seen = replace(ANSWER, **short)  # type: ignore[arg-type]  # one field of each type

    assert read(Figure.TOKENS_PER_SECOND, seen) == Reading()


@pytest.mark.parametrize(
    "enough",
    [
        {"output_tokens": 16, "chunks": 3, "total_ms": 450.0},
        {"output_tokens": None, "chunks": 16},
    ],
)
def test_just_enough_stream_for_a_rate(enough: dict[str, float | None]):
    seen = replace(ANSWER, **enough)  # type: ignore[arg-type]  # one field of each type

    assert read(Figure.TOKENS_PER_SECOND, seen).value == 40


def test_only_the_rate_has_a_floor():
    floors = {f for f in Figure if limit(f, 1, 0.85).is_floor}

    assert floors == {Figure.TOKENS_PER_SECOND}
