"""How every probe measures: randomised complete blocks, control reads, more blocks if needed.

Treatments (sizes, offsets, distances) are visited in random order, every one once per block, so
that drift inflates the scatter and never a value. Between the treatments stand control reads
that are always alike; a block whose control reads are off was disturbed, and is dropped.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator, Sequence
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any, Self, TypeVar

import numpy as np

from ssdscope import stats
from ssdscope.findings import Reason
from ssdscope.probes.stopped import Stopped
from ssdscope.targets.records import OP_READ

if TYPE_CHECKING:
    from numpy.typing import NDArray

    from ssdscope.probes.bench import Bench
    from ssdscope.targets.records import DeviceInfo

MIN_REQUEST_BYTES = 4096
SENTINEL_EVERY = 4
SPLIT_TRIES = 8
"""Reads of a size that show whether the kernel splits it."""
MAX_DROPPED_SHARE = 0.2
MAX_FOREIGN_SHARE = 0.05
"""Of a measurement's time that others may keep the drive busy: values count here, not ranks, and
what they write takes longer than what is reckoned."""
MAX_LOOKS = 5
WAITS_NS = (1_000_000_000, 2_000_000_000, 4_000_000_000, 8_000_000_000, 16_000_000_000)
"""For others to go away, one after the other."""
PATIENCE_NS = 3 * WAITS_NS
"""Where waiting is free: of a thousand short lists one in a row of bursts is soon met."""

T = TypeVar("T")


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
        """Requests issued."""
        return int(self.latency_ns.size + self.sentinel_ns.size)

    @classmethod
    def none(cls, treatments: int) -> Self:
        """Make no blocks, to which others are joined."""
        controls = -(-treatments // SENTINEL_EVERY)
        return cls(np.empty((0, treatments)), np.empty((0, controls)), np.empty(0, np.bool_))

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


def measure_blocks(
    bench: Bench,
    ops: Any,
    offsets: NDArray[np.uint64],
    lengths: Any,
    rng: np.random.Generator,
    *,
    sentinel_bytes: int | None = None,
) -> Blocks:
    """Time every treatment once per block, at depth 1, in one call.

    Parameters
    ----------
    ops, offsets, lengths : array_like, broadcast to shape (blocks, treatments)
        Operation, first byte and bytes of each request; the order within a block is drawn here.
    sentinel_bytes : int, optional
        Size of the control reads, at random places; `base_request_bytes` if absent.
    """
    offsets = np.asarray(offsets, np.uint64)
    blocks, count = offsets.shape
    order = rng.permuted(np.tile(np.arange(count), (blocks, 1)), axis=1)
    # Control reads stand ahead of every group of treatments.
    width = count + -(-count // SENTINEL_EVERY)
    is_sentinel = np.arange(width) % (SENTINEL_EVERY + 1) == 0
    size = sentinel_bytes or base_request_bytes(bench.info)
    plan_lengths = np.full((blocks, width), size, np.uint64)
    plan_ops = np.full((blocks, width), OP_READ, np.uint8)
    plan_offsets = random_offsets(rng, bench.info.capacity_bytes, plan_lengths)
    for plan, wanted in ((plan_lengths, lengths), (plan_ops, ops), (plan_offsets, offsets)):
        whole = np.broadcast_to(np.asarray(wanted, plan.dtype), offsets.shape)
        plan[:, ~is_sentinel] = np.take_along_axis(whole, order, axis=1)
    log = bench.issue(
        plan_ops.ravel(),
        plan_offsets.ravel(),
        plan_lengths.ravel(),
        keep_errors=True,
        most_foreign_share=MAX_FOREIGN_SHARE,
        undivided=True,
    )
    latency = log.latency_ns.reshape(plan_ops.shape).astype(float)
    by_treatment = np.empty(offsets.shape)
    np.put_along_axis(by_treatment, order, latency[:, ~is_sentinel], axis=1)
    failed = (log.error != 0).reshape(plan_ops.shape).any(axis=1)
    return Blocks(by_treatment, latency[:, is_sentinel], ~failed)


def read_blocks(
    bench: Bench, sizes: NDArray[np.uint64], blocks: int, rng: np.random.Generator
) -> Blocks:
    """Read every size once per block at random places; the first size is the control's too.

    Parameters
    ----------
    sizes : ndarray of uint64, shape (n,)
        The treatments.
    """
    lengths = np.tile(sizes, (blocks, 1))
    offsets = random_offsets(rng, bench.info.capacity_bytes, lengths)
    return measure_blocks(bench, OP_READ, offsets, lengths, rng, sentinel_bytes=int(sizes[0]))


def undivided(
    bench: Bench, sizes: NDArray[np.uint64], rng: np.random.Generator
) -> NDArray[np.uint64]:
    """Leave out the largest sizes, as long as the kernel splits reads of them.

    Each is read a few times. Where nobody counts requests all sizes stay, and nothing is read.
    """
    while bench.counts_requests and len(sizes):
        lengths = np.full(SPLIT_TRIES, sizes[-1], np.uint64)
        try:
            bench.read(
                random_offsets(rng, bench.info.capacity_bytes, lengths), lengths, undivided=True
            )
            break
        except Stopped as stop:
            if stop.reason is not Reason.REQUEST_SPLIT:
                raise
            sizes = sizes[:-1]
    return sizes


def looks(bench: Bench, first: int, share_of_wall: float, most: int = MAX_LOOKS) -> Iterator[int]:
    """Give how many blocks to add at each look: as many as there are, so that each look doubles.

    On a drive with a clock of its own all looks come; on a real one they end when the next would
    pass the share of the budget. Whoever has an answer stops asking.
    """
    deadline = bench.deadline(share_of_wall)
    allowed_s = deadline.left_s
    there = 0
    for _ in range(most):
        add = there or first
        yield add
        there += add
        if not bench.virtual and deadline.left_s < allowed_s / 2:
            return


def in_peace(
    bench: Bench,
    call: Callable[[], T],
    *,
    waits_ns: Sequence[int] = WAITS_NS,
    undo: Callable[[], None] | None = None,
) -> T:
    """Repeat a measurement that others disturbed, each time after a longer wait.

    Parameters
    ----------
    waits_ns
        How long, before each repetition.
    undo
        Called after a wait, to take back what the attempt has left in the drive.

    Raises
    ------
    Stopped
        If it still is, or for another reason.
    """
    for wait_ns in waits_ns:
        try:
            return call()
        except Stopped as stop:
            if stop.reason is not Reason.INTERFERENCE:
                raise
            bench.idle(wait_ns)
            if undo is not None:
                undo()
    return call()


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
