"""Write amplification along uniform overwrites: limits that are known."""

from __future__ import annotations

import numpy as np
import pytest

from ssdscope import stats

EDGES = np.arange(0, 1.5001, 0.01)


@pytest.mark.parametrize("spare", [0.08, 0.2, 0.45])
def test_of_large_blocks_it_settles_where_theory_says(spare: float) -> None:
    course = stats.amplification_course([spare], 400, EDGES)[0]
    theory = float(stats.write_amplification(1 + spare))
    assert course[-30:].mean() == pytest.approx(theory, rel=0.04)


def test_it_begins_where_spare_space_ends_with_the_oldest_data() -> None:
    spare = 0.3
    course = stats.amplification_course([spare], 400, EDGES)[0]
    before = EDGES[1:] < spare
    assert (course[before] == 1).all()
    stale = 1 - np.exp(-spare)
    # A drive that chooses finds blocks that are emptier by some standard deviations.
    emptier = 3 * np.sqrt(stale * (1 - stale) / 400)
    assert 1 / (stale + emptier) < course.max() < 1 / stale
    assert course.argmax() == pytest.approx(before.sum(), abs=5)


def test_small_blocks_are_found_emptier() -> None:
    large, small = (stats.amplification_course([0.1], n, EDGES)[0] for n in (300, 16))
    assert small[-30:].mean() < large[-30:].mean()
    assert small.max() / small[-30:].mean() < large.max() / large[-30:].mean()


def test_blind_draws_are_dearer() -> None:
    """In the limit of large blocks a victim is any block: A = (1 + s) / s."""
    course = stats.amplification_course([0.3], 400, EDGES, draws=1)[0]
    assert course[-30:].mean() == pytest.approx(1.3 / 0.3, rel=0.06)


def test_the_more_a_drive_draws_the_less_it_copies() -> None:
    settled = [
        stats.amplification_course([0.2], 64, EDGES, draws=draws)[0][-30:].mean()
        for draws in (1, 2, 8, 64, None)
    ]
    assert settled == sorted(settled, reverse=True)
    assert settled[-2] == pytest.approx(settled[-1], rel=0.03)


def test_spare_spaces_do_not_depend_on_each_other() -> None:
    both = stats.amplification_course([0.1, 0.3], 24, EDGES)
    assert both.shape == (2, EDGES.size - 1)
    assert np.allclose(both[1], stats.amplification_course([0.3], 24, EDGES)[0])
