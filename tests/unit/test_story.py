"""What a mail says for each kind of transition."""

from __future__ import annotations

from dataclasses import replace
from datetime import UTC, datetime, timedelta

import pytest

from alerts.facts import Facts
from alerts.figures import Figure
from alerts.rules import Kind
from alerts.story import Story

T0 = datetime(2026, 3, 1, 12, tzinfo=UTC)
FACTS: Facts = {
    "endpoint": "gpt-x",
    "model": "gpt-x-2026",
    "scenario": "Chat",
    "bad": 3,
    "known": 5,
    "m": 3,
    "failure": "",
    "failure_text": "",
    "probes": [
        {
            "at": "2026-03-01T12:00:00+00:00",
            "failure": "",
            "ttft_ms": 2400.0,
            "tokens_per_second": None,
            "total_ms": 7400.0,
        },
        {
            "at": "2026-03-01T11:59:00+00:00",
            "failure": "rate_limited",
            "ttft_ms": None,
            "tokens_per_second": None,
            "total_ms": None,
        },
    ],
}
SLOW = Story(
    kind=Kind.FIRE,
    figure=Figure.TTFT_MS,
    at=T0,
    since=T0,
    value=2400,
    limit=1500,
    facts=FACTS,
)
THROTTLED: Facts = {**FACTS, "failure": "rate_limited", "failure_text": "slow\ndown"}
DEAD = replace(SLOW, figure=Figure.ERRORS, value=1, limit=0, facts=THROTTLED)
STUCK: Facts = {**FACTS, "failure": "timeout_first_token"}


def ended(story: Story, value: float) -> Story:
    """``story`` 12 minutes later, when the newest probe gave ``value``."""
    return replace(
        story,
        kind=Kind.RESOLVE,
        at=T0 + timedelta(minutes=12),
        value=value,
        facts=FACTS,
    )


@pytest.mark.parametrize(
    ("story", "what", "sentence"),
    [
        (
            SLOW,
            "TTFT 2.4 s (limit 1.5 s)",
            "TTFT was above its limit in 3 of the last 5 probes.",
        ),
        (
            replace(SLOW, figure=Figure.TOKENS_PER_SECOND, value=8.2, limit=20),
            "8.2 tok/s (limit 20 tok/s)",
            "tokens/s was below its limit in 3 of the last 5 probes.",
        ),
        (
            replace(SLOW, value=None, facts=STUCK),
            "no first token in time (limit 1.5 s)",
            "TTFT was above its limit in 3 of the last 5 probes.",
        ),
        (
            replace(SLOW, figure=Figure.TOKENS_PER_SECOND, value=None, limit=20),
            "stream held back (limit 20 tok/s)",
            "tokens/s was below its limit in 3 of the last 5 probes.",
        ),
        (
            DEAD,
            "3 of 5 probes failed (rate limited (429))",
            "3 of the last 5 probes failed.",
        ),
        (
            ended(SLOW, 800),
            "TTFT 800 ms after 12 min (limit 1.5 s)",
            "The last 3 probes in a row were good again.",
        ),
        (
            ended(DEAD, 0),
            "answers again after 12 min",
            "The last 3 probes in a row were good again.",
        ),
        (
            replace(SLOW, kind=Kind.WITHDRAW, limit=None),
            "TTFT no longer checked",
            "The rule for TTFT was switched off or lost its limit while it was "
            "failing. Nobody will be told when it recovers.",
        ),
    ],
)
def test_what_happened(story: Story, what: str, sentence: str):
    assert story.what == what
    assert story.sentence == sentence


def test_the_subject_begins_with_the_state():
    assert SLOW.subject == "FAILING: Chat on gpt-x: TTFT 2.4 s (limit 1.5 s)"
    assert ended(SLOW, 800).subject.startswith("RESOLVED: Chat on gpt-x: ")
    withdrawn = replace(SLOW, kind=Kind.WITHDRAW)
    assert withdrawn.subject.startswith("NOT CHECKED: Chat on gpt-x: ")


def test_the_table_of_a_slow_answer():
    assert SLOW.rows == [
        ("Endpoint", "gpt-x (gpt-x-2026)"),
        ("Scenario", "Chat"),
        ("TTFT", "2.4 s"),
        ("Limit", "1.5 s"),
        ("Failing since", "2026-03-01 12:00:00 UTC"),
    ]


def test_the_table_of_failures_has_what_the_endpoint_said_on_one_line():
    assert DEAD.rows[2:4] == [
        ("Error", "rate limited (429)"),
        ("It said", "slow down"),
    ]


def test_the_table_of_a_recovery_ends_it():
    assert ended(SLOW, 800).rows[-1] == ("Until", "2026-03-01 12:12:00 UTC, 12 min")


def test_each_probe_is_a_line():
    assert SLOW.probes == [
        ("2026-03-01 12:00:00 UTC", "TTFT 2.4 s, complete after 7.4 s"),
        ("2026-03-01 11:59:00 UTC", "rate limited (429)"),
    ]
