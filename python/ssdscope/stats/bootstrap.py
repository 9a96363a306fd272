"""Intervals by resampling whole blocks.

Single I/Os are autocorrelated; blocks that each hold every treatment once are as
good as independent, so the block is what is drawn with replacement.
"""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

import numpy as np

from ssdscope.seeds import stream

if TYPE_CHECKING:
    from collections.abc import Callable

    from numpy.typing import ArrayLike, NDArray

REPLICATES = 2_000


def block_bootstrap(
    blocks: ArrayLike,
    statistic: Callable[[NDArray[Any]], ArrayLike],
    *,
    replicates: int = REPLICATES,
    seed: int = 0,
) -> NDArray[Any]:
    """Apply ``statistic`` to samples of blocks drawn with replacement.

    Parameters
    ----------
    blocks : array_like, shape (n_blocks, ...)
        The first axis is resampled, the others stay together.
    statistic : callable
        Takes an array shaped like ``blocks``, gives a number or a vector.
    replicates : int
        How many samples to draw.
    seed : int
        Of the draws.

    Returns
    -------
    ndarray, shape (replicates, ...)
    """
    data = np.asarray(blocks, dtype=float)
    rng = stream(seed, "stats.bootstrap")
    draws = rng.integers(0, len(data), size=(replicates, len(data)))
    if statistic is np.mean and data.ndim == 1:
        return np.asarray(data[draws].mean(axis=1))
    return np.asarray([statistic(data[draw]) for draw in draws])


def percentile_interval(samples: ArrayLike, confidence: float = 0.95) -> NDArray[Any]:
    """Central interval of bootstrap samples.

    Returns
    -------
    ndarray, shape (2, ...)
        Low and high.
    """
    tail = (1 - confidence) / 2
    return np.asarray(np.quantile(np.asarray(samples, dtype=float), [tail, 1 - tail], axis=0))
