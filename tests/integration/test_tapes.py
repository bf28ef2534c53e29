"""Every tape, through the runner and through the command line, on a real socket."""

from __future__ import annotations

import asyncio
import json
import sys
from collections.abc import Awaitable, Callable
from dataclasses import asdict
from typing import Any, TypeVar

import pytest

from probes.connections import Connections
from probes.runner import measure
from probes.types import Measurement, Message, Prompt, Target, Timeouts
from tests.tape_player import Player, Tape, differences, load_tapes, playing

TAPES = load_tapes()
PROMPT = Prompt(messages=(Message(role="user", content="Say it."),), max_tokens=64)

# A tape whose own server could not keep the time is played again, and in the end
# compared with that much tolerance: the bytes were late, and a measurement that says
# so is right.
MAX_LATE_MS = 4.0
MAX_PLAYS = 3
RUNNER_SLOTS = 6
CLI_SLOTS = 3

T = TypeVar("T")
Figures = dict[str, Any]
Output = tuple[int, str, str]


def by_name(tape: Tape) -> str:
    return str(tape["name"])


def timeouts_of(tape: Tape) -> Timeouts:
    args = tape.get("args", [])
    limits = {
        name.removeprefix("--timeout-").replace("-", "_") + "_s": float(value)
        for name, value in zip(args[::2], args[1::2], strict=True)
    }
    return Timeouts(**limits)


async def play_all(
    measure_one: Callable[[Player], Awaitable[T]], slots: int
) -> dict[str, tuple[T, float]]:
    """Return what ``measure_one`` makes of each tape, and how late its server was.

    ``slots`` is how many of them play at a time.
    """
    free = asyncio.Semaphore(slots)

    async def play(tape: Tape) -> tuple[T, float]:
        for left in reversed(range(MAX_PLAYS)):
            async with free, playing(tape) as player:
                result = await measure_one(player)
                if player.late_ms <= MAX_LATE_MS or not left:
                    return result, player.late_ms
        raise AssertionError

    results = await asyncio.gather(*map(play, TAPES))
    return dict(zip(map(by_name, TAPES), results, strict=True))


async def all_through_runner() -> dict[str, tuple[Figures, float]]:
    async def one(player: Player) -> Figures:
        tape = player.tape
        target = Target(
            protocol=tape["protocol"], base_url=player.base_url, model="tape"
        )
        limits = timeouts_of(tape)
        return asdict(await measure(target, PROMPT, limits, connections=connections))

    async with Connections() as connections:
        return await play_all(one, RUNNER_SLOTS)


async def command_line(player: Player) -> Output:
    """Run the command line against ``player``: exit status, output, errors."""
    tape = player.tape
    process = await asyncio.create_subprocess_exec(
        *(sys.executable, "-m", "probes", "--json", "--model", "tape"),
        *("--protocol", tape["protocol"], "--url", player.base_url),
        *tape.get("args", []),
        stdout=asyncio.subprocess.PIPE,
        stderr=asyncio.subprocess.PIPE,
    )
    output, errors = await process.communicate()
    assert process.returncode is not None
    return process.returncode, output.decode(), errors.decode()


@pytest.fixture(scope="module")
def runner_results() -> dict[str, tuple[Figures, float]]:
    return asyncio.run(all_through_runner())


@pytest.fixture(scope="module")
def cli_results() -> dict[str, tuple[Output, float]]:
    return asyncio.run(play_all(command_line, CLI_SLOTS))


@pytest.mark.parametrize("tape", TAPES, ids=by_name)
def test_runner_measures_the_tape(
    tape: Tape, runner_results: dict[str, tuple[Figures, float]]
) -> None:
    got, late_ms = runner_results[tape["name"]]
    assert not list(differences(tape["expect"], got, late_ms))


@pytest.mark.parametrize("tape", TAPES, ids=by_name)
def test_command_line_measures_the_tape(
    tape: Tape, cli_results: dict[str, tuple[Output, float]]
) -> None:
    (status, output, errors), late_ms = cli_results[tape["name"]]
    got = json.loads(output)
    assert not list(differences(tape["expect"], got, late_ms))
    assert status == (0 if got["outcome"] == "ok" else 1)
    assert set(got) == set(Measurement.__dataclass_fields__)
    assert errors == ""
