"""Order- or address-based allocation, section 2 of ryu2009: sequential reads after two orders.

A drive that places data in the order in which it comes reads what was written at random from
wherever it went; one that places by address does not care. The paper's steps: write the first half
of the drive at random, a page at a time; read it in order, four pages at a time (T1); write it in
order, a page at a time; read it again (T2). A large gap between T1 and T2: order-based.

The paper gives no limit. `LIMIT` is ours, between the "almost none" of its drives A and B and the
15 % of C. One T1 is measured before one T2, so that drift counts as a gap, and reads that the drive
foresees can hide it.

Cost: twice the range. Source: ryu2009, section 2.
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING

from ssdscope.workloads import Workload

if TYPE_CHECKING:
    from ssdscope.probes.bench.ledger import Bench

LIMIT = 0.05
READ_PAGES = 4


@dataclass(frozen=True)
class Gap:
    """Mean time of a read after random writes (T1) and after sequential ones (T2)."""

    t1_ns: float
    t2_ns: float

    @property
    def share(self) -> float:
        """By what share T1 is longer than T2."""
        return self.t1_ns / self.t2_ns - 1

    @property
    def answer(self) -> str:
        """What the procedure concludes."""
        return "order" if abs(self.share) > LIMIT else "address"


@dataclass(frozen=True)
class TwoOrders:
    """The five steps, on a range from the start of the drive."""

    page_bytes: int
    range_bytes: int

    @property
    def planned_writes_bytes(self) -> int:
        """What the two passes of writing come to."""
        return 2 * self.range_bytes

    def run(self, bench: Bench) -> Gap:
        """Write at random, read, write in order, read."""
        self._write(bench, "randwrite")
        t1_ns = self._read(bench)
        self._write(bench, "write")
        return Gap(t1_ns, self._read(bench))

    def _write(self, bench: Bench, rw: str) -> None:
        plan = Workload(
            rw=rw,
            block_bytes=self.page_bytes,
            size_bytes=self.range_bytes,
            io_bytes=self.range_bytes,
            seed=bench.seed,
        )
        bench.run(plan, self.range_bytes)

    def _read(self, bench: Bench) -> float:
        plan = Workload(
            rw="read", block_bytes=READ_PAGES * self.page_bytes, size_bytes=self.range_bytes
        )
        return bench.run(plan, 0).only().latency_ns.mean
