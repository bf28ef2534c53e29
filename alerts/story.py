"""A transition in words: what, where, how much, against what, since when."""

from __future__ import annotations

from dataclasses import dataclass
from datetime import datetime

from alerts import phrases
from alerts.facts import Facts, Probe
from alerts.figures import Figure
from alerts.phrases import FIGURE_NAMES, quantity
from alerts.rules import Kind

WORDS = {
    Kind.FIRE: "FAILING",
    Kind.RESOLVE: "RESOLVED",
    Kind.WITHDRAW: "NOT CHECKED",
}
"""What a subject begins with: the state, so that a list of mails can be read."""


@dataclass(frozen=True, slots=True, kw_only=True)
class Story:
    """``value`` and ``limit`` are in the figure's unit; ``since`` is when it began."""

    kind: Kind
    figure: Figure
    at: datetime
    since: datetime
    value: float | None
    limit: float | None
    facts: Facts

    @property
    def subject(self) -> str:
        return phrases.subject(
            WORDS[self.kind], self.facts["scenario"], self.facts["endpoint"], self.what
        )

    @property
    def what(self) -> str:
        """How much, against what."""
        name = FIGURE_NAMES[self.figure]
        if self.kind is Kind.WITHDRAW:
            return f"{name} no longer checked"
        errors = self.figure is Figure.ERRORS
        if self.kind is Kind.FIRE:
            if errors:
                facts = self.facts
                share = f"{facts['bad']} of {facts['known']}"
                return f"{share} probes failed ({self.failure})"
            return f"{self._measured} (limit {self.bound})"
        if errors:
            return f"answers again after {self.duration}"
        return f"{self._measured} after {self.duration} (limit {self.bound})"

    @property
    def _measured(self) -> str:
        """The amount, named where its unit does not name it."""
        named = self.value is None or self.figure is Figure.TOKENS_PER_SECOND
        return self.amount if named else f"{FIGURE_NAMES[self.figure]} {self.amount}"

    @property
    def sentence(self) -> str:
        """The mail's first line, for somebody who reads no further."""
        name = FIGURE_NAMES[self.figure]
        if self.kind is Kind.WITHDRAW:
            return (
                f"The rule for {name} was switched off or lost its limit while it was "
                f"failing. Nobody will be told when it recovers."
            )
        if self.kind is Kind.RESOLVE:
            return f"The last {self.facts['m']} probes in a row were good again."
        if self.figure is Figure.ERRORS:
            return f"{self.share} probes failed."
        side = "below" if self.figure is Figure.TOKENS_PER_SECOND else "above"
        return f"{name} was {side} its limit in {self.share} probes."

    @property
    def share(self) -> str:
        return f"{self.facts['bad']} of the last {self.facts['known']}"

    @property
    def amount(self) -> str:
        """The figure of the newest probe; without one, why there is none."""
        if self.value is not None:
            return quantity(self.figure, self.value)
        held = self.figure is Figure.TOKENS_PER_SECOND
        return "stream held back" if held else self.failure

    @property
    def bound(self) -> str:
        return "" if self.limit is None else quantity(self.figure, self.limit)

    @property
    def failure(self) -> str:
        return phrases.failure(self.facts["failure"])

    @property
    def duration(self) -> str:
        return phrases.span(self.at - self.since)

    @property
    def rows(self) -> list[tuple[str, str]]:
        """The incident as a table of names and values."""
        facts = self.facts
        rows = [
            ("Endpoint", f"{facts['endpoint']} ({facts['model']})"),
            ("Scenario", facts["scenario"]),
        ]
        if self.figure is not Figure.ERRORS and self.limit is not None:
            rows.append((FIGURE_NAMES[self.figure], self.amount))
            rows.append(("Limit", self.bound))
        if facts["failure"]:
            rows.append(("Error", self.failure))
            rows.append(("It said", facts["failure_text"]))
        rows.append(("Failing since", phrases.moment(self.since)))
        if self.kind is not Kind.FIRE:
            rows.append(("Until", f"{phrases.moment(self.at)}, {self.duration}"))
        return [(name, phrases.line(value)) for name, value in rows if value]

    @property
    def probes(self) -> list[tuple[str, str]]:
        """The newest probes, newest first: when, and what they gave."""
        return [
            (phrases.moment(datetime.fromisoformat(p["at"])), _probe(p))
            for p in self.facts["probes"]
        ]


def _probe(probe: Probe) -> str:
    if probe["failure"]:
        return phrases.failure(probe["failure"])
    figures = (
        ("TTFT ", Figure.TTFT_MS, probe["ttft_ms"]),
        ("", Figure.TOKENS_PER_SECOND, probe["tokens_per_second"]),
        ("complete after ", Figure.TOTAL_MS, probe["total_ms"]),
    )
    return ", ".join(
        label + quantity(figure, value)
        for label, figure, value in figures
        if value is not None
    )
