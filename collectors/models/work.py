"""What is under way: claimed slots, signs of life, and trials."""

from __future__ import annotations

from django.conf import settings
from django.db import models
from django.utils import timezone

from collectors.models.targets import EndpointFields, Monitor, Scenario


class Slot(models.Model):
    """A slot that was claimed and has no sample yet.

    Every claimed slot ends as a sample or inside a gap: whoever does either deletes
    this row in the same transaction.
    """

    pk = models.CompositePrimaryKey("monitor", "due_at")
    monitor = models.ForeignKey(
        Monitor, on_delete=models.CASCADE, related_name="slots", db_index=False
    )
    due_at = models.DateTimeField()
    interval_s = models.PositiveIntegerField()
    worker = models.CharField(max_length=120, blank=True)
    give_up_at = models.DateTimeField(
        help_text="when the sweep may take it for lost: not begun, then not finished"
    )

    def __str__(self) -> str:
        return f"monitor {self.monitor_id} at {self.due_at:%Y-%m-%d %H:%M:%S}"


class Heartbeat(models.Model):
    """When a worker process, or the scheduler, was last seen alive."""

    class Kind(models.TextChoices):
        WORKER = "worker"
        SCHEDULER = "scheduler"

    name = models.CharField(primary_key=True, max_length=120)
    kind = models.CharField(max_length=10, choices=Kind)
    started_at = models.DateTimeField(default=timezone.now)
    seen_at = models.DateTimeField()

    def __str__(self) -> str:
        return self.name


class Trial(EndpointFields):
    """A "Test now": one probe outside the schedule, its result kept for a week.

    It has no slot, so it can enter no SLO and no baseline.
    """

    scenario = models.ForeignKey(Scenario, on_delete=models.CASCADE, related_name="+")
    created_by = models.ForeignKey(
        settings.AUTH_USER_MODEL, on_delete=models.CASCADE, related_name="+"
    )
    created_at = models.DateTimeField(default=timezone.now)
    started_at = models.DateTimeField(null=True)
    finished_at = models.DateTimeField(null=True)
    result = models.JSONField(null=True, help_text="probes.types.Measurement as JSON")

    class Meta:
        ordering = ("-created_at",)

    def __str__(self) -> str:
        return f"trial of {self.model} at {self.base_url}"
