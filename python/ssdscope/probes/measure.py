"""The discipline that all probes share: randomised complete blocks, sentinels, natural alignment.

Every block holds every treatment once, in random order: a drift of the drive then widens
an interval and never shifts a value. Between the treatments stand control reads that are
always the same; a block whose control reads are off was disturbed, and is dropped.
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING, Any

import numpy as np

from ssdscope import stats
from ssdscope.targets.records import OP_READ

if TYPE_CHECKING:
    from numpy.typing import NDArray

    from ssdscope.targets.device import Device
    from ssdscope.targets.records import DeviceInfo

MIN_REQUEST_BYTES = 4096
SENTINEL_EVERY = 4
MAX_DROPPED_SHARE = 0.2


@dataclass(frozen=True)
class Blocks:
    """Latencies of randomised complete blocks.

    Attributes
    ----------
    latency_ns
        One row per block, one column per treatment, float.
    sentinel_ns
        One row per block, one column per control read.
    valid
        Which blocks had no failed request.
    """

    latency_ns: NDArray[Any]
    sentinel_ns: NDArray[Any]
    valid: NDArray[np.bool_]

    @property
    def requests(self) -> int:
        """Reads issued."""
        return int(self.latency_ns.size + self.sentinel_ns.size)

    def joined(self, other: Blocks) -> Blocks:
        """Put these blocks first and then the others."""
        return Blocks(
            np.concatenate([self.latency_ns, other.latency_ns]),
            np.concatenate([self.sentinel_ns, other.sentinel_ns]),
            np.concatenate([self.valid, other.valid]),
        )

    def undisturbed(self) -> NDArray[Any]:
        """Latencies of the blocks that can be trusted, shape (kept blocks, treatments)."""
        usable = self.valid & (self.sentinel_ns > 0).all(axis=1)
        kept = np.flatnonzero(usable)
        if kept.size:
            kept = kept[~stats.shifted_blocks(self.sentinel_ns[kept])]
        return self.latency_ns[kept]


def base_request_bytes(info: DeviceInfo) -> int:
    """Give the smallest request a probe makes: 4 KiB, or the logical block if that is larger."""
    return max(MIN_REQUEST_BYTES, info.logical_block_bytes)


def random_offsets(
    rng: np.random.Generator, capacity_bytes: int, lengths: NDArray[np.uint64]
) -> NDArray[np.uint64]:
    """Draw a start for each request, aligned to the largest power of two that divides its length.

    A request of 12 KiB starts on 4 KiB, one of 16 KiB on 16 KiB: none straddles more pages
    of the drive than it must.
    """
    alignment = lengths & (~lengths + np.uint64(1))
    slots = (np.uint64(capacity_bytes) - lengths) // alignment + np.uint64(1)
    return np.asarray(rng.integers(0, slots, dtype=np.uint64) * alignment)


def read_blocks(
    device: Device, sizes: NDArray[np.uint64], blocks: int, rng: np.random.Generator
) -> Blocks:
    """Read every size once per block, at depth 1, in one call.

    Parameters
    ----------
    sizes : ndarray of uint64, shape (n,)
        The treatments; the first is also the sentinel's. ``n`` a multiple of `SENTINEL_EVERY`.
    """
    order = rng.permuted(np.tile(np.arange(len(sizes)), (blocks, 1)), axis=1)
    groups = order.reshape(blocks, -1, SENTINEL_EVERY)
    # -1 stands for the sentinel, ahead of every group.
    plan = np.concatenate([np.full((*groups.shape[:2], 1), -1), groups], axis=2).reshape(blocks, -1)
    lengths = np.where(plan < 0, sizes[0], sizes[plan]).astype(np.uint64).ravel()
    offsets = random_offsets(rng, device.info.capacity_bytes, lengths)
    log = device.run_list(np.full(lengths.size, OP_READ, np.uint8), offsets, lengths)
    latency = log.latency_ns.reshape(plan.shape).astype(float)
    by_size = np.empty((blocks, len(sizes)))
    np.put_along_axis(by_size, order, latency[plan >= 0].reshape(blocks, -1), axis=1)
    failed = (log.error != 0).reshape(plan.shape).any(axis=1)
    return Blocks(by_size, latency[plan < 0].reshape(blocks, -1), ~failed)


def cautions(info: DeviceInfo) -> list[str]:
    """Say what a reader should know of any read measurement on this kind of drive."""
    if info.kind == "null":
        return ["null_device: there is no drive; every number here is ssdscope's own overhead"]
    notes = []
    if info.kind in ("file", "nbd"):
        notes.append(
            "not_a_raw_device: the file system, kernel or network below is part of what is measured"
        )
    if info.clock == "wall":
        notes.append(
            "deallocated_reads: blocks never written may be answered without touching the flash"
        )
    return notes
