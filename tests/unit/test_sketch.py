import math
import random

import pytest
from hypothesis import given
from hypothesis import strategies as st

from collectors import sketch

DAY_US = 86_400_000_000
PERCENTS = (0, 1, 5, 50, 90, 95, 99, 100)

values_us = st.lists(st.integers(0, DAY_US), max_size=200)
full_us = st.lists(st.integers(0, DAY_US), min_size=1, max_size=200)


def shaped(name: str) -> list[int]:
    """Values shaped as those of real endpoints."""
    rng = random.Random(name)
    calm = [round(rng.lognormvariate(math.log(400_000), 0.3)) for _ in range(5_000)]
    match name:
        case "lognormal":
            return calm
        case "spikes":
            return [v * (30 if rng.random() < 0.03 else 1) for v in calm]
        case "two endpoints behind one name":
            return calm + [v * 7 for v in calm]
        case "ties":
            return [rng.choice((200_000, 200_001, 3_000_000)) for _ in range(5_000)]
        case "zeros":
            return [0] * 700 + calm[:300]
        case "one value":
            return [1_234_567]
        case _:
            raise ValueError(name)


def nearest_rank(values: list[int], percent: int) -> int:
    return sorted(values)[max(1, -(-percent * len(values) // 100)) - 1]


def assert_within_bound(found: float, true: int) -> None:
    assert found == pytest.approx(true, rel=sketch.RELATIVE_ERROR + 1e-9)


@pytest.mark.parametrize("percent", PERCENTS)
@pytest.mark.parametrize(
    "shape",
    [
        "lognormal",
        "spikes",
        "two endpoints behind one name",
        "ties",
        "zeros",
        "one value",
    ],
)
def test_percentiles_of_real_shapes_are_within_the_bound(shape, percent):
    values = shaped(shape)
    found = sketch.of(values).percentile(percent)
    assert_within_bound(found, nearest_rank(values, percent))


def test_the_bound_is_what_is_promised():
    assert sketch.RELATIVE_ERROR <= 0.02


@given(full_us, st.integers(0, 100))
def test_percentiles_of_any_values_are_within_the_bound(values, percent):
    found = sketch.of(values).percentile(percent)
    assert_within_bound(found, nearest_rank(values, percent))


@given(full_us)
def test_sum_ends_and_count_are_exact(values):
    found = sketch.of(values)
    assert (found.total, found.low, found.high) == (
        sum(values),
        min(values),
        max(values),
    )
    assert found.count == len(values)


@given(st.lists(values_us, max_size=6), st.randoms())
def test_merging_in_any_order_gives_the_sketch_of_all_values(parts, rng):
    whole = sketch.of([value for part in parts for value in part])
    shuffled = rng.sample(parts, len(parts))
    assert sketch.merged(map(sketch.of, shuffled)) == whole


@given(values_us, values_us, values_us)
def test_merging_is_commutative_and_associative(one, two, three):
    a, b, c = map(sketch.of, (one, two, three))
    assert sketch.merged([a, b]) == sketch.merged([b, a])
    left = sketch.merged([sketch.merged([a, b]), c])
    assert left == sketch.merged([a, sketch.merged([b, c])])


@given(full_us)
def test_bytes_and_back(values):
    found = sketch.of(values)
    assert sketch.decode(sketch.encode(found)) == found


@given(full_us)
def test_equal_sketches_have_equal_bytes(values):
    there = sketch.merged(sketch.of([value]) for value in values)
    back = sketch.merged(sketch.of([value]) for value in reversed(values))
    assert sketch.encode(there) == sketch.encode(back)


def test_a_weight_counts_each_value_that_often():
    assert sketch.of([3, 70, 900], weight=12) == sketch.of([3, 70, 900] * 12)


def test_averaged_percentiles_would_have_been_wrong():
    quiet, busy = [400_000] * 22 * 60, [5_000_000] * 2 * 60
    merged = sketch.merged([sketch.of(quiet), sketch.of(busy)])
    assert_within_bound(merged.percentile(95), 5_000_000)


def test_without_values_there_is_nothing_to_tell():
    assert sketch.of([]) == sketch.EMPTY == sketch.merged([])
    assert sketch.EMPTY.percentile(50) is None


def test_a_negative_value_counts_as_zero():
    assert sketch.of([-5, 10]) == sketch.of([0, 10])


def test_a_day_of_samples_is_small():
    rng = random.Random(1)
    day = [round(rng.lognormvariate(math.log(400_000), 0.3)) for _ in range(1_440)]
    assert len(sketch.encode(sketch.of(day))) < 200


def test_large_counts_survive_bytes_too():
    found = sketch.of([1, 500, 500, 10**9], weight=300)
    assert sketch.decode(sketch.encode(found)) == found


@pytest.mark.parametrize(
    "packed",
    [b"", b"\x01\x02", b"\x01\x01\x00\x80", b"\x05" * 4, b"\x80" * 20 + b"\x01"],
)
def test_other_bytes_are_refused(packed):
    with pytest.raises(ValueError, match="sketch"):
        sketch.decode(packed)
