"""What shows where overwrites become slow."""

from __future__ import annotations

from typing import TYPE_CHECKING

import numpy as np

from ssdscope.findings import Axis, Evidence, Exhibit, Step, series
from ssdscope.probes.slow_writes import relative

if TYPE_CHECKING:
    from numpy.typing import NDArray


def with_knee(
    evidence: Evidence,
    spare_bytes: float,
    latencies: NDArray[np.float64],
    size_bytes: int,
    capacity: int,
) -> Evidence:
    """Add writes one by one to evidence, and where they become slow.

    Parameters
    ----------
    spare_bytes
        Where the knee is.
    latencies : ndarray, shape (n,)
        Of writes of `size_bytes` each, in order.
    capacity
        Of the drive.
    """
    pieces = min(240, latencies.size)
    size = latencies.size // pieces
    means = relative(latencies)[: pieces * size].reshape(pieces, size).mean(axis=1)
    places = (np.arange(pieces) + 0.5) * size * size_bytes
    exhibit = Exhibit(
        name="overwrites",
        title="Where random overwrites begin to wait for collection",
        caption="One write at a time on the drive as found; mean latency over the usual one.",
        x=Axis("overwritten", "bytes"),
        y=Axis("times the usual latency"),
        series=(series("writes", places, means, "points"),),
        fitted=(Step(at=spare_bytes, word="spare space used up"),),
    )
    return evidence.showing(exhibit).noting(spare_bytes=spare_bytes, capacity_bytes=capacity)
