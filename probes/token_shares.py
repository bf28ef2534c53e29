"""How many tokens each chunk of a stream carried.

Servers tell totals more often than parts. A total belongs to the chunks before it: a
server with running usage gives one a chunk, most give a single one at the end.
"""

from __future__ import annotations

from collections.abc import Sequence
from itertools import pairwise
from typing import NamedTuple


class Total(NamedTuple):
    """``tokens`` were in the first ``chunks`` chunks together."""

    chunks: int
    tokens: int


def share_tokens(weights: Sequence[int], totals: Sequence[Total]) -> list[float]:
    """Return the tokens of each chunk; the last total is that of all chunks.

    ``weights`` are the lengths of the chunks' texts. Between two totals each chunk is
    one token where the numbers agree, otherwise the tokens are shared by length.
    Totals that do not grow are not believed: some servers repeat a number.
    """
    shares: list[float] = []
    for before, total in pairwise([Total(0, 0), *_growing(totals)]):
        part = weights[before.chunks : total.chunks]
        shares += _share(part, total.tokens - before.tokens)
    return shares


def _growing(totals: Sequence[Total]) -> list[Total]:
    """Return the totals that grow in chunks and in tokens; the last one always."""
    *earlier, last = totals
    kept = [Total(0, 0)]
    for total in earlier:
        more = total.chunks > kept[-1].chunks and total.tokens > kept[-1].tokens
        if more and total.chunks < last.chunks and total.tokens < last.tokens:
            kept.append(total)
    return [*kept[1:], last]


def _share(weights: Sequence[int], tokens: int) -> list[float]:
    if tokens == len(weights):
        return [1.0] * len(weights)
    whole = sum(weights)
    return [tokens * weight / whole for weight in weights]
