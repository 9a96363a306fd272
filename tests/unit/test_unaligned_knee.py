"""Spare space and padding, from where requests of several sizes that begin anywhere slow down."""

from __future__ import annotations

import numpy as np
import pytest

from ssdscope.probes.slow_writes import Knee, slower_from
from ssdscope.probes.unaligned_knee import (
    AT_ONCE,
    SIZES,
    Seen,
    begun,
    shorter_bytes,
    without_padding,
)

SPARE, CAPACITY = 400e6, 4_000_000_000
SCATTER = (1.004, 0.996, 1.003, 1.005, 0.998, 1.0)
"""A knee is seen a little early or late."""


def seen(
    unit: int,
    firsts: tuple[float, ...] = (SPARE,) * 5,
    surest: tuple[float, ...] = (SPARE,) * 5,
    sizes: tuple[int, ...] = SIZES,
) -> list[Seen]:
    """Give what each size shows, of places in bytes that are used up, on a drive of such units."""
    times = np.array(SCATTER[: len(sizes)]) / (1 + (unit - 512) / np.array(sizes))
    return [
        Seen(size, first * each, sure * each)
        for size, first, sure, each in zip(sizes, firsts, surest, times, strict=True)
    ]


@pytest.mark.parametrize("unit", [4096, 16_384, 49_152, 65_536])
@pytest.mark.parametrize("wrong", [None, 0, 1])
def test_spare_space_is_told_from_padding(unit: int, wrong: int | None) -> None:
    """Also where one knee is wrong."""
    found = seen(unit)
    if wrong is not None:
        one = found[wrong]
        found[wrong] = Seen(one.size_bytes, 0.7 * one.first_bytes, 0.7 * one.surest_bytes)
    told = without_padding(found, 512)
    assert told is not None
    assert told[0] == pytest.approx(SPARE, rel=0.02)
    assert told[1] == unit - 512


def test_a_logical_block_is_never_padded() -> None:
    told = without_padding(seen(512), 4096)
    assert told is not None
    assert told == (pytest.approx(SPARE, rel=0.01), 0)


@pytest.mark.parametrize(
    "shares",
    [
        (0.198, 0.1962, 0.1697, 0.1697, 0.1697),  # the first collections show late
        (0.1442, 0.1428, 0.1415, 0.1241, 0.1232),  # where it must be done, and where it begins
        (0.2069, 0.2006, 0.1730, 0.1655, 0.1510),  # likewise, as if by units twice as large
        (0.0294, 0.0274, 0.0327, 0.0299, 0.0246),  # common log blocks, with other merges before
        (0.4, 0.3, 0.2, 0.15, 0.1),  # a log block for each unit: as many requests
        (0.4187, 0.31, 0.0540, 0.0540, 0.0540),
    ],
)
def test_what_is_no_spare_space_depends_on_the_size_otherwise(shares: tuple[float, ...]) -> None:
    places = [share * 1e9 for share in shares]
    found = [Seen(size, each, each) for size, each in zip(SIZES, places, strict=True)]
    assert without_padding(found, 512) is None


def test_each_size_may_show_where_collection_begins_or_where_it_must_be_done() -> None:
    begins = 0.85 * SPARE
    found = seen(16_384, firsts=(SPARE, SPARE, begins, begins, begins))
    told = without_padding(found, 512)
    assert told is not None
    assert told == (pytest.approx(SPARE, rel=0.01), 16_384 - 512)
    assert begun(found, *told, CAPACITY) == pytest.approx(begins, rel=0.01)


def test_collection_begins_where_all_writes_of_two_sizes_become_slower() -> None:
    beside = [None, None, 0.9 * SPARE, None, 0.905 * SPARE]
    found = [
        Seen(each.size_bytes, each.first_bytes, each.surest_bytes, place)
        for each, place in zip(seen(512), beside, strict=True)
    ]
    assert begun(found, SPARE, 0, CAPACITY) == pytest.approx(0.9 * SPARE, rel=0.01)
    assert begun(found, SPARE, 0, CAPACITY // 10) == SPARE  # more than is kept free


@pytest.mark.parametrize("times", [0.85, 1.1])
def test_what_the_shortest_requests_alone_show_is_not_told(times: float) -> None:
    """Earlier it may be where collection begins; later there is no such padding."""
    sizes, same = (*SIZES, 8192), (SPARE,) * 5
    found = seen(2048, (*same, times * SPARE), (*same, max(times, 1.0) * SPARE), sizes)
    told = without_padding(found, 512)
    assert told is not None
    assert told[1] == 2048 - 512
    assert begun(found, *told, CAPACITY) is None


@pytest.mark.parametrize(
    ("first", "sizes"),
    [
        ({0: 0.82, 1: 0.88}, (1.0, 1.0)),  # two begin earlier, but not at one place
        ({0: 1.9}, (1.9, 1.0)),  # collection keeps up with the longest
    ],
)
def test_where_collection_goes_on_beside_requests_nothing_is_told(
    first: dict[int, float], sizes: tuple[float, float]
) -> None:
    firsts = [first.get(index, 1.0) * SPARE for index in range(5)]
    surest = [each * SPARE for each in (*sizes, 1.0, 1.0, 1.0)]
    found = seen(4096, tuple(firsts), tuple(surest))
    told = without_padding(found, 512)
    assert told == (pytest.approx(SPARE, rel=0.01), 4096 - 512)
    assert told is not None
    assert begun(found, *told, CAPACITY) is None


@pytest.mark.parametrize("sudden", [True, False])
def test_few_writes_tell_a_rise_at_once_from_one_by_and_by(sudden: bool) -> None:
    """What drifts rises likewise by all sizes, which write as many bytes in the same time."""
    writes, rises, knee, size = np.arange(1300), 700, 1050, 16_384
    longer = np.clip((writes - (rises if sudden else 0)) / (1 if sudden else knee), 0, 1)
    noise = np.random.default_rng(1).lognormal(0, 0.03, writes.size)
    latencies = (1 + 0.15 * longer + 5 * (writes >= knee)) * noise
    rise = slower_from(latencies, Knee(*[float(knee * size)] * 3, 5.0), size)
    assert sudden == (rise is not None and rise.at_once >= AT_ONCE)
    if rise is not None and sudden:
        assert rise.write == pytest.approx(rises, abs=32)


def test_shorter_requests_are_little_padded() -> None:
    assert shorter_bytes(0, 4096) == 4096
    assert shorter_bytes(0, 14_000) == 16_384
    assert shorter_bytes(4096 - 512, 4096) == 16_384
