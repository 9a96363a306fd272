"""What of a burst is in memory when it ends: by reads of what was written so long before."""

from __future__ import annotations

import math
from dataclasses import replace
from typing import TYPE_CHECKING

import numpy as np

from ssdscope.inference.levels import APART, INTERVAL_DROP, QUARTILES
from ssdscope.inference.series import Series, Weighed, nothing
from ssdscope.probes.buffer.extent import extent

if TYPE_CHECKING:
    from numpy.typing import NDArray

__all__ = ["in_memory"]

SLOWER, FEWEST = 1.3, 4
"""Times what comes from memory takes what comes from flash, at least; and reads of either."""


def in_memory(
    reads: Series, slow: float, low: float, high: float, *, surely: float = APART
) -> Weighed:
    """Say how many bytes are in memory at the end of a burst that has filled it.

    What was written so many bytes before the end is there as long as that, and what has left since,
    are less than all. In whatever order data leave, the mean counts (`extent`).

    Parameters
    ----------
    reads
        `x` how many bytes before the end of the burst a block was written, `y` what it took to read
        it, `time_ns` when that began, from the end on.
    slow
        Bytes that leave in a nanosecond.
    low, high
        What is younger is surely in memory, and what is older surely not. Ages between these are
        drawn evenly.
    surely
        The evidence that it takes for an estimate.

    Returns
    -------
    Weighed
        No estimate where both read alike.
    """
    near, far = reads.y[reads.x < low], reads.y[reads.x > high]
    if min(near.size, far.size) < FEWEST:
        return nothing()
    memory, flash = float(np.quantile(near, QUARTILES[1])), float(np.quantile(far, QUARTILES[0]))
    if flash < SLOWER * memory:
        return nothing()
    between = reads.where((reads.x >= low) & (reads.x <= high))
    left = slow * np.maximum(between.time_ns, 0)
    there = between.y < (memory * flash) ** 0.5
    found = extent(Series.of(between.x, there), high - low)
    if found.estimate is None or found.interval is None or found.score < surely:
        return nothing()
    # Until it was read some had left, or none where it is written out for want of room alone.
    stays, leaves = (_cut(between.x + share * left, there) for share in (0.0, 1.0))
    late = float(left[there].mean()) if there.any() else 0.0
    least = late if leaves > stays + INTERVAL_DROP else 0.0
    most = 0.0 if stays > leaves + INTERVAL_DROP else late
    ends = found.interval[0] + low + least, found.interval[1] + low + most
    return replace(found, estimate=found.estimate + low + (least + most) / 2, interval=ends)


def _cut(ages: NDArray[np.float64], there: NDArray[np.bool_]) -> float:
    """Return the log likelihood of one age that parts what is there from what is not."""
    there = there[np.argsort(ages)]
    behind = np.concatenate([[0], np.cumsum(there)])
    before = np.concatenate([[0], np.cumsum(~there)])
    wrong = float((before + behind[-1] - behind).min())
    share = (wrong + 0.5) / (there.size + 1)
    return wrong * math.log(share) + (there.size - wrong) * math.log(1 - share)
