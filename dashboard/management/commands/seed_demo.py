"""`manage.py seed_demo`: a demo to look at, on the simulated endpoint."""

from typing import Any

from django.contrib.auth import get_user_model
from django.core.management import call_command
from django.core.management.base import BaseCommand, CommandParser
from django.db import transaction
from django.utils import timezone

from collectors import monitors
from collectors.models import Endpoint, Scenario
from dashboard.env import read

USER = "demo"

# Shorter than a real endpoint deserves: a demo has to move.
WATCHED = {
    "steady": {"chat": 10, "code": 15, "summary": 20, "agent": 20, "batch": 30},
    "loaded": {"chat": 10, "code": 15, "batch": 30},
    "flaky": {"chat": 10, "agent": 20},
}


class Command(BaseCommand):
    help = "Make the demo user and watch the simulated endpoint's three models."

    def add_arguments(self, parser: CommandParser) -> None:
        parser.add_argument("--simulator", required=True, help="its address")

    def handle(self, *args: Any, **options: Any) -> None:
        call_command("seed", stdout=self.stdout)
        base_url = options["simulator"].rstrip("/") + "/v1"
        with transaction.atomic():
            self._user(read()("DEMO_PASSWORD"))
            for model, intervals in WATCHED.items():
                self._endpoint(model, base_url, intervals)
        self.stdout.write(f"The demo watches {', '.join(WATCHED)} at {base_url}.")

    def _user(self, password: str) -> None:
        user, made = get_user_model().objects.get_or_create(
            username=USER, defaults={"is_staff": True, "is_superuser": True}
        )
        if made:
            user.set_password(password)
            user.save(update_fields=["password"])

    def _endpoint(self, model: str, base_url: str, intervals: dict[str, int]) -> None:
        """The address follows the simulator, which may have another port today."""
        endpoint, made = Endpoint.objects.get_or_create(
            name=f"Simulated {model}", defaults={"model": model, "base_url": base_url}
        )
        if not made:
            Endpoint.objects.filter(pk=endpoint.pk).update(base_url=base_url)
            return
        scenarios = {s.slug: s for s in Scenario.objects.filter(slug__in=intervals)}
        chosen = {scenarios[slug]: seconds for slug, seconds in intervals.items()}
        monitors.choose(endpoint, chosen, timezone.now())
