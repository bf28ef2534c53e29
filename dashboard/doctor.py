"""Is everything that TokenPulse needs there? A check and a sentence each."""

from __future__ import annotations

from collections.abc import Callable, Iterator
from dataclasses import dataclass
from datetime import UTC, datetime, timedelta

import redis
from django.conf import settings
from django.core import mail
from django.db import DatabaseError, connection
from django.db.migrations.executor import MigrationExecutor
from django.utils import timezone

from collectors import partitions
from collectors.models import Heartbeat, Monitor, Unrolled

WORKER_LATE = timedelta(seconds=15)
SCHEDULER_LATE = timedelta(seconds=15)
CLOCK_SKEW = timedelta(seconds=2)
CLOCK_SET_BACK = timedelta(seconds=5)
ROLLUPS_LATE = timedelta(minutes=5)


@dataclass(frozen=True, slots=True)
class Finding:
    """``ok`` is None where the check could not be made."""

    name: str
    ok: bool | None
    sentence: str


def database() -> Finding:
    try:
        executor = MigrationExecutor(connection)
    except DatabaseError as error:
        return Finding(
            "database",
            False,
            f"PostgreSQL does not answer ({type(error).__name__}). "
            "Check DATABASE_URL and that the server runs.",
        )
    plan = executor.migration_plan(executor.loader.graph.leaf_nodes())
    if plan:
        return Finding(
            "database",
            False,
            f"{len(plan)} migrations are not applied. Run `manage.py migrate`.",
        )
    return Finding("database", True, "PostgreSQL answers and is up to date.")


def storage() -> Finding:
    if missing := partitions.missing(timezone.now()):
        return Finding(
            "storage",
            False,
            f"The partition {missing[0]} is missing: housekeeping does not run. "
            "Check that a worker and beat run; it is made with the next sample.",
        )
    return Finding("storage", True, "There is room for today's and tomorrow's samples.")


def rollups() -> Finding:
    oldest = Unrolled.objects.order_by("id").first()
    age = timezone.now() - oldest.stored_at if oldest else timedelta(0)
    if age > ROLLUPS_LATE:
        return Finding(
            "rollups",
            False,
            f"Samples wait to be counted for {age.total_seconds() / 60:.0f} min: long "
            "charts are that much behind. Look for `collectors.roll_up` in the "
            "worker's log.",
        )
    return Finding("rollups", True, "Long charts know all that was stored.")


def broker() -> Finding:
    client = redis.from_url(settings.REDIS_URL, socket_timeout=3)
    try:
        client.ping()
    except redis.RedisError as error:
        return Finding(
            "broker",
            False,
            f"Valkey does not answer ({type(error).__name__}). "
            "Check REDIS_URL and that the server runs.",
        )
    finally:
        client.close()
    return Finding("broker", True, "Valkey answers.")


def _seen(kind: Heartbeat.Kind) -> datetime | None:
    row = Heartbeat.objects.filter(kind=kind).order_by("-seen_at").first()
    return row.seen_at if row else None


def worker() -> Finding:
    seen = _seen(Heartbeat.Kind.WORKER)
    if seen is None:
        return Finding(
            "worker",
            False,
            "No worker was ever seen. Start "
            "`celery -A dashboard.celery worker -P threads`.",
        )
    age = timezone.now() - seen
    if age > WORKER_LATE:
        return Finding(
            "worker",
            False,
            f"No worker was seen for {age.total_seconds():.0f} s. Restart it and "
            "look into its log.",
        )
    live = Heartbeat.objects.filter(
        kind=Heartbeat.Kind.WORKER, seen_at__gte=timezone.now() - WORKER_LATE
    ).count()
    return Finding("worker", True, f"{live} worker{'s' * (live != 1)} at work.")


def beat() -> Finding:
    seen = _seen(Heartbeat.Kind.SCHEDULER)
    if seen is None:
        return Finding(
            "beat",
            False,
            "Nothing was ever scheduled. Start `celery -A dashboard.celery beat`.",
        )
    age = timezone.now() - seen
    if age > SCHEDULER_LATE:
        return Finding(
            "beat",
            False,
            f"Nothing was scheduled for {age.total_seconds():.0f} s. Restart beat, "
            "and check that a worker takes its tasks.",
        )
    return Finding("beat", True, "Slots are being scheduled.")


def _claimed_ahead(now: datetime) -> timedelta:
    """How long it is until a monitor is due again, beyond its interval."""
    due = Monitor.objects.filter(enabled=True).values_list("next_due_at", "interval_s")
    ahead = (at - now - timedelta(seconds=interval_s) for at, interval_s in due)
    return max(ahead, default=timedelta(0))


def clock() -> Finding:
    with connection.cursor() as cursor:
        before = datetime.now(UTC)
        cursor.execute("SELECT clock_timestamp()")
        [theirs] = cursor.fetchone()
        after = datetime.now(UTC)
    skew = max(before - theirs, theirs - after, timedelta(0))
    if skew > CLOCK_SKEW:
        return Finding(
            "clock",
            False,
            f"This machine's clock and the database's differ by "
            f"{skew.total_seconds():.1f} s. Let both follow NTP.",
        )
    if (ahead := _claimed_ahead(after)) > CLOCK_SET_BACK:
        return Finding(
            "clock",
            False,
            f"The clock was set back: slots of the next {ahead.total_seconds():.0f} s "
            "are taken already, and none is probed twice. Probing goes on after them.",
        )
    return Finding("clock", True, "This machine and the database agree on the time.")


def mailer() -> Finding:
    if not settings.ALERT_MAIL_TO:
        return Finding(
            "mail",
            False,
            "ALERT_MAIL_TO is empty: alerts are shown on the pages and mailed to "
            "nobody. Set it to the addresses that are to be told.",
        )
    try:
        backend = mail.get_connection()
        backend.open()
        backend.close()
    except (OSError, ValueError) as error:
        return Finding(
            "mail",
            False,
            f"The mail server cannot be used ({type(error).__name__}). "
            "Check EMAIL_URL: scheme, host, port, user and password.",
        )
    return Finding("mail", True, "The mail server takes mail.")


CHECKS: tuple[Callable[[], Finding], ...] = (
    database,
    storage,
    rollups,
    broker,
    worker,
    beat,
    clock,
    mailer,
)
ON_DATABASE = (storage, rollups, worker, beat, clock)


def examine() -> Iterator[Finding]:
    """Run each check; those that need the database are left out without it."""
    found = database()
    yield found
    for check in CHECKS[1:]:
        if check in ON_DATABASE and not found.ok:
            yield Finding(
                check.__name__, None, "Not checked: the database comes first."
            )
        else:
            yield check()
