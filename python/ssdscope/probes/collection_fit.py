"""Fits the course of write amplification to the times of uniform overwrites.

The time of a write is T1 + c (A - 1): T1 is seen before anything is collected, the course A of
`stats.amplification_course` is known but for where it begins (the spare space) and for the size of
the blocks, and c is a factor. How much longer the first writes that wait take than settled ones
tells the size of blocks, and with it A itself.
"""

from __future__ import annotations

import math
from dataclasses import dataclass
from typing import TYPE_CHECKING

import numpy as np

from ssdscope import stats
from ssdscope.findings import Axis, Course, Exhibit, series

if TYPE_CHECKING:
    from numpy.typing import NDArray

    Numbers = NDArray[np.float64]

PAGES = (4, 6, 8, 12, 16, 24, 32, 48, 64, 96, 128, 192, 300)
"""Of blocks; more of them make no difference."""
LEAST = 0.01
"""Of the capacity: before, buffers and tables fill."""
LEAST_BEHIND, FEWEST = 2, 16
"""Times what is before a rise, that is looked at behind it; and pieces at least."""
AROUND = np.linspace(0.85, 1.1, 26)
"""Times the place of the rise: spare space that is tried."""
GROWTH = 1.03
"""Times the place: where the next piece begins, as later ones tell less."""
WARM, BEFORE = 0.25, 0.95
"""Times the spare space: from where on tables are filled; and until where nothing is collected."""
FINE, FINER, FINER_BELOW = 0.01, 0.005, 0.15
"""Of the capacity: steps of the course; those of little spare space."""
SETTLED = 0.25
"""Of the capacity, at the end: settled."""
USUAL_PAGES, SPREAD = 96, 1.0
"""Of blocks, and how far others are from that: in logarithm, as a standard deviation."""
DEVIATIONS = 2.0
"""Standard deviations of the interval."""
EVEN, LEAST_RISE = 0.5, 0.3
"""Errors go with the root of the rise, which is at least so much."""


@dataclass(frozen=True)
class Times:
    """Mean times of writes between two places each: edges, shape (n, 2), and times, shape (n,)."""

    edges: Numbers
    times: Numbers

    def pieces(self, first: float) -> Times:
        """Join them to pieces that become longer with the place, from a place on."""
        kept = np.flatnonzero(self.edges.mean(axis=1) > first)
        begins = [int(kept[0])]
        for index in kept:
            if self.edges[index, 1] > GROWTH * self.edges[begins[-1], 0] and index > begins[-1]:
                begins.append(int(index))
        ends = [*begins[1:], int(kept[-1]) + 1]
        edges = [
            (self.edges[i, 0], self.edges[j - 1, 1]) for i, j in zip(begins, ends, strict=True)
        ]
        means = [self.times[i:j].mean() for i, j in zip(begins, ends, strict=True)]
        return Times(np.array(edges), np.array(means))


@dataclass(frozen=True)
class CourseFit:
    """The best course.

    Attributes
    ----------
    amplification, low, high
        Settled: the mean of all courses by how well they fit, and two deviations from it.
    of_any_size
        The same if blocks may hold any number of pages.

        All of writes of single units, of which a block holds more than of joined ones.
    spare, pages
        Where collection begins to be waited for, as a share of the capacity; pages of a block.
    plain, cost
        Of a write where nothing is collected; of one more program.
    misfit
        Root mean square of what is left, over the greatest rise.
    pieces, fitted
        What was fitted, and the times of the best course there; shape (n,).
    """

    amplification: float
    of_any_size: float
    low: float
    high: float
    spare: float
    pages: int
    plain: float
    cost: float
    misfit: float
    pieces: Times
    fitted: Numbers

    @property
    def slowdown(self) -> float:
        """How many times longer settled writes take."""
        return float(self.fitted[-1]) / self.plain


@dataclass(frozen=True)
class _Fits:
    """Of one size of blocks, by spare space; shapes (s,), and (s, n) of what was fitted."""

    squares: Numbers
    settled: Numbers
    plain: Numbers
    cost: Numbers
    fitted: Numbers


def fit_course(
    times: Times, *, blind: bool, most_pages: float = math.inf, joined: int = 1
) -> CourseFit:
    """Fit a course.

    Parameters
    ----------
    blind
        How victims are chosen.
    most_pages
        No block holds more requests.
    joined
        Units that each request wrote together: their course is that of so much smaller blocks.
    """
    about = _rise(times)
    spares, pieces = about * AROUND, times.pieces(max(WARM * about, LEAST))
    all_of_them = [_fits(pieces, spares, pages, blind=blind) for pages in PAGES]
    squares = np.array([each.squares for each in all_of_them])
    settled = _of_single_units(np.array([each.settled for each in all_of_them]), joined)
    kept = int(np.searchsorted(PAGES, max(most_pages, PAGES[0]), side="right"))
    size, place = np.unravel_index(int(squares[:kept].argmin()), squares[:kept].shape)
    best = all_of_them[int(size)]
    plain = float(best.plain[place])
    off = pieces.times - best.fitted[place]
    independent = off.size / _together(off)
    mean, deviation = _weighed(squares[:kept], settled[:kept], independent)
    of_any, _ = _weighed(squares, settled, independent)
    rise = max(float(pieces.times.max()) - plain, 1e-9 * plain)
    return CourseFit(
        amplification=float(np.exp(mean)),
        of_any_size=float(np.exp(of_any)),
        low=float(np.exp(mean - DEVIATIONS * deviation)),
        high=float(np.exp(mean + DEVIATIONS * deviation)),
        spare=float(spares[place]),
        pages=PAGES[int(size)],
        plain=plain,
        cost=float(best.cost[place]),
        misfit=float(np.sqrt(np.mean(off**2))) / rise,
        pieces=pieces,
        fitted=best.fitted[place],
    )


def _of_single_units(settled: Numbers, joined: int) -> Numbers:
    """Give what the same blocks come to, by size, if not several units are written together."""
    sizes = np.log(PAGES)
    wanted = sizes + math.log(joined)
    return np.transpose([np.interp(wanted, sizes, of_spare) for of_spare in settled.T])


def _together(off: Numbers) -> float:
    """Say how many neighbours are off together: blocks are collected at the same time on planes."""
    centred = off - off.mean()
    scale, together = float(centred @ centred), 1.0
    for lag in range(1, off.size // 4):
        alike = float(centred[lag:] @ centred[:-lag]) / max(scale, 1e-30)
        if alike <= 0:
            break
        together += 2 * alike
    return together


def _weighed(squares: Numbers, settled: Numbers, independent: float) -> tuple[float, float]:
    """Give mean and standard deviation of the logarithm, over sizes of blocks and spare spaces."""
    sizes = np.array(PAGES[: len(squares)])
    usual = (np.log(sizes / USUAL_PAGES) / SPREAD) ** 2
    likelihood = -0.5 * (independent * np.log(squares / squares.min()) + usual[:, None])
    weights = np.exp(likelihood - likelihood.max())
    weights /= weights.sum()
    logs = np.log(settled)
    mean = float((weights * logs).sum())
    return mean, float(np.sqrt((weights * (logs - mean) ** 2).sum()))


def _rise(times: Times) -> float:
    """Give the place that best parts two levels, of what is before it and as much again behind."""
    kept = times.edges[:, 0] > LEAST
    edges, logs = times.edges[kept], np.log(times.times[kept])
    size = logs.size
    while True:
        parts = np.arange(2, size - 2)
        sums, squares = np.cumsum(logs[:size]), np.cumsum(logs[:size] ** 2)
        before = squares[parts - 1] - sums[parts - 1] ** 2 / parts
        behind = squares[-1] - squares[parts - 1]
        behind -= (sums[-1] - sums[parts - 1]) ** 2 / (size - parts)
        place = int(parts[np.argmin(before + behind)])
        shorter = max(LEAST_BEHIND * place, FEWEST)
        if shorter >= size:
            return float(edges[place, 0])
        size = shorter


def _fits(pieces: Times, spares: Numbers, pages: int, *, blind: bool) -> _Fits:
    step = FINER if spares.min() < FINER_BELOW else FINE
    edges = np.arange(0, pieces.edges[-1, 1] + step, step)
    course = stats.amplification_course(spares, pages, edges, blind=blind)
    settled = course[:, -max(int(SETTLED / step), 1) :].mean(axis=1)
    written = np.concatenate([np.zeros((spares.size, 1)), np.cumsum(course, axis=1) * step], axis=1)
    widths = np.diff(pieces.edges, axis=1)[:, 0]
    rows = []
    for spare, programmed in zip(spares, written, strict=True):
        ends = np.interp(pieces.edges, edges, programmed)
        more = (ends[:, 1] - ends[:, 0]) / widths - 1
        before = pieces.edges[:, 1] < BEFORE * spare
        plain = float(pieces.times[before].mean() if before.any() else pieces.times[0])
        weights = np.maximum(more, LEAST_RISE) ** -EVEN
        rise = pieces.times - plain
        cost = max(float((weights * more) @ rise / max((weights * more) @ more, 1e-12)), 0.0)
        squares = float(weights @ (rise - cost * more) ** 2)
        rows.append((squares, plain, cost, plain + cost * more))
    squares_of, plains, costs, fitted = zip(*rows, strict=True)
    return _Fits(np.array(squares_of), settled, np.array(plains), np.array(costs), np.array(fitted))


def exhibit_of_course(fit: CourseFit) -> Exhibit:
    """Show what was measured, and what was fitted."""
    at = fit.pieces.edges.mean(axis=1)
    return Exhibit(
        name="uniform-overwrites",
        title="Uniform overwrites of a full drive",
        caption="Mean time of a write, and what the course of write amplification comes to.",
        x=Axis("overwritten, as a share of the capacity"),
        y=Axis("time of a write", "ns"),
        series=(series("measured", at, fit.pieces.times, "points"),),
        fitted=(Course(word="theory", x=tuple(at.tolist()), y=tuple(fit.fitted.tolist())),),
    )
