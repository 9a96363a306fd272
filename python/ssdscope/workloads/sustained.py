"""What a drive keeps up: a workload brought to rest, then measured.

A figure of writes is sustained if the drive was written through with such writes, the rate of
this very workload no longer changes (`steady`), and it is measured from there. Everything else is
a burst. Where pages lie depends on what is written, and hardly on the depth or on the reads beside
it: neighbours may begin on forks of a settled drive, and come to rest in five rounds.
"""

from __future__ import annotations

from dataclasses import dataclass, field, replace
from typing import TYPE_CHECKING

from ssdscope.workloads.figures import Figure, Stretch, counted, figures_of, run_stretch
from ssdscope.workloads.steady import (
    MOST_REGIONS,
    SEEDS_APART,
    WINDOW_ROUNDS,
    Steadiness,
    in_order,
    write_until_steady,
)

if TYPE_CHECKING:
    from ssdscope.targets.device import Device
    from ssdscope.workloads.workload import Workload

REQUESTS = 20_000
PER_DEPTH = 32
"""Requests per request in flight, at least."""


@dataclass(frozen=True)
class Sustained:
    """How a workload came to rest, and what it then came to.

    Attributes
    ----------
    steadiness
        The rate over time, and whether it came to rest.
    figures
        By direction, ``read`` and ``write``; nothing where it did not.
    bytes_written
        Of such writes, with those before.
    stretch
        The requests behind the figures.
    """

    steadiness: Steadiness
    figures: dict[str, Figure] = field(default_factory=dict)
    bytes_written: int = 0
    stretch: Stretch | None = None

    @property
    def reached(self) -> bool:
        """Whether the figures are of what the drive keeps up."""
        return self.steadiness.reached


def sustain(
    device: Device,
    workload: Workload,
    *,
    written_bytes: int = 0,
    spare_bytes: int | None = None,
    most_regions: float = MOST_REGIONS,
    most_cost: float | None = None,
    requests: int = REQUESTS,
    drift: float = 0.0,
) -> Sustained:
    """Bring a workload that writes to rest, and measure it there.

    Parameters
    ----------
    device
        The drive, open for writing; it is left where the workload brought it.
    workload
        What is run; its own limits do not matter.
    written_bytes, spare_bytes, most_regions, most_cost
        As in `steady.write_until_steady`.
    requests
        How many are measured, at most; fewer where those fill the rounds that were judged.
    drift
        What the rate may still change, as a share of it, where that is known from the drive
        that this one is a fork of.

    Raises
    ------
    UsageError
        As `steady.write_until_steady`.
    DeviceError
        If the drive fails.
    KeyboardInterrupt
        After Ctrl-C.
    """
    found = write_until_steady(
        device,
        workload,
        most_regions=most_regions,
        written_bytes=written_bytes,
        spare_bytes=spare_bytes,
        most_cost=most_cost,
    )
    written = written_bytes + found.bytes_written
    if not found.reached:
        return Sustained(found, bytes_written=written)
    judged = WINDOW_ROUNDS * found.round_bytes // largest_block(workload)
    count = max(min(requests, judged), PER_DEPTH * workload.iodepth)
    plan = settled_plan(workload, written // found.round_bytes)
    # A rate that is to rise makes latencies fall.
    share = max(found.drift, drift, key=abs)
    stretch = run_stretch(device, counted(plan, count))
    figures = figures_of([stretch], drift=-share)
    return Sustained(found, figures, written + count * largest_block(workload), stretch)


def settled_plan(workload: Workload, rounds: int) -> Workload:
    """Give the workload as it goes on behind so many rounds that brought it to rest."""
    plan = workload.seeded(workload.seed + SEEDS_APART + rounds)
    return replace(plan, random_start=True) if in_order(plan) else plan


def largest_block(workload: Workload) -> int:
    """Give the bytes of the largest request."""
    sizes = (workload.block_bytes, workload.read_block_bytes, workload.write_block_bytes)
    return max(size for size in sizes if size is not None)
