"""Reads in rows: a short story each, told many times at other places.

A row is a few reads, one after the other, whose order is the experiment ("here, far away, here
again"). What a drive remembers of earlier rows is the business of whoever makes them.
"""

from __future__ import annotations

from contextlib import suppress
from functools import partial
from typing import TYPE_CHECKING, Any

import numpy as np

from ssdscope.findings import Reason
from ssdscope.probes.bench.discipline import between_bursts, in_peace
from ssdscope.probes.plan import Stopped

if TYPE_CHECKING:
    from collections.abc import Callable

    from numpy.typing import ArrayLike, NDArray

    from ssdscope.probes.bench.ledger import Bench
    from ssdscope.targets.records import Log

READS = 2048
"""Of a design that is drawn at random: likelihoods tell sizes to the block from as many."""
FORGOTTEN_AFTER = 24_000
"""Other blocks: more than the units of any read cache that was seen."""
NEIGHBOURS = 31
"""Rows on both sides that tell what a read took about then."""


def read_rows(
    bench: Bench, offsets: ArrayLike, again: Callable[[slice], NDArray[Any]] | None = None
) -> NDArray[Any]:
    """Read one block at each place, row by row, at depth 1.

    Where others disturb, fewer rows are read at once. Rows that were read in vain are drawn anew.
    Where they cannot be, so much else is read first that nothing of them is in a read cache; what
    they need of a mapping table may still be in memory, of which tens of thousands of entries fit.

    Parameters
    ----------
    offsets : array_like, shape (rows, reads)
        First bytes, multiples of the logical block.
    again
        Draws other places that tell the same, for a part of the rows.

    Returns
    -------
    ndarray, shape (rows, reads)
        Natural logarithms of the latencies in nanoseconds.

    Raises
    ------
    Stopped
        If a read took no time that the clock can tell, or failed, or others always disturb.
    """
    places = np.array(offsets, np.uint64)
    latency = np.empty(places.shape)
    disturbed, begun = False, 0

    def measure(part: slice) -> NDArray[Any]:
        nonlocal disturbed, begun
        if again is not None:
            if part.start < begun:
                places[part] = again(part)
        elif disturbed:
            _read_others(bench)
        disturbed, begun = True, max(begun, part.stop)
        log = bench.read(places[part].ravel(), bench.info.logical_block_bytes)
        disturbed = False
        latency[part] = log.latency_ns.reshape(places[part].shape)
        return latency[part, 0]

    between_bursts(bench, len(places), measure, longest=len(places), most_lost=0.0)
    if np.median(latency) <= 0:
        raise Stopped(Reason.EFFECT_BELOW_NOISE, "reads take no time that the clock can tell")
    return np.asarray(np.log(np.maximum(latency, 1.0)))


def patient_read(bench: Bench, offsets: ArrayLike, lengths: ArrayLike, **pacing: Any) -> Log:
    """Read as `Bench.read`; if another user is at work, wait and read again, a few times.

    What was read in vain is put out of the read cache first.

    Raises
    ------
    Stopped
        If that user stays, or a read failed.
    """

    def forget() -> None:
        if bench.info.read_cache.control != "absent" and bench.info.read_cache.on:
            _read_others(bench)

    return in_peace(bench, partial(bench.read, offsets, lengths, **pacing), undo=forget)


def _read_others(bench: Bench) -> None:
    """Read so much else that a read cache has nothing of what is read again."""
    rng, block = bench.rng(f"forget {bench.requests}"), bench.info.logical_block_bytes
    others = random_blocks(rng, 0, bench.info.capacity_bytes, FORGOTTEN_AFTER, block)
    with suppress(Stopped):
        bench.read(others, block)


def slow_changes(values: NDArray[Any]) -> NDArray[Any]:
    """Give the running median of a series: what drifts, without what single values do.

    Parameters
    ----------
    values : ndarray, shape (n,)
    """
    half = min(NEIGHBOURS, max(len(values) // 2, 1)) // 2
    padded = np.pad(values, half, mode="reflect" if half < len(values) else "edge")
    windows = np.lib.stride_tricks.sliding_window_view(padded, 2 * half + 1)
    return np.asarray(np.median(windows, axis=1))


def random_blocks(
    rng: np.random.Generator, low_bytes: float, high_bytes: float, shape: Any, block_bytes: int
) -> NDArray[np.int64]:
    """Draw starts of whole blocks that lie between two places."""
    first = -(-int(low_bytes) // block_bytes)
    last = max(int(high_bytes) // block_bytes, first + 1)
    return np.asarray(rng.integers(first, last, shape) * block_bytes)
