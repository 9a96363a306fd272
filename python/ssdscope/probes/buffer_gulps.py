"""Small write buffers behind slow commands: a few long writes fill them before anything leaves.

Physics. Where a command takes longer than a unit needs to drain, single blocks never fill the
buffer; a long write brings many units for one command. If it is in before the first program has
ended, nothing has left, and it waits for flash exactly from the byte on that finds no room.
Statistic. Latencies of writes into the emptied buffer lie on a line of their bytes as long as they
fit. Decision. The most bytes on that line are what the buffer holds if they are the same for one
write, for two, and for two with a pause (so it is no limit of a request, and nothing leaves
meanwhile), one block more waits, each on fresh bursts, and all of them were in before a flush of a
single write can end: none of them can have left. Else None. Units of more than 4 KiB may leave in
parts, and take room twice: other beginnings tell them, and they are refused, as are drives with
blocks of 4 KiB, which have no such beginnings. Cost: some thousand requests. Source: kuo2009,
table 5; PROBING 1.6.
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING

import numpy as np

from ssdscope.findings import Line
from ssdscope.probes.buffer_exhibits import long_writes
from ssdscope.probes.bursts import SPAN_BYTES, Bursts
from ssdscope.probes.discipline import in_peace
from ssdscope.probes.notes import Notes
from ssdscope.targets.records import OP_FLUSH, OP_WRITE

if TYPE_CHECKING:
    from collections.abc import Callable

    from ssdscope.probes.bench import Bench

IDLE_NS = 6_000_000_000
LEAST_BYTES, MOST_BYTES = 8 * 1024, 1 << 20
LEAST_LINE_BYTES = 64 * 1024
"""Of the line; half of it, where writes are cut in two, is whole units."""
REPEATED, CONFIRMED = 7, 15
SERVICE_BYTES = (4096, 8192, 16_384, 32_768)
SERVED = 5
WAITED = 1.2
"""Times what the line says, from which on a write waited."""
SURELY_FITS, SURELY_WAITED = 1.1, 1.3
"""The same, when it is confirmed."""
LEAST_UNIT_BYTES = 4096
"""Room is taken in units of no less: what ends elsewhere was ended by noise."""
PAUSED = 0.5
"""Of the time that the writes take: the pause between the two."""


@dataclass(frozen=True)
class _Cut:
    """How bytes are written: what the first of two writes takes, the pause, and from where on."""

    first_bytes: int = 0
    pause_ns: int = 0
    shift_bytes: int = 0


class _Gulps:
    """Writes in a row from changing places, each time into the emptied buffer."""

    def __init__(self, bench: Bench) -> None:
        self.bursts = Bursts(bench, idle_ns=IDLE_NS)
        self._rng = bench.rng("buffer_gulps")
        self._bench = bench
        self._places = (bench.window.size_bytes - 2 * MOST_BYTES) // SPAN_BYTES

    def took_ns(self, total_bytes: int, cut: _Cut | None = None, count: int = REPEATED) -> float:
        """Give the median time that so many bytes take, in one write or in two."""
        cut = cut or _Cut()
        lengths = [cut.first_bytes] * bool(cut.first_bytes) + [total_bytes - cut.first_bytes]
        took = [in_peace(self._bench, lambda: self._once(lengths, cut)) for _ in range(count)]
        return float(np.median(took))

    def _once(self, lengths: list[int], cut: _Cut) -> float:
        self.bursts.empty()
        offsets = [each + cut.shift_bytes for each in self._offsets(lengths)]
        log = self._bench.issue(OP_WRITE, offsets, lengths, iodepth=1, thinktime_ns=cut.pause_ns)
        return float(log.latency_ns.sum())

    def service_ns(self) -> float:
        """Measure how soon anything written can be in flash: the least of some flushes."""
        took = []
        for length in (self._bench.info.logical_block_bytes, *SERVICE_BYTES):
            for _ in range(SERVED):
                self.bursts.empty()
                pair = self._bench.issue(
                    [OP_WRITE, OP_FLUSH], [*self._offsets([length]), 0], [length, 0]
                )
                took.append(float(pair.latency_ns[pair.op == OP_FLUSH][0]))
        return min(took)

    def _offsets(self, lengths: list[int]) -> list[int]:
        start = int(self._rng.integers(self._places)) * SPAN_BYTES
        return [start, start + lengths[0]][: len(lengths)]


def measure(bench: Bench, notes: Notes) -> int | None:
    """Give what the buffer holds in bytes; None if no long write shows it."""
    block = bench.info.logical_block_bytes
    if bench.window.size_bytes < 4 * MOST_BYTES or block >= LEAST_UNIT_BYTES:
        return None
    gulps = _Gulps(bench)
    within_ns = gulps.service_ns()
    sizes: list[int] = []
    times: list[float] = []
    size = LEAST_BYTES
    while True:
        took_ns = gulps.took_ns(size)
        if len(times) > 1 and took_ns > WAITED * 2 * times[-1]:
            break
        if took_ns > within_ns or size == MOST_BYTES:
            return None
        sizes.append(size)
        times.append(took_ns)
        size *= 2
    if sizes[-1] < LEAST_LINE_BYTES:
        return None
    # The line of one write; of two the second pays the command once more.
    slope, command_ns = (float(each) for each in np.polyfit(sizes, times, 1))
    first = sizes[-1] // 2
    pause_ns = round(PAUSED * times[-1])
    whole = LEAST_UNIT_BYTES
    cuts = (_Cut(), _Cut(first), _Cut(first, pause_ns), _Cut(shift_bytes=whole))

    def longer(total: int, cut: _Cut, count: int = REPEATED) -> float:
        fits_ns = slope * total + command_ns * (2 if cut.first_bytes else 1)
        return gulps.took_ns(total, cut, count) / fits_ns

    held = _most(lambda total: bool(longer(total, cuts[0]) > WAITED), sizes[-1], size, block)
    filled_ns = slope * held + 2 * command_ns + pause_ns
    if filled_ns > within_ns or held % LEAST_UNIT_BYTES:
        return None
    # Larger units that leave in parts take room twice: they end elsewhere from other places on.
    for cut in (*cuts, _Cut(shift_bytes=whole // 2)):
        most = held - cut.shift_bytes % whole
        fits = longer(most, cut, CONFIRMED) < SURELY_FITS
        if not fits or longer(most + block, cut, CONFIRMED) < SURELY_WAITED:
            return None
    line = _line_of(sizes, times, slope, command_ns)
    notes.show(long_writes(sizes, times, line, held))
    notes.figures |= {
        "filled_ns": float(filled_ns),
        "service_ns": within_ns,
        "fast_ns": float(slope * held + command_ns),
        "slow_ns": gulps.took_ns(held + block),
    }
    return held


def _line_of(sizes: list[int], times: list[float], slope: float, command_ns: float) -> Line:
    fits_ns = command_ns + slope * np.array(sizes)
    error = float(np.sqrt(np.mean((np.array(times) / fits_ns - 1) ** 2)))
    return Line(
        intercept=command_ns, slope=slope, first=sizes[0], last=sizes[-1],
        error=error, word="command + link",
    )  # fmt: skip


def _most(waits: Callable[[int], bool], fits: int, slow: int, block: int) -> int:
    """Bisect for the most bytes that do not wait."""
    while slow - fits > block:
        middle = (fits + slow) // 2 // block * block
        if waits(middle):
            slow = middle
        else:
            fits = middle
    return fits
