"""Writes that wait for collection: how long they take over the usual ones of their time."""

from __future__ import annotations

from typing import TYPE_CHECKING

import numpy as np

if TYPE_CHECKING:
    from numpy.typing import NDArray

THRESHOLDS = tuple(1.5 * 2.0**step for step in range(9))
"""Times the usual latency; a write that waits takes from twice to hundreds of times as long."""
FINE_THRESHOLDS = (1.15, 1.25, 1.35, *THRESHOLDS)
"""Likewise of collection that other planes' work hides: it makes a write a little longer."""
LOCAL = 256
"""Requests whose median stands for what a write takes when nothing is collected."""
DRIFT_MOST = 1.5
SLOWEST = 1000.0
"""Times the median: what is slower counts as so slow, so that no single write decides."""


def relative(latencies: NDArray[np.float64]) -> NDArray[np.float64]:
    """Give latencies over the usual one of their neighbours.

    Drift moves that, and collection, which hits few writes hard, does not.

    Parameters
    ----------
    latencies : ndarray, shape (n,)
        In order.
    """
    head = float(np.median(latencies[:LOCAL]))
    blocks = [
        min(float(np.median(latencies[start : start + LOCAL])), DRIFT_MOST * head)
        for start in range(0, latencies.size, LOCAL)
    ]
    usual = np.repeat(blocks, LOCAL)[: latencies.size]
    times: NDArray[np.float64] = np.minimum(latencies / usual, SLOWEST)
    return times
