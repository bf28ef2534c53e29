"""The one word for a monitor."""

from __future__ import annotations

import pytest

from alerts.models import MonitorState
from alerts.rules import Phase
from alerts.words import State, word


@pytest.mark.parametrize(
    ("phases", "expected"),
    [
        ([Phase.OK], State.STABLE),
        ([Phase.OK, Phase.UNKNOWN], State.STABLE),
        ([Phase.UNKNOWN, Phase.UNKNOWN], State.NO_DATA),
        ([], State.NO_DATA),
        ([Phase.OK, Phase.PENDING], State.DEGRADING),
        ([Phase.UNKNOWN, Phase.RECOVERING], State.DEGRADING),
        ([Phase.OK, Phase.PENDING, Phase.FIRING], State.FAILING),
        ([Phase.FIRING, Phase.RECOVERING], State.FAILING),
    ],
)
def test_the_worst_rule_gives_the_word(phases: list[Phase], expected: State):
    assert word(phases, no_data=False, enabled=True) is expected


@pytest.mark.parametrize("phase", Phase)
def test_old_data_is_never_stable(phase: Phase):
    assert word([phase], no_data=True, enabled=True) is State.NO_DATA


@pytest.mark.parametrize("phase", Phase)
@pytest.mark.parametrize("no_data", [True, False])
def test_paused_hides_everything(phase: Phase, no_data: bool):
    assert word([phase], no_data=no_data, enabled=False) is State.PAUSED


def test_every_word_can_be_stored():
    assert {s.value for s in State} == set(MonitorState.State.values)
