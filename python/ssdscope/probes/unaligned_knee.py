"""Spare space where the RMW unit is not known, though nothing hides what writes take.

Requests that begin anywhere, and so end within RMW units, use up more space than they hold: a unit
of U bytes less a logical block more each, in the mean, whatever their size. So K bytes of spare
space are used up after k = K / (1 + (U - block) / size) bytes. Five sizes are written, each from
the same beginning, and U is tried: of the right one all sizes come to the same K. One may be off,
as a knee is now and then seen early or late by chance. Where they contradict each other, what was
found is no spare space, or not where it ends: log blocks of one unit each are used up after as many
*requests*, common ones show earlier merges of the block for writes in order. Requests at multiples
of their size would not do: they lie on some planes more often than on others. Where entries of the
mapping table are written to flash one by one, they use up space, too, and it refuses. It needs to
be known that there is no region of one bit per cell.

Last, requests of four times the padding, or the shortest there are, must come to the same, or to
less by no more than is kept free: these show collection from where it begins, long ones where it
must be done. If they come to more, there is no such padding, as with log blocks, into which the
ends of requests do not go that reach into another merge unit.
"""

from __future__ import annotations

import math
from collections.abc import Callable
from typing import TYPE_CHECKING

import numpy as np

from ssdscope.probes.discipline import base_request_bytes
from ssdscope.probes.knees_agree import KEPT_FREE, SAME, Course
from ssdscope.probes.overwriting import MOST_REQUESTS, Granule, fill_afresh
from ssdscope.probes.padded_knee import Padded
from ssdscope.probes.slow_writes import Knee
from ssdscope.probes.states import State

if TYPE_CHECKING:
    from numpy.typing import NDArray

    from ssdscope.probes.bench import Bench

SIZES = (128 * 1024, 96 * 1024, 64 * 1024, 48 * 1024, 32 * 1024)
"""So small that they are all over the drive: long ones leave blocks stale as a whole, which hides
that collection has begun; and so large that not all of what they use up is padding."""
UNITS = tuple(part << doubled for part in (1, 3) for doubled in range(9, 17))
"""That are tried: pages and planes are twos and threes."""
SCATTER, OFF_MOST, UNSURE_MOST = 0.015, 0.02, 0.03
"""Standard deviations, as shares: of a knee; of those that are told; and of what the units that fit
come to."""
LATER = 2.0
"""Times the latest knee of longer requests, by when shorter ones, which use up more, show it."""
ENTRY_COVERS_BYTES = 128 * 1024
"""Of data, at most: an entry of a mapping table belongs to an RMW unit, and zones are larger."""
PADDINGS = 4
"""Times the padding: so long are the shortest requests, or an error of it would count."""
ERROR = 0.06
"""Of the spare space: it is told from the differences of measurements."""

Alone = Callable[[Granule, float], Course]


def unaligned_knee(bench: Bench, alone: Alone) -> Padded | None:
    """Find the knee by requests of several sizes; None if there is none, or they contradict.

    Parameters
    ----------
    alone
        Overwrites granules at random until the drive has become slower for good, or so many bytes
        are written.
    """
    if _writes_entries(bench):
        return None
    found: list[tuple[Knee, NDArray[np.float64]]] = []
    most_bytes = math.inf
    for size in SIZES:
        knee, latencies = _of_size(bench, alone, size, most_bytes)
        if knee is None:
            return None
        found.append((knee, latencies))
        most_bytes = LATER * max(each.spare_bytes for each, _ in found)
    block, capacity = bench.info.logical_block_bytes, bench.info.capacity_bytes
    told = without_padding(np.array([knee.spare_bytes for knee, _ in found]), block)
    if told is None:
        return None
    (spare, padding), size = told, SIZES[-1]
    small, latencies = found[-1]
    shorter = shorter_bytes(padding, max(base_request_bytes(bench.info), capacity // MOST_REQUESTS))
    if shorter < size:
        sooner, more = _of_size(bench, alone, shorter, most_bytes)
        if sooner is not None:
            size, small, latencies = shorter, sooner, more
            spare = of_shorter(spare, sooner.spare_bytes * (1 + padding / shorter), capacity)
            if math.isnan(spare):
                return None
    knee = Knee(spare, (1 - ERROR) * spare, (1 + ERROR) * spare, small.slowdown)
    return Padded(knee, padding, size, latencies)


def _of_size(bench: Bench, alone: Alone, size: int, most_bytes: float) -> Course:
    unit = Granule(size, 0, False)
    if not bench.renew(State.AS_FOUND):
        fill_afresh(bench, unit)
    return alone(unit, most_bytes)


def shorter_bytes(padding_bytes: float, least_bytes: int) -> int:
    """Give the size of shorter requests, whose padding is little all the same."""
    size = max(PADDINGS * padding_bytes, least_bytes, 1)
    return 1 << math.ceil(math.log2(size))


def of_shorter(spare_bytes: float, shorter_bytes: float, capacity: int) -> float:
    """Give the spare space by what long requests say, and shorter ones; nan if they contradict.

    Long requests leave whole stretches stale, so that little is copied at first; shorter ones show
    collection from where it begins. Between that and where it must be done is what is kept free. If
    they come to more, there is no such padding.
    """
    if abs(shorter_bytes - spare_bytes) <= SAME * spare_bytes:
        return spare_bytes
    hidden = spare_bytes - shorter_bytes
    return shorter_bytes if 0 < hidden <= KEPT_FREE * (capacity + spare_bytes) else math.nan


def _writes_entries(bench: Bench) -> bool:
    """Whether entries of the mapping table are kept one by one, and so written to flash, too."""
    zone = bench.found("map_zone_bytes")
    single = zone is None or float(zone) <= ENTRY_COVERS_BYTES
    return single and bench.found("map_cache_bytes") is not None


def without_padding(knees: NDArray[np.float64], block: int) -> tuple[float, float] | None:
    """Give the spare space, and the padding of a request; None if the sizes contradict each other.

    Parameters
    ----------
    knees : ndarray, shape (sizes,)
        Bytes written until then.
    block
        Logical block: a request that begins anywhere covers all of a unit but that, in the mean.
    """
    if knees.min() <= 0:
        return None
    padding = np.array([unit - block for unit in UNITS if unit >= block])
    logs = np.log(knees) + np.log1p(padding[:, None] / np.array(SIZES))
    # The one that is furthest off does not count.
    off = np.abs(logs - np.median(logs, axis=1, keepdims=True))
    logs = np.take_along_axis(logs, np.argsort(off, axis=1)[:, :-1], axis=1)
    means, variances = logs.mean(axis=1), logs.var(axis=1)
    weights = np.exp(-0.5 * logs.shape[1] * (variances - variances.min()) / SCATTER**2)
    weights /= weights.sum()
    mean = float(weights @ means)
    unsure = float(np.sqrt(weights @ (means - mean) ** 2))
    if np.sqrt(variances.min()) > OFF_MOST or unsure > UNSURE_MOST:
        return None
    return float(np.exp(mean)), float(padding[variances.argmin()])


def unaligned_writes_capacities(lone_most: float) -> float:
    """Give how much it writes, in capacities, where each size is written so often at most."""
    return (len(SIZES) + 1) * (lone_most + 1)
