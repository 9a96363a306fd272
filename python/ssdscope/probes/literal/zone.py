"""Table 6 of kuo2009: the zone of the mapping table, by reads at two places in turn.

If the tables of zones are loaded when they are needed and only one fits, reading in two zones in
turn loads one for every read. The paper's steps: fill the drive; read 512 bytes at A = 0 and at B
= 0, 1 MB, 2 MB, ... in turn; where the response time at B jumps is the zone.

It shows three different things under one name. With one table in memory the time jumps at the end
of zone 0 and stays (Transcend, Mtron). With several, A and B both stay and there is no jump: only
the first read of every zone is slow, once a zone (Samsung). `answer` reads both off: the distance
from which on reads stay slow, or else the distance between slow reads, and says which. One read a
distance: a late one is a jump.

Cost: two reads a distance; writes nothing but the fill. Source: kuo2009, table 6, figures 39 to
41.
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING, Any, Literal

import numpy as np

if TYPE_CHECKING:
    from numpy.typing import ArrayLike, NDArray

    from ssdscope.probes.bench.ledger import Bench

STEP_BYTES = 1 << 20
NEAR = 16
"""Distances whose median is called the fast level; the paper looks."""
SLOWER_BY = 0.05
STAYS = 0.9
"""Share of the further reads that are slow if the jump is for good."""


@dataclass(frozen=True)
class Answer:
    """The distance of the jump, if it is one for good, or from one slow read to the next."""

    kind: Literal["step", "period", "none"]
    size_bytes: int | None


@dataclass(frozen=True)
class TwoPlaces:
    """The procedure, on a drive that was filled, up to a distance."""

    reach_bytes: int

    def run(self, bench: Bench) -> NDArray[Any]:
        """Read at A and B in turn.

        Returns
        -------
        ndarray, shape (distances,)
            Response times at B = 0, 1 MB, 2 MB, ... in nanoseconds.
        """
        length = bench.info.logical_block_bytes
        reach = min(self.reach_bytes, bench.info.capacity_bytes - length)
        places = np.arange(0, reach + 1, STEP_BYTES, dtype=np.int64)
        log = bench.read(np.column_stack([np.zeros_like(places), places]).ravel(), length)
        return np.asarray(log.latency_ns, dtype=float)[1::2]


def answer(latency_ns: ArrayLike) -> Answer:
    """Read the zone off response times at B.

    Parameters
    ----------
    latency_ns : array_like, shape (distances,)
        At 0, 1 MB, 2 MB, ...
    """
    times = np.asarray(latency_ns, dtype=float)
    slow = np.flatnonzero(times > (1 + SLOWER_BY) * np.median(times[1 : 1 + NEAR]))
    slow = slow[slow > 0]
    if not slow.size:
        return Answer("none", None)
    first = int(slow[0])
    if slow.size >= STAYS * (times.size - first):
        return Answer("step", first * STEP_BYTES)
    spacing, count = np.unique(np.diff(slow), return_counts=True)
    usual = int(spacing[np.argmax(count)]) if spacing.size else first
    return Answer("period", usual * STEP_BYTES)
