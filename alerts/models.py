"""What was decided, and who is told. How: ``rules``, ``presence``, ``evaluator``."""

from __future__ import annotations

from django.contrib.postgres.fields import ArrayField
from django.db import models
from django.db.models import F, Q
from django.utils import timezone

from alerts import presence, rules, words
from alerts.figures import Figure
from alerts.phrases import FIGURE_NAMES
from collectors.models import Monitor, Scenario


class Rule(models.Model):
    """One figure of a scenario and how long it must be bad, for all its monitors.

    The limit is the scenario's ``Objective`` in force; there is no second one here.
    A rule without a limit sleeps.
    """

    scenario = models.ForeignKey(
        Scenario, on_delete=models.CASCADE, related_name="rules"
    )
    figure = models.CharField(
        max_length=20, choices=[(f.value, FIGURE_NAMES[f]) for f in Figure]
    )
    k = models.PositiveSmallIntegerField(default=3)
    n = models.PositiveSmallIntegerField(default=5)
    m = models.PositiveSmallIntegerField(default=3)
    clear_ratio = models.FloatField(
        default=0.85, help_text="how far inside the limit a good value lies"
    )
    enabled = models.BooleanField(default=True)

    class Meta:
        ordering = ("scenario", "id")
        constraints = [
            models.UniqueConstraint(
                fields=["scenario", "figure"], name="rule_scenario_figure"
            ),
            models.CheckConstraint(
                condition=Q(k__gte=1, k__lte=F("n"), m__gte=1, n__lte=100),
                name="rule_can_fire_and_clear",
            ),
            models.CheckConstraint(
                condition=Q(clear_ratio__gt=0, clear_ratio__lte=1),
                name="rule_clear_ratio",
            ),
        ]

    def __str__(self) -> str:
        return f"{self.figure} of {self.scenario_id}: {self.k} of {self.n}"

    @property
    def spec(self) -> rules.RuleSpec:
        return rules.RuleSpec(k=self.k, n=self.n, m=self.m)


class RuleState(models.Model):
    """``rules.RuleState``, stored. Guarded by the lock of the ``MonitorState``."""

    monitor = models.ForeignKey(Monitor, on_delete=models.CASCADE, related_name="+")
    rule = models.ForeignKey(Rule, on_delete=models.CASCADE, related_name="+")
    phase = models.CharField(
        max_length=10,
        choices=[(p.value, p.value) for p in rules.Phase],
        default=rules.Phase.UNKNOWN.value,
    )
    window = ArrayField(models.BooleanField(), default=list)
    good_run = models.PositiveSmallIntegerField(default=0)
    announced = models.BooleanField(default=False)
    seq = models.PositiveIntegerField(default=0)
    since = models.DateTimeField(null=True)

    class Meta:
        constraints = [
            models.UniqueConstraint(
                fields=["monitor", "rule"], name="rule_state_monitor_rule"
            ),
        ]

    def __str__(self) -> str:
        return f"rule {self.rule_id} of monitor {self.monitor_id}: {self.phase}"


class MonitorState(models.Model):
    """The one word for a monitor, and whether its data flows.

    Whoever decides anything about a monitor locks this row first; see ``board``.
    """

    class State(models.TextChoices):
        STABLE = words.State.STABLE.value, "stable"
        DEGRADING = words.State.DEGRADING.value, "degrading"
        FAILING = words.State.FAILING.value, "failing"
        NO_DATA = words.State.NO_DATA.value, "not enough data"
        PAUSED = words.State.PAUSED.value, "paused"

    monitor = models.OneToOneField(
        Monitor, on_delete=models.CASCADE, primary_key=True, related_name="state"
    )
    state = models.CharField(max_length=10, choices=State, default=State.NO_DATA)
    since = models.DateTimeField(
        default=timezone.now, help_text="when the word last changed"
    )
    why = models.CharField(
        max_length=300, blank=True, help_text="what is wrong, while something is"
    )
    data = models.CharField(
        max_length=10,
        choices=[(d.value, d.value) for d in presence.Data],
        default=presence.Data.WAITING.value,
    )
    data_since = models.DateTimeField(
        default=timezone.now,
        help_text="when the newest sample arrived, or watching began",
    )
    last_due_at = models.DateTimeField(null=True)
    seq = models.PositiveIntegerField(default=0)

    def __str__(self) -> str:
        return f"monitor {self.monitor_id}: {self.state}"


class Transition(models.Model):
    """Something that happened to a monitor, once. Never changed.

    ``value`` and ``limit`` are in the figure's unit; ``facts`` is what a mail needs
    to say, as it was then. ``rule`` is empty where the data itself stopped or came.
    """

    monitor = models.ForeignKey(
        Monitor, on_delete=models.CASCADE, related_name="transitions"
    )
    rule = models.ForeignKey(
        Rule, on_delete=models.CASCADE, null=True, related_name="transitions"
    )
    seq = models.PositiveIntegerField()
    kind = models.CharField(
        max_length=10, choices=[(k.value, k.value) for k in rules.Kind]
    )
    incident = models.PositiveIntegerField(
        help_text="seq of the transition that opened what this one belongs to"
    )
    at = models.DateTimeField()
    since = models.DateTimeField(help_text="when that one was")
    value = models.FloatField(null=True)
    limit = models.FloatField(null=True)
    facts = models.JSONField(default=dict)
    created_at = models.DateTimeField(default=timezone.now)

    class Meta:
        ordering = ("id",)
        constraints = [
            models.UniqueConstraint(
                fields=["monitor", "rule", "seq"],
                nulls_distinct=False,
                name="transition_monitor_rule_seq",
            ),
        ]
        indexes = [models.Index(fields=["monitor", "-at"], name="transition_monitor")]

    def __str__(self) -> str:
        return f"{self.kind} of monitor {self.monitor_id} at {self.at:%Y-%m-%d %H:%M}"


class Delivery(models.Model):
    """One mail to one person, until it is sent or given up. See ``outbox``."""

    class Status(models.TextChoices):
        PENDING = "pending"
        SENT = "sent"
        DEAD = "dead"

    transition = models.ForeignKey(
        Transition, on_delete=models.CASCADE, related_name="deliveries"
    )
    recipient = models.EmailField(max_length=320)
    status = models.CharField(max_length=10, choices=Status, default=Status.PENDING)
    attempts = models.PositiveSmallIntegerField(default=0)
    created_at = models.DateTimeField(default=timezone.now)
    next_attempt_at = models.DateTimeField(default=timezone.now)
    sent_at = models.DateTimeField(null=True)
    last_error = models.CharField(max_length=200, blank=True)

    class Meta:
        verbose_name_plural = "deliveries"
        ordering = ("id",)
        constraints = [
            models.UniqueConstraint(
                fields=["transition", "recipient"], name="delivery_once"
            ),
        ]
        indexes = [
            models.Index(
                fields=["next_attempt_at"],
                condition=Q(status="pending"),
                name="delivery_due",
            ),
        ]

    def __str__(self) -> str:
        return f"{self.transition_id} to {self.recipient}: {self.status}"
