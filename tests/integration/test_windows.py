"""Charts: what a window holds, where it is read from, and that it reads no more."""

import json
import random
from collections.abc import Iterator
from datetime import datetime, timedelta

import pytest
from django.db import connection
from django.test.utils import CaptureQueriesContext

from collectors import partitions, rollups, schedule, series, sketch, windows
from collectors.attainment import Share, shares_between
from collectors.models import Gap, Monitor, Rollup, Sample
from dashboard import attainment, payloads
from tests.factories import T0, at, make_monitor, make_sample, sample_row

pytestmark = pytest.mark.django_db

DAY = timedelta(days=1)


def rolled_up() -> None:
    rollups.mark_range(T0 - 400 * DAY, T0 + 400 * DAY)
    while rollups.roll_up():
        pass


def read(monitor: Monitor, start, end, **options) -> windows.Window:
    return windows.read(monitor, start=start, end=end, now=end, **options)


def moment(bucket: windows.Bucket) -> datetime:
    return schedule.from_ms(bucket.at_ms)


def column(window: windows.Window, figure: str, name: str) -> list[float | None]:
    return [getattr(bucket.points[figure], name) for bucket in window.buckets]


def test_a_window_of_single_samples_shows_each():
    monitor = make_monitor()
    make_sample(monitor, at(0), ttft_us=100_000, tokens_per_second=10)
    make_sample(monitor, at(10), error="server", ttft_us=None)
    make_sample(monitor, at(20), ttft_us=300_000, tokens_per_second=30)
    found = read(monitor, at(-60), at(60))
    assert found.bucket_s == 10
    assert [(moment(b), b.samples, b.failed) for b in found.buckets] == [
        (at(0), 1, 0),
        (at(10), 1, 1),
        (at(20), 1, 0),
    ]
    for name in ("median", "tail", "low", "high"):
        assert column(found, "ttft_ms", name) == [100, None, 300]
        assert column(found, "tokens_per_second", name) == [10, None, 30]


def test_a_long_window_is_gathered_into_buckets_with_their_bad_tail():
    monitor = make_monitor(interval_s=60)
    for n in range(20):
        make_sample(
            monitor, at(n), ttft_us=(n + 1) * 1000, tokens_per_second=float(n + 1)
        )
    found = read(monitor, at(0), at(0) + 6 * DAY)
    assert found.bucket_s == 720
    assert [b.samples for b in found.buckets] == [20]
    assert column(found, "ttft_ms", "median") == [10.5]
    assert column(found, "ttft_ms", "tail") == [pytest.approx(19.05)]
    assert column(found, "tokens_per_second", "median") == [10.5]
    assert column(found, "tokens_per_second", "tail") == [pytest.approx(1.95)]


def test_all_buckets_together_are_no_average_of_them():
    monitor = make_monitor(interval_s=60)
    for n in range(100):
        make_sample(monitor, at(n * 60), ttft_us=(n + 1) * 1000)
    make_sample(monitor, at(100 * 60), error="timeout_total", ttft_us=9_000_000)
    found = read(monitor, at(0), at(7_200)).whole["ttft_ms"]
    assert (found.count, found.low, found.high) == (100, 1, 100)
    assert (found.mean, found.median) == (50.5, 50.5)
    assert found.tail == pytest.approx(95.05)


def test_the_99th_percentile_is_told_from_300_values_on():
    monitor = make_monitor(interval_s=10)
    for n in range(299):
        make_sample(monitor, at(n * 10), ttft_us=(n + 1) * 1000)
    assert read(monitor, at(0), at(3_600)).whole["ttft_ms"].far_tail is None
    make_sample(monitor, at(2_990), ttft_us=300_000)
    found = read(monitor, at(0), at(3_600)).whole
    assert found["ttft_ms"].far_tail == pytest.approx(297, abs=0.1)
    rolled_up()
    monitor.interval_s = 1  # too many slots: read from rollups
    found = read(monitor, at(0), at(0) + DAY).whole
    assert found["ttft_ms"].far_tail == pytest.approx(297, rel=sketch.RELATIVE_ERROR)


def test_nothing_measured_is_nothing_told():
    monitor = make_monitor()
    for span in (DAY, 30 * DAY, 365 * DAY):
        found = read(monitor, T0 - span, T0)
        assert found.buckets == []
        assert {spread.count for spread in found.whole.values()} == {0}
        assert {spread.median for spread in found.whole.values()} == {None}


@pytest.fixture
def watched() -> Monitor:
    """Some hours of samples at each of a year's distances, with a spike."""
    rng = random.Random(3)
    monitor = make_monitor(interval_s=60)
    for days in (0, 1, 6, 20, 80, 300):
        partitions.ensure(T0 - days * DAY, days_ahead=0)
        Sample.objects.bulk_create(
            sample_row(
                monitor,
                T0 - days * DAY - timedelta(minutes=n),
                ttft_us=9_999_000
                if (days, n) == (20, 77)
                else round(rng.lognormvariate(13, 0.3)),
                error="server" if n % 60 == 59 else "",
            )
            for n in range(180)
        )
    rolled_up()
    return monitor


@pytest.mark.parametrize(
    ("days", "bucket_s", "samples"),
    [
        (7, 900, 540),
        (30, 3_600, 720),
        (90, 3 * 3_600, 900),
        (365, 86_400, 1_080),
    ],
)
def test_long_windows_are_read_from_rollups(watched, days, bucket_s, samples):
    found = read(watched, T0 - days * DAY, T0 + timedelta(milliseconds=1))
    assert found.bucket_s == bucket_s
    assert sum(b.samples for b in found.buckets) == samples
    assert sum(b.failed for b in found.buckets) == samples // 60
    assert len(found.buckets) <= windows.POINTS
    assert all(b.at_ms % (bucket_s * 1000) == 0 for b in found.buckets)


def test_no_spike_is_lost_in_a_year(watched):
    found = read(watched, T0 - 365 * DAY, T0)
    assert max(v for v in column(found, "ttft_ms", "high") if v) == 9_999
    assert found.whole["ttft_ms"].high == 9_999


def test_a_month_by_rollups_is_within_the_bound_of_its_samples(watched):
    exact = read(watched, T0 - 6 * DAY, T0)
    watched.interval_s = 1
    close = read(watched, T0 - 6 * DAY, T0)
    assert (exact.bucket_s, close.bucket_s) == (720, 900)
    for name in ("median", "tail", "low", "high", "mean"):
        one, two = (getattr(w.whole["ttft_ms"], name) for w in (exact, close))
        # Interpolated there, of nearest rank here: neighbours lie that close.
        assert two == pytest.approx(one, rel=sketch.RELATIVE_ERROR + 0.01)


def test_narrow_pages_get_fewer_points_and_nobody_too_many(watched):
    assert read(watched, T0 - 30 * DAY, T0, points=100).bucket_s == 8 * 3_600
    assert read(watched, T0 - DAY, T0, points=9_999).bucket_s == 60
    watched.interval_s = 10
    assert read(watched, T0 - DAY, T0, points=9_999).bucket_s == 60
    assert read(watched, T0 - DAY, T0, points=0).bucket_s == 86_400


def test_what_retention_took_is_read_from_what_is_left(watched, settings):
    settings.KEEP_RAW_DAYS = 1
    assert read(watched, T0 - DAY / 2, T0).bucket_s == 60
    assert read(watched, T0 - 3 * DAY, T0).bucket_s == 600
    settings.KEEP_5MIN_DAYS = settings.KEEP_1H_DAYS = 2
    assert read(watched, T0 - 3 * DAY, T0).bucket_s == 86_400


def partitions_read(run) -> set[str]:
    """The days of the sample partitions that the plans of ``run``'s queries name."""
    with CaptureQueriesContext(connection) as queries:
        run()
    found: set[str] = set()
    with connection.cursor() as cursor:
        for query in queries.captured_queries:
            cursor.execute(f"EXPLAIN (FORMAT JSON) {query['sql']}")
            [[plan]] = cursor.fetchall()
            names = relations(json.loads(plan) if isinstance(plan, str) else plan)
            found |= {n[-8:] for n in names if n.startswith("collectors_sample_")}
    return found


def relations(plan: object) -> Iterator[str]:
    match plan:
        case dict():
            if name := plan.get("Relation Name"):
                yield name
            for part in plan.values():
                yield from relations(part)
        case list():
            for part in plan:
                yield from relations(part)


@pytest.mark.parametrize(
    ("span", "days"),
    [
        (timedelta(hours=1), {"20260301"}),
        (DAY, {"20260228", "20260301"}),
        (365 * DAY, set()),
    ],
)
def test_a_window_touches_only_the_partitions_of_its_range(watched, span, days):
    assert partitions_read(lambda: read(watched, T0 - span, T0)) == days


def test_the_samples_of_a_page_touch_only_the_partitions_of_its_range(watched):
    assert partitions_read(
        lambda: series.last_samples(watched, T0 - DAY, T0)
    ) == {"20260228", "20260301"}  # fmt: skip


def test_the_newest_samples_are_not_looked_for_beyond_some_days(watched):
    for run in (series.latest, series.sparks):
        found = partitions_read(lambda run=run: run([watched], T0))
        assert "20260301" in found
        assert all(day >= "20260221" for day in found)


def test_rolling_up_touches_only_the_partitions_of_what_was_marked(watched):
    rollups.mark_range(T0 - DAY, T0 - DAY / 2)
    with CaptureQueriesContext(connection) as queries:
        rollups.roll_up()
    [sql] = [q["sql"] for q in queries if "array_agg" in q["sql"]]
    with connection.cursor() as cursor:
        cursor.execute(f"EXPLAIN (FORMAT JSON) {sql}")
        [[plan]] = cursor.fetchall()
    names = {n for n in relations(plan) if n.startswith("collectors_sample_")}
    assert names == {"collectors_sample_20260228"}


def test_a_year_takes_as_many_queries_as_an_hour(watched):
    def count(span: timedelta) -> int:
        with CaptureQueriesContext(connection) as queries:
            payloads.monitor_series(watched, start=T0 - span, end=T0)
        return len(queries)

    assert count(timedelta(hours=1)) == count(365 * DAY)


def test_a_gap_is_no_bucket(watched):
    found = read(watched, T0 - 7 * DAY, T0)
    edges = {T0 - days * DAY for days in (0, 1, 6)}
    for bucket in found.buckets:
        assert any(edge - timedelta(hours=4) < moment(bucket) <= edge for edge in edges)


def test_the_period_before_and_another_monitor_stand_beside(watched):
    other = make_monitor()
    make_sample(other, T0, ttft_us=5_000)
    start = T0 - timedelta(hours=2)
    payload = payloads.monitor_series(watched, start=start, end=T0, compare="before")
    assert payload["compare"]["monitor"] == watched.pk
    assert payload["compare"]["to_ms"] == payload["from_ms"]
    assert sum(payload["compare"]["count"]) == 60
    payload = payloads.monitor_series(watched, start=start, end=T0, compare=other)
    assert payload["compare"]["summary"]["ttft_ms"]["median"] == 5


def judged(monitor: Monitor, good: int, bad: int, start=T0) -> None:
    for n in range(good + bad):
        make_sample(monitor, start + timedelta(seconds=n), good=n < good)


def test_attainment_counts_what_was_judged_and_coverage_what_was_missed():
    one, two, none = make_monitor(), make_monitor(), make_monitor()
    judged(one, good=6, bad=2)
    judged(one, good=5, bad=0, start=T0 - 40 * DAY)
    judged(one, good=9, bad=9, start=T0 - 91 * DAY)
    judged(two, good=0, bad=1)
    make_sample(two, at(60), good=None)
    rolled_up()
    Gap.objects.create(
        monitor=one,
        first_due_at=T0 - 90 * DAY - timedelta(minutes=10),
        last_due_at=T0 - 90 * DAY + timedelta(minutes=9),
        slots=20,
        interval_s=60,
        reason=Gap.Reason.OVERLAP,
    )
    found = shares_between(T0 - 90 * DAY, T0 + timedelta(minutes=5))
    assert found == {
        one.pk: Share(samples=13, failed=0, good=11, bad=2, missed=10),
        two.pk: Share(samples=2, failed=0, good=0, bad=1, missed=0),
        none.pk: Share(samples=0, failed=0, good=0, bad=0, missed=0),
    }


@pytest.mark.parametrize(
    ("start", "end", "missed"),
    [
        (-3_600, 0, 0),
        (-3_600, 300, 5),
        (300, 600, 5),
        (900, 3_600, 5),
        (0, 3_600, 20),
        (1_200, 3_600, 0),
    ],
)
def test_a_gap_counts_by_its_slots_in_the_stretch(start, end, missed):
    monitor = make_monitor()
    Gap.objects.create(
        monitor=monitor,
        first_due_at=at(0),
        last_due_at=at(19 * 60),
        slots=20,
        interval_s=60,
        reason=Gap.Reason.OVERLAP,
    )
    assert shares_between(at(start), at(end))[monitor.pk].missed == missed


def test_attainment_looks_up_what_it_needs(watched):
    with connection.cursor() as cursor:
        # As where the table is large; a small one is read whole in any case.
        cursor.execute("SET LOCAL enable_seqscan = off")
    with CaptureQueriesContext(connection) as queries:
        shares_between(T0 - 90 * DAY, T0)
    [sql] = [q["sql"] for q in queries if "collectors_rollup" in q["sql"]]
    with connection.cursor() as cursor:
        cursor.execute(f"EXPLAIN {sql}")
        plan = "\n".join(line for (line,) in cursor.fetchall())
    assert (
        "Index Cond: ((monitor_id = m.id) AND (resolution_s = p.resolution_s)" in plan
    )


def test_attainment_takes_as_many_queries_for_many_monitors_as_for_one():
    def count() -> int:
        with CaptureQueriesContext(connection) as queries:
            attainment.payload(T0 - 90 * DAY, T0)
        return len(queries)

    make_monitor()
    one = count()
    for _ in range(10):
        make_monitor()
    assert count() == one


def test_rollups_of_a_deleted_monitor_go_with_it(watched):
    watched.delete()
    assert not Rollup.objects.exists()


def test_the_api_gives_long_ranges_and_comparisons(admin_client, watched):
    def get(query: str):
        return admin_client.get(f"/api/monitors/{watched.pk}/series?{query}")

    for name in ("30d", "90d", "1y"):
        assert get(f"range={name}").status_code == 200
    body = get(f"range=24h&points=100&compare={watched.pk}").json()
    assert body["bucket_s"] == 900
    assert body["compare"]["bucket_s"] == 900
    assert get("range=24h&compare=before").json()["compare"]["to_ms"]
    assert get("range=24h").json()["compare"] is None
    assert get("compare=0").status_code == 404
    for bad in ("range=2d", "points=x", "compare=x"):
        assert get(bad).status_code == 400


def test_the_api_tells_how_limits_were_kept(admin_client, watched):
    body = admin_client.get("/api/attainment?range=90d").json()
    assert [row["monitor"] for row in body["monitors"]] == [watched.pk]
    assert admin_client.get("/api/attainment?range=x").status_code == 400
