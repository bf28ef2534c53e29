"""The one word that every page, mail and API says for a monitor. Values only."""

from __future__ import annotations

from collections.abc import Collection
from enum import StrEnum

from alerts.rules import Phase


class State(StrEnum):
    STABLE = "stable"
    DEGRADING = "degrading"
    FAILING = "failing"
    NO_DATA = "no_data"
    PAUSED = "paused"


def word(phases: Collection[Phase], *, no_data: bool, enabled: bool) -> State:
    """The worst that any rule says, unless nobody looks or there is nothing to see.

    ``phases`` are those of the rules in force. A figure that cannot be judged does
    not hide what the others say, but where none could be, nothing is known.
    """
    if not enabled:
        return State.PAUSED
    if no_data:
        return State.NO_DATA
    if Phase.FIRING in phases:
        return State.FAILING
    if Phase.PENDING in phases or Phase.RECOVERING in phases:
        return State.DEGRADING
    return State.STABLE if Phase.OK in phases else State.NO_DATA
