"""Plans of the family `types`: pages as they were filled in order, and written in another order."""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING

import numpy as np

from ssdscope.probes.bench.discipline import base_request_bytes
from ssdscope.probes.bench.overwriting import FILL_BYTES
from ssdscope.probes.shared.visits import FOREIGN, Visits
from ssdscope.targets.records import OP_FLUSH, DeviceInfo

if TYPE_CHECKING:
    from numpy.typing import NDArray

    from ssdscope.inference.series import Series
    from ssdscope.probes.bench.ledger import Bench

__all__ = ["LONGEST_PIECE", "Pages"]

LONGEST_PIECE = 64
"""Steps in a piece, at most: of any length, as equal ones in rows would keep their types."""
REST_NS = 4_000_000_000
"""Behind writes, in which a drive empties its buffer and folds."""


@dataclass(frozen=True, kw_only=True)
class Pages(Visits):
    """Visits of a stretch; before, it is written in order or in pieces in random order.

    Attributes
    ----------
    written
        How: `""`, as it is; `"in order"`; or `"in pieces"`.
    around_bytes
        Written elsewhere before and after, so that the stretch lies in no region of one bit.
    """

    written: str = ""
    around_bytes: int = 0

    def writes_bytes(self, info: DeviceInfo) -> int:  # noqa: ARG002
        """Return the most that it writes."""
        return self.span_bytes + 2 * self.around_bytes + 2 * FILL_BYTES if self.written else 0

    def measure(self, bench: Bench, rng: np.random.Generator) -> Series:
        """Write and read."""
        if self.written:
            ends = self._ends(bench, rng)
            order = np.arange(ends.size - 1)
            if self.written == "in pieces":
                order = rng.permutation(order)
            self._elsewhere(bench)
            lengths = np.diff(ends)[order]
            bench.write(ends[:-1][order], lengths, most_foreign_share=FOREIGN)
            self._elsewhere(bench)
            bench.issue([OP_FLUSH], [0], [0])
            bench.idle(REST_NS)
        return self.visited(bench, rng)

    def _ends(self, bench: Bench, rng: np.random.Generator) -> NDArray[np.uint64]:
        """Draw where pieces end, all of the stretch."""
        step = base_request_bytes(bench.info)
        steps = self.span_bytes // step
        cuts = np.cumsum(rng.integers(1, LONGEST_PIECE + 1, steps))
        within = np.concatenate([[0], cuts[cuts < steps], [steps]])
        return np.asarray(self.first_bytes // step * step + within * step, np.uint64)

    def _elsewhere(self, bench: Bench) -> None:
        """Write in order before the stretch, and from the beginning again if need be."""
        count = -(-self.around_bytes // FILL_BYTES)
        room = max(self.first_bytes // FILL_BYTES, 1)
        places = (np.arange(count) % room * FILL_BYTES).astype(np.uint64)
        if count:
            bench.write(places, FILL_BYTES, most_foreign_share=FOREIGN)
