"""Write amplification along uniform overwrites, from a drive that was filled in order on.

A mean-field model. Blocks hold `n` pages; of a block with k valid pages one becomes stale at the
rate k / U while U pages of data are overwritten at random. As long as there is spare space nothing
is collected; from then on as much is freed as is written. A drive that *chooses* takes the blocks
with the fewest valid pages of all that hold something stale, or of as many as it *draws*; one that
draws a single one is blind. What is copied fills blocks of its own.

At first the oldest data are collected, of which a share of 1 - exp(-w) is stale after w capacities:
the amplification begins at that, falls while they are being used up, and settles. Small blocks
differ more in what they hold, and a drive that chooses finds emptier ones: theirs begins lower.
In the limit of large blocks it settles at `write_amplification`.
"""

from __future__ import annotations

from functools import partial
from typing import TYPE_CHECKING, Any

import numpy as np

if TYPE_CHECKING:
    from numpy.typing import ArrayLike, NDArray

STEPS_PER_PAGE = 2.0
LEAST_STEPS = 4


def amplification_course(
    spares: ArrayLike, pages: int, edges: ArrayLike, *, draws: int | None = None
) -> NDArray[Any]:
    """Give the mean write amplification between some places of uniform overwrites.

    Parameters
    ----------
    spares : array_like, shape (s,)
        Spare space as a share of the data; positive.
    pages
        Of a block.
    edges : array_like, shape (n + 1,)
        Overwritten so far, as a share of the data; evenly spaced, from 0 on.
    draws
        How many blocks each victim is the best of; None if of all.

    Returns
    -------
    ndarray, shape (s, n)
    """
    spare = np.asarray(spares, dtype=float)[:, None]
    at = np.asarray(edges, dtype=float)
    valid = np.arange(pages + 1, dtype=float)
    steps = max(int(np.ceil((at[1] - at[0]) * STEPS_PER_PAGE * pages)), LEAST_STEPS)
    step = (at[1] - at[0]) / steps
    collected = _chosen if draws is None else partial(_drawn, draws=draws)
    blocks = np.zeros((spare.size, pages + 1))
    blocks[:, pages] = 1 / pages
    course = np.empty((spare.size, at.size - 1))
    for index in range(at.size - 1):
        copies = np.zeros(spare.size)
        for part in range(steps):
            flow = blocks * (valid * step)
            blocks -= flow
            blocks[:, :-1] += flow[:, 1:]
            blocks[:, pages] += step / pages
            written = at[index] + (part + 1) * step
            needed = np.minimum(np.maximum(written - spare, 0), step)
            if not needed.any():
                continue
            victims = collected(blocks, needed, pages - valid)
            blocks -= victims
            copied = victims @ valid
            blocks[:, pages] += copied / pages
            copies += copied
        course[:, index] = 1 + copies / (steps * step)
    return course


def _chosen(blocks: NDArray[Any], needed: NDArray[Any], stale: NDArray[Any]) -> NDArray[Any]:
    """Take the blocks with the fewest valid pages that free as many as are needed."""
    frees = blocks * stale
    before = np.cumsum(frees, axis=1) - frees
    taken: NDArray[Any] = np.minimum(np.maximum(needed - before, 0), frees)
    taken[:, :-1] /= stale[:-1]
    return taken


def _drawn(
    blocks: NDArray[Any], needed: NDArray[Any], stale: NDArray[Any], draws: int
) -> NDArray[Any]:
    """Take the best of so many draws among all that free anything, again and again."""
    there = blocks.copy()
    there[:, -1] = 0
    total = np.maximum(there.sum(axis=1, keepdims=True), 1e-300)
    # The chance that every draw has more valid pages.
    worse = np.maximum(1 - np.cumsum(there, axis=1) / total, 0) ** draws
    drawn = np.empty_like(worse)
    np.subtract(1, worse[:, 0], out=drawn[:, 0])
    np.subtract(worse[:, :-1], worse[:, 1:], out=drawn[:, 1:])
    frees = (drawn * stale).sum(axis=1, keepdims=True)
    taken: NDArray[Any] = np.minimum(drawn * needed / np.maximum(frees, 1e-12), there)
    return taken
