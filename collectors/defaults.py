"""The five scenarios that every installation starts with, and their limits."""

from __future__ import annotations

from dataclasses import dataclass

from django.db import transaction

from collectors.models import Objective, Scenario

Figure = Scenario.Figure
Kind = Scenario.Kind


@dataclass(frozen=True, slots=True, kw_only=True)
class Default:
    kind: Scenario.Kind
    leading: Scenario.Figure
    input_tokens: int
    max_tokens: int
    interval_s: int
    ttft_ms_max: float | None = None
    tokens_per_second_min: float | None = None
    total_ms_max: float | None = None
    max_gap_ms_max: float | None = None


DEFAULTS = (
    # A chat feels its first token and every pause; 15 tokens/s is faster than reading.
    Default(
        kind=Kind.CHAT,
        leading=Figure.TTFT_MS,
        input_tokens=400,
        max_tokens=150,
        interval_s=60,
        ttft_ms_max=1_000,
        tokens_per_second_min=15,
        max_gap_ms_max=1_000,
    ),
    Default(
        kind=Kind.CODE,
        leading=Figure.TTFT_MS,
        input_tokens=4_000,
        max_tokens=300,
        interval_s=60,
        ttft_ms_max=1_500,
        tokens_per_second_min=30,
    ),
    # 1 s and 0.1 s a thousand tokens to read; then 300 tokens at 20 a second.
    Default(
        kind=Kind.SUMMARY,
        leading=Figure.TOTAL_MS,
        input_tokens=8_000,
        max_tokens=300,
        interval_s=900,
        ttft_ms_max=1_800,
        total_ms_max=16_800,
    ),
    Default(
        kind=Kind.AGENT,
        leading=Figure.TOTAL_MS,
        input_tokens=2_000,
        max_tokens=150,
        interval_s=120,
        ttft_ms_max=2_000,
        total_ms_max=12_000,
    ),
    Default(
        kind=Kind.BATCH,
        leading=Figure.TOKENS_PER_SECOND,
        input_tokens=512,
        max_tokens=512,
        interval_s=900,
        tokens_per_second_min=20,
        total_ms_max=60_000,
    ),
)


def ensure_scenarios() -> list[Scenario]:
    """Make the scenarios that are not there yet; what people changed stays."""
    found = []
    for default in DEFAULTS:
        with transaction.atomic():
            scenario, made = Scenario.objects.get_or_create(
                slug=default.kind.value,
                defaults={
                    "name": default.kind.label,
                    "kind": default.kind,
                    "leading": default.leading,
                    "input_tokens": default.input_tokens,
                    "max_tokens": default.max_tokens,
                    "interval_s": default.interval_s,
                },
            )
            if made:
                Objective.objects.create(
                    scenario=scenario,
                    ttft_ms_max=default.ttft_ms_max,
                    tokens_per_second_min=default.tokens_per_second_min,
                    total_ms_max=default.total_ms_max,
                    max_gap_ms_max=default.max_gap_ms_max,
                )
        found.append(scenario)
    return found
