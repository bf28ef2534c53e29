"""The rules that a scenario has before anybody thought about them."""

from __future__ import annotations

from alerts.figures import Figure
from alerts.models import Rule
from alerts.rules import default_spec
from collectors.models import Scenario


def ensure_default_rules(scenario: Scenario) -> None:
    """One rule a figure; those that exist are left as they are."""
    spec = default_spec(scenario.interval_s)
    Rule.objects.bulk_create(
        [
            Rule(scenario=scenario, figure=figure.value, k=spec.k, n=spec.n, m=spec.m)
            for figure in Figure
        ],
        ignore_conflicts=True,
    )
