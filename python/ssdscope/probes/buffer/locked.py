"""Waits at one and the same step of every run: the first step at which something is full.

Runs that begin alike are repeated. What others do, and spikes, come at another step each time; a
memory that is full makes every run wait at the same one, however seldom it does so again. So at
each step the runs that wait are counted, and held against the share of all steps before that wait:
the binomial law says how unlikely so many are, over all steps tried.
"""

from __future__ import annotations

import numpy as np

from ssdscope.inference.levels import FOUND
from ssdscope.inference.series import Series, Weighed, nothing

__all__ = ["locked"]

BEFORE = 2
"""Steps that say what is usual, at least."""


def locked(series: Series, runs: int) -> Weighed:
    """Find the first step at which more runs wait than before.

    Parameters
    ----------
    series
        `x` ascending, a row for each step; `y` how many runs waited there.
    runs
        How many there were.

    Returns
    -------
    Weighed
        The estimate is the `x` of the first step that is unlikely enough, of the least likely if
        none is; the effect the share of the runs that wait there.
    """
    kept = series.kept()
    if len(kept) <= BEFORE:
        return nothing()
    from scipy.stats import binom

    before = np.cumsum(kept.y) - kept.y
    # As if one in two more had waited (Laplace): where few came before, little is known of them.
    usual = (before + 1) / (runs * np.arange(len(kept)) + 2)
    score = -binom.logsf(kept.y - 1, runs, usual) - np.log(len(kept))
    score[:BEFORE] = 0.0
    enough = score >= FOUND["locked"]
    at = int(np.argmax(enough if enough.any() else score))
    if score[at] <= 0:
        return nothing()
    share = float(kept.y[at]) / runs
    return Weighed(float(kept.x[at]), None, float(score[at]), share, share)
