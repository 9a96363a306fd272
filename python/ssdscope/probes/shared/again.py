"""Pairs of reads whose second finds what the first brought into memory, or does not."""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING, Any

import numpy as np

from ssdscope.inference.series import Series
from ssdscope.probes.bench.rows import random_blocks, read_rows, slow_changes
from ssdscope.probes.plan import Plan

if TYPE_CHECKING:
    from collections.abc import Callable

    from numpy.typing import NDArray

    from ssdscope.probes.bench.ledger import Bench

__all__ = ["Again", "second_ns"]

PAIRS = 512
"""Of each kind."""


def second_ns(
    bench: Bench, count: int, drawn: Callable[[slice], NDArray[Any]]
) -> NDArray[np.float64]:
    """Read so many pairs; return what the second of each takes, without what drifts.

    Parameters
    ----------
    drawn
        Draws both places of a part of the pairs.
    """
    logs = read_rows(bench, drawn(slice(0, count)), drawn)
    usual = slow_changes(logs[:, 0])
    return np.asarray(np.exp(logs[:, 1] - usual + np.median(usual)).round())


@dataclass(frozen=True, kw_only=True)
class Again(Plan):
    """Second reads of two kinds in turn: `x` is 0 for the one, 1 for the other.

    Attributes
    ----------
    below_blocks
        How far the second lies below the first, for each kind; None if it may be anywhere.
    """

    below_blocks: tuple[int | None, int | None]

    def measure(self, bench: Bench, rng: np.random.Generator) -> Series:
        """Read both of each pair, one behind the other; what counts is the second read."""
        block, capacity = bench.info.logical_block_bytes, bench.info.capacity_bytes
        kinds = np.arange(2 * PAIRS) % 2

        def drawn(part: slice) -> NDArray[np.int64]:
            first, other = random_blocks(rng, block, capacity, (2, kinds[part].size), block)
            second = [
                other if below is None else first - below * block for below in self.below_blocks
            ]
            return np.column_stack([first, np.choose(kinds[part], second)])

        times = second_ns(bench, kinds.size, drawn)
        return Series.of(kinds, times, stratum=np.arange(kinds.size) // 2)
