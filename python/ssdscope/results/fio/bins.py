"""fio's histograms of latencies: which times a bin holds, and percentiles of counted bins.

A bin of group g holds times that share their g highest bits and the six behind: 64 bins to each
power of two, so a bin is at most 1/64 wide. fio reports a percentile as the middle of its bin, and
so is it done here. fio 3 counts nanoseconds in 1,856 bins, fio 2 microseconds in 1,216.
"""

from collections.abc import Mapping
from typing import Any

import numpy as np
import numpy.typing as npt

Counts = npt.NDArray[np.int64]
Values = npt.NDArray[np.float64]
BITS = 6
PER_GROUP = 1 << BITS
BINS_NS, BINS_US = 29 * PER_GROUP, 19 * PER_GROUP
COARSEST = 6
"""Of `log_hist_coarseness`, which joins 2**c bins."""
BIN_SHARE = 1 / PER_GROUP
"""Width of a bin as a share of the times in it."""


def edges(count: int) -> Values:
    """Return the lowest time of each bin, and of the one behind the last; shape (count + 1,)."""
    place = np.arange(count + 1)
    shift = np.maximum(place // PER_GROUP - 1, 0)
    within = np.where(place < 2 * PER_GROUP, place, place % PER_GROUP + PER_GROUP)
    return np.asarray(within * 2.0**shift, dtype=float)


def middles(count: int, coarseness: int = 0) -> Values:
    """Return the time that fio reports for each bin: its own, or the middle; shape (count,)."""
    lows = edges(count << coarseness)[:: 1 << coarseness]
    low, high = lows[:-1], lows[1:]
    return np.where(high - low > 1, low + np.floor((high - low) / 2), low)


def times_of(count: int) -> Values | None:
    """Return the times of a row of so many bins, in ns; None if fio writes no such row."""
    for bins, unit_ns in ((BINS_NS, 1), (BINS_US, 1000)):
        for coarse in range(COARSEST + 1):
            if count == bins >> coarse:
                return middles(count, coarse) * unit_ns
    return None


def of_json(bins: Mapping[str, Any], unit_ns: int) -> dict[float, int]:
    """Read ``bins`` of `json+`: counts by time in ns.

    fio 3 names each bin by its time, fio 2 by its place and says so with FIO_IO_U_PLAT_NR.
    """
    counted = {
        int(key): int(value)
        for key, value in bins.items()
        if key.isdigit() and isinstance(value, int) and value > 0
    }
    if "FIO_IO_U_PLAT_NR" not in bins:
        return {float(key * unit_ns): value for key, value in counted.items()}
    times = middles(max(BINS_US, max(counted, default=0) + 1)) * unit_ns
    return {float(times[key]): value for key, value in counted.items()}


def percentile(counts: Mapping[float, int], percent: float) -> float | None:
    """Return the nearest-rank percentile of counted bins, as fio does; None of nothing."""
    if not counts:
        return None
    times = np.array(sorted(counts))
    summed = np.cumsum([counts[time] for time in times])
    place = int(np.searchsorted(summed, percent / 100 * summed[-1] * (1 - 1e-12), side="left"))
    return float(times[min(place, len(times) - 1)])


def mean(counts: Mapping[float, int]) -> float:
    """Return the mean of counted bins, to half a bin; there is a request at least."""
    return sum(time * count for time, count in counts.items()) / sum(counts.values())


def joined(parts: list[dict[float, int]]) -> dict[float, int]:
    """Add counts of several jobs."""
    found: dict[float, int] = {}
    for part in parts:
        for time, count in part.items():
            found[time] = found.get(time, 0) + count
    return found
