"""What storage does when the database cannot: nothing lost, nothing counted twice."""

import os
import subprocess
import threading
from collections.abc import Iterator
from contextlib import contextmanager
from datetime import timedelta
from pathlib import Path

import psycopg
import pytest
from django.db import OperationalError, connection

from collectors import claims, partitions, pipeline, rollups
from collectors.models import Gap, Monitor, Rollup, Sample, Slot
from probes.types import Measurement
from tests.factories import T0, at, make_monitor
from tests.waiting import wait_for

pytestmark = pytest.mark.django_db(transaction=True)

ANSWER = Measurement(outcome="ok", ttft_ms=200, total_ms=900, streamed=True)
HOUR = timedelta(hours=1)


def storing(monitor: Monitor, due_at=T0) -> threading.Thread:
    """A worker's thread that has measured and stores, for as long as it takes."""

    def store() -> None:
        try:
            pipeline._store(monitor, due_at, due_at, ANSWER)
        finally:
            connection.close()

    thread = threading.Thread(target=store)
    thread.start()
    return thread


def stored(thread: threading.Thread) -> None:
    thread.join(30)
    assert not thread.is_alive()


@contextmanager
def beside() -> Iterator[psycopg.Connection]:
    """A connection of its own, as an administrator's."""
    database = connection.settings_dict["NAME"]
    url = psycopg.conninfo.make_conninfo(os.environ["DATABASE_URL"], dbname=database)
    with psycopg.connect(url, autocommit=True) as found:
        yield found


def counted() -> list[int]:
    while rollups.roll_up():
        pass
    return [row.samples for row in Rollup.objects.all()]


def waits(database: psycopg.Connection) -> bool:
    query = "SELECT count(*) > 0 FROM pg_locks WHERE NOT granted"
    return database.execute(query).fetchone() == (True,)


def cut_who_waits(database: psycopg.Connection) -> None:
    wait_for(lambda: waits(database))
    database.execute("SELECT pg_terminate_backend(pid) FROM pg_locks WHERE NOT granted")


@contextmanager
def held(table: str) -> Iterator[psycopg.Connection]:
    """``table`` is locked by somebody; yields another connection, to look with."""
    with beside() as database, beside() as watcher, database.transaction():
        database.execute(f"LOCK TABLE {table} IN ACCESS EXCLUSIVE MODE")
        yield watcher


def test_a_sample_waits_for_a_table_that_somebody_holds():
    monitor = make_monitor()
    partitions.ensure(T0)
    with held("collectors_sample") as watcher:
        thread = storing(monitor)
        wait_for(lambda: waits(watcher))
        assert thread.is_alive()
    stored(thread)
    assert Sample.objects.count() == 1
    assert counted() == [1, 1, 1]


def test_a_connection_that_is_cut_while_it_waits_loses_no_sample():
    monitor = make_monitor()
    partitions.ensure(T0)
    with held("collectors_sample") as watcher:
        thread = storing(monitor)
        cut_who_waits(watcher)
    stored(thread)
    assert Sample.objects.count() == 1
    assert counted() == [1, 1, 1]


def test_counting_that_is_cut_is_done_the_next_time():
    stored(storing(make_monitor()))
    failed: list[BaseException] = []

    def count() -> None:
        try:
            rollups.roll_up()
        except OperationalError as error:
            failed.append(error)
        finally:
            connection.close()

    with held("collectors_rollup") as watcher:
        thread = threading.Thread(target=count)
        thread.start()
        cut_who_waits(watcher)
        stored(thread)
    assert failed
    assert counted() == [1, 1, 1]


def test_a_partition_that_is_missing_is_told_and_made_with_the_next_sample():
    monitor = make_monitor()
    partitions.ensure(T0, days_ahead=1)
    for partition in partitions.existing("collectors_sample"):
        if partition.day == rollups.floor(T0, rollups.DAY):
            partitions.drop(partition)
    assert partitions.missing(T0) == ["collectors_sample_20260301"]
    stored(storing(monitor))
    assert partitions.missing(T0) == []
    assert counted() == [1, 1, 1]


def test_a_clock_that_is_set_back_an_hour_probes_no_slot_twice(monkeypatch):
    monitor = make_monitor(interval_s=60)
    clock = [at(60 * n) for n in range(61)]
    clock += [moment - HOUR for moment in clock[:30]] + [at(60 * 62)]
    claimed = []
    for now in clock:
        for claim in claims.claim_due(now):
            claimed.append(claim.due_at)
            Slot.objects.filter(due_at=claim.due_at).update(worker="w")
            pipeline._store(monitor, claim.due_at, now, ANSWER)
    assert len(claimed) == len(set(claimed)) == Sample.objects.count() == 62
    assert Gap.objects.get().slots == 1  # of 13:01, over when the clock was right again
    assert counted()[-1] == sum(counted()) // 3


def test_a_sample_of_an_hour_ago_is_counted_where_it_belongs():
    monitor = make_monitor()
    stored(storing(monitor, T0))
    assert counted() == [1, 1, 1]
    stored(storing(monitor, T0 - HOUR))
    counted()
    hours = Rollup.objects.filter(resolution_s=rollups.HOUR).order_by("start")
    assert [(row.start, row.samples) for row in hours] == [(T0 - HOUR, 1), (T0, 1)]


@pytest.fixture
def small_disk(tmp_path_factory) -> Iterator[Path]:
    """A file system of one megabyte that PostgreSQL may use."""
    folder = tmp_path_factory.mktemp("disk")
    mount = ["mount", "-t", "tmpfs", "-o", "size=1m", "tmpfs", str(folder)]
    if (
        os.geteuid()
        or subprocess.run(mount, check=False, capture_output=True).returncode
    ):
        pytest.skip("a file system of its own takes root")
    for parent in folder.parents[:3]:
        parent.chmod(0o755)
    with beside() as database:
        [[data]] = database.execute("SHOW data_directory").fetchall()
        owner = Path(data).stat()
        os.chown(folder, owner.st_uid, owner.st_gid)
        database.execute(f"CREATE TABLESPACE small LOCATION '{folder}'")
        yield folder
        for table in partitions.TABLES:
            database.execute(f"DROP TABLE IF EXISTS {table}_20260301")
        database.execute("DROP TABLESPACE small")
    subprocess.run(["umount", str(folder)], check=True)


def test_a_full_disk_delays_samples_and_loses_none(small_disk, caplog):
    monitor = make_monitor()
    with beside() as database:
        for table in partitions.TABLES:
            database.execute(f"DROP TABLE IF EXISTS {table}_20260301")
        with database.transaction():
            database.execute("SET LOCAL default_tablespace = small")
            for table in partitions.TABLES:
                database.execute(
                    f"CREATE TABLE {table}_20260301 PARTITION OF {table} FOR VALUES "
                    "FROM ('2026-03-01 00:00+00') TO ('2026-03-02 00:00+00')"
                )
    fill(small_disk / "filler")
    thread = storing(monitor)
    wait_for(lambda: "No space left on device" in caplog.text)
    assert thread.is_alive()
    (small_disk / "filler").unlink()
    stored(thread)
    assert Sample.objects.count() == 1
    assert counted() == [1, 1, 1]


def fill(path: Path) -> None:
    descriptor = os.open(path, os.O_WRONLY | os.O_CREAT)
    try:
        with pytest.raises(OSError, match="No space"):
            while True:
                os.write(descriptor, bytes(4096))
    finally:
        os.close(descriptor)
