"""The course of write amplification, fitted to times that follow it."""

from __future__ import annotations

import numpy as np
import pytest

from ssdscope import stats
from ssdscope.probes.collection_fit import Times, fit_course

SPARE, STEP = 0.2, 0.005


def course(pages: int, last: float = 2.0) -> np.ndarray:
    edges = np.arange(0.0, last + STEP, STEP)
    return np.asarray(stats.amplification_course(np.array([SPARE]), pages, edges, blind=False)[0])


@pytest.mark.parametrize("joined", [1, 2, 4])
def test_units_that_are_written_together_meet_smaller_blocks(joined: int) -> None:
    """Of blocks of 96 units fewer requests find room, and the emptiest of them are emptier."""
    of_requests = course(96 // joined)
    at = STEP * np.arange(of_requests.size)
    times = Times(np.stack([at, at + STEP], axis=1), 1e6 * (1 + 1.5 * (of_requests - 1)))
    fit = fit_course(times, blind=False, most_pages=96 / joined, joined=joined)
    assert fit.amplification == pytest.approx(course(96, last=6.0)[-50:].mean(), rel=0.04)
    assert fit.spare == pytest.approx(SPARE, rel=0.05)
    assert fit.slowdown == pytest.approx(times.times[-50:].mean() / 1e6, rel=0.05)
