"""From a measurement to rows, with every outcome of a race or a fault."""

from datetime import timedelta

import pytest
from django.db import transaction

from collectors import claims, gaps, heartbeat, schedule, store
from collectors.models import Gap, Heartbeat, Sample, Slot, Timeline
from probes import timeline_codec
from probes.types import Failure, FinishReason, Measurement
from tests.factories import T0, at, make_monitor, make_objective

pytestmark = pytest.mark.django_db

ANSWER = Measurement(
    outcome="ok",
    http_status=200,
    ttft_ms=200.125,
    ttfa_ms=200.125,
    total_ms=1160.0,
    end_ms=1161.0,
    output_tokens=41,
    input_tokens=12,
    token_source="usage",
    tokens_per_second=41.67,
    max_gap_ms=24.5,
    finish_reason=FinishReason.STOP,
    streamed=True,
    clock="kernel",
    uncertainty_ms=0.05,
    model_reported="m" * 300,
    timeline=((200.125, 1.0), (224.0, 1.0)),
)
REFUSED = Measurement(
    outcome="error", error=Failure.RATE_LIMITED, http_status=429, error_text="slow down"
)


def row_of(monitor, measurement=ANSWER, due_at=T0) -> Sample:
    row = store.to_row(
        measurement, monitor_id=monitor.pk, due_at=due_at, started_at=due_at
    )
    store.judged(row, measurement, monitor.scenario.objectives.first())
    return row


def claimed(monitor) -> Slot:
    claims.claim_due(monitor.next_due_at)
    return Slot.objects.get(monitor=monitor)


def test_a_sample_ends_its_slot():
    monitor = make_monitor()
    claimed(monitor)
    assert store.record(row_of(monitor), ANSWER)
    assert not Slot.objects.exists()
    row = Sample.objects.get()
    assert (row.ttft_us, row.max_gap_us, row.output_tokens) == (200_125, 24_500, 41)
    assert (row.error, row.finish_reason, row.clock) == ("", "stop", "kernel")
    assert row.good is None  # nothing to be judged by
    assert len(row.model_reported) == 200


def test_its_timeline_is_kept():
    monitor = make_monitor()
    store.record(row_of(monitor), ANSWER)
    packed = bytes(Timeline.objects.get().packed)
    times = [ms for ms, _ in timeline_codec.decode(packed)]
    assert times == pytest.approx([200.125, 224.0], abs=0.1)


def test_a_failure_is_a_sample_too():
    monitor = make_monitor()
    make_objective(monitor.scenario)
    store.record(row_of(monitor, REFUSED), REFUSED)
    row = Sample.objects.get()
    assert (row.error, row.http_status, row.good) == ("rate_limited", 429, False)
    assert (row.error_text, row.ttft_us) == ("slow down", None)


def test_a_sample_says_by_which_limits_it_was_judged():
    monitor = make_monitor()
    objective = make_objective(monitor.scenario, ttft_ms_max=200)
    store.record(row_of(monitor), ANSWER)
    row = Sample.objects.get()
    assert (row.good, row.objective_id) == (False, objective.pk)


def test_storing_twice_stores_once():
    monitor = make_monitor()
    claimed(monitor)
    assert store.record(row_of(monitor), ANSWER)
    claimed_again = Slot(
        monitor=monitor, due_at=T0, interval_s=10, give_up_at=at(60), worker="w"
    )
    claimed_again.save()
    assert not store.record(row_of(monitor), ANSWER)
    assert Sample.objects.count() == 1
    assert not Slot.objects.exists()  # nothing left to hold up the slots after it


def test_a_late_sample_takes_its_slot_out_of_the_gap():
    monitor = make_monitor()
    gaps.add(monitor.pk, schedule.run_of(T0, at(40), 10), Gap.Reason.NOT_FINISHED)
    store.record(row_of(monitor, due_at=at(20)), ANSWER)
    left = Gap.objects.values_list("first_due_at", "last_due_at", "slots")
    assert list(left) == [(T0, at(10), 2), (at(30), at(40), 2)]


def test_a_slot_that_was_swept_meanwhile_still_gets_its_sample():
    monitor = make_monitor()
    slot = claimed(monitor)
    heartbeat.beat("w", Heartbeat.Kind.WORKER, T0)
    assert claims.begin(slot, "w", at(30), T0)
    assert claims.sweep(at(60)) == 1
    assert store.record(row_of(monitor), ANSWER)
    assert not Gap.objects.exists()
    assert Sample.objects.count() == 1


@pytest.mark.django_db(transaction=True)
def test_a_missing_partition_is_made_at_need():
    monitor = make_monitor()
    far = T0 + timedelta(days=4000)
    assert store.record(row_of(monitor, due_at=far), ANSWER)
    assert Sample.objects.get().due_at == far


@pytest.mark.django_db(transaction=True)
def test_the_sample_of_a_deleted_monitor_is_dropped():
    monitor = make_monitor()
    row = row_of(monitor)
    monitor.delete()
    assert not store.record(row, ANSWER)
    assert not Sample.objects.exists()


def failing_sink(row: Sample) -> None:
    Gap.objects.create(
        monitor_id=row.monitor_id,
        first_due_at=T0,
        last_due_at=T0,
        slots=1,
        interval_s=1,
        reason="overlap",
    )
    raise RuntimeError("a sink's own fault")


told: list[Sample] = []


def telling_sink(row: Sample) -> None:
    told.append(row)


def test_a_failing_sink_loses_nothing_and_holds_up_nobody(settings, caplog):
    settings.SAMPLE_SINKS = [f"{__name__}.failing_sink", f"{__name__}.telling_sink"]
    told.clear()
    monitor = make_monitor()
    with transaction.atomic():
        store.record(row_of(monitor), ANSWER)
    assert Sample.objects.count() == 1
    assert len(told) == 1
    assert not Gap.objects.exists()
    assert "a sink's own fault" in caplog.text
