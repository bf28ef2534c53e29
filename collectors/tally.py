"""What samples come to: some counts, and a sketch of each figure. Values only."""

from __future__ import annotations

from collections.abc import Iterable
from typing import NamedTuple

from collectors import sketch
from collectors.sketch import Sketch

COUNTS = ("samples", "failed", "good", "bad")
SKETCHES = ("ttft_us", "total_us", "millitokens_per_s", "max_gap_us")


class Tally(NamedTuple):
    """In the order of COUNTS and SKETCHES."""

    counts: tuple[int, ...]
    sketches: tuple[Sketch, ...]


def merged(tallies: Iterable[Tally]) -> Tally:
    """What all samples of ``tallies``, of which there is one at least, come to."""
    parts = list(tallies)
    counts = zip(*(part.counts for part in parts), strict=True)
    sketches = zip(*(part.sketches for part in parts), strict=True)
    return Tally(tuple(map(sum, counts)), tuple(map(sketch.merged, sketches)))
