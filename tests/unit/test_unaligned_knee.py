"""Spare space and padding, from where requests of five sizes that begin anywhere find the knee."""

from __future__ import annotations

from typing import TYPE_CHECKING

import numpy as np
import pytest

from ssdscope.probes.unaligned_knee import SIZES, of_shorter, shorter_bytes, without_padding

if TYPE_CHECKING:
    from numpy.typing import NDArray

SPARE = 400e6


def knees(unit: int, block: int = 512) -> NDArray[np.float64]:
    """Give where the spare space ends, for each size of request, seen a little early or late."""
    scatter = np.array([1.004, 0.992, 1.003, 1.008, 0.996])
    return SPARE / (1 + (unit - block) / np.array(SIZES)) * scatter


@pytest.mark.parametrize("unit", [4096, 16_384, 49_152, 65_536])
@pytest.mark.parametrize("wrong", [None, 0, 1])
def test_spare_space_is_told_from_padding(unit: int, wrong: int | None) -> None:
    """Also where one knee is wrong."""
    found = knees(unit)
    if wrong is not None:
        found[wrong] *= 0.7
    told = without_padding(found, 512)
    assert told is not None
    assert told[0] == pytest.approx(SPARE, rel=0.02)
    assert told[1] == unit - 512


def test_a_logical_block_is_never_padded() -> None:
    told = without_padding(knees(4096, 4096), 4096)
    assert told is not None
    assert told == (pytest.approx(SPARE, rel=0.01), 0)


@pytest.mark.parametrize(
    "shares",
    [
        (0.198, 0.1962, 0.1697, 0.1697, 0.1697),  # the first collections show late
        (0.0294, 0.0274, 0.0327, 0.0299, 0.0246),  # common log blocks, with other merges before
        (0.4, 0.3, 0.2, 0.15, 0.1),  # a log block for each unit: as many requests
        (0.4187, 0.31, 0.0540, 0.0540, 0.0540),
    ],
)
def test_what_is_no_spare_space_depends_on_the_size_otherwise(shares: tuple[float, ...]) -> None:
    assert without_padding(np.array(shares) * 1e9, 512) is None


def test_shorter_requests_show_where_collection_begins() -> None:
    """Long ones where it must be done: between the two lies what is kept free, and no more."""
    capacity = 4_000_000_000
    assert of_shorter(0.2 * capacity, 0.197 * capacity, capacity) == 0.2 * capacity
    assert of_shorter(0.235 * capacity, 0.2 * capacity, capacity) == 0.2 * capacity
    far_less, more = (
        of_shorter(0.2 * capacity, share * capacity, capacity) for share in (0.1, 0.3)
    )
    assert np.isnan(far_less)
    assert np.isnan(more)


def test_shorter_requests_are_little_padded() -> None:
    assert shorter_bytes(0, 4096) == 4096
    assert shorter_bytes(0, 14_000) == 16_384
    assert shorter_bytes(4096 - 512, 4096) == 16_384
