"""The place from which on values are larger, or smaller, for good.

How many requests wait, and how long, is not known beforehand. So at each of many thresholds the
values above are counted, and the place is sought from which on there are more: a likelihood ratio
of two shares against one, at the best threshold. Bursts, in which waits are no independent events,
weaken it by as much as sums of neighbours scatter. Rivals: *drift*, a share that rises evenly;
*return*, that it falls again.
"""

from __future__ import annotations

import math
from dataclasses import dataclass, replace
from typing import TYPE_CHECKING

import numpy as np

from ssdscope.inference.levels import FOUND, INTERVAL_DROP, SPLIT_LEAST
from ssdscope.inference.noise import first_of_each, inflation, likelihood, share_gains
from ssdscope.inference.series import Rival, Series, Weighed, nothing

if TYPE_CHECKING:
    from numpy.typing import NDArray

__all__ = ["first_step", "step", "steps", "thresholds"]

THRESHOLDS = 24
NEWTON_STEPS = 12
DRIFT_DEGREE = 4
"""Of the polynomial that drift may follow: it rises, falls and rises again."""
STEEP = 3.0
"""Standard deviation of its coefficients, in log odds: from one in twenty above a threshold to all
but one in twenty. Without it a polynomial could be as steep as any step."""


def step(
    series: Series,
    *,
    least: int = SPLIT_LEAST,
    falls: bool = False,
    above: float = 0.0,
    at: float | None = None,
) -> Weighed:
    """Find the place from which on values are larger for good.

    Parameters
    ----------
    series
        `x` ascending.
    least
        The fewest values on either side.
    falls
        Whether to look for smaller ones instead.
    above
        If given, only values above it count, which are rare waits: of values over the usual ones
        of their time (`noise`). Those stand out far more than anything drifts, so that drift is no
        rival; and of a row of them, as another user makes, the first counts.
    at
        The `x` from which on they are larger, if that is known, and only asked whether they are.
        Then nothing is a rival: whoever made the step takes drift out of the values.

    Returns
    -------
    Weighed
        The estimate is the `x` of the first value behind the step; the effect by how much the
        mean rises (of what falls: how much larger it was), as a share. `detail` has ``index``,
        ``before``, ``after`` (means) and ``threshold``.
    """
    kept = series.kept()
    if len(kept) < 2 * least:
        return nothing()
    values = -kept.y if falls else kept.y
    flags = (values > each for each in thresholds(values, above))
    # A step is between places: of values at one place it is before the first.
    firsts = np.flatnonzero(np.diff(kept.x) > 0) + 1
    allowed = firsts if at is None else np.searchsorted(kept.x, [at])
    splits = (_split(first_of_each(each) if above else each, least, allowed) for each in flags)
    best = max((each for each in splits if each), key=lambda each: each.score, default=None)
    if best is None:
        return nothing(_bound(kept.y, least))
    found = _weighed(kept, values, best, falls)
    if at is not None:
        return replace(found, rivals=())
    return found if above else found.against([Rival("drift", best.score - _drift(best))])


def first_step(series: Series, score: float = FOUND["step"]) -> Weighed:
    """Find the first of several steps of such a score: what is left when later ones are cut off."""
    found, kept = step(series), series.kept()
    while found.estimate is not None:
        earlier = step(kept.where(kept.x < found.estimate))
        if earlier.estimate is None or earlier.score < score:
            return found
        found = earlier
    return found


def steps(
    series: Series, score: float = FOUND["step"], *, least: int = SPLIT_LEAST
) -> list[Weighed]:
    """Find all places at which values become larger or smaller, ascending.

    Parameters
    ----------
    score
        That each must reach, within the stretch between its neighbours.
    """
    kept = series.kept()
    both = [step(kept, least=least, falls=falls) for falls in (False, True)]
    best = max(both, key=lambda each: each.score)
    if best.estimate is None or best.score < score:
        return []
    before = steps(kept.where(kept.x < best.estimate), score, least=least)
    behind = steps(kept.where(kept.x >= best.estimate), score, least=least)
    return [*before, best, *behind]


@dataclass(frozen=True)
class _Split:
    """Shares above one threshold before and from an index on, and the indices that do about as."""

    index: int
    low: int
    high: int
    score: float
    above: NDArray[np.bool_]


def thresholds(values: NDArray[np.float64], above: float = 0.0) -> NDArray[np.float64]:
    """Give thresholds, closer together towards either end: what waits may be rare."""
    half = np.geomspace(max(2 / values.size, 1e-4), 0.5, THRESHOLDS // 2)
    every = np.unique(np.quantile(values, np.concatenate([half, 1 - half])))
    return np.unique(np.maximum(every, above)) if above else every


def _split(above: NDArray[np.bool_], least: int, allowed: NDArray[np.int64]) -> _Split | None:
    """Find the place from which on the share is larger, by likelihood over inflation."""
    left, gains = share_gains(above, least)
    gains = np.where(np.isin(left, allowed), gains, -np.inf)
    if not (gains > 0).any():
        return None
    best = int(np.argmax(gains))
    index = int(left[best])
    weight = max(inflation(above[:index]), inflation(above[index:]))
    near = np.flatnonzero(gains >= gains[best] - INTERVAL_DROP * weight)
    return _Split(
        index, int(left[near[0]]), int(left[near[-1]]), float(gains[best]) / weight, above
    )


def _weighed(kept: Series, values: NDArray[np.float64], best: _Split, falls: bool) -> Weighed:
    before, after = kept.y[: best.index], kept.y[best.index :]
    means = float(before.mean()), float(after.mean())
    effect = means[0] / means[1] - 1 if falls else means[1] / means[0] - 1
    return Weighed(
        float(kept.x[best.index]),
        (float(kept.x[best.low - 1]), float(kept.x[min(best.high, len(kept) - 1)])),
        best.score,
        effect,
        effect,
        (Rival("return", _return(best)),),
        {
            "index": float(best.index),
            "before": means[0],
            "after": means[1],
            "threshold": float(abs(values[best.above].min())),
        },
    )


def _drift(best: _Split) -> float:
    """Give the score of odds that follow a polynomial along the series, by Newton's steps."""
    from scipy.special import expit

    above = best.above.astype(float)
    terms = np.polynomial.legendre.legvander(np.linspace(-1, 1, above.size), DRIFT_DEGREE)
    alike = float(likelihood(int(above.sum()), above.size))

    def gained(weights: NDArray[np.float64]) -> float:
        logits = terms @ weights
        steep = float(weights @ weights) / 2 / STEEP**2
        return float((above * logits - np.logaddexp(0, logits)).sum()) - steep - alike

    weights = np.zeros(DRIFT_DEGREE + 1)
    weights[0] = math.log(above.mean() / (1 - above.mean()))
    smooth = 0.0
    for _ in range(NEWTON_STEPS):
        share = expit(terms @ weights)
        curvature = terms.T @ (terms * (share * (1 - share))[:, None])
        curvature += np.eye(weights.size) / STEEP**2
        change = np.linalg.solve(curvature, terms.T @ (above - share) - weights / STEEP**2)
        # Newton's step overshoots where few are above.
        tries = (weights + change / 2**halvings for halvings in range(NEWTON_STEPS))
        better = next((each for each in tries if gained(each) > smooth), None)
        if better is None:
            break
        weights, smooth = better, gained(better)
    before, behind = above[: best.index], above[best.index :]
    split = sum(float(likelihood(int(part.sum()), part.size)) for part in (before, behind)) - alike
    if split <= 0:
        return 0.0
    # A step has three parameters; each one more costs half the logarithm of the count (Schwarz).
    return (smooth * best.score / split) - (weights.size - 3) / 2 * math.log(above.size)


def _return(best: _Split) -> float:
    """Say by how much what comes last speaks against a return to what was before."""
    behind = best.above[best.index :]
    last = behind[behind.size // 2 :]
    before = best.above[: best.index]
    hits, count = int(last.sum()), last.size
    share = (before.sum() + 0.5) / (before.size + 1)
    if hits <= share * count:
        return 0.0
    alike = hits * math.log(share) + (count - hits) * math.log1p(-share)
    return (float(likelihood(hits, count)) - alike) / inflation(last)


def _bound(y: NDArray[np.float64], least: int) -> float:
    """Give what the mean of one half may be above that of the other, as a share, at 95 %."""
    pieces = min(least, y.size // 2)
    length = y.size // pieces
    means = y[: pieces * length].reshape(pieces, length).mean(axis=1)
    error = float(means.std(ddof=1)) * math.sqrt(4 / pieces) if pieces > 1 else math.inf
    return 2 * error / max(float(y.mean()), np.finfo(float).tiny)
