"""What a benchmark says: a figure beside its goal and its rival."""

from __future__ import annotations

import json
from collections.abc import Sequence
from dataclasses import asdict, dataclass
from pathlib import Path


@dataclass(frozen=True, slots=True, kw_only=True)
class Row:
    """One figure. ``goal`` is a limit in words; ``rival_value`` was measured in the
    same run, in the same unit."""

    name: str
    value: float
    unit: str
    goal: str = ""
    rival: str = ""
    rival_value: float | None = None


def table(rows: Sequence[Row]) -> str:
    cells = [("name", "value", "unit", "goal", "rival", "rival value")]
    cells += [
        (
            row.name,
            f"{row.value:.4g}",
            row.unit,
            row.goal,
            row.rival,
            "" if row.rival_value is None else f"{row.rival_value:.4g}",
        )
        for row in rows
    ]
    widths = [max(len(line[column]) for line in cells) for column in range(6)]
    return "\n".join(
        "  ".join(c.ljust(w) for c, w in zip(line, widths, strict=True)).rstrip()
        for line in cells
    )


def write(rows: Sequence[Row], path: Path) -> None:
    path.write_text(json.dumps([asdict(row) for row in rows], indent=1) + "\n")
