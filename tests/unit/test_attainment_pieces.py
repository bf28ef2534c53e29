from datetime import UTC, datetime, timedelta
from itertools import pairwise

import pytest
from hypothesis import given
from hypothesis import strategies as st

from collectors.attainment import Share, pieces
from collectors.rollups import DAY, HOUR, MINUTES_5

NOON = datetime(2026, 3, 1, 12, tzinfo=UTC)
MIDNIGHT = datetime(2026, 3, 2, tzinfo=UTC)


def test_days_between_hours():
    end = NOON + timedelta(days=90, minutes=17)
    assert pieces(NOON + timedelta(minutes=17), end) == [
        (HOUR, NOON, MIDNIGHT),
        (DAY, MIDNIGHT, MIDNIGHT + timedelta(days=89)),
        (HOUR, MIDNIGHT + timedelta(days=89), NOON + timedelta(days=90, hours=1)),
    ]


def test_a_short_stretch_is_exact_to_five_minutes():
    start, end = NOON + timedelta(minutes=52), NOON + timedelta(minutes=127)
    one, two = NOON + timedelta(hours=1), NOON + timedelta(hours=2)
    assert pieces(start, end) == [
        (MINUTES_5, NOON + timedelta(minutes=50), one),
        (HOUR, one, two),
        (MINUTES_5, two, NOON + timedelta(minutes=130)),
    ]


def test_whole_days_are_days_alone():
    end = MIDNIGHT + timedelta(days=7)
    assert pieces(MIDNIGHT, end) == [(DAY, MIDNIGHT, end)]


moments = st.datetimes(
    datetime(2026, 1, 1), datetime(2027, 6, 1), timezones=st.just(UTC)
)


@given(moments, st.timedeltas(timedelta(seconds=1), timedelta(days=400)))
def test_the_pieces_touch_and_cover_the_stretch(start, span):
    found = pieces(start, start + span)
    assert found[0][1] <= start
    assert found[-1][2] >= start + span
    assert all(a[2] == b[1] for a, b in pairwise(found))
    assert len(found) <= 5
    for resolution_s, first, until in found:
        assert first < until
        for moment in (first, until):
            assert moment.timestamp() % resolution_s == 0


def test_shares():
    share = Share(samples=95, failed=3, good=60, bad=20, missed=5)
    assert (share.attainment, share.coverage) == (0.75, 0.95)
    nothing = Share(samples=0, failed=0, good=0, bad=0, missed=0)
    assert (nothing.attainment, nothing.coverage) == (None, None)


@pytest.mark.parametrize("missed", [0, 10])
def test_what_was_not_judged_has_no_attainment(missed):
    share = Share(samples=10, failed=0, good=0, bad=0, missed=missed)
    assert share.attainment is None
