"""What samples come to, by monitor and stretch of time; it outlives the samples."""

from __future__ import annotations

from django.db import models
from django.utils import timezone

from collectors import sketch
from collectors.models.targets import Monitor
from collectors.sketch import Sketch


def from_column(value: bytes | None) -> Sketch:
    return sketch.EMPTY if value is None else sketch.decode(value)


def to_column(value: Sketch) -> bytes | None:
    return sketch.encode(value) if value.buckets else None


class SketchField(models.BinaryField):  # type: ignore[type-arg]  # as for Real
    """A ``Sketch``; NULL in the database where it has no values."""

    def from_db_value(self, value: bytes | None, *_: object) -> Sketch:
        return from_column(value)

    def get_prep_value(self, value: Sketch) -> bytes | None:
        return to_column(value)


class Rollup(models.Model):
    """The samples of one monitor that were due in ``[start, start + resolution_s)``.

    ``good`` and ``bad`` count those that were judged, ``failed`` those without a
    complete answer. The sketches hold complete answers only. Slots without a sample
    are in ``Gap`` alone, where they may still change.
    """

    pk = models.CompositePrimaryKey("monitor", "resolution_s", "start")
    start = models.DateTimeField()
    monitor = models.ForeignKey(
        Monitor, on_delete=models.CASCADE, related_name="+", db_index=False
    )
    resolution_s = models.IntegerField()
    samples = models.IntegerField()
    failed = models.IntegerField()
    good = models.IntegerField()
    bad = models.IntegerField()
    ttft_us = SketchField(null=True)
    total_us = SketchField(null=True)
    millitokens_per_s = SketchField(null=True)
    max_gap_us = SketchField(null=True)

    def __str__(self) -> str:
        return f"monitor {self.monitor_id}, {self.resolution_s} s from {self.start}"


class Unrolled(models.Model):
    """A sample was stored in this bucket of five minutes that no rollup counts yet.

    Written with the sample, deleted with the rollup's change, each in one transaction:
    so a sample is counted however late it comes, and whatever is killed meanwhile.
    """

    id = models.BigAutoField(primary_key=True)
    start = models.DateTimeField()
    stored_at = models.DateTimeField(default=timezone.now)
    monitor_id = models.IntegerField(
        help_text="no foreign key: the sample's own has been checked already"
    )

    def __str__(self) -> str:
        return f"monitor {self.monitor_id} from {self.start}"
