"""Figures, spans and subjects as people read them."""

from __future__ import annotations

from datetime import timedelta

import pytest
from hypothesis import given
from hypothesis import strategies as st

from alerts.figures import Figure
from alerts.phrases import SUBJECT_LENGTH, failure, line, quantity, span, subject
from probes.types import Failure


@pytest.mark.parametrize(
    ("value", "text"),
    [
        (842.4, "842 ms"),
        (8.237, "8.2 ms"),
        (0, "0 ms"),
        (999.4, "999 ms"),
        (999.6, "1 s"),
        (1000, "1 s"),
        (1004, "1 s"),
        (1010, "1.01 s"),
        (7400, "7.4 s"),
        (9996, "10 s"),
        (20_000, "20 s"),
        (61_200, "61.2 s"),
        (300_000, "300 s"),
    ],
)
def test_durations(value: float, text: str):
    assert quantity(Figure.TTFT_MS, value) == text


@pytest.mark.parametrize(
    ("value", "text"), [(61.3, "61 tok/s"), (8.24, "8.2 tok/s"), (100, "100 tok/s")]
)
def test_rates(value: float, text: str):
    assert quantity(Figure.TOKENS_PER_SECOND, value) == text


@pytest.mark.parametrize(
    ("seconds", "text"),
    [
        (-1, "0 s"),
        (45, "45 s"),
        (59.6, "1 min"),
        (719, "12 min"),
        (3599, "1 h"),
        (11_100, "3 h 5 min"),
        (86_400, "1 d"),
        (187_200, "2 d 4 h"),
    ],
)
def test_spans(seconds: float, text: str):
    assert span(timedelta(seconds=seconds)) == text


@pytest.mark.parametrize("name", Failure)
def test_every_failure_has_words(name: Failure):
    words = failure(name)

    assert words and "_" not in words


def test_long_names_give_way_to_the_figure():
    text = subject("FAILING", "s" * 80, "e" * 80, "TTFT 2.4 s (limit 1.5 s)")

    assert len(text) == SUBJECT_LENGTH
    assert text.endswith("...: TTFT 2.4 s (limit 1.5 s)")


def test_one_short_name_leaves_its_room_to_the_other():
    text = subject("FAILING", "s" * 30, "e", "TTFT 2.4 s (limit 1.5 s)")

    assert "s" * 30 in text


@given(st.text(), st.text(), st.text())
def test_a_subject_is_one_printable_line(scenario: str, endpoint: str, what: str):
    assert subject("FAILING", scenario, endpoint, what).isprintable()


def test_a_line_keeps_what_can_be_read():
    assert line(" a\r\nBcc:\tb\x00\x1b[31m ") == "a Bcc: b [31m"
