"""Write amplification along uniform overwrites, from a drive that was filled in order on.

A mean-field model. Blocks hold `n` pages; of a block with k valid pages one becomes stale at the
rate k / U while U pages of data are overwritten at random. As long as there is spare space nothing
is collected; from then on as much is freed as is written. A drive that *chooses* takes the blocks
with the fewest valid pages, one that draws *blindly* any that holds something stale. What is
copied fills blocks of its own.

At first the oldest data are collected, of which a share of 1 - exp(-w) is stale after w capacities:
the amplification begins at that, falls while they are being used up, and settles. Small blocks
differ more in what they hold, and a drive that chooses finds emptier ones: theirs begins lower.
In the limit of large blocks it settles at `write_amplification`.
"""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

import numpy as np

if TYPE_CHECKING:
    from numpy.typing import ArrayLike, NDArray

STEPS_PER_PAGE = 2.0
LEAST_STEPS = 4


def amplification_course(
    spares: ArrayLike, pages: int, edges: ArrayLike, *, blind: bool = False
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
    blind
        Whether victims are drawn from all blocks that hold anything stale.

    Returns
    -------
    ndarray, shape (s, n)
    """
    spare = np.asarray(spares, dtype=float)[:, None]
    at = np.asarray(edges, dtype=float)
    valid = np.arange(pages + 1, dtype=float)
    steps = max(int(np.ceil((at[1] - at[0]) * STEPS_PER_PAGE * pages)), LEAST_STEPS)
    step = (at[1] - at[0]) / steps
    collected = _drawn if blind else _chosen
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
            victims = collected(blocks, np.clip(written - spare, 0, step), pages - valid)
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
    taken: NDArray[Any] = np.clip(needed - before, 0, frees)
    taken[:, :-1] /= stale[:-1]
    return taken


def _drawn(blocks: NDArray[Any], needed: NDArray[Any], stale: NDArray[Any]) -> NDArray[Any]:
    """Take the same share of all that free anything."""
    frees = (blocks * stale).sum(axis=1, keepdims=True)
    taken: NDArray[Any] = blocks * np.minimum(needed / np.maximum(frees, 1e-12), 1)
    taken[:, -1] = 0
    return taken
