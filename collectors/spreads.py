"""How answers spread in each figure: their ends, middle and bad tail."""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass
from typing import Any, NamedTuple

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
        """The columns of a query of samples that ``points_of_row`` takes."""
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


class Point(NamedTuple):
    """A figure's values in one bucket of a chart; all is None without values."""

    low: float | None
    high: float | None
    median: float | None
    tail: float | None


NO_POINT = Point(None, None, None, None)
Points = dict[str, Point]
"""One for each of FIGURES."""


@dataclass(frozen=True, slots=True, kw_only=True)
class Spread:
    """How ``count`` values of one figure lie over a window; without any all is None.

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


def points_of_row(columns: Sequence[Any]) -> Points:
    """From the columns that the figures' ``sql`` selects, one after the other."""
    points = {}
    for (name, figure), values in zip(
        FIGURES.items(), _by_figure(columns), strict=True
    ):
        count, _, low, high, ranked = values
        found = (low, high, *ranked[:2]) if count else None
        points[name] = _point(figure, found) if found else NO_POINT
    return points


def spreads_of_row(columns: Sequence[Any]) -> Spreads:
    """The same columns, of all buckets together."""
    spreads = {}
    for (name, figure), values in zip(
        FIGURES.items(), _by_figure(columns), strict=True
    ):
        count, mean, low, high, ranked = values
        found = (mean, low, high, *ranked) if count else None
        spreads[name] = _spread(figure, count, found) if found else Spread(count=0)
    return spreads


def _by_figure(columns: Sequence[Any]) -> Iterator[Sequence[Any]]:
    return (columns[at : at + COLUMNS] for at in range(0, len(columns), COLUMNS))


def points_of_sketches(sketches: Mapping[str, Sketch]) -> Points:
    """From one sketch for each of FIGURES."""
    points = {}
    for name, figure in FIGURES.items():
        found = sketches[name]
        if not found.buckets:
            points[name] = NO_POINT
            continue
        median, tail = found.percentiles(50, figure.tail)
        points[name] = _point(figure, (found.low, found.high, median, tail))
    return points


def spreads_of_sketches(sketches: Mapping[str, Sketch]) -> Spreads:
    """From one sketch for each of FIGURES, of all buckets together."""
    spreads = {}
    for name, figure in FIGURES.items():
        found = sketches[name]
        if not found.buckets:
            spreads[name] = Spread(count=0)
            continue
        count = found.count
        ranked = found.percentiles(50, figure.tail, figure.far_tail)
        values = (found.total / count, found.low, found.high, *ranked)
        spreads[name] = _spread(figure, count, values)
    return spreads


def _point(figure: Figure, values: tuple[float, float, float, float]) -> Point:
    low, high, median, tail = values
    unit = figure.per_unit
    return Point(low / unit, high / unit, median / unit, tail / unit)


def _spread(figure: Figure, count: int, values: Sequence[float]) -> Spread:
    """``values`` are those of ``Spread``, in its order and the column's unit."""
    mean, low, high, median, tail, far = (value / figure.per_unit for value in values)
    return Spread(
        count=count,
        mean=mean,
        low=low,
        high=high,
        median=median,
        tail=tail,
        far_tail=far if count >= FAR_TAIL_FROM else None,
    )
