"""What log blocks take, by where writes wait: on made-up waits."""

from __future__ import annotations

import numpy as np
import pytest

from ssdscope.inference.levels import APART
from ssdscope.probes.spare.log_blocks import full_from

UNIT, BLOCK = 4096, 96 * 4096


def waits(first: int, count: int) -> np.ndarray:
    """Give bytes written before waits that come as each further log block is full."""
    return (first + np.arange(count)) * float(BLOCK)


@pytest.mark.parametrize("first", [3, 22, 39])
def test_waits_where_log_blocks_are_full_say_how_many_there_are(first: int) -> None:
    found = full_from(waits(first, 6), BLOCK, UNIT)
    assert found.estimate == first * BLOCK
    assert found.score >= APART


def test_a_unit_more_or_less_is_no_matter() -> None:
    off = np.random.default_rng(1).integers(-1, 2, 8) * UNIT
    assert full_from(waits(22, 8) + off, BLOCK, UNIT).estimate == 22 * BLOCK


def test_a_few_waits_elsewhere_are_something_else() -> None:
    spikes = np.array([1.4, 7.6]) * BLOCK
    found = full_from(np.concatenate([spikes, waits(22, 8)]), BLOCK, UNIT)
    assert found.estimate == 22 * BLOCK


def test_waits_anywhere_say_nothing() -> None:
    rng = np.random.default_rng(2)
    told = [
        full_from(np.sort(rng.uniform(0, 60, 16)) * BLOCK, BLOCK, UNIT).score >= APART
        for _ in range(200)
    ]
    assert sum(told) < 0.05 * len(told)
    assert full_from(np.empty(0), BLOCK, UNIT).estimate is None
