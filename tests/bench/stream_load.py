"""A load of streams and what a client says of it: the words that the processes of
the benchmark exchange, a JSON object a line."""

from __future__ import annotations

import json
import sys
import time
from collections.abc import Callable
from dataclasses import asdict, dataclass
from typing import Any

import psutil

MODEL = "scripted"
PROMPT_TOKENS = 100
MAX_TOKENS = 50
LEAD_S = 1.2
"""From the order to the first start."""

AHEAD_S = 1.0
"""How long before its time a slot is handed to a worker, as in the product."""


@dataclass(frozen=True, slots=True, kw_only=True)
class Load:
    """Streams that start one by one over ``spread_s`` from Unix time ``start_at``."""

    name: str
    base_url: str
    streams: int
    spread_s: float
    start_at: float

    def starts(self) -> list[tuple[str, float]]:
        """Each stream's id and the Unix time at which it starts."""
        step_s = self.spread_s / self.streams
        return [
            (f"{self.name}-{n}", self.start_at + n * step_s)
            for n in range(self.streams)
        ]


@dataclass(frozen=True, slots=True, kw_only=True)
class Stream:
    """What a client measured of one answer: its tokens' times, in ms from sent."""

    stream_id: str
    tokens_ms: list[float]
    uncertainty_ms: float | None = None


def cpu_s(process: psutil.Process) -> float:
    """Processor time that a process and its living children have used."""
    family = [process, *process.children(recursive=True)]
    return sum(times.user + times.system for p in family for times in [p.cpu_times()])


def serve(run: Callable[[Load], list[Stream]]) -> None:
    """Answer each load on standard input with its streams and what they cost."""
    process = psutil.Process()
    for line in sys.stdin:
        load = Load(**json.loads(line))
        before_s = cpu_s(process)
        streams = run(load)
        answer: dict[str, Any] = {
            "streams": [asdict(stream) for stream in streams],
            "cpu_s": cpu_s(process) - before_s,
            "rss_bytes": process.memory_info().rss,
        }
        print(json.dumps(answer), flush=True)


def seconds_until(unix_time: float) -> float:
    return max(0.0, unix_time - time.time())
