"""No secret and no prompt gets into what is shown."""

from __future__ import annotations

import random

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from probes.redact import MAX_ERROR_CHARS, printable, scrub
from probes.types import Message, Secret, Target

KEY = "canary-3f9a1c77e2"
LONG_PROMPT = "".join(random.Random(1).choices("abcdefghijkl mnopq", k=1_000_000))
PROMPT = "Tell me at length about the lighthouse keepers of the northern isles."


def scrubbed(text: str) -> str:
    return scrub(text, [KEY, ""], [PROMPT, "Hi"])


@pytest.mark.parametrize(
    "text",
    [
        f"Incorrect API key provided: {KEY}.",
        f"key {KEY[:-3]}*** is wrong",
        f"{KEY} and again {KEY}",
        f"prefix{KEY}suffix",
    ],
)
def test_the_own_key_is_never_shown_nor_most_of_it(text):
    assert KEY[:10] not in scrubbed(text)
    assert KEY[2:12] not in scrubbed(text)


@pytest.mark.parametrize(
    "secret",
    [
        "sk-secret0123456789abcdef",
        "sk-proj-abcdefgh",
        "gsk_abcdefghijkl",
        "AIzaSyA1234567890",
        "eyJhbGciOiJIUzI1NiJ9.eyJzdWIiOiIxIn0.abc",
        "ghp_abcdefgh1234",
        "Zm9vYmFyYmF6cXV4MTIzNDU2Nzg5",
        "0123456789abcdef0123456789abcdef",
    ],
)
def test_what_looks_like_a_secret_is_not_shown(secret):
    assert secret not in scrubbed(f"the key {secret} is wrong")


@pytest.mark.parametrize(
    ("text", "hidden"),
    [
        ("Authorization: Bearer tok.en", "tok.en"),
        ("Basic dXNlcjpwYXNz sent", "dXNlcjpwYXNz"),
        ("api_key=abcdef was wrong", "abcdef"),
        ('"password": "hunter22"', "hunter22"),
        ("connect to http://user:pa55@proxy:1", "pa55"),
    ],
)
def test_what_is_called_a_secret_is_not_shown(text, hidden):
    assert hidden not in scrubbed(text)


@pytest.mark.parametrize(
    "text",
    [
        "The model claude-sonnet-4-20250514 is overloaded",
        "meta-llama/Llama-3.1-8B-Instruct not found",
        "Unsupported parameter: 'max_tokens'. Use 'max_completion_tokens' instead.",
        "Request timed out after 30000 ms",
        "[Errno 111] Connect call failed ('127.0.0.1', 54321)",
    ],
)
def test_what_helps_is_still_shown(text):
    assert scrubbed(text) == text


def test_a_prompt_that_is_echoed_is_not_shown():
    assert "lighthouse" not in scrubbed(f"cannot process: {PROMPT}")
    assert "lighthouse" not in scrubbed(f"cannot process: {PROMPT[5:50]}…")
    assert scrubbed("Hi there") == "Hi there"


@settings(deadline=None)
@given(st.text(max_size=50), st.text(max_size=50))
def test_a_secret_is_hidden_wherever_it_stands(before, after):
    assert KEY not in scrubbed(before + KEY + after)


@settings(deadline=None)
@given(st.text(max_size=2000))
def test_what_is_shown_is_short_and_can_be_stored(text):
    shown = scrubbed(text)
    assert len(shown) <= MAX_ERROR_CHARS
    shown.encode()
    assert "\0" not in shown and "\n" not in shown


def test_control_characters_become_spaces():
    assert printable(" a\x00\r\nb\ud800c ", 99) == "a b c"
    assert printable("abcdef", 6) == "abcdef"
    assert printable("abcdefg", 6) == "abcde…"


@pytest.mark.parametrize(("secret", "shown"), [("ab", "x ab y"), ("abc", "x […] y")])
def test_a_short_secret_is_one_too(secret, shown):
    assert scrub(f"x {secret} y", [secret], []) == shown


@given(st.integers(0, 900_000), st.integers(23, 200))
@settings(deadline=None, max_examples=20)
def test_any_part_of_a_long_prompt_is_found(start, length):
    part = LONG_PROMPT[start : start + length]
    assert scrub(f"cannot do <{part}>", [], [LONG_PROMPT]) == "cannot do <[…]>"


def test_secrets_do_not_show_themselves():
    secret = Secret(KEY)
    assert KEY not in f"{secret} {secret!r} {[secret]}"
    assert secret.reveal() == KEY
    assert secret == Secret(KEY) and secret != Secret("other") and secret != KEY
    assert hash(secret) == hash(Secret(KEY))
    target = Target(
        protocol="openai",
        base_url="http://h",
        model="m",
        api_key=secret,
        extra_headers={"x": secret},
        proxy=f"http://u:{KEY}@p",
    )
    assert KEY not in repr(target)
    assert PROMPT not in repr(Message(role="user", content=PROMPT))
