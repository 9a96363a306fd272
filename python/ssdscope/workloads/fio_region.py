"""Where a job of fio works and when it ends, on a target of a given size: fio 3.33's arithmetic."""

from collections.abc import Iterator
from dataclasses import dataclass, replace

from ssdscope.workloads.workload import Passes, Workload


@dataclass(frozen=True)
class Extent:
    """A length as a job file gives it: in bytes, or in whole percent of something."""

    bytes: int | None = None
    percent: int | None = None

    def of(self, whole: int) -> int:
        """Return its bytes, the percentage cut to a whole number of them."""
        return whole * self.percent // 100 if self.percent is not None else self.bytes or 0


@dataclass(frozen=True)
class FioRegion:
    """What a job file says of places and ends.

    Attributes
    ----------
    offset, size, io
        The region, and what is transferred; of an absent size the rest of the target, of an
        absent `io` the region.
    loops
        How often all of it is done.
    timed
        Whether only the runtime ends it.
    mapped
        Whether random requests visit each place once.
    """

    offset: Extent = Extent(0)
    size: Extent | None = None
    io: Extent | None = None
    loops: int = 1
    timed: bool = False
    mapped: bool = True

    def fit(self, workload: Workload, capacity_bytes: int) -> Workload:
        """Return the job with its region on a target of this size.

        Parameters
        ----------
        workload
            All else that the job asks for.
        capacity_bytes
            Of the target.
        """
        sizes = list(block_sizes(workload))
        unit = min(sizes)
        offset = self.offset.of(capacity_bytes)
        if self.offset.percent is not None:
            offset = -(-offset // unit) * unit
        last = offset + workload.offset_increment_bytes * (workload.numjobs - 1)
        room = capacity_bytes - last
        size = self._size(capacity_bytes, room, unit)
        io = None if self.io is None else self.io.of(size) or None
        ends = io if io is not None else size
        done = replace(
            workload,
            offset_bytes=offset,
            size_bytes=_span(workload, size, room, sizes),
            io_bytes=None if self.timed else ends * self.loops,
            requests=None
            if self.timed or workload.requests is None
            else workload.requests * self.loops,
        )
        return replace(done, passes=self._passes(done, size, io, room, sizes))

    def _size(self, capacity_bytes: int, room: int, unit: int) -> int:
        if self.size is None:
            return room
        if self.size.percent is None:
            return self.size.of(capacity_bytes)
        return min(self.size.of(capacity_bytes), room) // unit * unit

    def _passes(
        self, workload: Workload, size: int, io: int | None, room: int, sizes: list[int]
    ) -> Passes:
        """Say how the job begins its region anew."""
        backwards = workload.stride_bytes < 0
        with_gaps = workload.stride_bytes > 0 and size >= room
        random = workload.rw.startswith("rand") and _is_all_random(workload)
        plain = len(set(sizes)) == 1 and workload.random_distribution is None
        return Passes(
            count=0 if self.timed else self.loops,
            until_bytes=None if self.timed else io,
            wraps=backwards or with_gaps,
            once=self.mapped and random and plain,
        )


def _span(workload: Workload, size: int, room: int, sizes: list[int]) -> int:
    """Return the region, so long that a request that begins within it may end behind it, as fio's.

    Requests of several sizes, or at random places, stay within. So do those that would end behind
    the target.
    """
    if workload.rw.startswith("rand") or len(set(sizes)) > 1 or workload.stride_bytes < 0:
        return size
    block = sizes[0]
    step = block + workload.stride_bytes
    reach = (-(-size // step) - 1) * step + block
    return reach if size <= reach <= room or workload.stride_bytes else size


def _is_all_random(workload: Workload) -> bool:
    shares = (
        workload.percentage_random,
        workload.read_percentage_random,
        workload.write_percentage_random,
    )
    return all(share in (None, 100) for share in shares)


def block_sizes(workload: Workload) -> Iterator[int]:
    """List the sizes of requests of the directions that a workload uses."""
    used = []
    if workload.rw not in ("write", "randwrite"):
        used.append((workload.read_block_split, workload.read_block_bytes))
    if workload.rw not in ("read", "randread"):
        used.append((workload.write_block_split, workload.write_block_bytes))
    for own_split, own_size in used:
        split = own_split or workload.block_split
        if split is not None:
            yield from (share.bytes for share in split)
        else:
            yield own_size or workload.block_bytes
