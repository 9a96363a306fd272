"""Where runs that begin alike come to an end that they share, but for what was left in the way.

A memory that was emptied takes the same each time, less what an earlier run has left behind: so the
end of each run lies within a width before the place sought. At its end every run waits, and behind
it more values are large than before: all of them, or a few that are very large. At each of many
thresholds the values above are counted, and of each run the end is sought, at a value above, before
and behind which the counts are likeliest with two shares for all runs. Against one share for all
values counts what these gain, less where large values come in bursts (`noise`), and that all runs
wait at their ends, less what it takes to name these. Then place and width are those under which the
ends are likely, a few of which may lie anywhere.
"""

from __future__ import annotations

import math
from typing import TYPE_CHECKING

import numpy as np

from ssdscope.inference.levels import ENDS, SPLIT_LEAST
from ssdscope.inference.noise import inflation, likelihood, share_gains
from ssdscope.inference.series import Rival, Series, Weighed, nothing
from ssdscope.inference.step import thresholds

if TYPE_CHECKING:
    from numpy.typing import NDArray

__all__ = ["filled"]

LEVELS = 24
"""Thresholds between the least and the largest value, beside those among many values."""
TURNS = 4
"""In which shares and ends are fitted to each other."""
WIDEST, WIDTHS, PLACES = 1 / 10, 24, 400
"""Of the place: how far before it a run may end; and how many widths and places are tried."""
ELSEWHERE = 0.1
"""Of the runs, that end somewhere else."""


def filled(series: Series, above: float = 0.0) -> Weighed:
    """Find the place before which runs end.

    Parameters
    ----------
    series
        The stratum is the run; all have the same evenly spaced `x`, ascending.
    above
        Only values above it count: what drifts is below.

    Returns
    -------
    Weighed
        The effect is by how much the mean is larger behind the ends. `detail` has ``first`` and
        ``last``, the least and the largest end.
    """
    kept = series.kept()
    runs = np.unique(kept.stratum)
    places = np.unique(kept.x)
    if places.size < 2 * SPLIT_LEAST or len(kept) != runs.size * places.size:
        return nothing()
    table = kept.y[np.lexsort((kept.x, kept.stratum))].reshape(runs.size, places.size)
    lowest = max(above, float(kept.y.min()), 1.0)
    levels = np.geomspace(lowest, max(kept.y.max(), lowest), LEVELS)
    every = np.union1d(thresholds(kept.y, lowest), levels)
    splits = (_split(table > each) for each in every)
    score, ends = max(
        (each for each in splits if each), key=lambda each: each[0], default=(0, None)
    )
    if ends is None:
        return nothing()
    step = float(places[1] - places[0])
    best, interval, margin = _shared(places[ends], step)
    behind = np.arange(places.size) >= ends[:, None]
    effect = float(table[behind].mean() / table[~behind].mean() - 1)
    detail = {"first": float(places[ends.min()]), "last": float(places[ends.max()])}
    rivals = (Rival("ends here and there", margin),)
    return Weighed(best, interval, max(score, 0.0), effect, effect, rivals, detail)


def _split(above: NDArray[np.bool_]) -> tuple[float, NDArray[np.int64]] | None:
    """Give how much speaks for an end of each run, and where it is."""
    count = above.shape[1]
    left, gains = share_gains(above.T.ravel(), SPLIT_LEAST * len(above))
    if not (gains > 0).any():
        return None
    first = int(left[np.argmax(gains)]) // len(above)
    ends = np.full(len(above), first)
    for _ in range(TURNS):
        is_behind = np.arange(count) >= ends[:, None]
        shares = [
            (float(above[part].sum()) + 0.5) / (float(part.sum()) + 1)
            for part in (~is_behind, is_behind)
        ]
        if shares[1] <= shares[0]:
            return None
        said = np.where(
            above, math.log(shares[1] / shares[0]), math.log((1 - shares[1]) / (1 - shares[0]))
        )
        gained = said[:, ::-1].cumsum(axis=1)[:, ::-1]
        gained[~above] = -np.inf
        gained[:, :SPLIT_LEAST] = gained[:, count - SPLIT_LEAST :] = -np.inf
        windows = [gained[:, at - int(WIDEST * at) : at + 1] for at in range(count)]
        sums = [float(each.max(axis=1).sum()) for each in windows]
        at = int(np.argmax(sums))
        if math.isinf(sums[at]):
            return None
        ends = at - int(WIDEST * at) + np.argmax(windows[at], axis=1)
    places = np.arange(count)
    parts = [above[places < ends[:, None]], above[places > ends[:, None]], above]
    if parts[1].mean() <= parts[0].mean():
        return None
    one, other, every = (float(likelihood(int(part.sum()), part.size)) for part in parts)
    weight = max(inflation(part) for part in parts[:2])
    named = math.log(count) + len(above) * math.log1p(int(np.ptp(ends)))
    return (one + other - every) / weight - named, ends


def _shared(ends: NDArray[np.float64], step: float) -> tuple[float, tuple[float, float], float]:
    """Give the place that ends lie before, what it may be, and by how much it beats one elsewhere.

    A run ends within a step of what was seen.
    """
    most = float(ends.max())
    tried = np.linspace(float(ends.min()) - step, most * (1 + WIDEST) + step, PLACES)[:, None, None]
    widths = np.geomspace(step, max(most * WIDEST, step), WIDTHS)[None, :, None]
    before = (ends <= tried + step) & (ends >= tried - widths - step)
    likely = (1 - ELSEWHERE) * before / (widths + 2 * step) + ELSEWHERE / most
    every = np.log(likely).sum(axis=2)
    weights = np.exp(every - every.max()).sum(axis=1)
    shares = np.cumsum(weights) / weights.sum()
    places = tried[:, 0, 0]
    low, high = (float(places[np.searchsorted(shares, each)]) for each in ENDS)
    best, likeliest = float(places @ weights / weights.sum()), every.max(axis=1)
    apart = places < most - max(most * WIDEST / 2, 2 * step)
    elsewhere = float(likeliest[apart].max(initial=len(ends) * math.log(ELSEWHERE / most)))
    return best, (low, high), float(likeliest.max()) - elsewhere
