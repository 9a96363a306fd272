"""Reference measurement of an array: whether a host can tell its members apart, chunk by chunk.

Members that differ take longer or less long to read. Like ones share no link: of two reads at once
one waits for the link on the same member, whatever its dies do, and none on another; of a single
drive any two share it. Like members of one die, or of one command at a time, pass for dies.
"""

import numpy as np

from ssdscope.recovery.arrays import DrawnArray
from ssdscope.recovery.shape import shape_of
from ssdscope.recovery.truth_of_arrays import one_by_one
from ssdscope.recovery.twin import Offsets, Twin, read

PLACES, PAIRS = 4096, 256
READ_BYTES = 4096
PART = 1 / 32
"""Of the capacity, in which places are read: little enough for most tables."""
NOT_ONE_DIE = 25
"""Percentile of pairs on a member: of so many some meet on no die."""


def members_apart(drawn: DrawnArray) -> float:
    """Return the greater contrast of single reads by member, and of pairs on one against on two."""
    twin, on, size = _places(drawn)
    by_address = _by_address(twin, on, size)
    if any(one_by_one(each.values) or shape_of(each.values).dies == 1 for each in drawn.members):
        return by_address
    return max(by_address, _by_pairs(twin, on, size))


def members_unlike(drawn: DrawnArray) -> float:
    """Return the contrast of single reads by member alone."""
    return _by_address(*_places(drawn))


def _places(drawn: DrawnArray) -> tuple[Twin, list[Offsets], int]:
    """Draw places of each member, and say how much is read there."""
    twin = Twin(drawn)
    count, size = len(drawn.members), max(READ_BYTES, twin.block_bytes)
    slots = int(twin.shape.capacity_bytes * PART) // size
    places = (twin.stream.integers(0, slots, PLACES) * size).astype(np.uint64)
    member = places // np.uint64(drawn.chunk_bytes) % np.uint64(count)
    return twin, [places[member == each] for each in range(count)], size


def _by_address(twin: Twin, on: list[Offsets], size: int) -> float:
    device = twin.fork()
    read(device, np.concatenate(on), size)
    # Caches that stay on have what was read: what comes round again is the usual of that member.
    medians = [float(np.median(read(device, each, size))) for each in on]
    return max(medians) / min(medians) - 1


def _by_pairs(twin: Twin, on: list[Offsets], size: int) -> float:
    """Compare pairs on one member, those that meet on no die, with pairs on two."""
    contrasts = []
    for first, other in zip(on, on[1:] + on[:1], strict=True):
        least = []
        for second in (first[::-1], other):
            device, pairs = twin.fork(), np.column_stack(_as_many(first, second))
            read(device, pairs.ravel(), size)
            found = [read(device, pair, size, depth=2).max() for pair in pairs if np.ptp(pair)]
            least.append(float(np.percentile(found, NOT_ONE_DIE)))
        contrasts.append(least[0] / least[1] - 1)
    return min(contrasts)


def _as_many(first: Offsets, second: Offsets) -> tuple[Offsets, Offsets]:
    count = min(first.size, second.size, PAIRS)
    return first[:count], second[:count]
