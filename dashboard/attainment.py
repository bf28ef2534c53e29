"""The wire format of how monitors kept their limits. See ``payloads``."""

from __future__ import annotations

from datetime import datetime
from typing import Literal, TypedDict

from collectors.attainment import Share, shares_between
from dashboard.payloads import VERSION
from dashboard.windows import ms


class SharePayload(TypedDict):
    """``good`` of ``judged`` samples kept their limits; ``missed`` slots have none.

    ``attainment`` is None where nothing was judged, ``coverage`` where nothing was due.
    """

    monitor: int
    good: int
    judged: int
    samples: int
    failed: int
    missed: int
    attainment: float | None
    coverage: float | None


class AttainmentPayload(TypedDict):
    type: Literal["attainment"]
    v: int
    server_ms: int
    from_ms: int
    to_ms: int
    monitors: list[SharePayload]


def _share(monitor_id: int, found: Share) -> SharePayload:
    return {
        "monitor": monitor_id,
        "good": found.good,
        "judged": found.good + found.bad,
        "samples": found.samples,
        "failed": found.failed,
        "missed": found.missed,
        "attainment": found.attainment,
        "coverage": found.coverage,
    }


def payload(start: datetime, end: datetime) -> AttainmentPayload:
    shares = shares_between(start, end)
    return {
        "type": "attainment",
        "v": VERSION,
        "server_ms": ms(end),
        "from_ms": ms(start),
        "to_ms": ms(end),
        "monitors": [_share(*item) for item in shares.items()],
    }
