"""Brings a drive into the state that an experiment begins with, by I/O as on a real drive."""

from __future__ import annotations

from collections.abc import Iterator
from typing import TYPE_CHECKING

from ssdscope.probes.plan import SETTLE_NS, State
from ssdscope.workloads.preconditioning import fill_sequentially, overwrite_randomly

if TYPE_CHECKING:
    from ssdscope.targets.device import Device, ProgressCallback
    from ssdscope.targets.records import RunResult


def prepare(
    device: Device,
    state: State,
    seed: int,
    progress: ProgressCallback | None = None,
    piece_bytes: int | None = None,
) -> Iterator[RunResult]:
    """Write the drive as the state demands, then wait; give the summary of each run.

    Parameters
    ----------
    piece_bytes
        That a run writes at most; if absent, each pass is one run.
    """
    size = device.info.capacity_bytes
    firsts = range(0, size, piece_bytes or size)
    parts = [(first, min(piece_bytes or size, size - first)) for first in firsts]
    if state is not State.AS_FOUND:
        for place, length in parts:
            yield fill_sequentially(
                device, offset_bytes=place, size_bytes=length, progress=progress
            )
    if state is State.SHUFFLED:
        for number, (_, length) in enumerate(parts):
            yield overwrite_randomly(
                device,
                io_bytes=length,
                seed=seed + number,
                offset_bytes=0,
                size_bytes=size,
                block_bytes=max(4096, device.info.logical_block_bytes),
                progress=progress,
            )
    device.idle(SETTLE_NS)
