"""A line with a bend: what a request costs, what each byte of it costs, and how far that holds.

Of each size the middle of its values counts, which no spike moves. The line makes relative errors
small. It holds from the smallest size to the largest up to which a second line, that goes on from a
bend, would not explain more than chance lets it (F test, with the scatter between blocks).
"""

from __future__ import annotations

import math
from typing import TYPE_CHECKING

import numpy as np

from ssdscope.inference.series import Rival, Series, Weighed, nothing
from ssdscope.seeds import stream
from ssdscope.stats.fit import fit_line
from ssdscope.stats.robust import middle_mean

if TYPE_CHECKING:
    from numpy.typing import NDArray

__all__ = ["line"]

LEAST_SIZES = 4
REPLICATES = 400


def line(series: Series, bend: float, *, seed: int = 0) -> tuple[Weighed, Weighed]:
    """Fit a line from the smallest `x` on.

    Parameters
    ----------
    series
        Every `x` in every stratum, in whatever order.
    bend
        How much a second line must explain, as a share of the values, to end the first.
    seed
        Of the bootstrap over strata.

    Returns
    -------
    intercept, slope : Weighed
        With intervals. `detail` has ``last``, the largest `x` it holds for, and ``error``, by what
        share it misses the values as a root mean square. The rival of both is a bend: its estimate
        is what they are with the last size left out.
    """
    kept = series.kept()
    sizes = np.unique(kept.x)
    table = _table(kept, sizes)
    if sizes.size < LEAST_SIZES or len(table) < LEAST_SIZES:
        return nothing(), nothing()
    middles = middle_mean(table)
    end = _straight(sizes, middles, bend)
    if end < LEAST_SIZES:
        return nothing(), nothing()
    rng = stream(seed, "inference.line")
    draws = rng.integers(0, len(table), (REPLICATES, len(table)))
    fits = np.array([_fit(sizes[:end], middle_mean(table[draw])[:end]) for draw in draws])
    best = _fit(sizes[:end], middles[:end])
    shorter = _fit(sizes[: end - 1], middles[: end - 1]) if end > LEAST_SIZES else best
    fitted = best[0] + best[1] * sizes[:end]
    error = float(np.sqrt(np.mean((fitted / middles[:end] - 1) ** 2)))
    detail = {"last": float(sizes[end - 1]), "error": error}
    return (
        _weighed(best[0], fits[:, 0], shorter[0], best[0] / middles[0], detail),
        _weighed(best[1], fits[:, 1], shorter[1], best[1] * sizes[end - 1] / middles[0], detail),
    )


def _table(kept: Series, sizes: NDArray[np.float64]) -> NDArray[np.float64]:
    """Arrange values as (strata, sizes), of those strata that have all."""
    rows = []
    for stratum in np.unique(kept.stratum):
        there = kept.stratum == stratum
        at, values = np.searchsorted(sizes, kept.x[there]), kept.y[there]
        if np.bincount(at, minlength=sizes.size).min() > 0:
            rows.append([float(np.median(values[at == one])) for one in range(sizes.size)])
    return np.array(rows).reshape(-1, sizes.size)


def _fit(x: NDArray[np.float64], y: NDArray[np.float64]) -> tuple[float, float]:
    fitted = fit_line(x, y)
    return fitted.intercept, fitted.slope


def _straight(x: NDArray[np.float64], y: NDArray[np.float64], bend: float) -> int:
    """Count the sizes, from the smallest on, that one line explains about as well as two."""
    for end in range(x.size, LEAST_SIZES - 1, -1):
        one = _missed(x[:end], y[:end], None)
        bends = range(2, end - 1)
        two = min((_missed(x[:end], y[:end], x[at]) for at in bends), default=one)
        if math.sqrt(max(one - two, 0.0) / end) <= bend:
            return end
    return 0


def _missed(x: NDArray[np.float64], y: NDArray[np.float64], at: float | None) -> float:
    """Give the sum of squared relative errors of a line, with a bend or without."""
    columns = [np.ones_like(x), x]
    if at is not None:
        columns.append(np.maximum(x - at, 0))
    design = np.column_stack(columns) / y[:, None]
    solution = np.linalg.lstsq(design, np.ones_like(y), rcond=None)[0]
    return float(((design @ solution - 1) ** 2).sum())


def _weighed(
    best: float, fits: NDArray[np.float64], shorter: float, share: float, detail: dict[str, float]
) -> Weighed:
    deviation = float(fits.std(ddof=1))
    low, high = (float(each) for each in np.quantile(fits, [0.025, 0.975]))
    score = (best / deviation) ** 2 / 2 if deviation > 0 else math.inf
    apart = ((shorter - best) / deviation) ** 2 / 2 if deviation > 0 else 0.0
    rivals = (Rival("bend", score - apart, shorter),)
    return Weighed(best, (low, high), score if best > 0 else 0.0, share, share, rivals, detail)
