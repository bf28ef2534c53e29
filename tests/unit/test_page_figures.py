import pytest

from dashboard.templatetags import figures


@pytest.mark.parametrize(
    ("value_ms", "shown"),
    [
        (None, "–"),
        (0.25, "0.25 ms"),
        (842, "842 ms"),
        (999.9, "1000 ms"),
        (1000, "1 s"),
        (1500, "1.5 s"),
        (16_800, "16.8 s"),
        (1_200_000, "1200 s"),
    ],
)
def test_durations(value_ms, shown):
    assert figures.duration(value_ms) == shown


def test_rates():
    assert [figures.rate(v) for v in (None, 0.5, 15, 61.4)] == [
        "–",
        "0.5 tok/s",
        "15 tok/s",
        "61.4 tok/s",
    ]


def test_intervals_take_the_largest_unit_that_is_exact():
    assert [figures.interval(s) for s in (1, 59, 60, 90, 900, 3600, 5400)] == [
        "1 s",
        "59 s",
        "1 min",
        "90 s",
        "15 min",
        "1 h",
        "90 min",
    ]
