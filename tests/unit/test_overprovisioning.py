"""Spare space and write amplification: published values, and collection done page by page."""

from __future__ import annotations

import numpy as np
import pytest

from ssdscope import stats

LITERATURE = [(1.07, 7.8), (1.1, 5.7), (1.2, 3.2), (1.28, 2.5), (1.444, 1.84), (2.0, 1.26)]

RAW_GIB = 1076
MICRON = [(373, 1.07), (447, 1.14), (522, 1.23), (596, 1.36), (671, 1.55), (745, 1.84)]
"""GiB of data on a drive of 1,076 GiB of flash, and what the formula comes to there."""


@pytest.mark.parametrize(("alpha", "expected"), LITERATURE)
def test_values_of_the_literature(alpha: float, expected: float) -> None:
    assert float(stats.write_amplification(alpha)) == pytest.approx(expected, rel=0.01)


def test_fills_of_one_drive() -> None:
    filled, expected = np.array(MICRON).T
    found = stats.write_amplification(RAW_GIB / filled)
    assert np.round(found, 2) == pytest.approx(expected, abs=0.0101)


def test_a_drive_with_more_traffic_than_spare() -> None:
    assert float(stats.write_amplification(1.149)) == pytest.approx(4.04, rel=0.01)


def test_the_inverse_gives_the_factor_back() -> None:
    alpha = np.geomspace(1.02, 8, 40)
    assert stats.spare_factor(stats.write_amplification(alpha)) == pytest.approx(alpha, rel=1e-9)


def test_without_spare_space_writing_never_ends() -> None:
    assert np.isinf(stats.write_amplification(1.0))
    with pytest.raises(ValueError, match="below 1"):
        stats.write_amplification([1.2, 0.99])
    with pytest.raises(ValueError, match="1 or less"):
        stats.spare_factor(1.0)


@pytest.mark.parametrize("alpha", [1.15, 1.5])
def test_the_oldest_first_page_by_page(alpha: float) -> None:
    """A log of pages: of the oldest, a stale one is dropped and a valid one written again."""
    rng = np.random.default_rng(20111019)
    pages = 2000
    log = list(range(pages))
    place = list(range(pages))
    oldest, copied, settled = 0, 0, 6 * pages
    for count, page in enumerate(rng.integers(0, pages, 2 * settled).tolist()):
        while len(log) - oldest == round(alpha * pages):
            if place[log[oldest]] == oldest:
                place[log[oldest]] = len(log)
                log.append(log[oldest])
                copied += count >= settled
            oldest += 1
        place[page] = len(log)
        log.append(page)
    assert 1 + copied / settled == pytest.approx(float(stats.write_amplification(alpha)), rel=0.04)
