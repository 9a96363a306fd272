"""Rows of reads, and what becomes of those that others disturb."""

from __future__ import annotations

from types import SimpleNamespace
from typing import Any, cast

import numpy as np

from ssdscope.findings import Reason
from ssdscope.probes.bench.ledger import Bench
from ssdscope.probes.bench.rows import read_rows
from ssdscope.probes.plan import Stopped


class Remembers:
    """A bench of a drive on which what was read once is fast; others disturb the first list."""

    def __init__(self) -> None:
        self.info = SimpleNamespace(logical_block_bytes=512)
        self.seen: set[int] = set()
        self.lists = 0

    def read(self, places: np.ndarray[Any, Any], _: int) -> SimpleNamespace:
        fast = np.array([int(place) in self.seen for place in places])
        self.seen |= {int(place) for place in places}
        self.lists += 1
        if self.lists == 1:
            raise Stopped(Reason.INTERFERENCE)
        return SimpleNamespace(latency_ns=np.where(fast, 1000, 9000))

    def idle(self, _: int) -> None:
        return


def test_rows_that_were_read_in_vain_are_drawn_anew() -> None:
    rng = np.random.default_rng(1)

    def rows(part: slice) -> np.ndarray[Any, Any]:
        return rng.integers(0, 1 << 40, (len(range(*part.indices(400))), 2)) * 512

    bench = Remembers()
    logs = read_rows(cast("Bench", bench), rows(slice(None)), rows)
    # All 400, also those of the first list that a shorter one did not come to at once.
    assert bench.lists > 2
    assert np.exp(logs).min() > 8000
