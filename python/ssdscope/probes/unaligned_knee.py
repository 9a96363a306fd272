"""Spare space where the RMW unit is not known, though nothing hides what writes take.

Requests that begin anywhere, and so end within RMW units, use up more space than they hold: a unit
of U bytes less a logical block more each, in the mean, whatever their size. So K bytes of spare
space are used up after k = K / (1 + (U - block) / size) bytes. Five sizes are written, each from
the same beginning, and U is tried: of the right one all sizes come to the same K.

A drive may begin to collect before it must, and each size shows either place, or both: where the
first writes are slow, and from where on they surely are. Some showing the one and others the other
would pass for another U. But each place is sharp; so all sizes but one must come to the same K
within 1.2 %, by either of what they show, and all U of which as many do to about the same K. Where
they do not, what was found is no spare space, or not where it ends: log blocks of one unit each are
used up after as many *requests*, common ones show earlier merges of the block for writes in order.
Requests at multiples of their size would not do: they lie on some planes more often than on others.
Where entries of the mapping table are written to flash one by one, they use up space, too, and it
refuses. It needs to be known that there is no region of one bit per cell.

Requests of four times the padding, or the shortest there are, are a sixth size. They show best from
where collection begins, as long ones leave whole blocks stale, which cost nothing to copy. They may
not come to more: if they do, there is no such padding, as with log blocks, into which the ends of
requests do not go that reach into another merge unit. What two sizes show before K, by no more than
is kept free, is where collection begins, be it that few writes wait there or all are slower; two
that show something else each leave it open. So does one that shows K far too late: collection has
kept up with these requests beside them, and with others for a while.
"""

from __future__ import annotations

import math
from collections.abc import Callable, Sequence
from dataclasses import dataclass, replace
from typing import TYPE_CHECKING

import numpy as np

from ssdscope.probes.discipline import base_request_bytes
from ssdscope.probes.knees_agree import KEPT_FREE, LESS, SAME, Course
from ssdscope.probes.overwriting import MOST_REQUESTS, Granule, fill_afresh
from ssdscope.probes.padded_knee import Padded
from ssdscope.probes.slow_writes import EARLIEST, Knee, slower_from, surest_from
from ssdscope.probes.states import State

if TYPE_CHECKING:
    from numpy.typing import NDArray

    from ssdscope.probes.bench import Bench

SIZES = (128 * 1024, 96 * 1024, 64 * 1024, 48 * 1024, 32 * 1024)
"""So small that they are all over the drive: long ones leave blocks stale as a whole, which hides
that collection has begun; and so large that not all of what they use up is padding."""
UNITS = tuple(part << doubled for part in (1, 3) for doubled in range(9, 17))
"""That are tried: pages and planes are twos and threes."""
SHARP, UNSURE_MOST = 0.012, 0.06
"""As shares: by how much sizes that come to the same may differ; and what they come to, by units
that fit as well."""
AT_ONCE = 0.55
"""Which share of a rise must be so: what drifts rises at one place by all sizes, too, as these
write as many bytes in the same time, but by and by."""
LATER = 2.0
"""Times the latest knee of longer requests, by when shorter ones, which use up more, show it."""
ENTRY_COVERS_BYTES = 128 * 1024
"""Of data, at most: an entry of a mapping table belongs to an RMW unit, and zones are larger."""
PADDINGS = 4
"""Times the padding: so long are the shortest requests, or an error of it would count."""
ERROR = 0.06
"""Of the spare space: it is told from the differences of measurements."""

Alone = Callable[[Granule, float], Course]


@dataclass(frozen=True)
class Seen:
    """What requests of one size show, in bytes written until then.

    Attributes
    ----------
    first_bytes, surest_bytes
        Before the first writes are slow, and before they surely are.
    all_bytes
        Before all writes become slower, if they do so before.
    """

    size_bytes: int
    first_bytes: float
    surest_bytes: float
    all_bytes: float | None = None

    def used(self, padding_bytes: float) -> Seen:
        """Give the same as what is used up if each request is padded."""
        times, whole = 1 + padding_bytes / self.size_bytes, self.all_bytes
        first, surest = times * self.first_bytes, times * self.surest_bytes
        return Seen(self.size_bytes, first, surest, None if whole is None else times * whole)


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
    block, capacity = bench.info.logical_block_bytes, bench.info.capacity_bytes
    found: list[_Sized] = []
    most_bytes = math.inf
    for size in SIZES:
        one = _of_size(bench, alone, size, most_bytes)
        if one is None:
            return None
        found.append(one)
        most_bytes = LATER * max(each.seen.first_bytes for each in found)
    told = without_padding([each.seen for each in found], block)
    if told is None:
        return None
    shorter = shorter_bytes(told[1], max(base_request_bytes(bench.info), capacity // MOST_REQUESTS))
    if shorter < SIZES[-1] and (one := _of_size(bench, alone, shorter, most_bytes)):
        found.append(one)
        told = without_padding([each.seen for each in found], block)
    spare = told and begun([each.seen for each in found], *told, capacity)
    if told is None or spare is None:
        return None
    last = found[-1]
    knee = Knee(spare, (1 - ERROR) * spare, (1 + ERROR) * spare, last.slowdown)
    return Padded(knee, told[1], last.seen.size_bytes, last.latencies_ns)


@dataclass(frozen=True)
class _Sized:
    """What requests of one size show, how much slower they become, and all they took."""

    seen: Seen
    slowdown: float
    latencies_ns: NDArray[np.float64]


def _of_size(bench: Bench, alone: Alone, size: int, most_bytes: float) -> _Sized | None:
    unit = Granule(size, 0, False)
    if not bench.renew(State.AS_FOUND):
        fill_afresh(bench, unit)
    knee, latencies = alone(unit, most_bytes)
    if knee is None:
        return None
    surest = surest_from(latencies, knee, size)
    rise = slower_from(latencies, replace(knee, spare_bytes=surest), size)
    whole = float(rise.write * size) if rise is not None and rise.at_once >= AT_ONCE else None
    return _Sized(Seen(size, knee.spare_bytes, surest, whole), knee.slowdown, latencies)


def shorter_bytes(padding_bytes: float, least_bytes: int) -> int:
    """Give the size of shorter requests, whose padding is little all the same."""
    size = max(PADDINGS * padding_bytes, least_bytes, 1)
    return 1 << math.ceil(math.log2(size))


def _writes_entries(bench: Bench) -> bool:
    """Whether entries of the mapping table are kept one by one, and so written to flash, too."""
    zone = bench.found("map_zone_bytes")
    single = zone is None or float(zone) <= ENTRY_COVERS_BYTES
    return single and bench.found("map_cache_bytes") is not None


def without_padding(seen: Sequence[Seen], block: int) -> tuple[float, float] | None:
    """Give what sizes come to, and the padding of a request; None if they contradict each other.

    Parameters
    ----------
    block
        Logical block: a request that begins anywhere covers all of a unit but that, in the mean.
    """
    told = [_alike(seen, unit - block) for unit in UNITS if unit >= block]
    most = max(each.sizes for each in told)
    best = [each for each in told if each.sizes == most]
    spares = [each.spare_bytes for each in best]
    if most < len(seen) - 1 or max(spares) > (1 + UNSURE_MOST) * min(spares):
        return None
    closest = min(best, key=lambda each: each.off)
    return closest.spare_bytes, closest.padding_bytes


@dataclass(frozen=True)
class _Alike:
    """How many sizes come to the same if so much is padded, to what, and how far off they are."""

    sizes: int
    off: float
    spare_bytes: float
    padding_bytes: float


def _alike(seen: Sequence[Seen], padding: float) -> _Alike:
    used = [each.used(padding) for each in seen]
    logs = np.log([[each.first_bytes, each.surest_bytes] for each in used])
    # Of each place by each size: how far off that shows anything.
    off = np.abs(logs.reshape(-1, 1, 1) - logs).min(axis=2)
    near = off <= SHARP
    counts, errors = near.sum(axis=1), np.where(near, off, 0.0).sum(axis=1)
    best = int(np.lexsort((errors, -counts))[0])
    same = logs[np.abs(logs - logs.flat[best]) <= SHARP]
    return _Alike(int(counts[best]), float(errors[best]), float(np.exp(same.mean())), padding)


def begun(
    seen: Sequence[Seen], spare_bytes: float, padding_bytes: float, capacity: int
) -> float | None:
    """Give from where collection begins: there, or before if two sizes show it; None if unsure.

    Parameters
    ----------
    seen
        The shortest requests last: these show best where it begins.
    """
    used = [each.used(padding_bytes) for each in seen]
    kept_free = min(KEPT_FREE * (capacity + spare_bytes), LESS * spare_bytes)
    latest = max(each.first_bytes for each in used)
    if used[-1].first_bytes > (1 + SAME) * spare_bytes or latest > spare_bytes + kept_free:
        return None
    least = max(spare_bytes - kept_free, EARLIEST * capacity)
    places = [each.first_bytes for each in used]
    places += [each.all_bytes for each in used if each.all_bytes is not None]
    before = np.array(sorted(place for place in places if least < place < (1 - SAME) * spare_bytes))
    for place in before:
        same = before[np.abs(before / place - 1) <= 2 * SHARP]
        if same.size > 1:
            return float(same.mean())
    earlier = [each.first_bytes < (1 - SAME) * spare_bytes for each in used]
    return None if earlier[-1] or sum(earlier) > 1 else spare_bytes


def unaligned_writes_capacities(lone_most: float) -> float:
    """Give how much it writes, in capacities, where each size is written so often at most."""
    return (len(SIZES) + 1) * (lone_most + 1)
