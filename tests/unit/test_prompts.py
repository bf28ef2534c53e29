"""Synthetic prompts."""

from __future__ import annotations

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from probes.prompts import KINDS, build


@pytest.mark.parametrize("kind", KINDS)
@pytest.mark.parametrize("tokens", [200, 1000, 8000])
def test_a_prompt_is_about_as_long_as_asked(kind, tokens):
    (message,) = build(
        kind=kind, input_tokens=tokens, max_tokens=9, nonce="n0"
    ).messages
    # Common English: nearly a token a word, and one for each full stop.
    estimate = len(message.content.split()) * 1.08
    assert estimate == pytest.approx(tokens, rel=0.1)


@pytest.mark.parametrize("kind", KINDS)
def test_the_nonce_comes_first_and_changes_the_text(kind):
    one = build(kind=kind, input_tokens=500, max_tokens=9, nonce="a1").messages[0]
    two = build(kind=kind, input_tokens=500, max_tokens=9, nonce="b2").messages[0]
    assert one.content.startswith("a1\n")
    assert one.content[4:60] != two.content[4:60]
    again = build(kind=kind, input_tokens=500, max_tokens=9, nonce="a1").messages[0]
    assert one == again


@settings(deadline=None)
@given(st.sampled_from(KINDS), st.integers(0, 300), st.integers(1, 9999))
def test_even_a_tiny_prompt_asks_for_a_long_answer(kind, input_tokens, max_tokens):
    prompt = build(
        kind=kind, input_tokens=input_tokens, max_tokens=max_tokens, nonce="n"
    )
    assert prompt.max_tokens == max_tokens
    assert "until you are cut off" in prompt.messages[0].content


def test_every_kind_asks_for_something_of_its_own():
    asks = {
        build(kind=k, input_tokens=0, max_tokens=1, nonce="n").messages for k in KINDS
    }
    assert len(asks) == len(KINDS)
    with pytest.raises(KeyError):
        build(kind="other", input_tokens=0, max_tokens=1, nonce="n")
