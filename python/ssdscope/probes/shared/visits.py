"""Blocks read again and again, each time in another order: what belongs to a place comes back."""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING

import numpy as np

from ssdscope.findings import Reason
from ssdscope.inference.places import halves_of
from ssdscope.probes.bench.discipline import base_request_bytes
from ssdscope.probes.bench.overwriting import latencies_ns
from ssdscope.probes.bench.rows import patient_read
from ssdscope.probes.plan import Plan, Stopped

if TYPE_CHECKING:
    from numpy.typing import NDArray

    from ssdscope.inference.series import Series
    from ssdscope.probes.bench.ledger import Bench

__all__ = ["Visits"]

FOREIGN = 0.5
"""Of the time that others may keep the drive busy: they meet all places alike."""


@dataclass(frozen=True, kw_only=True)
class Visits(Plan):
    """Blocks of a stretch, one in each of equal cells, read in random order.

    Each is read twice, so that a table has what the second needs, which counts. A block lies within
    a page, however pages lie. Gives what `halves_of` does.

    Attributes
    ----------
    first_bytes, span_bytes
        The stretch.
    cells, times
        Places, and how often each is visited.
    """

    first_bytes: int = 0
    span_bytes: int
    cells: int
    times: int

    def measure(self, bench: Bench, rng: np.random.Generator) -> Series:
        """Read."""
        return self.visited(bench, rng)

    def visited(self, bench: Bench, rng: np.random.Generator) -> Series:
        """Read places, the same for each plan that differs in what was done to them before."""
        if bench.info.read_cache.stays_on:
            raise Stopped(Reason.CACHE_NOT_CONTROLLABLE, "what is read again comes from it")
        at = self.places(bench)
        orders = np.array([rng.permutation(at.size) for _ in range(self.times)])
        twice = np.repeat(at[orders].ravel(), 2)
        block = bench.info.logical_block_bytes
        log = patient_read(bench, twice, block, most_foreign_share=FOREIGN)
        took = latencies_ns(log)[1::2].reshape(orders.shape)
        if np.median(took) <= 0:
            raise Stopped(Reason.EFFECT_BELOW_NOISE, "reads take no time that the clock can tell")
        return halves_of(at, orders, np.maximum(took, 1.0))

    def places(self, bench: Bench) -> NDArray[np.uint64]:
        """Draw the places, ascending."""
        step = base_request_bytes(bench.info)
        wide = self.span_bytes // step // self.cells
        drawn = bench.rng(f"visits {self.cells}").integers(0, wide, self.cells)
        steps = np.arange(self.cells) * wide + drawn
        return np.asarray(self.first_bytes // step * step + steps * step, np.uint64)
