"""`manage.py doctor`: what works, what does not, and what to do."""

from typing import Any

from django.core.management.base import BaseCommand, CommandError

from dashboard import doctor

MARKS = {True: "✔", False: "✘", None: "–"}


class Command(BaseCommand):
    help = "Check the database, Valkey, worker, beat, clock and mail."
    requires_system_checks = []
    requires_migrations_checks = False

    def handle(self, *args: Any, **options: Any) -> None:
        findings = []
        for finding in doctor.examine():
            self.stdout.write(f"{MARKS[finding.ok]} {finding.name}: {finding.sentence}")
            findings.append(finding)
        bad = [finding.name for finding in findings if finding.ok is False]
        if bad:
            raise CommandError(f"Needs attention: {', '.join(bad)}.")
