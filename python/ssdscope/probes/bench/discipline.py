"""What measurements share: the smallest request, random places, undivided sizes, others at work.

A drive that others use now and then is at peace most of the time, but hardly ever for as long as
a thousand slow writes take. What is short is repeated as a whole (`in_peace`). A long list is
measured in pieces (`between_bursts`): one that was disturbed is measured again, shorter, after a
wait; what never succeeds is left out.
"""

from __future__ import annotations

from collections.abc import Callable
from typing import TYPE_CHECKING, Any, TypeVar

import numpy as np

from ssdscope.findings import Reason
from ssdscope.probes.plan import Stopped

if TYPE_CHECKING:
    from numpy.typing import NDArray

    from ssdscope.probes.bench.ledger import Bench
    from ssdscope.targets.records import DeviceInfo

MIN_REQUEST_BYTES = 4096
SPLIT_TRIES = 8
"""Reads of a size that show whether the kernel splits it."""
MAX_DROPPED_SHARE = 0.2
MAX_FOREIGN_SHARE = 0.05
"""Of a measurement's time that others may keep the drive busy: values count here, not ranks, and
what they write takes longer than what is reckoned."""
WAITS_NS = tuple(1_000_000_000 << doubled for doubled in range(5))
"""For others to go away, one after the other."""
TIMES_PATIENT = 3
"""So often where waiting is free: of a thousand short lists one in a row of bursts is soon met."""

MOST_LOST = 0.75
"""Of a list whose order matters: the drive goes on meanwhile, and what is left tells."""
SHORTER = 4
"""How many times, of a piece after one that was disturbed."""
FIRST_WAIT_NS = 250_000_000
TRIES = 8
"""Of one piece; each waits twice as long as the one before."""

T = TypeVar("T")


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


def in_peace(
    bench: Bench,
    call: Callable[[], T],
    *,
    patient: bool = False,
    undo: Callable[[], None] | None = None,
) -> T:
    """Repeat a measurement that others disturbed, each time after a longer wait.

    Parameters
    ----------
    patient
        Whether to go on for longer where waiting is free: it is one of very many.
    undo
        Called after a wait, to take back what the attempt has left in the drive.

    Raises
    ------
    Stopped
        If it still is, or for another reason.
    """
    for wait_ns in WAITS_NS * (TIMES_PATIENT if patient and bench.virtual else 1):
        try:
            return call()
        except Stopped as stop:
            if stop.reason is not Reason.INTERFERENCE:
                raise
            bench.idle(wait_ns)
            if undo is not None:
                undo()
    return call()


def between_bursts(
    bench: Bench,
    count: int,
    measure: Callable[[slice], NDArray[Any]],
    *,
    longest: int,
    again: bool = True,
    most_lost: float = MAX_DROPPED_SHARE,
) -> NDArray[Any]:
    """Measure pieces of a list, shorter ones while others disturb.

    Parameters
    ----------
    count
        Length of the list.
    measure
        Gives the values of a part of it.
    longest
        Most that is measured at once.
    again
        Whether to wait and repeat what was disturbed. A list whose order matters goes on at once:
        in a pause the drive might tidy up what the list was to leave behind.
    most_lost
        Share of the list that may be left out.

    Returns
    -------
    ndarray of float, shape (count,)
        NaN where others always disturbed.

    Raises
    ------
    Stopped
        If that is so of too many, or for another reason.
    """
    values = np.full(count, np.nan)
    at, size, failed = 0, longest, 0
    while at < count:
        part = slice(at, min(at + size, count))
        try:
            values[part] = measure(part)
        except Stopped as stop:
            if stop.reason is not Reason.INTERFERENCE:
                raise
            size, failed = max(size // SHORTER, 1), failed + 1
            if again:
                bench.idle(FIRST_WAIT_NS << failed - 1)
                if failed < TRIES:
                    continue
        else:
            # What is lost for good is risked more carefully.
            size = min(2 * size if again else size + 1, longest)
        at, failed = part.stop, 0
        if np.count_nonzero(np.isnan(values[:at])) > most_lost * count:
            raise Stopped(Reason.INTERFERENCE, "others used the drive nearly all the time")
    return values


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
