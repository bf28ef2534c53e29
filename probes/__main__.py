"""``python -m probes``: one measured request from the command line."""

from __future__ import annotations

import asyncio
import json
import sys
from collections.abc import Sequence
from dataclasses import fields
from typing import Any

from probes.cli import Command, parse_command
from probes.connections import Connections
from probes.runner import measure
from probes.types import Measurement


def main(argv: Sequence[str] | None = None) -> int:
    """Measure as ``argv`` asks, print it, and return the exit status."""
    command = parse_command(argv)
    measurement = asyncio.run(_measure(command))
    print(_as_json(measurement) if command.as_json else _as_lines(measurement))
    return 0 if measurement.outcome == "ok" else 1


async def _measure(command: Command) -> Measurement:
    async with Connections() as connections:
        return await measure(
            command.target, command.prompt, command.timeouts, connections=connections
        )


def _as_json(measurement: Measurement) -> str:
    return json.dumps(_shown(measurement))


def _as_lines(measurement: Measurement) -> str:
    shown = _shown(measurement).items()
    return "\n".join(f"{name}: {value}" for name, value in shown if value is not None)


def _shown(measurement: Measurement) -> dict[str, Any]:
    values = {
        field.name: getattr(measurement, field.name) for field in fields(measurement)
    }
    values["quirks"] = sorted(measurement.quirks)
    return values


if __name__ == "__main__":
    sys.exit(main())
