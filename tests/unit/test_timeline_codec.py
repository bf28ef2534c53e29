import contextlib

import pytest
from hypothesis import given
from hypothesis import strategies as st

from probes import timeline_codec as codec

points = st.lists(
    st.tuples(st.floats(0, 300_000), st.floats(0, 500)), max_size=6_000
).map(lambda pairs: sorted(pairs, key=lambda pair: pair[0]))


@given(points)
def test_any_timeline_fits_and_keeps_its_ends_and_its_tokens(timeline):
    packed = codec.encode(timeline)
    assert len(packed) <= codec.MAX_BYTES
    found = codec.decode(packed)
    assert bool(found) == bool(timeline)
    if timeline:
        assert found[0][0] == pytest.approx(timeline[0][0], abs=0.006)
        assert found[-1][0] == pytest.approx(timeline[-1][0], abs=0.006)
        total = sum(tokens for _, tokens in timeline)
        assert sum(t for _, t in found) == pytest.approx(total, abs=0.006)
        assert found == sorted(found, key=lambda point: point[0])


@given(points.filter(lambda pairs: len(pairs) < 200))
def test_a_short_timeline_keeps_every_point(timeline):
    found = codec.decode(codec.encode(timeline))
    assert [at for at, _ in found] == pytest.approx(
        [at for at, _ in timeline], abs=0.006
    )


@pytest.mark.parametrize("packed", [b"", b"\x02", b"\x01\x80", b"\x01\x05"])
def test_other_bytes_are_refused(packed):
    with pytest.raises(ValueError):
        codec.decode(packed)


@given(st.binary(max_size=3000))
def test_any_bytes_give_points_or_a_value_error(packed):
    with contextlib.suppress(ValueError):
        codec.decode(b"\x01" + packed)


@pytest.mark.parametrize("count", [700, 5_000, 40_000])
def test_a_long_timeline_is_thinned_until_it_fits(count):
    timeline = [(200.0 + 20 * i, 1.0) for i in range(count)]
    packed = codec.encode(timeline)
    assert len(packed) <= codec.MAX_BYTES
    found = codec.decode(packed)
    assert found[0] == (200, 1)
    assert found[-1][0] == timeline[-1][0]
    assert sum(tokens for _, tokens in found) == pytest.approx(count)
    assert len(found) > 200
