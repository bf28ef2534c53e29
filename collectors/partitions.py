"""Day partitions of the sample tables: made ahead and at need, packed, and dropped."""

from __future__ import annotations

from dataclasses import dataclass
from datetime import UTC, datetime, timedelta

from django.db import connection, migrations, transaction
from django.db.backends.base.schema import BaseDatabaseSchemaEditor
from django.db.migrations.state import ProjectState

TABLES = ("collectors_sample", "collectors_timeline")
DAYS_AHEAD = 3
LOCK_WAIT_S = 2


def missing(moment: datetime, days_ahead: int = 1) -> list[str]:
    """The partitions of ``moment``'s UTC day and the next that do not exist."""
    wanted = {
        f"{table}_{moment.astimezone(UTC) + timedelta(days=offset):%Y%m%d}"
        for table in TABLES
        for offset in range(days_ahead + 1)
    }
    with connection.cursor() as cursor:
        cursor.execute(
            "SELECT relname FROM pg_class WHERE relname = ANY(%s)", [[*wanted]]
        )
        return sorted(wanted - {name for (name,) in cursor.fetchall()})


def ensure(moment: datetime, days_ahead: int = DAYS_AHEAD) -> None:
    """Make the partitions of ``moment``'s UTC day and of the days after it.

    Safe to call at any time and from several processes at once.
    """
    day = moment.astimezone(UTC).replace(hour=0, minute=0, second=0, microsecond=0)
    with connection.cursor() as cursor:
        # CREATE … IF NOT EXISTS alone races: two processes may both see nothing.
        cursor.execute("SELECT pg_advisory_lock(hashtext('collectors.partitions'))")
        try:
            for table in TABLES:
                for offset in range(days_ahead + 1):
                    start = day + timedelta(days=offset)
                    cursor.execute(
                        f"CREATE TABLE IF NOT EXISTS {table}_{start:%Y%m%d} "
                        f"PARTITION OF {table} FOR VALUES FROM "
                        f"('{start.isoformat()}') "
                        f"TO ('{(start + timedelta(days=1)).isoformat()}')"
                    )
        finally:
            cursor.execute(
                "SELECT pg_advisory_unlock(hashtext('collectors.partitions'))"
            )


@dataclass(frozen=True, slots=True)
class Partition:
    """One UTC day of a table. ``packed``: see ``pack``; ``bytes`` with its indexes."""

    name: str
    day: datetime
    bytes: int
    packed: bool

    @property
    def end(self) -> datetime:
        return self.day + timedelta(days=1)


def existing(table: str) -> list[Partition]:
    """The partitions of ``table``, oldest first."""
    with connection.cursor() as cursor:
        cursor.execute(
            """
            SELECT c.relname, pg_total_relation_size(c.oid), EXISTS
                (SELECT FROM pg_index WHERE indrelid = c.oid AND indisclustered)
            FROM pg_inherits JOIN pg_class AS c ON c.oid = inhrelid
            WHERE inhparent = %s::regclass ORDER BY c.relname
            """,
            [table],
        )
        return [
            Partition(name, _day_of(name), size, packed)
            for name, size, packed in cursor.fetchall()
        ]


def _day_of(name: str) -> datetime:
    return datetime.strptime(name[-8:], "%Y%m%d").replace(tzinfo=UTC)


def pack(partition: Partition) -> None:
    """Lay each monitor's rows side by side, without the room that inserts leave.

    For a day that is over: a chart then reads some dozens of pages of it, not one for
    each sample. Reads of that day wait meanwhile, a second or two.
    """
    index = f"{partition.name}_pkey"
    _locking(
        # Room for later rows would stay empty: none come any more.
        f"ALTER INDEX {index} SET (fillfactor = 100)",
        f"CLUSTER {partition.name} USING {index}",
    )
    with connection.cursor() as cursor:
        cursor.execute(f"ANALYZE {partition.name}")


def drop(partition: Partition) -> None:
    """Delete the partition with its rows."""
    _locking(f"DROP TABLE IF EXISTS {partition.name}")


def _locking(*statements: str) -> None:
    """Raises ``OperationalError`` where others hold what it needs for too long.

    All that comes after it waits with it, so it must not wait long.
    """
    with transaction.atomic(), connection.cursor() as cursor:
        cursor.execute(f"SET LOCAL lock_timeout = {round(LOCK_WAIT_S * 1000)}")
        for statement in statements:
            cursor.execute(statement)


class CreatePartitionedModel(migrations.CreateModel):
    """``CreateModel`` whose table is partitioned by ranges of ``due_at``."""

    def database_forwards(
        self,
        app_label: str,
        schema_editor: BaseDatabaseSchemaEditor,
        from_state: ProjectState,
        to_state: ProjectState,
    ) -> None:
        plain = schema_editor.sql_create_table
        schema_editor.sql_create_table = f"{plain} PARTITION BY RANGE (due_at)"
        try:
            super().database_forwards(app_label, schema_editor, from_state, to_state)
        finally:
            schema_editor.sql_create_table = plain
