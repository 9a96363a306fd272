"""Addresses of a trace's requests: volumes end to end, whole units, only what is touched."""

import numpy as np
import numpy.typing as npt

Places = npt.NDArray[np.int64]
PART_BYTES = 1 << 20
"""Volumes and parts of a drive begin at multiples of this; packing keeps or drops that much."""


def whole_parts(size_bytes: int) -> int:
    """Round a size up to whole parts, in bytes."""
    return -(-size_bytes // PART_BYTES) * PART_BYTES


def widened(place: Places, size: Places, unit_bytes: int) -> tuple[Places, Places]:
    """Widen requests to whole units: first bytes and lengths."""
    begin = place // unit_bytes * unit_bytes
    return begin, -(-(place + size) // unit_bytes) * unit_bytes - begin


def end_to_end(volume: npt.NDArray[np.uint64], place: Places, size: Places) -> Places:
    """Lay volumes end to end, each in whole parts, in the order of their numbers."""
    numbers, of = np.unique(volume, return_inverse=True)
    room = np.zeros(len(numbers), np.int64)
    np.maximum.at(room, of, -(-(place + size) // PART_BYTES) * PART_BYTES)
    return place + (np.cumsum(room) - room)[of]


def packed(place: Places, size: Places) -> Places:
    """Pack the parts that are touched, in address order: each moves down by what nothing touches.

    Lengths are above 0.
    """
    order = np.argsort(place, kind="stable")
    first, last = place[order] // PART_BYTES, (place + size - 1)[order] // PART_BYTES
    before = np.concatenate([[-1], np.maximum.accumulate(last)[:-1]])
    untouched = np.cumsum(np.maximum(first - before - 1, 0))
    found = np.empty_like(place)
    found[order] = place[order] - untouched * PART_BYTES
    return found
