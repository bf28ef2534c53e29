"""`manage.py retention`: what is older than it is to be kept, and its deletion."""

from typing import Any

from django.core.management.base import BaseCommand, CommandParser
from django.utils import timezone

from collectors import retention
from collectors.partitions import Partition


class Command(BaseCommand):
    help = "Show what is older than the KEEP_… settings say; with --apply, delete it."

    def add_arguments(self, parser: CommandParser) -> None:
        parser.add_argument("--apply", action="store_true", help="delete it")

    def handle(self, *args: Any, **options: Any) -> None:
        plan = retention.plan(timezone.now())
        for partition in plan.partitions:
            self.stdout.write(f"delete {_told(partition)}")
        for partition in plan.waiting:
            self.stdout.write(f"keep {_told(partition)}: rollups lack its samples")
        for resolution_s, before, rows in plan.rollups():
            self.stdout.write(
                f"delete {rows} rollups of {resolution_s} s before {before:%Y-%m-%d}"
            )
        if options["apply"]:
            retention.carry_out(plan)
            self.stdout.write("Deleted, but for what others hold locked; see the log.")
        else:
            self.stdout.write("Nothing was deleted; --apply does it.")


def _told(partition: Partition) -> str:
    return f"{partition.name}, {partition.bytes / 1e6:.1f} MB"
