"""Where a rate drops for good while bytes add up: buffers, fast regions, spare space.

The axis is cumulative bytes, never time, since what fills up is counted in bytes. What fills
a buffer that is being emptied at the same time passes its size before it is full; `undrained`
takes that out again.
"""

from __future__ import annotations

from dataclasses import dataclass
from itertools import pairwise
from typing import TYPE_CHECKING, Any

import numpy as np

from ssdscope.seeds import stream
from ssdscope.stats.bootstrap import percentile_interval
from ssdscope.stats.changepoint import change_points

if TYPE_CHECKING:
    from numpy.typing import ArrayLike, NDArray

MIN_DROP = 0.08
"""A smaller drop is no knee (PROBING 2.5: below it, real drives have knees that are none)."""
REPLICATES = 400


@dataclass(frozen=True)
class Knee:
    """A persistent drop of a rate.

    Attributes
    ----------
    bytes
        Cumulative bytes at which it drops.
    interval_bytes
        Of 95 %: by resampled residuals, and at least the bin it falls in.
    rate_before, rate_after
        Medians of the bins up to it, and from it to the next change, in the units of
        the rates given.
    """

    bytes: float
    interval_bytes: tuple[float, float]
    rate_before: float
    rate_after: float

    @property
    def drop(self) -> float:
        """The share of the rate that is lost."""
        return 1 - self.rate_after / self.rate_before


def binned_rates(sizes: ArrayLike, durations: ArrayLike, bins: int) -> tuple[NDArray[Any], ...]:
    """Turn a stream of requests into rates over bins of equal bytes.

    Parameters
    ----------
    sizes, durations : array_like, shape (n,)
        Bytes of each request, and time from the end of the one before to its own.
    bins : int
        How many, at most n.

    Returns
    -------
    edges : ndarray, shape (bins + 1,)
        Cumulative bytes at the edges of the bins.
    rates : ndarray, shape (bins,)
        Bytes per unit of time.
    """
    moved = np.concatenate([[0.0], np.cumsum(np.asarray(sizes, dtype=float))])
    spent = np.concatenate([[0.0], np.cumsum(np.asarray(durations, dtype=float))])
    edges = np.linspace(0.0, moved[-1], bins + 1)
    times = np.interp(edges, moved, spent)
    return edges, np.diff(edges) / np.maximum(np.diff(times), np.finfo(float).tiny)


def knees(
    edges: ArrayLike, rates: ArrayLike, *, min_drop: float = MIN_DROP, min_bins: int = 5, seed: int
) -> list[Knee]:
    """Find every persistent drop of a rate, in order of bytes.

    A change of level counts if it loses at least `min_drop` and the rate never comes back to
    within half of that of what it was before.

    Parameters
    ----------
    edges : array_like, shape (n + 1,)
        Cumulative bytes at the edges of the bins.
    rates : array_like, shape (n,)
        All positive.
    min_bins : int
        The fewest bins of a level.
    seed : int
        Of the bootstrap.
    """
    at, logs = np.asarray(edges, dtype=float), np.log(np.asarray(rates, dtype=float))
    starts = [0, *change_points(logs, min_bins), len(logs)]
    # Of a level one bin may be half of the next: medians do not see it.
    levels = [float(np.median(logs[a:b])) for a, b in pairwise(starts)]
    needed = -np.log1p(-min_drop)
    found: list[Knee] = []
    first = 0
    for index in range(1, len(levels)):
        before = float(np.median(logs[first : starts[index]]))
        if before - levels[index] < needed or before - max(levels[index:]) < needed / 2:
            continue
        # What splits all of it best may be a few bins that stand out before, and no drop.
        for begin in (first, starts[index - 1]):
            knee, place = _knee(at, logs, slice(begin, starts[index + 1]), seed)
            if knee.rate_after <= (1 - min_drop) * knee.rate_before:
                found.append(knee)
                first = place
                break
    return found


def _knee(at: NDArray[Any], logs: NDArray[Any], span: slice, seed: int) -> tuple[Knee, int]:
    """Place the knee of two levels, and say how surely."""
    part = logs[span]
    split = int(best_splits(part[None, :])[0])
    place = span.start + split
    low, high = _interval(part, split, seed)
    ends = (
        float(min(at[span.start + low], at[place - 1])),
        float(max(at[span.start + high], at[min(place + 1, len(logs))])),
    )
    before, after = float(np.median(part[:split])), float(np.median(part[split:]))
    return Knee(float(at[place]), ends, float(np.exp(before)), float(np.exp(after))), place


def _interval(logs: NDArray[Any], split: int, seed: int) -> tuple[int, int]:
    """Resample blocks of the residuals of two levels, and find the split again."""
    fitted = np.where(np.arange(len(logs)) < split, logs[:split].mean(), logs[split:].mean())
    residuals = logs - fitted
    length = max(1, round(len(logs) ** (1 / 3)))
    rng = stream(seed, "stats.knee")
    count = -(-len(logs) // length)
    begins = rng.integers(0, len(logs), size=(REPLICATES, count, 1))
    rows = (begins + np.arange(length)).reshape(REPLICATES, -1)[:, : len(logs)] % len(logs)
    splits = best_splits(fitted + residuals[rows])
    low, high = percentile_interval(splits)
    return int(np.floor(low)), int(np.ceil(high))


def best_splits(
    series: ArrayLike, min_length: int = 1, min_behind: int | None = None
) -> NDArray[np.int64]:
    """Split each series into two levels by least squares.

    Parameters
    ----------
    series : array_like, shape (m, n)
        One series per row; n at least twice `min_length`.
    min_length : int
        The fewest values on either side.
    min_behind : int, optional
        The fewest of the second level, if not as many.

    Returns
    -------
    ndarray of int64, shape (m,)
        The first index of the second level.
    """
    values = np.asarray(series, dtype=float)
    n = values.shape[1]
    left = np.arange(min_length, n - (min_behind or min_length) + 1)
    deviations = np.cumsum(values - values.mean(axis=1, keepdims=True), axis=1)
    gains = deviations[:, left - 1] ** 2 * (n / (left * (n - left)))
    return np.asarray(left[np.argmax(gains, axis=1)], np.int64)


def undrained(passed_bytes: float, rate_in: float, rate_out: float) -> float:
    """Give the size of a buffer that was emptied while it was filled: ``V (1 - r_out / r_in)``.

    Parameters
    ----------
    passed_bytes
        Bytes taken in before the rate dropped.
    rate_in, rate_out
        The rate before the drop, and behind it, where a byte only enters for one that leaves.
    """
    return passed_bytes * (1 - rate_out / rate_in)
