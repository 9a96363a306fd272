"""Table 3 of kuo2009: the effective block, by writes that grow until nothing has to be copied.

A log block that holds exactly one effective block takes its place (switch merge); one that holds
less has the rest copied to it. So writes of x KB, each 64 MB after the last so that log blocks run
out, get faster until x is the effective block. The paper's steps: fill the drive; write x until
the throughput is steady; if it "reached the MAX" return x, else double x and begin again.

Neither "steady" nor "the MAX" is defined, and the latter is not known before larger x were tried.
Here throughput is steady when a window of writes is within `STEADY_WITHIN` of the window before
it, after `MOST_WINDOWS` at the latest; a window is `WINDOW` writes, and as many bytes as a write
buffer may hide (`WINDOW_BYTES`). All sizes are tried, and the answer is the first whose rate is
within `MAX_WITHIN` of the best. Other weaknesses stay: only powers of two; x is also the request's
size, so that larger requests are faster on drives without any such block; windows that fit into
the log blocks are steady before one is merged; no search for the phase. Addresses beyond the end
begin again at the start.

Cost: a capacity per size, and the windows. Source: kuo2009, table 3, figures 29 and 30.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from typing import TYPE_CHECKING

import numpy as np

from ssdscope.probes.plan import State

if TYPE_CHECKING:
    from numpy.typing import ArrayLike

    from ssdscope.probes.bench.ledger import Bench
    from ssdscope.targets.records import DeviceInfo

DISTANCE_BYTES = 64 << 20
SIZES = tuple(65536 << step for step in range(9))
"""64 KB to 16 MB."""
WINDOW = 16
WINDOW_BYTES = 32 << 20
MOST_WINDOWS = 16
STEADY_WITHIN = 0.05
MAX_WITHIN = 0.05


@dataclass(frozen=True)
class GrowingWrites:
    """The procedure.

    Attributes
    ----------
    start
        What the drive is brought to before each size.
    """

    sizes: Sequence[int] = SIZES
    start: State = State.FILLED

    def planned_writes_bytes(self, info: DeviceInfo) -> int:
        """Give the most that is written, if throughput is never steady."""
        fill = self.start.writes_bytes(info.capacity_bytes)
        return sum(fill + MOST_WINDOWS * _window(size) * size for size in self.sizes)

    def run(self, bench: Bench) -> list[float]:
        """Measure the steady rate of every size, in bytes per second."""
        rates = []
        for done, size in enumerate(self.sizes, start=1):
            bench.enter(self.start)
            rates.append(_steady_rate(bench, size))
            bench.progress("table 3", done / len(self.sizes))
        return rates


def _steady_rate(bench: Bench, size: int) -> float:
    places = max(1, (bench.info.capacity_bytes - size) // DISTANCE_BYTES)
    count, before = _window(size), 0.0
    for window in range(MOST_WINDOWS):
        steps = np.arange(window * count, (window + 1) * count, dtype=np.int64)
        latency = bench.write(steps % places * DISTANCE_BYTES, size).latency_ns
        rate = 1e9 * count * size / float(latency.sum())
        if abs(rate - before) <= STEADY_WITHIN * before:
            break
        before = rate
    return rate


def _window(size: int) -> int:
    return max(WINDOW, WINDOW_BYTES // size)


def answer(sizes: Sequence[int], rates: ArrayLike) -> int:
    """Give the first size whose rate reaches the maximum; there always is one."""
    values = np.asarray(rates, dtype=float)
    return int(sizes[int(np.argmax(values >= (1 - MAX_WITHIN) * values.max()))])
