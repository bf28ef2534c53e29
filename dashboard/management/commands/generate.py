"""`manage.py generate`: paused monitors with a past, to try long charts on."""

from typing import Any

from django.core.management.base import BaseCommand, CommandError, CommandParser
from django.utils import timezone

from collectors import generate
from collectors.history import INCIDENTS


class Command(BaseCommand):
    help = (
        "Make paused monitors and a past for each: a day's rhythm, spikes, failures, "
        "gaps, and incidents at known times."
    )

    def add_arguments(self, parser: CommandParser) -> None:
        parser.add_argument("--monitors", type=int, default=20)
        parser.add_argument("--days", type=int, default=90)
        parser.add_argument(
            "--interval", type=int, default=60, help="seconds; divides five minutes"
        )
        parser.add_argument(
            "--seed", type=int, default=1, help="the same, the same past"
        )

    def handle(self, *args: Any, **options: Any) -> None:
        try:
            for day in generate.generate(
                monitors=options["monitors"],
                days=options["days"],
                interval_s=options["interval"],
                now=timezone.now(),
                seed=options["seed"],
            ):
                self.stdout.write(f"{day:%Y-%m-%d}")
        except generate.AlreadyGenerated as error:
            raise CommandError(
                f"There are endpoints named “{generate.PREFIX} …” already. Delete them "
                "first: their past would be told twice."
            ) from error
        except ValueError as error:
            raise CommandError(str(error)) from error
        for incident in INCIDENTS:
            self.stdout.write(
                f"{incident.condition}: from {incident.hour}:00 UTC for "
                f"{incident.hours} h, every {incident.every_days} days"
            )
