"""What is watched: endpoints, scenarios with their limits, and monitors."""

from __future__ import annotations

from django.core.validators import MaxValueValidator, MinValueValidator
from django.db import models
from django.db.models import F, Q
from django.utils import timezone


class EndpointFields(models.Model):
    """What it takes to reach a model; shared by endpoints and trials."""

    protocol = models.CharField(
        max_length=20, default="openai", help_text="a key of probes.protocols.PROTOCOLS"
    )
    # Not a URLField: that refuses hosts without a dot, such as `http://vllm:8000`.
    base_url = models.CharField(max_length=300)
    model = models.CharField(max_length=200)
    key_variable = models.CharField(
        max_length=100,
        blank=True,
        help_text="name of the environment variable, on the workers, with the API key",
    )
    key_encrypted = models.TextField(blank=True, editable=False)

    class Meta:
        abstract = True


class Endpoint(EndpointFields):
    """One model behind one base URL."""

    name = models.CharField(max_length=80, unique=True)
    quirks = models.JSONField(
        default=list,
        blank=True,
        editable=False,
        help_text="request parameters that this endpoint was found to refuse",
    )
    created_at = models.DateTimeField(default=timezone.now, editable=False)

    class Meta:
        ordering = ("name",)

    def __str__(self) -> str:
        return self.name


class Scenario(models.Model):
    """A way of using a model: what is asked, how often, and how long we wait."""

    class Kind(models.TextChoices):
        CHAT = "chat", "Chat"
        CODE = "code", "Code assistant"
        SUMMARY = "summary", "Document summary"
        AGENT = "agent", "Agent"
        BATCH = "batch", "Batch"

    class Figure(models.TextChoices):
        TTFT_MS = "ttft_ms", "TTFT"
        TOKENS_PER_SECOND = "tokens_per_second", "tokens/s"
        TOTAL_MS = "total_ms", "completion time"

    slug = models.SlugField(unique=True)
    name = models.CharField(max_length=80, unique=True)
    kind = models.CharField(max_length=10, choices=Kind)
    leading = models.CharField(
        max_length=20,
        choices=Figure,
        default=Figure.TTFT_MS,
        help_text="the figure that this scenario's users feel first",
    )
    input_tokens = models.PositiveIntegerField(
        validators=[MinValueValidator(1), MaxValueValidator(200_000)]
    )
    max_tokens = models.PositiveIntegerField(
        validators=[MinValueValidator(1), MaxValueValidator(4_096)]
    )
    interval_s = models.PositiveIntegerField(
        default=60, validators=[MinValueValidator(1), MaxValueValidator(86_400)]
    )
    first_token_timeout_s = models.FloatField(default=60)
    idle_timeout_s = models.FloatField(default=30)
    total_timeout_s = models.FloatField(
        default=300, validators=[MinValueValidator(1), MaxValueValidator(900)]
    )

    class Meta:
        ordering = ("id",)

    def __str__(self) -> str:
        return self.name


class Objective(models.Model):
    """A scenario's limits from a moment on; the newest one in force decides.

    Rows are never changed, so that a sample can say by which limits it was judged.
    """

    scenario = models.ForeignKey(
        Scenario, on_delete=models.CASCADE, related_name="objectives"
    )
    valid_from = models.DateTimeField(default=timezone.now)
    ttft_ms_max = models.FloatField(null=True, blank=True)
    tokens_per_second_min = models.FloatField(null=True, blank=True)
    total_ms_max = models.FloatField(null=True, blank=True)
    max_gap_ms_max = models.FloatField(null=True, blank=True)

    class Meta:
        ordering = ("valid_from", "id")
        constraints = [
            models.UniqueConstraint(
                fields=["scenario", "valid_from"], name="objective_scenario_valid_from"
            ),
        ]

    def __str__(self) -> str:
        return f"{self.scenario} from {self.valid_from:%Y-%m-%d %H:%M}"


class Monitor(models.Model):
    """One endpoint watched in one scenario, on a grid of its own."""

    endpoint = models.ForeignKey(
        Endpoint, on_delete=models.CASCADE, related_name="monitors"
    )
    scenario = models.ForeignKey(
        Scenario, on_delete=models.PROTECT, related_name="monitors"
    )
    enabled = models.BooleanField(default=True)
    interval_s = models.PositiveIntegerField(
        validators=[MinValueValidator(1), MaxValueValidator(86_400)]
    )
    phase_ms = models.PositiveIntegerField(
        editable=False, help_text="where on the grid this monitor's slots lie"
    )
    next_due_at = models.DateTimeField(editable=False)
    claimed_until = models.DateTimeField(
        null=True,
        editable=False,
        help_text="the newest slot claimed or missed; none up to it comes again",
    )
    created_at = models.DateTimeField(default=timezone.now, editable=False)

    class Meta:
        ordering = ("id",)
        constraints = [
            models.UniqueConstraint(
                fields=["endpoint", "scenario"], name="monitor_endpoint_scenario"
            ),
            models.CheckConstraint(
                condition=Q(interval_s__gte=1) & Q(phase_ms__lt=F("interval_s") * 1000),
                name="monitor_phase_within_interval",
            ),
        ]
        indexes = [
            models.Index(
                fields=["next_due_at"],
                condition=Q(enabled=True),
                name="monitor_due",  # collectors.claims.claim_due
            ),
        ]

    def __str__(self) -> str:
        return f"{self.endpoint} · {self.scenario}"
