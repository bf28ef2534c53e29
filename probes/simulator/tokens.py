"""A small tokenizer of its own, and the answer that every request gets."""

from __future__ import annotations

import re
from collections.abc import Iterable, Sequence

_TOKEN = re.compile(r"\w+|[^\w\s]")

_ANSWER_TEXT = (
    "This answer comes from a simulated endpoint. No model was asked: the request "
    "waited in a queue until a slot was free, its prompt was read at a known pace, "
    "and now one token follows another, slower when the batch is full. What you "
    "measure here can be compared with the truth, because the simulator keeps the "
    "time at which each of these words was written.\n"
)


def tokenize(text: str) -> list[str]:
    """Words and single punctuation marks, in order; white space is no token."""
    return _TOKEN.findall(text)


def render_prompt(messages: Iterable[tuple[str, str]]) -> Sequence[str]:
    """The tokens that the server reads: role marks and all (role, text) messages."""
    tokens: list[str] = []
    for role, text in messages:
        tokens += (f"<|{role}|>", *tokenize(text), "<|end|>")
    tokens.append("<|assistant|>")
    return tokens


ANSWER_TOKENS: tuple[str, ...] = tuple(
    re.findall(r"\s?(?:\w+|[^\w\s])\n?", _ANSWER_TEXT)
)
"""The answer cut into tokens; it starts again after its last one."""


def answer_token(index: int) -> str:
    return ANSWER_TOKENS[index % len(ANSWER_TOKENS)]


def answer_text(count: int) -> str:
    """The first ``count`` tokens of the answer, joined."""
    return "".join(map(answer_token, range(count)))
