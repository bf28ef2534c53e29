"""`manage.py seed`: what every installation starts with."""

from typing import Any

from django.core.management.base import BaseCommand
from django.utils import timezone

from alerts.defaults import ensure_default_rules
from collectors import defaults, partitions


class Command(BaseCommand):
    help = (
        "Make the five scenarios, their limits and their rules, if they are not there."
    )

    def handle(self, *args: Any, **options: Any) -> None:
        partitions.ensure(timezone.now())
        for scenario in defaults.ensure_scenarios():
            ensure_default_rules(scenario)
        self.stdout.write("The five scenarios are ready.")
