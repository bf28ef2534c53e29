"""A prefix cache as inference servers keep it: whole blocks, oldest use out first."""

from __future__ import annotations

from collections import OrderedDict
from collections.abc import Iterator, Sequence


class PrefixCache:
    """Remembers prompts block by block; a block is known by all that precedes it."""

    def __init__(self, capacity_blocks: int, block_tokens: int) -> None:
        self._capacity_blocks = capacity_blocks
        self._block_tokens = block_tokens
        self._blocks: OrderedDict[int, None] = OrderedDict()

    def __len__(self) -> int:
        return len(self._blocks)

    def take(self, tokens: Sequence[str]) -> int:
        """Number of leading tokens already cached; the prompt is cached from now on.

        A prompt's last token always has to be computed, so it is never counted.
        """
        hits = 0
        missed = False
        for key in self._keys(tokens):
            missed = missed or key not in self._blocks
            hits += not missed
            self._blocks[key] = None
            self._blocks.move_to_end(key)
        while len(self._blocks) > self._capacity_blocks:
            self._blocks.popitem(last=False)
        return hits * self._block_tokens

    def _keys(self, tokens: Sequence[str]) -> Iterator[int]:
        size = self._block_tokens
        key = 0
        for end in range(size, len(tokens), size):
            key = hash((key, *tokens[end - size : end]))
            yield key
