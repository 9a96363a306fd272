"""Statistics that a few wild values cannot move."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

import numpy as np

if TYPE_CHECKING:
    from numpy.typing import ArrayLike, NDArray

# Makes the median absolute deviation of a normal sample its standard deviation.
NORMAL_CONSISTENCY = 1.482602218505602


def log_median(values: ArrayLike, axis: int | None = None) -> Any:
    """Median taken in the logarithm: for an even count, the geometric middle.

    Parameters
    ----------
    values : array_like
        All positive.
    axis : int, optional
        As in numpy; absent, over everything.
    """
    logs = np.log(np.asarray(values, dtype=float))
    return np.exp(np.median(logs, axis=axis))


def middle_mean(values: ArrayLike, left_out: float = 0.25) -> NDArray[Any]:
    """Mean of the middle of the values along the first axis; of their middle half if not said.

    A share on either side is left out, so that no spike counts; and unlike a median, which
    jumps from one to the other, it moves evenly with the shares of two classes (hits and misses
    of a table, reads that straddle pages and such that do not).

    Parameters
    ----------
    values : array_like, shape (n, ...)
    left_out
        The share of all, on either side; below a half.
    """
    ordered = np.sort(np.asarray(values, dtype=float), axis=0)
    each = int(left_out * len(ordered))
    return np.asarray(ordered[each : len(ordered) - each].mean(axis=0))


def mad(values: ArrayLike) -> float:
    """Median absolute deviation, scaled to the standard deviation of a normal sample."""
    sample = np.asarray(values, dtype=float)
    return float(NORMAL_CONSISTENCY * np.median(np.abs(sample - np.median(sample))))


def shifted_blocks(
    sentinels: ArrayLike, threshold: float = 5.0, min_shift: float = 0.2
) -> NDArray[np.bool_]:
    """Tell which blocks were disturbed, by the control reads that each block holds.

    A disturbance lasts; a drive whose reads fall into two classes (a hit and a miss of some
    cache) does not. So the level of a block is the mean log latency of its sentinels and those
    of its neighbours in time, with the wildest 2 % on either side clipped, which no spike moves
    and which two classes only scatter. A block is disturbed when its level lies more than
    ``threshold`` deviations from that of all blocks, and by at least ``min_shift`` (a share): on
    a quiet drive the deviation is so small that any ripple exceeds it.

    Parameters
    ----------
    sentinels : array_like, shape (blocks, sentinels per block)
        Latencies, all positive, blocks in the order of time.
    threshold : float
        In deviations.
    min_shift : float
        As a share of the level.

    Returns
    -------
    ndarray of bool, shape (blocks,)
    """
    logs = np.log(np.asarray(sentinels, dtype=float))
    levels = np.clip(logs, *np.quantile(logs, [0.02, 0.98])).mean(axis=1)
    reach = min(len(levels) // 64, 7)
    if reach:
        window = np.lib.stride_tricks.sliding_window_view(
            np.pad(levels, reach, mode="edge"), 2 * reach + 1
        )
        levels = window.mean(axis=1)
    shift = np.abs(levels - np.median(levels))
    limit = max(threshold * mad(levels), np.log1p(min_shift))
    return np.asarray(shift > limit)
