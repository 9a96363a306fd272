"""Table 4 of kuo2009: the effective page, by what a shift of 1 KB costs.

A write of exactly one effective page replaces it; the same write 1 KB further covers two in part,
which have to be read, modified and written. Below that size both are one read-modify-write. The
paper's steps: fill the drive, switch the write buffer off; write x KB at 0, then x KB at 1 KB; if
the second takes longer by more than ``TH_rmw`` return x, else make x larger by 1 KB.

Where the buffer cannot be switched off the paper reads instead: one page or two, "a slight
difference". ``TH_rmw`` is not given. Here it is a share of the first request's time: a quarter for
writes, a tenth for reads.

One pair per size, always at the same place: what a collection takes at the wrong moment is an
answer. Cost: two requests a size. Source: kuo2009, table 4, figures 34 and 35.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any, Literal

import numpy as np

if TYPE_CHECKING:
    from numpy.typing import ArrayLike, NDArray

    from ssdscope.probes.bench.ledger import Bench

SHIFT_BYTES = 1024
THRESHOLD_SHARE = {"writes": 0.25, "reads": 0.1}


@dataclass(frozen=True)
class ShiftedPairs:
    """The procedure, on a drive that was filled."""

    by: Literal["writes", "reads"] = "writes"
    sizes: Sequence[int] = tuple(range(1024, 33 * 1024, 1024))

    @property
    def planned_writes_bytes(self) -> int:
        """What the pairs write."""
        return 2 * sum(self.sizes) if self.by == "writes" else 0

    def run(self, bench: Bench) -> NDArray[Any]:
        """Run the pairs, with the write buffer off if they are writes.

        Returns
        -------
        ndarray, shape (sizes, 2)
            Response times at 0 and at 1 KB, in nanoseconds.

        Raises
        ------
        Stopped
            If the buffer cannot be switched off.
        """
        lengths = np.repeat(np.asarray(self.sizes, dtype=np.int64), 2)
        offsets = np.tile([0, SHIFT_BYTES], len(self.sizes))
        # A drive just switched on loads its mapping table: not what is measured here.
        bench.read([0], [bench.info.logical_block_bytes])
        if self.by == "reads":
            log = bench.read(offsets, lengths)
        else:
            with bench.caches(write=False):
                log = bench.write(offsets, lengths)
        return np.asarray(log.latency_ns, dtype=float).reshape(-1, 2)


def answer(sizes: Sequence[int], pairs_ns: ArrayLike, threshold_share: float) -> int | None:
    """Give the first size at which the shift costs more than the threshold; None if none does.

    Parameters
    ----------
    pairs_ns : array_like, shape (sizes, 2)
    threshold_share : float
        Of the time of the first request of a pair.
    """
    first, second = np.asarray(pairs_ns, dtype=float).T
    beyond = np.flatnonzero(second - first > threshold_share * first)
    return int(sizes[beyond[0]]) if beyond.size else None
