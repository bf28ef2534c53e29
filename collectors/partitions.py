"""Day partitions of the sample tables: made ahead, and at need."""

from __future__ import annotations

from datetime import UTC, datetime, timedelta

from django.db import connection, migrations
from django.db.backends.base.schema import BaseDatabaseSchemaEditor
from django.db.migrations.state import ProjectState

TABLES = ("collectors_sample", "collectors_timeline")
DAYS_AHEAD = 3


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
