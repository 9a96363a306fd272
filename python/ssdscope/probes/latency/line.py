"""A line through latencies by size: what a request costs, what each byte of it costs.

Where means lie on the line of least squares, the small sizes tell it best; where they lie beside it
by more than they scatter, only each size tells where it is. Which holds is not known beforehand: a
curve is taken as a line and what lies beside it, a random function partly alike at neighbouring
sizes (universal kriging, Matheron 1969). How far it strays has a likelihood; curves are drawn by
it, and the line through each is one draw of what the line may be.
"""

from __future__ import annotations

import math
from typing import TYPE_CHECKING

import numpy as np

from ssdscope.inference.levels import ENDS
from ssdscope.inference.series import Series, Weighed, nothing
from ssdscope.seeds import stream

if TYPE_CHECKING:
    from numpy.typing import NDArray

__all__ = ["line"]

LEAST_SIZES = 4
DRAWS = 1000
STRAYS = (0.0, *np.geomspace(1e-4, 0.5, 18))
"""Standard deviations of what lies beside a line, as a share of it, from nothing to half."""
NEIGHBOURS = 8
"""Parts of the sizes within which the curve lies beside the line to the same side."""
CLOCK = 1e-6
"""Scatter, as a share, below which means are as exact as they are told."""


def line(series: Series, *, seed: int = 0) -> tuple[Weighed, Weighed]:
    """Fit the line of ordinary least squares through the mean at each `x`.

    Parameters
    ----------
    series
        Every `x` in every stratum; strata are alike but for chance.
    seed
        Of the draws.

    Returns
    -------
    intercept, slope : Weighed
        With intervals, and effects as shares of the value at the least `x`. `detail` has
        ``missed``, the root mean square by which the line misses the curve, as shares of it, and
        ``missed_most``, its upper end; ``bent``, by what share the line through the lower half
        of the sizes has another intercept, or slope, at least.
    """
    kept = series.kept()
    sizes = np.unique(kept.x)
    table = _table(kept, sizes)
    if sizes.size < LEAST_SIZES or len(table) < LEAST_SIZES:
        return nothing(), nothing()
    means = table.mean(axis=0)
    errors = table.std(axis=0, ddof=1) / math.sqrt(len(table)) / means
    curves = _curves(sizes, means, errors, stream(seed, "inference.line"))
    lines, lower = _fits(sizes, curves), _fits(sizes, curves, sizes.size // 2)
    beside = (lines[0] + np.outer(sizes, lines[1])) / curves.T - 1
    missed = np.sqrt((beside**2).mean(axis=0))
    detail = {
        "missed": float(np.median(missed)),
        "missed_most": float(np.quantile(missed, ENDS[1])),
    }
    spans = 1.0, float(sizes[-1] - sizes[0])
    every = zip(lines, lower, spans, strict=True)
    intercept, slope = (_weighed(*each, float(means[0]), detail) for each in every)
    return intercept, slope


def _table(kept: Series, sizes: NDArray[np.float64]) -> NDArray[np.float64]:
    """Arrange values as (strata, sizes), of those strata that have all."""
    rows = []
    for stratum in np.unique(kept.stratum):
        there = kept.stratum == stratum
        at, values = np.searchsorted(sizes, kept.x[there]), kept.y[there]
        counts = np.bincount(at, minlength=sizes.size)
        if counts.min() > 0:
            rows.append(np.bincount(at, values, minlength=sizes.size) / counts)
    return np.array(rows).reshape(-1, sizes.size)


def _curves(
    sizes: NDArray[np.float64],
    means: NDArray[np.float64],
    errors: NDArray[np.float64],
    rng: np.random.Generator,
) -> NDArray[np.float64]:
    """Draw curves that may lie behind the means, shape (draws, sizes)."""
    places = np.arange(sizes.size)
    near = np.exp(-np.abs(places[:, None] - places) * NEIGHBOURS / sizes.size)
    alike = (np.eye(sizes.size) + near) / 2
    design = np.column_stack([np.ones_like(sizes), sizes / sizes[-1]]) / means[:, None]
    scatter = np.diag(np.maximum(errors, CLOCK) ** 2)
    fits = [_with_stray(stray**2 * alike, scatter, design) for stray in STRAYS]
    scores = np.array([score for score, _, _ in fits])
    shares = np.exp(scores - scores.max())
    curves = []
    for (_, best, root), stray, count in zip(
        fits, STRAYS, rng.multinomial(DRAWS, shares / shares.sum()), strict=True
    ):
        if not count:
            continue
        lines = design @ (best[:, None] + root @ rng.normal(size=(2, count)))
        strays = stray**2 * alike
        gain = np.linalg.solve(strays + scatter, strays).T
        free = np.linalg.cholesky(strays - gain @ strays + CLOCK**2 * np.eye(sizes.size))
        beside = gain @ (1 - lines) + free @ rng.normal(size=(sizes.size, count))
        curves.append((lines + beside).T * means)
    return np.concatenate(curves)


def _with_stray(
    strays: NDArray[np.float64], scatter: NDArray[np.float64], design: NDArray[np.float64]
) -> tuple[float, NDArray[np.float64], NDArray[np.float64]]:
    """Give the restricted log likelihood of relative means, the best line, and its scatter."""
    root = np.linalg.cholesky(strays + scatter)
    terms = np.linalg.solve(root, design)
    values = np.linalg.solve(root, np.ones(len(design)))
    inverse = np.linalg.inv(terms.T @ terms)
    best = inverse @ (terms.T @ values)
    left = values - terms @ best
    halves = np.log(np.diag(root)).sum() - np.linalg.slogdet(inverse)[1] / 2
    return float(-halves - left @ left / 2), best, np.linalg.cholesky(inverse)


def _fits(
    sizes: NDArray[np.float64], curves: NDArray[np.float64], first: int | None = None
) -> NDArray[np.float64]:
    """Give intercept and slope through each curve, or through its first sizes; shape (2, n)."""
    slope, intercept = np.polyfit(sizes[:first], curves[:, :first].T, 1)
    return np.array([intercept, slope])


def _weighed(
    draws: NDArray[np.float64],
    lower: NDArray[np.float64],
    span: float,
    least: float,
    detail: dict[str, float],
) -> Weighed:
    best, deviation = float(draws.mean()), float(draws.std(ddof=1))
    low, high = (float(each) for each in np.quantile(draws, ENDS))
    score = (best / deviation) ** 2 / 2 if deviation > 0 else math.inf
    apart = np.abs(lower - draws) / max(abs(best), np.finfo(float).tiny)
    bent = detail | {"bent": float(np.quantile(apart, ENDS[0]))}
    share, bound = best * span / least, max(high, 0.0) * span / least
    return Weighed(best, (low, high), score if best > 0 else 0.0, share, bound, (), bent)
