"""Synthetic prompts of about a wanted length, never the same twice.

Pure: the nonce is an argument. It stands at the very start, so that no prefix cache
of a server holds anything of the prompt.
"""

from __future__ import annotations

import random
from typing import Literal, get_args

from probes.types import Message, Prompt

Kind = Literal["chat", "code", "summary", "agent", "batch"]
KINDS: tuple[Kind, ...] = get_args(Kind)

# Common English words: nearly every tokenizer gives each of them one token.
_WORD_LIST = """
time year people way day man thing woman life child world school state family
student group country problem hand part place case week company system program
question work government number night point home water room mother area money story
fact month lot right study book eye job word business issue side kind head house
service friend father power hour game line end member law car city name president
team minute idea kid body information back parent face others level office door
health person art war history party result change morning reason garden girl guy
moment air teacher force education foot boy age policy music
"""
_WORDS = _WORD_LIST.split()
_WORDS_A_SENTENCE = 12

_ASKS: dict[str, str] = {
    "chat": (
        "Talk with me about the words above. Write a long and friendly answer in "
        "plain paragraphs, and keep writing until you are cut off."
    ),
    "code": (
        "Write a Python module that stores the words above and offers functions to "
        "sort, search, group and print them. Give complete code with comments, and "
        "keep adding functions until you are cut off."
    ),
    "summary": (
        "Summarise the document above section by section, in long sentences and in "
        "your own words. Keep going until you are cut off."
    ),
    "agent": (
        "You work step by step. Name the next action for the task above, say what "
        "you expect from it, then name the action after that, and keep going with "
        "numbered steps until you are cut off."
    ),
    "batch": (
        "For each sentence above write one line with its number, its longest word "
        "and a new sentence about that word. Begin again at the first when you "
        "reach the end, and keep going until you are cut off."
    ),
}
_NONCE_TOKENS = 12
_TOKENS_A_WORD = 1.08  # the full stops, and the words that a tokenizer splits


def build(*, kind: str, input_tokens: int, max_tokens: int, nonce: str) -> Prompt:
    """Return a prompt of about ``input_tokens`` tokens that asks for a long answer.

    ``nonce`` makes it unique and chooses its words; ``max_tokens`` caps the answer.
    The server says how many input tokens it were. Raises KeyError for an unknown
    kind.
    """
    ask = _ASKS[kind]
    fixed_tokens = _NONCE_TOKENS + len(ask.split()) * _TOKENS_A_WORD
    words = max(0, round((input_tokens - fixed_tokens) / _TOKENS_A_WORD))
    content = "\n\n".join(filter(None, (nonce, _text(words, nonce), ask)))
    return Prompt(
        messages=(Message(role="user", content=content),), max_tokens=max_tokens
    )


def _text(count: int, seed: str) -> str:
    """Return ``count`` words in sentences, the same for the same seed."""
    words = random.Random(seed).choices(_WORDS, k=count)
    sentences = (
        " ".join(words[start : start + _WORDS_A_SENTENCE])
        for start in range(0, count, _WORDS_A_SENTENCE)
    )
    return " ".join(f"{sentence.capitalize()}." for sentence in sentences)
