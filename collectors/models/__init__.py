"""What is watched, what was measured, and what is under way."""

from collectors.models.rollups import Rollup, Unrolled
from collectors.models.samples import Gap, Sample, Timeline
from collectors.models.targets import Endpoint, Monitor, Objective, Scenario
from collectors.models.work import Heartbeat, Slot, Trial

__all__ = [
    "Endpoint",
    "Gap",
    "Heartbeat",
    "Monitor",
    "Objective",
    "Rollup",
    "Sample",
    "Scenario",
    "Slot",
    "Timeline",
    "Trial",
    "Unrolled",
]
