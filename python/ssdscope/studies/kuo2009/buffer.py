"""Figures 21 and 22: what the write buffer does to the order of writes, and where it ends."""

from collections.abc import Sequence
from dataclasses import dataclass
from pathlib import Path

import numpy as np
import numpy.typing as npt

from ssdscope.probes.literal import buffers
from ssdscope.studies.kuo2009 import drawings
from ssdscope.studies.kuo2009.bench import (
    KIB,
    MIB,
    Drives,
    Served,
    flushed,
    multiples,
)
from ssdscope.studies.kuo2009.sheet import Columns, hand_in, number, stated
from ssdscope.studies.record import Claim, FigureResult
from ssdscope.targets import Device


@dataclass(frozen=True)
class Sweep:
    """Response times by how much is written at once, after a flush and a rest."""

    label: str
    sizes: npt.NDArray[np.int64]
    times_ns: npt.NDArray[np.float64]

    @property
    def knee(self) -> int | None:
        """Where table 5 sees the buffer end; None if it does not."""
        return buffers.answer(self.sizes, self.times_ns)


def sweep(drives: Drives, drive: str, sizes: Sequence[int], *sets: str, used: bool = True) -> Sweep:
    """Measure table 5 of the paper.

    Parameters
    ----------
    sets
        Changes to the drive.
    used
        Whether random writes come first.
    """
    procedure = buffers.GrowingWrite(sizes, buffers.RANDOM_WRITES if used else 0)
    bench = drives.probed.bench(f"sim:kuo-{drive}", sets)
    with bench.allowance(procedure.planned_writes_bytes):
        times = procedure.run(bench)
    return Sweep(f"{drive}{'' if used else ', not used before'}", np.array(sizes), times)


def figure_22(drives: Drives, folder: Path) -> FigureResult:
    """Draw response times by how much is written at once, for the three buffers of the paper."""
    small = multiples(8 * KIB, 8 * KIB, 256 * KIB)
    large = multiples(MIB, MIB, 32 * MIB)
    samsung, intel = (sweep(drives, drive, small) for drive in ("samsung-slc", "intel-mlc"))
    mtron, unused = (sweep(drives, "mtron-slc", large, used=used) for used in (True, False))
    rows = [
        _knee("Samsung SLC", 128 * KIB, samsung, KIB, "KB"),
        _knee("Intel MLC", 112 * KIB, intel, KIB, "KB"),
        _knee("Mtron SLC, after random writes", 20 * MIB, mtron, MIB, "MB"),
        stated(
            "Mtron SLC, not written at random before: the response time leaves its line",
            "at no size",
            "at no size up to 32 MB" if unused.knee is None else f"after {unused.knee / MIB:g} MB",
            unused.knee is None,
        ),
    ]
    runs = (samsung, intel, mtron, unused)
    columns: Columns = {
        "drive": [each.label for each in runs for _ in each.sizes],
        "size_bytes": [int(size) for each in runs for size in each.sizes],
        "response_ns": [int(time) for each in runs for time in each.times_ns],
    }
    notes = [
        "the paper's sizes are those of figure 37",
        "128 KB is also the most that an ATA command of the time carries: the Samsung's is suspect",
        "the Mtron's buffer empties while it is filled: it is smaller than what it takes in",
    ]
    return hand_in("22", rows, drawings.buffers(runs), columns, folder, notes)


def _knee(drive: str, paper: int, found: Sweep, scale: int, unit: str) -> Claim:
    ours = float("nan") if found.knee is None else found.knee / scale
    what = f"{drive}: the response time leaves its line after"
    return number(what, paper / scale, ours, unit, within=0.05)


DRIVE = "samsung-slc"
PAGE = 16 * KIB
BLOCK = 4 * MIB
BLOCKS = 24
ORDER = (0, 6, 1, 2, 4, 5, 7, 3)
"""The order in which eight pages come, as many as the buffer holds: as in the figure, the second
one lies far ahead and page 3 comes last."""


def figure_21(drives: Drives, folder: Path) -> FigureResult:
    """Write pages out of order, again and again, and in small pieces, with and without buffer."""
    pages = np.arange(BLOCKS * BLOCK // PAGE)
    disordered = pages.reshape(-1, len(ORDER))[:, ORDER].ravel() * PAGE
    again = np.repeat(pages[:512], 4) * PAGE
    pieces = np.arange(0, 2 * BLOCK, 4 * KIB)
    with_it, without = (
        {
            "order": _run(opened(DRIVE), disordered, PAGE),
            "again": _run(opened(DRIVE), again, PAGE),
            "pieces": _run(opened(DRIVE), pieces, 4 * KIB),
        }
        for opened in (drives.fork, drives.unbuffered)
    )
    rows = [
        _merges(with_it["order"], without["order"]),
        stated(
            "time of the whole, with the buffer",
            "faster",
            f"{_ratio(with_it['order'].elapsed_ns, without['order'].elapsed_ns):.2f} of that "
            "without",
            with_it["order"].elapsed_ns < 0.9 * without["order"].elapsed_ns,
        ),
        stated(
            "pages updated four times in a row: flash programmed for what the host wrote",
            "once for the four",
            f"{_programmed(with_it['again'], again.size * PAGE):.2f} with the buffer, "
            f"{_programmed(without['again'], again.size * PAGE):.2f} without",
            _programmed(with_it["again"], again.size * PAGE)
            < 0.5 * _programmed(without["again"], again.size * PAGE),
        ),
        stated(
            "4 KB after 4 KB in order: pages read, modified and written",
            "avoided",
            f"{with_it['pieces'].counts['rmw_reads']} reads with the buffer, "
            f"{without['pieces'].counts['rmw_reads']} without",
            with_it["pieces"].counts["rmw_reads"] < 0.5 * without["pieces"].counts["rmw_reads"],
        ),
    ]
    columns: Columns = {
        "what": [what for _ in range(2) for what in with_it],
        "buffer": ["on"] * len(with_it) + ["off"] * len(without),
        **{
            count: [run.counts[count] for runs in (with_it, without) for run in runs.values()]
            for count in ("switch", "partial", "full", "rmw_reads", "flash_bytes_programmed")
        },
        "elapsed_ns": [run.elapsed_ns for runs in (with_it, without) for run in runs.values()],
    }
    picture = drawings.reordered(
        {"off": without["order"].counts, "on": with_it["order"].counts},
        {"off": without["order"].elapsed_ns, "on": with_it["order"].elapsed_ns},
    )
    return hand_in("21", rows, picture, columns, folder)


def _run(device: Device, offsets: npt.NDArray[np.int64], size: int) -> Served:
    """Write, and flush, so that all of it is in flash and counted."""
    return flushed(device, offsets, size)


def _merges(with_it: Served, without: Served) -> Claim:
    kinds = ("switch", "partial", "full")
    told = [", ".join(f"{run.counts[kind]} {kind}" for kind in kinds) for run in (with_it, without)]
    cheap = [
        _ratio(run.counts["switch"] + run.counts["partial"], sum(run.counts[k] for k in kinds))
        for run in (with_it, without)
    ]
    return stated(
        "pages that come out of order: how their blocks are merged",
        "more often by switch and partial merges",
        f"{told[0]} with the buffer; {told[1]} without",
        cheap[0] > cheap[1],
    )


def _programmed(run: Served, host_bytes: int) -> float:
    return _ratio(run.counts["flash_bytes_programmed"], host_bytes)


def _ratio(one: float, other: float) -> float:
    return one / other if other else float("nan")
