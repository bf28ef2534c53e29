"""A probe leaves nothing to the garbage collector, whose pauses stop all streams."""

from __future__ import annotations

import gc
from collections.abc import Callable

from probes.engine import Engine
from probes.types import Message, Prompt, Target
from tests.scripted import ScriptedServer


def garbage(act: Callable[[], object]) -> set[str]:
    """Classes of ours and of our HTTP client that only the collector frees."""
    gc.collect()
    gc.disable()
    gc.set_debug(gc.DEBUG_SAVEALL)
    try:
        act()
        gc.collect()
        kinds = (type(thing) for thing in gc.garbage)
        names = {f"{kind.__module__}.{kind.__qualname__}" for kind in kinds}
    finally:
        gc.set_debug(0)
        gc.garbage.clear()
        gc.enable()
    return {name for name in names if name.startswith(("probes.", "http"))}


def test_what_a_probe_made_is_gone_when_it_is_over():
    prompt = Prompt(messages=(Message(role="user", content="hello"),), max_tokens=5)
    engine = Engine()

    def probe() -> None:
        target = Target(protocol="openai", base_url=server.base_url, model="scripted")
        assert engine.run(target, prompt).outcome == "ok"
        engine.stop()  # what its thread still held is let go

    with ScriptedServer(first_ms=1, step_ms=1) as server:
        engine.start()
        assert garbage(probe) == set()
