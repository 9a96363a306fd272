"""Two conditions held against each other: how much longer one takes, or that it does not.

Rows of a stratum were measured together, so that drift and other users met both conditions alike:
of each stratum the logarithm of the ratio counts, of its medians. Over strata these are as good as
independent; the likelihood ratio of their mean against none is that of Student's test.
"""

from __future__ import annotations

import math
from typing import TYPE_CHECKING

import numpy as np

from ssdscope import stats
from ssdscope.inference.levels import ENDS, NEGLIGIBLE, NORMAL
from ssdscope.inference.series import Series, Weighed, group_medians, nothing

if TYPE_CHECKING:
    from numpy.typing import ArrayLike, NDArray

__all__ = ["contrast", "ratio_of_means", "signed"]

CLIPPED = 0.1
"""Of the strata, those farthest from the median: a spike counts as much as the nearest of these."""


def contrast(series: Series, *, share: float = 1.0) -> Weighed:
    """Compare what has `x` 1 with what has `x` 0, within strata.

    Parameters
    ----------
    share
        Of the error of 5 % that the interval may use: of looks at a series that grows, each has
        its own.

    Returns
    -------
    Weighed
        The estimate is the ratio of the two, with its interval; the effect by how much the slower
        exceeds the faster, as a share; the bound the same at the far end of the interval.
    """
    ratios = _ratios(series.kept())
    if ratios.size < 3:
        return nothing()
    from scipy.special import stdtrit

    clipped = _clipped(ratios)
    mean, freedom = float(clipped.mean()), clipped.size - 1
    # Winsorised values scatter less than their mean does (Tukey and McLaughlin 1963).
    error = float(clipped.std(ddof=1)) / ((1 - CLIPPED) * math.sqrt(clipped.size))
    half = float(stdtrit(freedom, 1 - ENDS[0] * share)) * error
    t = abs(mean) / error if error > 0 else (math.inf if mean else 0.0)
    score = clipped.size / 2 * math.log1p(t**2 / freedom) if t < math.inf else math.inf
    return _within(mean, half, score)


def _within(middle: float, half: float, score: float) -> Weighed:
    """Return a ratio by its logarithm, and half of the interval of that.

    Few that scatter by orders of magnitude bound nothing: numpy gives infinity there.
    """
    with np.errstate(over="ignore"):
        low, high = (float(np.exp(middle + each)) for each in (-half, half))
        bound = float(np.expm1(abs(middle) + half))
    return Weighed(math.exp(middle), (low, high), score, math.expm1(abs(middle)), bound)


def _clipped(ratios: NDArray[np.float64]) -> NDArray[np.float64]:
    """Clip as far above the median as below: of spikes on both sides neither may count alone."""
    middle = np.median(ratios)
    far = np.quantile(np.abs(ratios - middle), 1 - CLIPPED)
    return np.clip(ratios, middle - far, middle + far)


def ratio_of_means(
    one: ArrayLike, other: ArrayLike, pieces: int, *, seed: int = 0
) -> tuple[float, float, float]:
    """Give the ratio of two means, and its interval of 95 %, by resampling long pieces of either.

    Rare long waits make most of a mean, and come in bursts, so that single values are no sample.

    Parameters
    ----------
    one, other : array_like, shapes (n,) and (m,)
        In order of time.
    pieces
        Of either, as many as hold several waits each.
    """
    sides = [np.asarray(each, dtype=float) for each in (one, other)]
    means = [np.array([part.mean() for part in np.array_split(each, pieces)]) for each in sides]
    draws = [
        stats.block_bootstrap(each, np.mean, seed=seed + side) for side, each in enumerate(means)
    ]
    low, high = (float(each) for each in stats.percentile_interval(draws[0] / draws[1]))
    return float(sides[0].mean() / sides[1].mean()), low, high


def signed(differences: ArrayLike) -> Weighed:
    """Say whether differences of logarithms lie above nothing, or below.

    Each counts by the rank of its size, as a normal quantile (van der Waerden): of a small shift
    among waits that are a hundred times as long means see little.

    Parameters
    ----------
    differences : array_like, shape (n,)
        Of what was measured together; NaN counts for nothing.

    Returns
    -------
    Weighed
        As of `contrast`; the estimate is the ratio that the median stands for.
    """
    from scipy.special import ndtri
    from scipy.stats import rankdata

    values = np.asarray(differences, dtype=float)
    values = values[~np.isnan(values)]
    if values.size < 3:
        return nothing()
    sizes = ndtri((1 + rankdata(np.abs(values)) / (values.size + 1)) / 2)
    scores = np.sign(values) * sizes
    along = float(scores.sum()) / math.sqrt(values.size * float(sizes @ sizes))
    score = -values.size / 2 * math.log(max(1 - along**2, NEGLIGIBLE))
    shift = float(np.median(values))
    # By ranks a shift may have another sign than the median: then it is of neither.
    score = score if shift * along > 0 else 0.0
    half = abs(shift) * NORMAL / math.sqrt(2 * score) if score > 0 else abs(shift)
    return _within(shift, half, score)


def _ratios(kept: Series) -> NDArray[np.float64]:
    """Give the logarithm of the ratio of the two medians of each stratum that has both."""
    logs = np.log(np.maximum(kept.y, np.finfo(float).tiny))
    strata, of = np.unique(kept.stratum, return_inverse=True)
    sides = group_medians(logs, 2 * of + (kept.x > 0.5), 2 * strata.size).reshape(-1, 2)
    ratios = sides[:, 1] - sides[:, 0]
    return ratios[~np.isnan(ratios)]
