"""Writes that are not acknowledged before the flash has them, as far as a drive allows it.

A write cache is switched off for the time. One that cannot be switched off is passed by forced
writes (FUA), unless these are as fast as any write of what is in memory already: then it is
protected against power loss, and no write waits for its own way to flash (but maybe for room).
"""

from __future__ import annotations

from collections.abc import Iterator
from contextlib import contextmanager
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any

import numpy as np

from ssdscope.findings import Reason
from ssdscope.probes.bench.discipline import between_bursts
from ssdscope.probes.plan import State, Stopped
from ssdscope.targets.records import OP_WRITE, OP_WRITE_FUA, DeviceInfo

if TYPE_CHECKING:
    from numpy.typing import ArrayLike, NDArray

    from ssdscope.probes.bench.ledger import Bench

FASTEST_PROGRAM_NS = 60_000
"""No flash programs a page sooner; what acknowledges sooner does so from memory."""
SLOWEST_LINK_NS = 150_000
"""What it takes at most to send a block to memory. Slower writes, forced or not, may wait for flash
where there is no cache."""
FORCE_SHOWS = 1.5
"""How many times longer a forced write must take than another, to have waited for flash."""
TRIED = 64
PAUSE_NS = 20_000_000
"""Between the writes tried, so that they find an empty buffer."""


@dataclass(frozen=True)
class Writer:
    """Writes in the way that the drive demands.

    Attributes
    ----------
    forced
        Whether by forced writes, because a cache stays on.
    waits
        Whether it is sure that a write waits for its own way to the flash.
    """

    bench: Bench
    forced: bool
    waits: bool

    def latency_ns(
        self, offsets: ArrayLike, lengths: ArrayLike, *, iodepth: int = 1
    ) -> NDArray[Any]:
        """Write, and give the latencies in the order of the requests, float, shape (n,)."""
        op = OP_WRITE_FUA if self.forced else OP_WRITE
        return self.bench.issue(op, offsets, lengths, iodepth=iodepth).in_order_ns

    def renew(self) -> None:
        """Go on from the filled drive, where returning costs nothing; its cache stays off."""
        if self.bench.renew(State.FILLED) and self.bench.info.write_cache.control == "switchable":
            self.bench.switch(write=False)


def writes_bytes(info: DeviceInfo) -> int:
    """Give what finding out about the cache writes, with as much again that others disturbed."""
    return 8 * TRIED * info.logical_block_bytes


@contextmanager
def writing(bench: Bench) -> Iterator[Writer]:
    """Give a writer that waits for flash.

    Raises
    ------
    Stopped
        If no write of this drive does.
    """
    cache = bench.info.write_cache
    if cache.control == "switchable":
        with bench.caches(write=False):
            yield Writer(bench, forced=False, waits=True)
        return
    if not (cache.on or cache.control == "unknown"):
        yield Writer(bench, forced=False, waits=True)
        return
    plain, forced = _plain_and_forced_ns(bench)
    shows = forced >= FORCE_SHOWS * plain
    if not shows and forced < SLOWEST_LINK_NS:
        raise Stopped(Reason.PLP_NO_FLUSH_EFFECT)
    yield Writer(bench, forced=True, waits=shows)


def _plain_and_forced_ns(bench: Bench) -> tuple[float, float]:
    """Give what it takes to write a block again at once, now and then, and to force it.

    Again, as what is still in a buffer need not wait for room in one that is full.
    """
    block = bench.info.logical_block_bytes
    rng = bench.rng("write cache")
    medians = []
    for op in (OP_WRITE, OP_WRITE_FUA):
        offsets = rng.integers(0, bench.info.capacity_bytes // block, TRIED) * block

        def write(part: slice, op: int = op, offsets: NDArray[Any] = offsets) -> NDArray[Any]:
            twice = np.repeat(offsets[part], 2)
            ops, pauses = np.full(twice.size, OP_WRITE), np.zeros(twice.size, np.int64)
            ops[1::2], pauses[::2] = op, PAUSE_NS
            return bench.issue(ops, twice, block, pauses_ns=pauses).latency_ns[1::2]

        medians.append(float(np.nanmedian(between_bursts(bench, TRIED, write, longest=TRIED))))
    return medians[0], medians[1]


def refuse_too_fast(latency_ns: NDArray[Any]) -> None:
    """Stop where the median write ends sooner than any flash can program: a buffer takes it."""
    if float(np.median(latency_ns)) < FASTEST_PROGRAM_NS:
        raise Stopped(Reason.WRITE_ACKED_FROM_BUFFER)
