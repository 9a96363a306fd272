"""Spare space where the RMW unit is not known, as behind a buffer that is protected.

Requests whose ends lie within RMW units use up more space than they hold: e bytes more each, as
much whatever their size. So two sizes are written, each from the same beginning, and K bytes of
spare space are used up after k = K / (1 + e / size) bytes; from both follow K and e. Log blocks of
one unit each would be used up after as many *requests* instead, and a region of one bit per cell
shows in that writes in order, which fold all the time, are slower than the first random ones.
"""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass
from typing import TYPE_CHECKING

import numpy as np

from ssdscope.probes.bench import Stopped
from ssdscope.probes.discipline import in_peace
from ssdscope.probes.finding import Reason
from ssdscope.probes.overwriting import Granule, fill_afresh, latencies_ns
from ssdscope.probes.slow_writes import Knee
from ssdscope.probes.states import State

if TYPE_CHECKING:
    from numpy.typing import NDArray

    from ssdscope.probes.bench import Bench

SIZES = (128 * 1024, 64 * 1024)
"""As large as usual RMW units at least, lest several lie in one; and so small that they are all
over the drive: long ones leave blocks stale as a whole, which hides that collection has begun."""
PADDED_MOST = 80 * 1024
"""Bytes that a request may use up beyond its own: the largest usual RMW unit, and some scatter."""
FROM, IN_ORDER_SHARE, STRETCHES = 0.15, 0.4, 8
"""Shares of what is before the knee that a buffer may take, and of the capacity in order;
in so many stretches."""
FOLDS_FROM = 1.5
LATER = 1.025
"""Times the small ones' knee: where that of large ones is seen without padding, as what they leave
stale lies together, and the first collections copy less."""
ERROR = 0.08
"""Of the spare space: it is told from the difference of two measurements."""

Alone = Callable[[Granule], "tuple[Knee | None, NDArray[np.float64]]"]


@dataclass(frozen=True)
class Padded:
    """What two sizes of requests came to.

    Attributes
    ----------
    knee
        As if nothing were padded.
    padding_bytes
        Of a request.
    latencies_ns
        Of the small requests; shape (n,).
    """

    knee: Knee
    padding_bytes: float
    latencies_ns: NDArray[np.float64]


def padded_knee(bench: Bench, alone: Alone) -> Padded | None:
    """Find the knee by requests of two sizes; None if there is none, or they contradict.

    Parameters
    ----------
    alone
        Overwrites granules at random until the drive has become slower for good.

    Raises
    ------
    Stopped
        If blocks seem to be folded.
    """
    found: list[tuple[Knee, NDArray[np.float64]]] = []
    for size in SIZES:
        unit = Granule(size, 0, False)
        if bench.info.snapshot:
            bench.enter(State.AS_FOUND)
        else:
            fill_afresh(bench, unit)
        knee, latencies = alone(unit)
        if knee is None:
            return None
        found.append((knee, latencies))
    (large, slow), (small, latencies) = found
    before = slow[: int(large.spare_bytes) // SIZES[0]]
    if _in_order_ns(bench) > FOLDS_FROM * before[int(FROM * before.size) :].mean():
        raise Stopped(Reason.MASKED, "writes in order are slow, as if blocks were folded")
    padding = _padding_bytes(large.spare_bytes / small.spare_bytes / LATER)
    if padding > PADDED_MOST:
        return None
    spare = (1 + padding / SIZES[1]) * small.spare_bytes
    knee = Knee(spare, (1 - ERROR) * spare, (1 + ERROR) * spare, small.slowdown)
    return Padded(knee, padding, latencies)


def _padding_bytes(ratio: float) -> float:
    """Give the padding for which large requests get so many times as far as small ones."""
    rest = 1 / SIZES[1] - ratio / SIZES[0]
    return max((ratio - 1) / rest, 0.0) if rest > 0 else np.inf


def _in_order_ns(bench: Bench) -> float:
    """Give the mean of writes in order, behind what a fast region may hold.

    Several stretches in turn, as neighbours would share an RMW unit and wait for each other.
    """
    fill_afresh(bench, Granule(SIZES[0], 0, False))
    parts = bench.info.capacity_bytes // SIZES[0]
    each = np.arange(int(IN_ORDER_SHARE * parts) // STRETCHES, dtype=np.uint64)
    begins = np.arange(STRETCHES, dtype=np.uint64) * np.uint64(parts // STRETCHES)
    places = (each[:, None] + begins).ravel() * np.uint64(SIZES[0])
    latencies = in_peace(bench, lambda: latencies_ns(bench.write(places, SIZES[0])))
    return float(latencies[latencies.size // 5 :].mean())


def padded_writes_capacities(lone_most: float) -> float:
    """Give how much it writes, in capacities, where each size is written so often at most."""
    return len(SIZES) * (lone_most + 1) + 1 + 4 * IN_ORDER_SHARE
