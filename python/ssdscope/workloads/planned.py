"""What a workload is going to write, and how long it may take, as far as that is fixed before."""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING

from ssdscope.workloads.flows import workloads_of
from ssdscope.workloads.workload import MIXES

if TYPE_CHECKING:
    from ssdscope.workloads.flows import Flows
    from ssdscope.workloads.workload import Workload

LISTED_PART = 8
"""The driver's ``PART_MAX``: of a region of which less than a part in so many is written, only what
is written is looked at."""


@dataclass(frozen=True)
class Planned:
    """The most that a workload writes and takes.

    Attributes
    ----------
    writes_bytes
        None where only time, or an interval, ends it.
    duration_ns
        None where nothing but the drive's speed decides.
    """

    writes_bytes: int | None
    duration_ns: int | None


def planned(plan: Workload | Flows, capacity_bytes: int) -> Planned:
    """Say what a workload, or several side by side, will write and take at most.

    Parameters
    ----------
    capacity_bytes
        Of what is open: without a size a region reaches up to its end.
    """
    parts = [_planned(each, capacity_bytes) for each in workloads_of(plan)]
    writes = [part.writes_bytes for part in parts if part.writes_bytes is not None]
    times = [part.duration_ns for part in parts if part.duration_ns is not None]
    return Planned(
        sum(writes) if len(writes) == len(parts) else None,
        sum(times) if len(times) == len(parts) else None,
    )


def looked_at_bytes(plan: Workload | Flows, capacity_bytes: int) -> int:
    """Say how much a real target reads at most before a plan begins: what it would write over.

    Parameters
    ----------
    capacity_bytes
        As in `planned`.
    """
    written = (_looked_at_bytes(each, capacity_bytes) for each in workloads_of(plan))
    return min(capacity_bytes, sum(written))


def _looked_at_bytes(workload: Workload, capacity_bytes: int) -> int:
    if not workload.writes:
        return 0
    region = _region_bytes(workload, capacity_bytes) + workload.offset_increment_bytes * (
        workload.numjobs - 1
    )
    written = _planned(workload, capacity_bytes).writes_bytes
    # The driver lists what is written if that is little, and takes the region whole otherwise.
    return region if written is None or written > region // LISTED_PART else written


def _region_bytes(workload: Workload, capacity_bytes: int) -> int:
    left = max(0, capacity_bytes - workload.offset_bytes)
    return left if workload.size_bytes is None else min(left, workload.size_bytes)


def _planned(workload: Workload, capacity_bytes: int) -> Planned:
    requests = _requests(workload, capacity_bytes)
    share = _write_share(workload)
    block = workload.write_block_bytes or workload.block_bytes
    writes = None if requests is None else round(requests * share * block) * workload.numjobs
    times = [] if workload.runtime_ns is None else [workload.runtime_ns]
    if requests is not None and workload.rate_iops:
        times.append(round(requests / workload.rate_iops * 1e9))
    return Planned(0 if share == 0 else writes, min(times, default=None))


def _requests(workload: Workload, capacity_bytes: int) -> float | None:
    """Give the most requests of a job; with two sizes the mean of them counts bytes."""
    share = _write_share(workload)
    write = workload.write_block_bytes or workload.block_bytes
    read = workload.read_block_bytes or workload.block_bytes
    mean_bytes = share * write + (1 - share) * read
    ends: list[float] = []
    if workload.requests is not None:
        ends.append(workload.requests + workload.ramp_requests)
    if workload.io_bytes is not None:
        ends.append(workload.io_bytes / mean_bytes)
    if workload.runtime_ns is not None and workload.rate_iops:
        ends.append(workload.runtime_ns / 1e9 * workload.rate_iops)
    if not ends and workload.runtime_ns is None and workload.until_ci is None:
        ends.append(_region_bytes(workload, capacity_bytes) / mean_bytes)
    return min(ends, default=None)


def _write_share(workload: Workload) -> float:
    if not workload.writes:
        return 0.0
    return 1 - workload.read_percent / 100 if workload.rw in MIXES else 1.0
