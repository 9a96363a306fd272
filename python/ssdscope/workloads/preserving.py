"""Runs with ``--preserve-content``: each write writes back what is there, one at a time in a place.

What is there is read right before the write. So the host device lets a write wait while another
one is under way in its place, and its latency holds the wait. Probes live with that where they
fill a drive; a run is refused, because its figures would hold waits that no drive has.
"""

from __future__ import annotations

from typing import TYPE_CHECKING

from ssdscope.errors import UsageError
from ssdscope.workloads.flows import workloads_of

if TYPE_CHECKING:
    from ssdscope.targets import Target
    from ssdscope.workloads.flows import Flows
    from ssdscope.workloads.workload import Workload


def require_apart(target: Target, plan: Workload | Flows) -> None:
    """Refuse a plan whose writes could meet on a target whose content is preserved.

    Raises
    ------
    UsageError
        If so.
    """
    if not _is_preserved(target) or not plan.writes:
        return
    writing = [each for each in workloads_of(plan) if each.writes]
    if len(writing) == 1 and _keeps_apart(writing[0], target.device.info.capacity_bytes):
        return
    raise UsageError(
        "--preserve-content: with several writes in flight two could meet in one place",
        hint="write with --iodepth 1 and one job, or in order: --rw write",
    )


def _is_preserved(target: Target) -> bool:
    members = target.members or (target,)
    return any((each.device.access() or {}).get("preserves_content") for each in members)


def _keeps_apart(workload: Workload, capacity_bytes: int) -> bool:
    """Whether no two writes of a workload can be in flight in one place."""
    if workload.arrival != "closed" or workload.numjobs > 1:
        return False
    if workload.iodepth == 1:
        return True
    shares = (workload.percentage_random, workload.write_percentage_random)
    moved = (workload.stride_bytes, workload.write_stride_bytes, workload.partitions > 1)
    if workload.block_split or workload.write_block_split:
        return False
    if workload.rw.startswith("rand") or any(shares) or any(moved):
        return False
    block = max(workload.block_bytes, workload.write_block_bytes or 0)
    size = workload.size_bytes or capacity_bytes - workload.offset_bytes
    return workload.iodepth * block <= size
