"""How answers spread in each figure: their ends, middle and bad tail."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from typing import Any

from collectors.sketch import Sketch

FAR_TAIL_FROM = 300
"""Fewer values have no 99th percentile worth telling: it would be their third worst."""

COLUMNS = 5
"""How many columns ``Figure.sql`` selects."""


@dataclass(frozen=True, slots=True)
class Figure:
    """Where a figure's values lie, how many of their unit make one of its own, and
    which percentiles tell how bad it gets: high ones of a duration, low ones of a rate.
    """

    sample: str
    rollup: str
    per_unit: int
    tail: int
    far_tail: int

    @property
    def sql(self) -> str:
        """The columns of a query of samples that ``of_row`` takes."""
        percents = (50, self.tail, self.far_tail)
        ranks = ", ".join(str(percent / 100) for percent in percents)
        ranked = (
            f"percentile_cont(ARRAY[{ranks}]) WITHIN GROUP (ORDER BY {self.sample})"
        )
        value = self.sample
        columns = (f"{f}({value}::float8)" for f in ("count", "avg", "min", "max"))
        answers = "FILTER (WHERE error = '')"
        return ", ".join(f"{column} {answers}" for column in (*columns, ranked))


FIGURES = {
    "ttft_ms": Figure("ttft_us", "ttft_us", 1000, 95, 99),
    "tokens_per_second": Figure(
        "(tokens_per_second * 1000)", "millitokens_per_s", 1000, 5, 1
    ),
    "total_ms": Figure("total_us", "total_us", 1000, 95, 99),
}


@dataclass(frozen=True, slots=True, kw_only=True)
class Spread:
    """How ``count`` values of one figure lie; without values all else is None.

    ``far_tail`` is None for fewer than FAR_TAIL_FROM values.
    """

    count: int
    mean: float | None = None
    low: float | None = None
    high: float | None = None
    median: float | None = None
    tail: float | None = None
    far_tail: float | None = None


Spreads = dict[str, Spread]
"""One for each of FIGURES."""


def of_row(columns: Sequence[Any]) -> Spreads:
    """From the columns that the figures' ``sql`` selects, one after the other."""
    starts = range(0, len(columns), COLUMNS)
    return {
        name: _of_columns(figure, columns[at : at + COLUMNS])
        for (name, figure), at in zip(FIGURES.items(), starts, strict=True)
    }


def _of_columns(figure: Figure, columns: Sequence[Any]) -> Spread:
    count, mean, low, high, ranked = columns
    return (
        _spread(figure, count, mean, low, high, *ranked) if count else Spread(count=0)
    )


def of_sketches(sketches: Mapping[str, Sketch]) -> Spreads:
    """From one sketch for each of FIGURES."""
    return {
        name: _of_sketch(figure, sketches[name]) for name, figure in FIGURES.items()
    }


def _of_sketch(figure: Figure, found: Sketch) -> Spread:
    if not found.buckets:
        return Spread(count=0)
    count = found.count
    far = (figure.far_tail,) if count >= FAR_TAIL_FROM else ()
    ranked = found.percentiles(50, figure.tail, *far)
    return _spread(figure, count, found.total / count, found.low, found.high, *ranked)


def _spread(figure: Figure, count: int, *values: float) -> Spread:
    """``values`` are those of ``Spread``, in its order and the column's unit."""
    mean, low, high, median, tail, *far = (value / figure.per_unit for value in values)
    return Spread(
        count=count,
        mean=mean,
        low=low,
        high=high,
        median=median,
        tail=tail,
        far_tail=far[0] if count >= FAR_TAIL_FROM else None,
    )
