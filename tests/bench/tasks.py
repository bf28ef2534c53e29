"""The task by which the benchmark of streams measures in the product's worker."""

from __future__ import annotations

import json
import os
from dataclasses import asdict
from pathlib import Path

from celery import shared_task

from probes import prompts
from probes.engine import shared_engine
from probes.types import Secret, Target
from tests.bench.stream_load import MAX_TOKENS, MODEL, PROMPT_TOKENS, Stream


@shared_task(name="tests.bench.measure")
def measure(base_url: str, stream_id: str, start_at: float) -> None:
    """Do what ``collectors.pipeline.collect`` does between its uses of the database."""
    target = Target(
        protocol="openai",
        base_url=f"{base_url}/v1",
        model=MODEL,
        api_key=Secret("none"),
        extra_headers={"x-stream": Secret(stream_id)},
    )
    prompt = prompts.build(
        kind="chat",
        input_tokens=PROMPT_TOKENS,
        max_tokens=MAX_TOKENS,
        nonce=stream_id,
    )
    measurement = shared_engine().run(target, prompt, start_at=start_at)
    stream = Stream(
        stream_id=stream_id,
        tokens_ms=[at_ms for at_ms, _ in measurement.timeline],
        uncertainty_ms=measurement.uncertainty_ms,
    )
    _tell(stream)


def _tell(stream: Stream) -> None:
    """Add a line to this process's file, in one write."""
    path = Path(os.environ["BENCH_STREAMS"]) / f"{os.getpid()}.jsonl"
    with path.open("a") as file:
        file.write(json.dumps(asdict(stream)) + "\n")
