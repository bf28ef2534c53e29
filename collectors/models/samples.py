"""What was measured. Both tables are partitioned by day of ``due_at``.

Durations are integers of microseconds, so that sums of them are exact; the names
that people see (``ttft_ms``) are made in ``dashboard.payloads``.
"""

from __future__ import annotations

from django.db import models

from collectors.models.targets import Monitor

KEY = ("monitor", "due_at", "sweep", "rung", "stream", "turn", "attempt")


class Real(models.FloatField):  # type: ignore[type-arg]  # django-stubs: runtime class has no parameters
    """A four-byte float: seven digits are more than any of our rates has."""

    def db_type(self, connection: object) -> str:
        return "real"


class SampleKey(models.Model):
    """One request of one slot. ``due_at`` is the slot, not when it ran."""

    pk = models.CompositePrimaryKey(*KEY)
    monitor = models.ForeignKey(
        Monitor, on_delete=models.CASCADE, related_name="+", db_index=False
    )
    due_at = models.DateTimeField()
    sweep = models.IntegerField(default=0)
    rung = models.SmallIntegerField(default=0)
    stream = models.SmallIntegerField(default=0)
    turn = models.SmallIntegerField(default=0)
    attempt = models.SmallIntegerField(default=0)

    class Meta:
        abstract = True


def _duration() -> models.IntegerField[int | None, int | None]:
    return models.IntegerField(null=True)


class Sample(SampleKey):
    """One request's figures; append-only. ``docs/metrics.md`` defines each."""

    started_at = models.DateTimeField()
    ttft_us = _duration()
    ttfa_us = _duration()
    total_us = _duration()
    end_us = _duration()
    headers_us = _duration()
    dns_us = _duration()
    connect_us = _duration()
    tls_us = _duration()
    gap_p50_us = _duration()
    gap_p95_us = _duration()
    max_gap_us = _duration()
    uncertainty_us = _duration()
    loop_lag_us = _duration()
    output_tokens = models.IntegerField(null=True)
    reasoning_tokens = models.IntegerField(null=True)
    input_tokens = models.IntegerField(null=True)
    cached_input_tokens = models.IntegerField(null=True)
    cache_write_input_tokens = models.IntegerField(null=True)
    answer_chars = models.IntegerField(null=True)
    chunks = models.IntegerField(null=True)
    bytes = models.IntegerField(null=True)
    tokens_per_second = Real(null=True)
    slowest_1s_tokens_per_second = Real(null=True)
    tail_speed_ratio = Real(null=True)
    rebuffer_s = Real(null=True)
    retry_after_s = Real(null=True)
    objective_id = models.IntegerField(
        null=True, help_text="the Objective by which this sample was judged"
    )
    http_status = models.SmallIntegerField(null=True)
    stall_count = models.SmallIntegerField(null=True)
    attempts = models.SmallIntegerField(default=1)
    good = models.BooleanField(null=True)
    buffered = models.BooleanField(default=False)
    streamed = models.BooleanField(null=True)
    error = models.CharField(
        max_length=20, blank=True, help_text="a probes.types.Failure; empty: none"
    )
    error_text = models.CharField(max_length=300, blank=True)
    finish_reason = models.CharField(max_length=20, blank=True)
    token_source = models.CharField(max_length=10, blank=True)
    clock = models.CharField(max_length=10, blank=True)
    model_reported = models.CharField(max_length=200, blank=True)
    vantage = models.CharField(max_length=40, blank=True)

    def __str__(self) -> str:
        return f"monitor {self.monitor_id} at {self.due_at:%Y-%m-%d %H:%M:%S}"


class Timeline(SampleKey):
    """When each token of a sample came, packed by ``probes.timeline_codec``."""

    packed = models.BinaryField()

    def __str__(self) -> str:
        return f"monitor {self.monitor_id} at {self.due_at:%Y-%m-%d %H:%M:%S}"


class Gap(models.Model):
    """Slots in a row that have no sample, and why."""

    class Reason(models.TextChoices):
        NOT_SCHEDULED = "not_scheduled", "the scheduler did not run"
        NOT_FINISHED = "not_finished", "no worker finished the probe"
        OVERLAP = "overlap", "the probe before it was still running"
        NO_KEY = "no_key", "the worker could not read the endpoint's API key"
        PROBER_FAULT = "prober_fault", "TokenPulse itself failed; see the worker's log"

    monitor = models.ForeignKey(Monitor, on_delete=models.CASCADE, related_name="gaps")
    first_due_at = models.DateTimeField()
    last_due_at = models.DateTimeField()
    slots = models.PositiveIntegerField()
    interval_s = models.PositiveIntegerField()
    reason = models.CharField(max_length=20, choices=Reason)

    class Meta:
        ordering = ("monitor", "first_due_at")
        constraints = [
            models.UniqueConstraint(
                fields=["monitor", "first_due_at"], name="gap_monitor_first_due_at"
            ),
        ]
        indexes = [
            models.Index(fields=["monitor", "last_due_at"], name="gap_monitor_last"),
        ]

    def __str__(self) -> str:
        return f"{self.slots} slots of monitor {self.monitor_id}: {self.reason}"
