"""Where the tracks of a disk end: angles of places grow with their addresses, and jump there.

A track begins a little later on the spindle than the one before, so that reading may go on after
the switch. Between two places the angle grows by their distance over the length of a track, and by
the jumps in between. How many tracks a cylinder has, seeks tell.
"""

from __future__ import annotations

import math
from typing import TYPE_CHECKING

import numpy as np

from ssdscope.inference.levels import APART, NEGLIGIBLE
from ssdscope.inference.series import Rival, Weighed, nothing

if TYPE_CHECKING:
    from numpy.typing import NDArray

__all__ = ["cylinder", "tracks"]

SHORTEST, LONGEST = 4, 64
"""Of a track, in distances between places."""
FINER = 8
"""Candidates for each that the length of all could tell from its neighbours."""
LEVELS = 48
"""Of each kind of time that are tried."""
LEAST_SCALE = 8
"""Errors are no more than so many times smaller than they are said to be."""
EXPLAINED = 0.9
"""Of the length of all unit vectors: layouts of another kind explain less."""


def tracks(places: NDArray[np.float64], ends: NDArray[np.float64], period: float) -> Weighed:
    """Find how long a track is.

    Parameters
    ----------
    places
        Multiples of one distance from 0 on, each several times.
    ends
        When their reads end, without noise; what is not a number is left out.
    period
        Of a turn.

    Returns
    -------
    Weighed
        The length of a track, in the unit of places.
    """
    there = ~np.isnan(ends)
    spots, index = np.unique(places[there], return_inverse=True)
    if spots.size < LONGEST:
        return nothing()
    stride = float(np.diff(spots).min())
    whole = np.exp(2j * math.pi * ((ends[there] - ends[there].min()) / period))
    angles = np.bincount(index, whole.real) + 1j * np.bincount(index, whole.imag)
    angles /= np.abs(angles)
    steps, begins = np.diff(spots), spots[:-1]
    grown = np.asarray(angles[1:] / angles[:-1], np.complex128)
    finest = stride / (FINER * float(spots[-1]))
    lengths = np.exp(np.arange(math.log(SHORTEST * stride), math.log(LONGEST * stride), finest))
    sums = np.array([_explained(grown, begins, steps, length) for length in lengths])
    length, total = float(lengths[np.argmax(sums)]), float(sums.max())
    spread = max(1 - total / grown.size, NEGLIGIBLE)
    # A sum of cosines, over the variance: the log likelihood of small errors round a circle.
    gained = (sums - total) / (2 * spread)
    others = np.abs(np.log(lengths / length)) > stride / length
    margin = -float(gained[others].max()) if others.any() else math.inf
    score = (grown.size / 2) * math.log(1 / (2 * spread)) if total > EXPLAINED * grown.size else 0.0
    rivals = (Rival("another length", margin),)
    return Weighed(length, None, score, total / grown.size, 1.0, rivals)


def _explained(
    grown: NDArray[np.complex128],
    begins: NDArray[np.float64],
    steps: NDArray[np.float64],
    length: float,
) -> float:
    """Return how much of the growth of angles a length explains, and one jump at all ends."""
    left = grown * np.exp(-2j * math.pi * steps / length)
    jumps = np.floor((begins + steps) / length) > np.floor(begins / length)
    return float(left[~jumps].real.sum() + abs(left[jumps].sum()))


def cylinder(seeks: NDArray[np.float64], errors: NDArray[np.float64], alike: float) -> int | None:
    """Find how many tracks a cylinder has, by what it takes to go over 1, 2, 3 ... of them.

    Over a multiple of that the same head goes on, elsewhere another does: a switch and a seek take
    as long as the longer of them. Seeks grow with the root of their distance (Ruemmler and Wilkes
    1994).

    Parameters
    ----------
    seeks, errors : ndarray, shape (n,)
        Times, and what is like their standard errors.
    alike
        By what share seeks may differ that are as good as one.

    Returns
    -------
    int or None
        None if other numbers, which mean another seek, explain it as well.
    """
    counts = np.arange(1, seeks.size + 1)
    levels = np.linspace(0, float(seeks.max()), LEVELS)
    switch, first, grows = (each.ravel() for each in np.meshgrid(levels, levels[1:], levels))
    tried: list[tuple[float, float, int]] = []
    # How large errors are is not known, only how they compare.
    free = seeks.size - 3
    for heads in counts.tolist():
        over = counts // heads
        sought = first[:, None] + grows[:, None] * np.maximum(np.sqrt(over) - 1, 0)
        times = np.where(over > 0, sought, 0)
        times = np.where(counts % heads > 0, np.maximum(times, switch[:, None]), times)
        off = (((seeks - times) / errors) ** 2).sum(axis=1)
        best = int(np.argmin(off))
        missed = float(off[best]) + seeks.size / LEAST_SCALE**2
        tried.append((-free / 2 * math.log(missed), float(first[best]), heads))
    best_score, value, heads = max(tried)
    rivals = [each for each, other, _ in tried if abs(other - value) > alike * value]
    return heads if best_score - max(rivals, default=-math.inf) >= APART else None
