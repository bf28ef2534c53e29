"""The engine's rivals, each as its own manual has it: one asyncio process, one client.

`python -m tests.bench.rivals NAME` serves loads on standard input. Each client begins
to count at the best moment that its public interface tells, and notes a token when
its own iterator gives it. Limits on connections are lifted.
"""

from __future__ import annotations

import asyncio
import sys
from collections.abc import Awaitable, Callable
from importlib import import_module
from typing import Any

from tests.bench.rivals import RIVALS
from tests.bench.stream_load import Load, Stream, seconds_until, serve

Ask = Callable[[str, str], Awaitable[list[float]]]
"""Of base URL and stream id: the tokens' times in ms from sent."""


async def measure(load: Load, ask: Ask) -> list[Stream]:
    async def one(stream_id: str, start_at: float) -> Stream:
        await asyncio.sleep(seconds_until(start_at))
        tokens_ms = await ask(load.base_url, stream_id)
        return Stream(stream_id=stream_id, tokens_ms=tokens_ms)

    await ask(load.base_url, f"{load.name}-warm-up")
    return await asyncio.gather(*(one(*start) for start in load.starts()))


async def connect(name: str) -> Any:
    """The client, made where a loop runs. Only its own library is imported."""
    return import_module(RIVALS[name]).Rival()


def main() -> None:
    with asyncio.Runner() as runner:
        rival = runner.run(connect(sys.argv[1]))
        serve(lambda load: runner.run(measure(load, rival.ask)))


if __name__ == "__main__":
    main()
