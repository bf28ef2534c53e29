"""Figures of a timeline, against streams whose figures are known."""

from __future__ import annotations

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from probes import smoothness
from probes.protocols.base import Delta, Usage
from probes.smoothness import Gaps
from probes.timeline import Arrival, TokenTimeline
from probes.token_shares import Total, share_tokens

EVEN = [(100 + 20 * i, 1.0) for i in range(41)]
STALL = [*EVEN[:21], *((t + 880, n) for t, n in EVEN[21:])]
SLOWING = [*EVEN, *((900 + 50 * i, 1.0) for i in range(1, 41))]


@pytest.mark.parametrize(
    ("weights", "totals", "shares"),
    [
        ([5, 5, 5], [(3, 3)], [1, 1, 1]),
        ([9, 1, 5], [(3, 3)], [1, 1, 1]),
        ([1, 1, 2], [(3, 8)], [2, 2, 4]),
        ([7, 7, 7], [(1, 1), (2, 5), (3, 7)], [1, 4, 2]),
        ([1, 3, 1, 3], [(2, 4), (4, 12)], [1, 3, 2, 6]),
        ([1, 1], [(1, 0), (2, 4)], [2, 2]),
        ([1, 1, 1], [(1, 3), (2, 3), (3, 6)], [3, 1.5, 1.5]),
        ([1, 1], [(1, 4), (2, 4)], [2, 2]),
        ([1, 1], [(1, 9), (2, 4)], [2, 2]),
        ([1, 1], [(0, 1), (2, 4)], [2, 2]),
        ([1, 1], [(2, 3), (2, 4)], [2, 2]),
        ([3], [(1, 9)], [9]),
    ],
)
def test_tokens_are_shared_as_exactly_as_the_server_tells(weights, totals, shares):
    assert share_tokens(weights, [Total(*t) for t in totals]) == shares


@settings(deadline=None)
@given(
    st.lists(st.integers(1, 50), min_size=1, max_size=40),
    st.lists(st.tuples(st.integers(0, 60), st.integers(0, 600)), max_size=20),
    st.integers(0, 500),
)
def test_shares_add_up_to_the_total_whatever_the_server_tells(weights, told, total):
    totals = [*(Total(*t) for t in told), Total(len(weights), total)]
    shares = share_tokens(weights, totals)
    assert len(shares) == len(weights)
    assert sum(shares) == pytest.approx(total)
    assert all(share >= 0 for share in shares)


def test_gaps_of_an_even_stream():
    assert smoothness.gaps(EVEN) == Gaps(p50_ms=20, p95_ms=20, max_ms=20, stall_count=0)


def test_percentiles_lie_between_the_gaps_they_fall_between():
    timeline = [(0, 1), (10, 1), (30, 1), (130, 1)]
    found = smoothness.gaps(timeline)
    assert found.p50_ms == 20
    assert found.p95_ms == pytest.approx(20 + 80 * 0.9)
    assert found.max_ms == 100


@pytest.mark.parametrize(("gap", "stalls"), [(500, 0), (500.1, 1), (900, 1)])
def test_a_stall_is_longer_than_half_a_second(gap, stalls):
    assert smoothness.gaps([(0, 1), (gap, 1)]).stall_count == stalls


@pytest.mark.parametrize("timeline", [[], [(5, 1)]])
def test_no_wait_has_no_figures(timeline):
    assert smoothness.gaps(timeline) == Gaps()


@pytest.mark.parametrize(
    ("timeline", "rate"),
    [
        ([], None),
        ([(5, 9)], None),
        ([(5, 9), (5, 9)], None),
        (EVEN, 50),
        ([(100 * i, 8) for i in range(10)], 80),
        (STALL, 40 / 1.68),
    ],
)
def test_the_rate_counts_what_came_after_the_first_chunk(timeline, rate):
    assert smoothness.tokens_per_second(timeline) == pytest.approx(rate)


@pytest.mark.parametrize(
    ("timeline", "ratio"),
    [
        ([], None),
        (EVEN[:3], None),
        (EVEN[:4], 1),
        (SLOWING, 0.4),
        ([(0, 1), (0, 1), (0, 1), (0, 1), (9, 1)], None),
        ([(0, 1), (9, 1), (9, 1), (9, 1)], None),
    ],
)
def test_the_tail_is_compared_with_the_head(timeline, ratio):
    assert smoothness.tail_speed_ratio(timeline) == pytest.approx(ratio)


@pytest.mark.parametrize(
    ("timeline", "rate"),
    [
        ([], None),
        (EVEN, None),
        ([(20 * i, 1) for i in range(51)], 50),
        (SLOWING, 20),
        (STALL, 1 + 100 / 20),
        ([(0, 1), (3000, 6)], 2),
        ([(0, 1), (500, 9), (500, 9), (1600, 2), (1700, 9)], 2 / 1.1),
    ],
)
def test_the_slowest_second_is_found(timeline, rate):
    found = smoothness.slowest_1s_tokens_per_second(timeline)
    assert found == pytest.approx(rate)


@settings(deadline=None)
@given(
    st.lists(
        st.tuples(st.floats(0, 900), st.floats(0.1, 9)), min_size=2, max_size=30
    ).filter(lambda steps: sum(gap for gap, _ in steps[1:]) >= 1000)
)
def test_the_slowest_second_is_no_faster_than_the_whole(steps):
    at, timeline = 0.0, []
    for gap, tokens in steps:
        at += gap
        timeline.append((at, tokens))
    whole = smoothness.tokens_per_second(timeline)
    slowest = smoothness.slowest_1s_tokens_per_second(timeline)
    assert whole is not None and slowest is not None
    # A stream of a little over a second has windows that nearly are the whole.
    parts = (timeline[-1][0] - timeline[0][0]) // 1000
    assert -1e-6 <= slowest <= whole * (1 + 1 / parts) + 1e-6


@pytest.mark.parametrize(
    ("timeline", "waited"),
    [
        ([], None),
        ([(500, 1)], 0),
        (EVEN, 0),
        (STALL, 0),
        ([(0, 1), (1000, 1), (2000, 10), (2500, 1)], 0.9 + 0.9),
    ],
)
def test_a_reader_waits_where_the_text_runs_out(timeline, waited):
    assert smoothness.rebuffer_s(timeline) == pytest.approx(waited)


def at(ms: float, serial: int | None = None, since: float = 0.0) -> Arrival:
    return Arrival(round(ms) if serial is None else serial, ms, since)


def observed(*events: tuple[Arrival, Delta]) -> TokenTimeline:
    timeline = TokenTimeline()
    for arrival, delta in events:
        timeline.observe(arrival, delta)
    return timeline


WORD, END = Delta(answer="word "), Delta(ended=True)


def words(*times: float, delta: Delta = WORD) -> list[tuple[Arrival, Delta]]:
    return [(at(ms), delta) for ms in times]


NOTHING = Usage()


def test_no_events_have_no_figures():
    timeline = observed((at(5), Delta()), (at(6), Delta(usage=Usage(output_tokens=1))))
    figures = timeline.figures(NOTHING)
    assert not timeline.has_tokens and not timeline.has_answer
    assert figures.ttft_ms is figures.ttfa_ms is figures.last_token_ms is None
    assert (figures.output_tokens, figures.token_source) == (None, None)
    assert figures.buffered is False
    assert figures.chunks == 0 and figures.timeline == ()
    assert timeline.ambiguity_ms(50) == 0


def test_the_server_may_say_that_there_were_no_tokens():
    figures = observed().figures(Usage(output_tokens=0))
    assert (figures.output_tokens, figures.token_source) == (0, "usage")


def test_zero_tokens_are_not_believed_beside_a_stream():
    figures = observed(*words(10, 20)).figures(Usage(output_tokens=0))
    assert (figures.output_tokens, figures.token_source) == (2, "chunks")


def test_any_kind_of_token_starts_and_only_the_answer_answers():
    timeline = TokenTimeline()
    assert not timeline.observe(at(10), Delta())
    assert timeline.observe(at(20), Delta(reasoning="hm"))
    assert (timeline.has_tokens, timeline.has_answer) == (True, False)
    assert timeline.observe(at(30), Delta(tool_call="{"))
    assert timeline.has_answer
    timeline.observe(at(40), Delta(answer=" "))
    figures = timeline.figures(NOTHING)
    assert (figures.ttft_ms, figures.ttfa_ms, figures.last_token_ms) == (20, 30, 40)
    assert figures.output_tokens == figures.chunks == 3


@pytest.mark.parametrize("reasoning", [None, 0, 30])
def test_hidden_reasoning_is_not_part_of_the_rate(reasoning):
    usage = Usage(output_tokens=6 + (reasoning or 0), reasoning_tokens=reasoning)
    figures = observed(*words(*range(100, 220, 20))).figures(usage)
    assert figures.tokens_per_second == pytest.approx(50)
    assert sum(tokens for _, tokens in figures.timeline) == 6
    assert figures.output_tokens == usage.output_tokens


def test_reasoning_that_was_streamed_is():
    events = words(100, 200, delta=Delta(reasoning="hm ")) + words(300, 400)
    figures = observed(*events).figures(Usage(output_tokens=8, reasoning_tokens=4))
    assert [tokens for _, tokens in figures.timeline] == [1.5, 1.5, 2.5, 2.5]
    assert figures.tokens_per_second == pytest.approx(6.5 / 0.3)


def test_a_count_that_leaves_nothing_visible_is_taken_whole():
    usage = Usage(output_tokens=4, reasoning_tokens=4)
    figures = observed(*words(100, 200)).figures(usage)
    assert [tokens for _, tokens in figures.timeline] == [2, 2]


def test_running_usage_tells_each_chunk():
    events = [
        (at(100 * i), Delta(answer="x" * i, usage=Usage(output_tokens=count)))
        for i, count in ((1, 1), (2, 11), (3, 16))
    ]
    figures = observed(*events).figures(Usage(output_tokens=16))
    assert figures.timeline == ((100, 1), (200, 10), (300, 5))


@pytest.mark.parametrize("told", [True, False])
def test_running_usage_with_hidden_reasoning(told):
    def running(count: int) -> Usage:
        return Usage(output_tokens=100 + count, reasoning_tokens=100 if told else None)

    events = [
        (at(10), Delta(usage=Usage(output_tokens=50))),
        (at(100), Delta(answer="a", usage=running(2))),
        (at(200), Delta(answer="abc", usage=running(9))),
    ]
    usage = Usage(output_tokens=109, reasoning_tokens=100)
    assert observed(*events).figures(usage).timeline == ((100, 2), (200, 7))


@pytest.mark.parametrize(
    ("times", "tokens", "buffered"),
    [
        ([100 + i for i in range(9)], 9, True),
        ([100 + i for i in range(8)], 8, False),
        ([100, 120], 9, True),
        ([100, 120.1], 9, False),
        ([100], 9, True),
        ([100], 8, False),
        ([100], None, False),
    ],
)
def test_a_burst_is_no_speed(times, tokens, buffered):
    figures = observed(*words(*times)).figures(Usage(output_tokens=tokens))
    assert figures.buffered is buffered
    rates = (
        figures.tokens_per_second,
        figures.tail_speed_ratio,
        figures.slowest_1s_tokens_per_second,
    )
    if buffered:
        assert rates == (None, None, None)
    elif len(times) > 1:
        assert figures.tokens_per_second is not None


def test_a_short_burst_of_hidden_reasoning_is_not_held_back():
    usage = Usage(output_tokens=105, reasoning_tokens=100)
    assert not observed(*words(100, 101)).figures(usage).buffered


@pytest.mark.parametrize(
    ("events", "ambiguity"),
    [
        ([(at(50, 1, 10), WORD)], 0),
        ([(at(50, 1, 10), Delta()), (at(50, 1, 10), WORD)], 0),
        ([(at(50, 1, 10), WORD), (at(50, 1, 10), END)], 40),
        ([(at(50, 1, 10), WORD), (at(60, 2, 50), END)], 0),
        ([(at(50, 1, 48), WORD), (at(50, 1, 48), WORD), (at(90, 2, 50), WORD)], 2),
        ([(at(50, 1), WORD), (at(90, 2, 60), WORD), (at(90, 2, 60), END)], 30),
        ([(at(50, 1), WORD), *[(at(90, 2, 60), WORD)] * 2, (at(99, 3), WORD)], 0),
    ],
)
def test_what_was_received_together_is_not_known_apart(events, ambiguity):
    assert observed(*events).ambiguity_ms(1000) == ambiguity


def test_no_more_is_unknown_than_the_reader_was_late():
    timeline = observed((at(50, 1, 10), WORD), (at(50, 1, 10), END))
    assert timeline.ambiguity_ms(3) == 3
