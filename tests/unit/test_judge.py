import pytest
from hypothesis import given
from hypothesis import strategies as st

from collectors.judge import Figures, Limits, is_good

LIMITS = Limits(
    ttft_ms_max=1000, tokens_per_second_min=15, total_ms_max=9000, max_gap_ms_max=500
)
GOOD = {
    "ok": True,
    "ttft_ms": 1000,
    "tokens_per_second": 15,
    "total_ms": 9000,
    "max_gap_ms": 500,
}


def test_a_sample_on_its_limits_is_good():
    assert is_good(Figures(**GOOD), LIMITS)


@pytest.mark.parametrize(
    "broken",
    [
        {"ok": False},
        {"ttft_ms": 1000.1},
        {"tokens_per_second": 14.9},
        {"total_ms": 9000.1},
        {"max_gap_ms": 500.1},
        {"tokens_per_second": None, "buffered": True},
    ],
)
def test_one_broken_limit_is_enough(broken):
    assert not is_good(Figures(**GOOD | broken), LIMITS)


@pytest.mark.parametrize(
    "missing", ["ttft_ms", "tokens_per_second", "total_ms", "max_gap_ms"]
)
def test_a_figure_that_a_short_answer_cannot_have_breaks_nothing(missing):
    assert is_good(Figures(**GOOD | {missing: None}), LIMITS)


@given(
    st.builds(
        Figures,
        ok=st.booleans(),
        ttft_ms=st.none() | st.floats(0, 1e6),
        tokens_per_second=st.none() | st.floats(0, 1e4),
        total_ms=st.none() | st.floats(0, 1e6),
        buffered=st.booleans(),
    )
)
def test_without_limits_only_failure_is_bad(figures):
    assert is_good(figures, Limits()) == figures.ok
