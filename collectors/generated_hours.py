"""Hours of a generated past, as lines for COPY.

An hour of one kind of monitor is drawn a few times and then used again and again, with
what it comes to, so that a year of 200 monitors takes minutes.
"""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from random import Random

from django.utils import timezone

from collectors import history, series, sketch, store
from collectors.history import Condition, Profile
from collectors.models import Sample, Scenario
from collectors.models.rollups import to_column
from collectors.rollups import HOUR, MINUTES_5
from collectors.tally import Tally, merged
from probes.types import Measurement

DRAWS = 4
"""How many different hours there are of one kind of monitor and hour of the day."""

KEY = ("monitor_id", "due_at", "started_at")
FIGURES = tuple(
    field.attname
    for field in Sample._meta.concrete_fields
    if field.attname not in (*KEY, "pk")
)


class Hour:
    """What one kind of monitor measured in one hour, ready for COPY.

    ``lines`` has the samples' columns after those of KEY; ``buckets`` has an entry for
    each five minutes.
    """

    def __init__(self, rows: Sequence[Sample], per_bucket: int) -> None:
        starts = range(0, len(rows), per_bucket)
        tallies = [_tally(rows[at : at + per_bucket]) for at in starts]
        self.lines = [_line(getattr(row, name) for name in FIGURES) for row in rows]
        self.buckets = [tally_line(tally) for tally in tallies]
        self.tally = merged(tallies)
        self.line = tally_line(self.tally)


def _tally(rows: Sequence[Sample]) -> Tally:
    answers = [row for row in rows if not row.error]
    rates = [round((row.tokens_per_second or 0) * 1000) for row in answers]
    failed = len(rows) - len(answers)
    judged = [row.good for row in rows]
    return Tally(
        (len(rows), failed, judged.count(True), judged.count(False)),
        (
            sketch.of([row.ttft_us or 0 for row in answers]),
            sketch.of([row.total_us or 0 for row in answers]),
            sketch.of(rates),
            sketch.of([row.max_gap_us or 0 for row in answers]),
        ),
    )


def tally_line(tally: Tally) -> str:
    return _line([*tally.counts, *map(to_column, tally.sketches)])


def _line(values: Iterable[object]) -> str:
    """As COPY's text format has them; none of our texts has anything to escape."""
    return "\t".join(map(_cell, values))


def _cell(value: object) -> str:
    if isinstance(value, bytes):
        return rf"\\x{value.hex()}"
    return r"\N" if value is None else str(value)


class Kind:
    """All hours of the monitors of one scenario on one sort of endpoint."""

    def __init__(
        self, scenario: Scenario, speed: float, interval_s: int, rng: Random
    ) -> None:
        self.profile = Profile(
            model=f"generated-{speed}",
            ttft_ms=(300 + scenario.input_tokens / 10) * speed,
            tokens_per_second=60 / speed,
            input_tokens=scenario.input_tokens,
            output_tokens=scenario.max_tokens,
        )
        self.objective = series.objective_in_force(scenario.pk, timezone.now())
        self.scenario = scenario
        self.interval_s = interval_s
        self.rng = rng
        self.hours: dict[tuple[int, Condition], list[Hour]] = {}

    def hour(self, hour: int, condition: Condition) -> Hour:
        """One of the hours that are like that."""
        drawn = self.hours.setdefault((hour, condition), [])
        if len(drawn) < DRAWS:
            rows = [
                self._sample(history.draw(self.profile, hour, condition, self.rng))
                for _ in range(HOUR // self.interval_s)
            ]
            drawn.append(Hour(rows, MINUTES_5 // self.interval_s))
            return drawn[-1]
        return self.rng.choice(drawn)

    def _sample(self, measurement: Measurement) -> Sample:
        now = timezone.now()
        row = store.to_row(measurement, monitor_id=0, due_at=now, started_at=now)
        store.judged(row, measurement, self.objective)
        return row
