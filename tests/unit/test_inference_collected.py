"""The course of times over write amplification: courses that theory makes, with noise."""

from __future__ import annotations

import numpy as np
import pytest

from ssdscope import stats
from ssdscope.inference.levels import APART
from ssdscope.inference.series import Series
from ssdscope.probes.spare.collected import BLIND, CHOOSING, collected

PIECES, END = 1500, 1.3


def course(spare: float, pages: int, *, draws: int | None = None, cost: float = 2.0) -> Series:
    """Give times of writes that cost 1, and so much more for each further program."""
    edges = np.linspace(0, END, PIECES + 1)
    more = stats.amplification_course([spare], pages, edges, draws=draws)[0] - 1
    noise = np.random.default_rng(3).lognormal(0, 0.03, PIECES)
    return Series.of(edges[1:], (1 + cost * more) * noise)


@pytest.mark.parametrize("spare", [0.08, 0.2, 0.4])
@pytest.mark.parametrize("pages", [32, 128])
def test_the_amplification_is_that_of_theory(spare: float, pages: int) -> None:
    true = stats.amplification_course([spare], pages, np.linspace(0, 2.5, 2501))[0][-300:].mean()
    found = collected(course(spare, pages), spare)
    assert found.estimate == pytest.approx(true, rel=0.05)
    assert found.score >= APART


def test_one_that_draws_blindly_settles_higher() -> None:
    drawn = course(0.2, 64, draws=1)
    blind = collected(drawn, 0.2, BLIND)
    assert blind.estimate == pytest.approx(1.2 / 0.2, rel=0.1)
    assert blind.score > collected(drawn, 0.2, CHOOSING).score


def test_times_that_never_rise_follow_no_course() -> None:
    flat = Series.of(
        np.linspace(0, END, PIECES), np.random.default_rng(4).lognormal(0, 0.1, PIECES)
    )
    assert collected(flat, 0.2).score < APART


@pytest.mark.parametrize("rows", [0, 3, 100])
def test_a_short_series_says_nothing(rows: int) -> None:
    found = collected(Series.of(np.linspace(0, 0.1, rows), np.ones(rows)), 0.2)
    assert found.estimate is None
