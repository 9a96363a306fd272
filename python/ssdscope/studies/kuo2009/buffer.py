"""Figures 21 and 22: what the write buffer does to the order of writes, and where it ends."""

from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass

import numpy as np
import numpy.typing as npt

from ssdscope.probes.literal import buffers
from ssdscope.studies.judging import SIMILAR_WITHIN, quoted
from ssdscope.studies.kuo2009 import drawings
from ssdscope.studies.kuo2009.bench import (
    KIB,
    MIB,
    Drives,
    flushed,
    multiples,
)
from ssdscope.studies.kuo2009.sheet import Binder, Columns, hand_in, number, stated
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


def figure_22(drives: Drives, binder: Binder) -> FigureResult:
    """Draw response times by how much is written at once, for the three buffers of the paper."""
    small = multiples(8 * KIB, 8 * KIB, 256 * KIB)
    large = multiples(MIB, MIB, 32 * MIB)
    samsung, intel = (sweep(drives, drive, small) for drive in ("samsung-slc", "intel-mlc"))
    mtron, unused = (sweep(drives, "mtron-slc", large, used=used) for used in (True, False))
    rows = claims_22(samsung, intel, mtron, unused)
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
    return hand_in("22", rows, drawings.buffers(runs), columns, binder, notes)


def claims_22(samsung: Sweep, intel: Sweep, mtron: Sweep, unused: Sweep) -> list[Claim]:
    """Hold the ends of the buffers against those of figure 37."""
    return [
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


def _knee(drive: str, paper: int, found: Sweep, scale: int, unit: str) -> Claim:
    ours = float("nan") if found.knee is None else found.knee / scale
    what = f"{drive}: the response time leaves its line after"
    return number(what, paper / scale, ours, unit)


DRIVE = "samsung-slc"
PAGE = 16 * KIB
BLOCK = 4 * MIB
BLOCKS = 24
ORDER = (0, 6, 1, 2, 4, 5, 7, 3)
"""The order in which eight pages come, as many as the buffer holds: as in the figure, the second
one lies far ahead and page 3 comes last."""


KINDS = ("switch", "partial", "full")


@dataclass(frozen=True)
class Outcome:
    """What the drive counted of a list of writes and a flush, and how long they took.

    Attributes
    ----------
    programmed
        Flash programmed for what the host wrote.
    """

    merges: Mapping[str, int]
    rmw_reads: int
    programmed: float
    elapsed_ns: int


def figure_21(drives: Drives, binder: Binder) -> FigureResult:
    """Write pages out of order, again and again, and in small pieces, with and without buffer."""
    with_it, without = (_outcomes(opened) for opened in (drives.fork, drives.unbuffered))
    runs = {"on": with_it, "off": without}
    each = [outcome for outcomes in runs.values() for outcome in outcomes.values()]
    columns: Columns = {
        "what": [what for outcomes in runs.values() for what in outcomes],
        "buffer": [name for name, outcomes in runs.items() for _ in outcomes],
        **{kind: [outcome.merges[kind] for outcome in each] for kind in KINDS},
        "rmw_reads": [outcome.rmw_reads for outcome in each],
        "programmed_for_written": [outcome.programmed for outcome in each],
        "elapsed_ns": [outcome.elapsed_ns for outcome in each],
    }
    pair = {"off": without["order"], "on": with_it["order"]}
    picture = drawings.reordered(
        {name: outcome.merges for name, outcome in pair.items()},
        {name: outcome.elapsed_ns for name, outcome in pair.items()},
    )
    return hand_in("21", claims_21(with_it, without), picture, columns, binder)


def _outcomes(opened: Callable[[str], Device]) -> dict[str, Outcome]:
    pages = np.arange(BLOCKS * BLOCK // PAGE)
    disordered = pages.reshape(-1, len(ORDER))[:, ORDER].ravel() * PAGE
    again = np.repeat(pages[:512], 4) * PAGE
    pieces = np.arange(0, 2 * BLOCK, 4 * KIB)
    return {
        "order": _outcome(opened(DRIVE), disordered, PAGE),
        "again": _outcome(opened(DRIVE), again, PAGE),
        "pieces": _outcome(opened(DRIVE), pieces, 4 * KIB),
    }


def _outcome(device: Device, offsets: npt.NDArray[np.int64], size: int) -> Outcome:
    """Write, and flush, so that all of it is in flash and counted."""
    run = flushed(device, offsets, size)
    return Outcome(
        {kind: run.counts[kind] for kind in KINDS},
        run.counts["rmw_reads"],
        run.counts["flash_bytes_programmed"] / (offsets.size * size),
        run.elapsed_ns,
    )


def claims_21(with_it: Mapping[str, Outcome], without: Mapping[str, Outcome]) -> list[Claim]:
    """Hold writes with the buffer against those without, in the paper's words."""
    one, other = with_it["order"], without["order"]
    again = [runs["again"].programmed for runs in (with_it, without)]
    reads = [runs["pieces"].rmw_reads for runs in (with_it, without)]
    return [
        stated(
            "pages that come out of order: how their blocks are merged",
            "more often by switch and partial merges",
            f"{_told(one)} with the buffer; {_told(other)} without",
            _cheap(one) > _cheap(other),
        ),
        stated(
            "time of the whole, with the buffer",
            "faster",
            f"{one.elapsed_ns / other.elapsed_ns:.2f} of that without",
            one.elapsed_ns * SIMILAR_WITHIN < other.elapsed_ns,
        ),
        stated(
            "pages updated four times in a row: flash programmed for what the host wrote",
            "once for the four",
            f"{again[0]:.2f} with the buffer, {again[1]:.2f} without",
            quoted(1 / 4, again[0]),
        ),
        stated(
            "4 KB after 4 KB in order: pages read, modified and written",
            "avoided",
            f"{reads[0]} reads with the buffer, {reads[1]} without",
            reads[0] == 0 < reads[1],
        ),
    ]


def _told(outcome: Outcome) -> str:
    return ", ".join(f"{outcome.merges[kind]} {kind}" for kind in KINDS)


def _cheap(outcome: Outcome) -> float:
    """Give the share of merges that are not full."""
    return 1 - outcome.merges["full"] / max(sum(outcome.merges.values()), 1)
