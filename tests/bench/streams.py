"""How exactly streams are timed, and at what cost: this engine and its rivals.

A scripted server (``scripted_stream``) writes 50 tokens, 20 ms apart from 200 ms on,
and notes when it really did. Each client takes 1, 50, 200 and 500 such streams at
once, three times; a figure is the median of the three, all three stand beside it.

- ours: tasks in the product's own Celery worker, one process, threads; for 500 as
  many processes as the machine has cores. The task does what a probe does between its
  two uses of the database (``tests.bench.tasks``).
- httpx, aiohttp, openai SDK: one asyncio process each (``rivals``).

TTFT error: |TTFT of the client − (first token's write − request's receipt)| by the
server's log. The client's TTFT counts from when it knows the request to be sent, not
from before connecting, which would be 1 to 100 ms worse. The receipt is when the
request reached the server's host. Gap error: the same of the time between two tokens.
CPU: of all the client's processes from the order to the last result, per stream. What
others did to the figures is told by their share of the machine (``noise``).
"""

from __future__ import annotations

import os
import tempfile
import time
from contextlib import ExitStack
from dataclasses import dataclass
from itertools import pairwise
from pathlib import Path
from statistics import median, quantiles

import httpx

from tests.bench.noise import Others
from tests.bench.report import Row
from tests.bench.rivals import RIVALS
from tests.bench.stream_clients import Client, Engine, Outcome, Rival, Talker, talking
from tests.bench.stream_load import LEAD_S, Load, Stream

RUNS = 3
OURS = "ours"
WRONG_MS = 5.0
PUT_ASIDE_MS = 1.0
"""A write of the server that takes longer was interrupted."""

Truth = dict[str, tuple[int, list[tuple[int, int]]]]
"""Of each stream: its receipt, and the moments before and after each write, in ns."""


@dataclass(frozen=True, slots=True)
class Level:
    """So many streams at once. One at a time is taken a few times in a row."""

    at_once: int
    streams: int
    spread_s: float
    workers: int = 1


LEVELS = (
    Level(1, 2, 2.6),
    Level(50, 50, 1.0),
    Level(200, 200, 1.0),
    Level(500, 500, 5.0, workers=os.cpu_count() or 1),
)


@dataclass(frozen=True, slots=True)
class Figures:
    """What one client made of one load."""

    ttft_median_ms: float
    ttft_p99_ms: float
    gap_p99_ms: float
    cpu_ms: float
    rss_mb: float
    wrong: int
    """Streams whose TTFT is wrong by more than ``WRONG_MS``."""
    uncovered: int
    """Those of them whose uncertainty says less than that."""


def p99(values: list[float]) -> float:
    return quantiles(values, n=100, method="inclusive")[98]


def written_ms(measured_ms: float, before_ms: float, after_ms: float) -> float:
    """When the server really wrote.

    Where it was put aside in the midst of writing that is not known any better than
    by what came of it.
    """
    if after_ms - before_ms < PUT_ASIDE_MS:
        return before_ms
    return min(max(measured_ms, before_ms), after_ms)


def errors_ms(stream: Stream, truth: Truth) -> tuple[float, list[float]]:
    """The error of TTFT, and those of all gaps."""
    received_ns, writes_ns = truth[stream.stream_id]
    assert len(stream.tokens_ms) == len(writes_ns), f"lost tokens: {stream}"
    wrote_ms = [
        written_ms(at_ms, *((moment_ns - received_ns) / 1e6 for moment_ns in write_ns))
        for at_ms, write_ns in zip(stream.tokens_ms, writes_ns, strict=True)
    ]
    gaps = zip(pairwise(stream.tokens_ms), pairwise(wrote_ms), strict=True)
    return (
        abs(stream.tokens_ms[0] - wrote_ms[0]),
        [abs((b - a) - (d - c)) for (a, b), (c, d) in gaps],
    )


def figures(outcome: Outcome, truth: Truth) -> Figures:
    errors = [(stream, *errors_ms(stream, truth)) for stream in outcome.streams]
    ttft = [error_ms for _, error_ms, _ in errors]
    wrong = [(s, error_ms) for s, error_ms, _ in errors if error_ms > WRONG_MS]
    return Figures(
        ttft_median_ms=median(ttft),
        ttft_p99_ms=p99(ttft),
        gap_p99_ms=p99([gap_ms for _, _, gaps_ms in errors for gap_ms in gaps_ms]),
        cpu_ms=outcome.cpu_s * 1000 / len(outcome.streams),
        rss_mb=outcome.rss_bytes / 1e6,
        wrong=len(wrong),
        uncovered=sum((s.uncertainty_ms or 0) < error_ms for s, error_ms in wrong),
    )


def measure(client: Client, level: Level, base_url: str) -> Figures:
    load = Load(
        name=f"{level.at_once}",
        base_url=base_url,
        streams=level.streams,
        spread_s=level.spread_s,
        start_at=time.time() + LEAD_S,
    )
    outcome = client.run(load)
    truth: Truth = httpx.get(f"{base_url}/log").json()
    return figures(outcome, truth)


def compare(server: Talker, folder: Path, stack: ExitStack) -> list[Row]:
    base_url = server.read()
    engine = Engine(folder, stack)
    clients: dict[str, Client] = {OURS: engine}
    for name in RIVALS:
        talker = stack.enter_context(talking("tests.bench.rivals", name))
        clients[name] = Rival(talker)
    found: list[Row] = []
    for level in LEVELS:
        engine.grow(level.workers)
        others = Others()
        runs: dict[str, list[Figures]] = {name: [] for name in clients}
        for _ in range(RUNS):
            for name, client in clients.items():
                runs[name].append(measure(client, level, base_url))
        found += rows(level, runs)
        name = f"{level.at_once} at once: machine used by others meanwhile"
        found.append(Row(name=name, value=others.share(), unit="%"))
    return found


GOALS = {
    (200, "ttft_median_ms"): "<= 0.1",
    (200, "ttft_p99_ms"): "<= 1",
    (200, "cpu_ms"): "<= 8",
    (500, "ttft_median_ms"): "<= 0.5",
    (500, "uncovered"): "0",
}
COMPARED = {
    "ttft_median_ms": ("TTFT error median", "ms"),
    "ttft_p99_ms": ("TTFT error p99", "ms"),
    "gap_p99_ms": ("gap error p99", "ms"),
    "cpu_ms": ("CPU a stream", "ms"),
    "rss_mb": ("memory", "MB"),
}
OWN = {
    "wrong": (f"TTFT wrong by over {WRONG_MS:g} ms", "streams"),
    "uncovered": ("of those not covered by uncertainty_ms", "streams"),
}


def rows(level: Level, runs: dict[str, list[Figures]]) -> list[Row]:
    """Ours beside each rival, and what only ours says."""
    found = []
    for field, (words, unit) in {**COMPARED, **OWN}.items():
        values = {n: [getattr(f, field) for f in fs] for n, fs in runs.items()}
        spread = " ".join(f"{value:.3g}" for value in values[OURS])
        rivals = RIVALS if field in COMPARED else ("",)
        found += [
            Row(
                name=f"{level.at_once} at once: {words} (runs: {spread})",
                value=median(values[OURS]),
                unit=unit,
                goal=GOALS.get((level.at_once, field), ""),
                rival=rival,
                rival_value=median(values[rival]) if rival else None,
            )
            for rival in rivals
        ]
    return found


def run() -> list[Row]:
    with tempfile.TemporaryDirectory() as folder, ExitStack() as stack:
        Path(folder).chmod(0o755)
        server = stack.enter_context(talking("tests.bench.scripted_stream"))
        return compare(server, Path(folder), stack)
