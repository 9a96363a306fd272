"""The course of times along uniform overwrites, which theory knows but for a few numbers.

Where flash is what takes time, a write takes T + c (A - 1) once collection has begun: T is seen
before, and A, what is programmed for a byte, follows from theory (`stats.amplification_course`):
it begins where the spare space ends with the oldest data, falls while these are used up, and
settles. Where it begins, how many pages a block has and among how many blocks a drive chooses is
tried; c is fitted. Each such course is as likely as what it leaves of the times is small, and the
amplification that it settles at counts by that.

What is left comes in waves, as blocks of many planes are collected at the same time: of neighbours
that are off together only as many count as are independent.
"""

from __future__ import annotations

import math
from dataclasses import dataclass
from itertools import pairwise
from typing import TYPE_CHECKING

import numpy as np

from ssdscope.inference.levels import NEGLIGIBLE
from ssdscope.inference.series import Series, Weighed, nothing
from ssdscope.stats.collection import amplification_course

if TYPE_CHECKING:
    from numpy.typing import NDArray

__all__ = ["BLIND", "CHOOSING", "collected"]

PAGES = (4, 8, 16, 32, 64, 128)
"""Of blocks; more of them make no difference."""
BLIND, CHOOSING = (1, 2), (8, None)
"""Blocks that each victim is the best of; None of all."""
BEGINS = np.linspace(0.95, 1.25, 13)
"""Times the place of the knee: where collection is waited for. A drive begins sooner than it must,
and many writes at once use up first what it keeps free."""
USUAL_PAGES, SPREAD = 96, 1.0
"""Of blocks, and how far others are from that: the standard deviation of the logarithm."""
GROWTH = 1.03
"""Times the place: where the next piece begins, as later ones tell less."""
WARM = 0.25
"""Times the knee: from where on tables and buffers are filled."""
STEPS = 40
"""Of a course, before the knee."""
SETTLED = 0.25
"""Of the capacity, at the end: settled."""


@dataclass(frozen=True)
class _Pieces:
    """Mean times between two places each: edges, shape (n, 2), and times, shape (n,)."""

    edges: NDArray[np.float64]
    times: NDArray[np.float64]


def collected(
    series: Series, knee: float, draws: tuple[int | None, ...] = CHOOSING, *, joined: int = 1
) -> Weighed:
    """Find what write amplification settles at.

    Parameters
    ----------
    series
        Mean times; `x` is what was overwritten when each ends, as a share of the capacity, even.
    knee
        Where collection begins, about, as a share of the capacity.
    draws
        Of how many blocks each victim may be the best, as `BLIND` and `CHOOSING`.
    joined
        Units that each request wrote together: their course is that of so much smaller blocks.

    Returns
    -------
    Weighed
        The effect is by how much settled writes take longer, as a share. `detail` has ``begins``,
        ``pages``, ``draws`` (0 for all), ``plain``, ``cost`` of one more program, and ``misfit``,
        what is left of the rise as a root mean square.
    """
    kept = series.kept()
    end = float(kept.x[-1]) if len(kept) else 0.0
    if len(kept) < 4 * STEPS or end < knee * BEGINS[-1]:
        return nothing()
    pieces = _joined(kept, WARM * knee)
    before = pieces.edges[:, 1] < BEGINS[0] * knee
    if not before.any():
        return nothing()
    plain = float(pieces.times[before].mean())
    fits = [
        fit
        for pages in PAGES
        for each in draws
        for fit in _fits(pieces, plain, knee * BEGINS, (pages, each), joined)
    ]
    best = min(fits, key=lambda each: each.squares)
    independent = best.left.size / _together(best.left)
    logs = np.log([each.settled for each in fits])
    usual = np.log(np.array([each.pages for each in fits]) / USUAL_PAGES) / SPREAD
    likely = -(independent * np.log([each.squares / best.squares for each in fits]) + usual**2) / 2
    weights = np.exp(likely - likely.max())
    weights /= weights.sum()
    mean = float(weights @ logs)
    deviation = math.sqrt(float(weights @ (logs - mean) ** 2))
    flat = float(((pieces.times - pieces.times.mean()) ** 2).sum())
    left = float((best.left**2).sum())
    rise = max(float(pieces.times.max()) - plain, 1e-9 * plain)
    effect = best.cost * (best.settled - 1) / plain
    return Weighed(
        math.exp(mean),
        (math.exp(mean - 2 * deviation), math.exp(mean + 2 * deviation)),
        independent / 2 * math.log(max(flat / left, 1.0)),
        effect,
        effect,
        detail={
            "begins": best.begins,
            "pages": float(best.pages),
            "draws": float(best.draws or 0),
            "plain": plain,
            "cost": best.cost,
            "misfit": math.sqrt(left / best.left.size) / rise,
        },
    )


@dataclass(frozen=True)
class _Fit:
    """One course: what it leaves of the times, shape (n,), and the weighed sum of its squares."""

    begins: float
    pages: int
    draws: int | None
    settled: float
    cost: float
    squares: float
    left: NDArray[np.float64]


def _joined(kept: Series, first: float) -> _Pieces:
    """Join times to pieces that become longer with the place, from a place on."""
    ends = kept.x
    begins = np.concatenate([[0.0], ends[:-1]])
    cuts = [int(np.searchsorted(begins, first))]
    while cuts[-1] < ends.size:
        cuts.append(max(int(np.searchsorted(ends, GROWTH * begins[cuts[-1]])), cuts[-1] + 1))
    cuts[-1] = ends.size
    parts = [(i, j) for i, j in pairwise(cuts) if j > i]
    edges = [(begins[i], ends[j - 1]) for i, j in parts]
    return _Pieces(np.array(edges), np.array([kept.y[i:j].mean() for i, j in parts]))


def _fits(
    pieces: _Pieces,
    plain: float,
    begins: NDArray[np.float64],
    kind: tuple[int, int | None],
    joined: int,
) -> list[_Fit]:
    """Fit courses of one kind that begin at several places."""
    pages, draws = kind
    middle = float(np.median(begins))
    step = middle / STEPS
    end = max(float(pieces.edges[-1, 1]), math.e * middle + 2 * SETTLED)
    grid = np.arange(0, end + step, step)
    course = amplification_course(begins, max(round(pages / joined), 2), grid, draws=draws)
    settled = course[:, -round(SETTLED / step) :].mean(axis=1)
    zeros = np.zeros((begins.size, 1))
    programmed = np.concatenate([zeros, np.cumsum(course, axis=1) * step], axis=1)
    widths = np.diff(pieces.edges, axis=1)[:, 0]
    rise = pieces.times - plain
    found = []
    for at, total in enumerate(programmed):
        ends = np.interp(pieces.edges, grid, total)
        more = (ends[:, 1] - ends[:, 0]) / widths - 1
        # Errors grow with the root of the rise, which is at least a quarter.
        weights = np.maximum(more, 0.25) ** -0.5
        size = max(float((weights * more) @ more), NEGLIGIBLE)
        cost = max(float((weights * more) @ rise) / size, 0.0)
        left = rise - cost * more
        squares = float(weights @ left**2)
        found.append(_Fit(float(begins[at]), pages, draws, float(settled[at]), cost, squares, left))
    return found


def _together(left: NDArray[np.float64]) -> float:
    """Say how many neighbours are off together."""
    centred = left - left.mean()
    scale, together = max(float(centred @ centred), 1e-30), 1.0
    for lag in range(1, left.size // 4):
        alike = float(centred[lag:] @ centred[:-lag]) / scale
        if alike <= 0:
            break
        together += 2 * alike
    return together
