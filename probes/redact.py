"""Makes a server's error text fit to be shown: short, printable, without secrets."""

from __future__ import annotations

import re
from collections.abc import Iterable

MAX_ERROR_CHARS = 300
_MAX_SCANNED_CHARS = 4000
_MASK = "[…]"
_SECRET_RUN = 6
_LEAST_SECRET = 3
_PROMPT_RUN = 12
_SHORT = 1000

_SECRETS = re.compile(
    r"""
      (?:sk|pk|rk|gsk|hf|xai|nvapi|pplx|csk|fw|r8|glpat|ghp|AKIA|AIza|ya29\.|eyJ)
      [-_A-Za-z0-9.]{8,} [-_.*A-Za-z0-9]*       # keys by their vendor's mark, JWTs
    | (?i:bearer|basic) \s+ [^\s"',;]+
    | (?i:api[-_\ ]?key|token|secret|password|authorization)
      ["']? \s* [:=] \s* ["']? (?i: (?:bearer|basic) \s+ )? [^\s"',;}]{6,}
    | (?<= ://) [^\s/@]+ (?= @)                 # user and password in a URL
    | (?<! [\w]) (?= [A-Za-z_]*\d) (?= [\d_]*[A-Za-z]) \w{20,}   # opaque words
    """,
    re.VERBOSE,
)
_UNPRINTABLE = re.compile(r"[\x00-\x1f\x7f-\x9f\u2028\u2029\ud800-\udfff]+")


def scrub(text: str, secrets: Iterable[str], prompts: Iterable[str]) -> str:
    """Return ``text`` without secrets, prompts and control characters, cut short.

    Removes what it shares with ``secrets`` or, in longer runs, with ``prompts``, and
    whatever looks like a secret of somebody else.
    """
    shown = text[:_MAX_SCANNED_CHARS]
    for secret in secrets:
        if len(secret) >= _LEAST_SECRET:
            shown = _hide(shown, secret, min(_SECRET_RUN, len(secret)))
    for prompt in prompts:
        if len(prompt) >= _PROMPT_RUN:
            shown = _hide(shown, prompt, _PROMPT_RUN)
    return printable(_SECRETS.sub(_MASK, shown), MAX_ERROR_CHARS)


def printable(text: str, limit: int) -> str:
    """Return ``text`` as one storable line of at most ``limit`` characters."""
    line = _UNPRINTABLE.sub(" ", text).strip()
    return line if len(line) <= limit else line[: limit - 1] + "…"


def _hide(text: str, hidden: str, run: int) -> str:
    """Return ``text`` with what it shares with ``hidden`` masked.

    Finds every shared run of ``run`` characters. In a long prompt only every
    ``run``-th place is looked at, which finds all runs of twice that and stays cheap.
    """
    grams = {text[i : i + run] for i in range(len(text) - run + 1)}
    stride = 1 if len(hidden) <= _SHORT else run
    for start in range(0, len(hidden) - run + 1, stride):
        gram = hidden[start : start + run]
        if gram in grams:
            text = _mask_around(text, hidden, gram, start)
    return text


def _mask_around(text: str, hidden: str, gram: str, start: int) -> str:
    """Mask the places in ``text`` where ``gram`` stands, with what matches around."""
    found = text.find(gram)
    while found >= 0:
        left, right = found, found + len(gram)
        before, after = start - 1, start + len(gram)
        while left > 0 and before >= 0 and text[left - 1] == hidden[before]:
            left, before = left - 1, before - 1
        while (
            right < len(text) and after < len(hidden) and text[right] == hidden[after]
        ):
            right, after = right + 1, after + 1
        text = text[:left] + _MASK + text[right:]
        found = text.find(gram, left + len(_MASK))
    return text
