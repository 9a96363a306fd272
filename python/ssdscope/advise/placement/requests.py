"""Requests as columns, and those of several workloads merged into one list for a shared drive."""

from collections.abc import Sequence
from dataclasses import dataclass
from typing import Any

import numpy as np
import numpy.typing as npt

from ssdscope.advise.addresses import PART_BYTES, whole_parts

Column = npt.NDArray[Any]


@dataclass(frozen=True)
class Requests:
    """Requests by time, in columns of shape (n,).

    Attributes
    ----------
    arrival_ns
        From the start of the stretch, ascending.
    op
        As in a log.
    offset_bytes, bytes
        Where and how much; offsets count from the beginning of the workload's part.
    """

    arrival_ns: Column
    op: Column
    offset_bytes: Column
    bytes: Column

    def __len__(self) -> int:
        return len(self.op)


@dataclass(frozen=True)
class Shared:
    """Requests of several workloads on one drive.

    Attributes
    ----------
    requests
        All of them by time, at their places on the drive.
    owner
        Which workload each is of, by its place in what was merged.
    """

    requests: Requests
    owner: Column


def merged(parts: Sequence[Requests], sizes_bytes: Sequence[int], capacity_bytes: int) -> Shared:
    """Lay workloads end to end on a drive, and their requests in the order of arrival.

    Parameters
    ----------
    parts
        Requests of each.
    sizes_bytes
        Of the part of the drive that each takes.
    capacity_bytes
        Of the drive. What is beyond begins at 0 again: whoever asks what would be if a drive held
        more has no such drive.
    """
    begins = np.cumsum([0, *map(whole_parts, sizes_bytes[:-1])])
    owner = np.repeat(np.arange(len(parts)), [len(each) for each in parts])
    arrival = np.concatenate([each.arrival_ns for each in parts])
    order = np.argsort(arrival, kind="stable")
    offsets = [
        each.offset_bytes.astype(np.int64) + int(begin)
        for each, begin in zip(parts, begins, strict=True)
    ]
    size = np.concatenate([each.bytes for each in parts])
    place = _within(np.concatenate(offsets), size, capacity_bytes)
    op = np.concatenate([each.op for each in parts])
    found = Requests(arrival[order], op[order], place[order], size[order])
    return Shared(found, owner[order])


def _within(place: Column, size: Column, capacity_bytes: int) -> Column:
    beyond = place + size > capacity_bytes
    if not beyond.any():
        return place
    room = max(1, (capacity_bytes - int(size.max())) // PART_BYTES) * PART_BYTES
    folded: Column = np.where(beyond, place % room, place)
    return folded
