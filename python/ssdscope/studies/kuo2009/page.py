"""Figures 17, 18, 19 and 36: writes that do not fit effective pages."""

from collections.abc import Sequence
from dataclasses import dataclass
from pathlib import Path

import numpy as np

from ssdscope.studies.kuo2009 import drawings
from ssdscope.studies.kuo2009.bench import KIB, MIB, SECTOR, Drives, multiples, read, write
from ssdscope.studies.kuo2009.sheet import Columns, hand_in, number, stated
from ssdscope.studies.record import FigureResult

DRIVE = "transcend-slc"
PAGE = 4 * KIB
"""The effective page of the drive, as the paper found it (figure 35)."""
PLACES = np.arange(8) * 8 * MIB
"""Where each size is written and read: in different blocks, fewer than there are log blocks."""

FOUR_SECTORS = ("ftl.map_unit_bytes=2k",)
"""The paper's examples have effective pages of four sectors: here, one physical page."""
EXAMPLE_PAGE = 4 * SECTOR
ROUND = 4
"""Effective pages that the drive's chips write side by side."""
VISIBLE = 1.05
"""A factor that shows in a picture."""


@dataclass(frozen=True)
class SizeCost:
    """What a write of one size takes.

    Attributes
    ----------
    rmw_ns
        Time spent reading what the write does not replace.
    programmed
        Bytes programmed into flash for each write.
    """

    size: int
    mean_ns: float
    rmw_ns: float
    programmed: float


def write_cost(drives: Drives, drive: str, size: int, *sets: str) -> SizeCost:
    """Write one size from edges of pages on, without the write buffer."""
    device = drives.unbuffered(drive, *sets)
    read(device, PLACES, SECTOR)  # so that the mapping table is there
    served = write(device, PLACES, size)
    return SizeCost(
        size,
        float(served.times_ns.mean()),
        float(served.share_ns("rmw").mean()),
        served.counts["flash_bytes_programmed"] / PLACES.size,
    )


def figure_17(drives: Drives, folder: Path) -> FigureResult:
    """Draw writes below the effective page: response time, and what reading takes of it."""
    pages = {DRIVE: PAGE, "samsung-slc": 16 * KIB}
    costs = {
        drive: [write_cost(drives, drive, size) for size in multiples(SECTOR, SECTOR, page)]
        for drive, page in pages.items()
    }
    small, whole = costs[DRIVE][:-1], costs[DRIVE][-1]
    ratios = [each.mean_ns / whole.mean_ns for each in small]
    rewritten = {each.programmed for each in small}
    large = costs["samsung-slc"][0].mean_ns
    smaller = write_cost(drives, "samsung-slc", SECTOR, "ftl.map_unit_bytes=4k").mean_ns
    rows = [
        stated(
            "a write below the effective page against one of a whole page",
            "slower, although smaller",
            f"{min(ratios):.2f} to {max(ratios):.2f} times as long",
            min(ratios) > 1,
        ),
        stated(
            "it is read, modified, and written as a whole",
            "the whole effective page",
            f"{', '.join(f'{each:g}' for each in sorted(rewritten))} bytes programmed, "
            f"{min(each.rmw_ns for each in small) / 1e3:.0f} us spent reading; "
            f"{whole.rmw_ns / 1e3:.0f} us for a whole page",
            rewritten == {float(PAGE)} and whole.rmw_ns == 0 < min(e.rmw_ns for e in small),
        ),
        stated(
            "the larger the effective page, the more a small write costs",
            "yes",
            f"a sector takes the Samsung SLC {large / 1e3:.0f} us with its pages of 16 KB, and "
            f"{smaller / 1e3:.0f} us if they are 4 KB",
            large > 1.1 * smaller,
        ),
    ]
    columns: Columns = {
        "drive": [drive for drive, each in costs.items() for _ in each],
        "size_bytes": [each.size for listed in costs.values() for each in listed],
        "mean_ns": [each.mean_ns for listed in costs.values() for each in listed],
        "rmw_ns": [each.rmw_ns for listed in costs.values() for each in listed],
        "programmed_bytes": [each.programmed for listed in costs.values() for each in listed],
    }
    return hand_in("17", rows, drawings.small_writes(costs, pages), columns, folder)


def figure_18(drives: Drives, folder: Path) -> FigureResult:
    """Write sectors 3 to 10 with pages of four sectors, and beside it sectors 4 to 11."""
    runs = {
        first: write(drives.fork(DRIVE, *FOUR_SECTORS), first * SECTOR, 8 * SECTOR)
        for first in (3, 4)
    }
    written = {
        first: run.counts["flash_bytes_programmed"] / EXAMPLE_PAGE for first, run in runs.items()
    }
    times = {first: float(run.times_ns[0]) for first, run in runs.items()}
    rows = [
        number("sectors 3 to 10: effective pages written", 3, written[3], "pages"),
        number("of these read, modified and written", 2, runs[3].counts["rmw_reads"], "pages"),
        number("the same data from sector 4 on: pages written", 2, written[4], "pages"),
        stated(
            "response time of the write that begins inside a page",
            "far longer",
            f"{times[3] / times[4]:.2f} times as long",
            times[3] > 2 * times[4],
            "longer, but the pages are programmed side by side on different chips, so that only "
            "the reading adds to the time"
            if times[3] > times[4]
            else "",
        ),
    ]
    columns: Columns = {
        "first_sector": list(runs),
        "pages_written": list(written.values()),
        "pages_read_first": [run.counts["rmw_reads"] for run in runs.values()],
        "response_ns": list(times.values()),
    }
    picture = drawings.page_spans(
        {f"sectors {first} to {first + 7}": (first, 8) for first in runs}, times.values(), 4
    )
    return hand_in("18", rows, picture, columns, folder)


def figure_19(drives: Drives, folder: Path) -> FigureResult:
    """Write on and on, eight sectors at a time, from sector 1 and from sector 0."""
    pair, stream = {}, {}
    blocks = 24
    for first in (1, 0):
        starts = np.arange(blocks * MIB // (8 * SECTOR)) * 8 * SECTOR + first * SECTOR
        pair[first] = write(drives.fork(DRIVE, *FOUR_SECTORS), starts[:2], 8 * SECTOR)
        stream[first] = write(drives.fork(DRIVE, *FOUR_SECTORS), starts, 8 * SECTOR)
    written = {
        first: run.counts["flash_bytes_programmed"] / EXAMPLE_PAGE for first, run in pair.items()
    }
    merges = {
        first: {kind: run.counts[kind] for kind in ("switch", "partial", "full")}
        for first, run in stream.items()
    }
    slowdown = float(stream[1].times_ns.sum() / stream[0].times_ns.sum())
    rows = [
        number("sectors 1 to 8, then 9 to 16: effective pages written", 6, written[1], "pages"),
        number("sectors 0 to 7, then 8 to 15: effective pages written", 4, written[0], "pages"),
        stated(
            "a long sequential write in such pieces: how its blocks are merged",
            "only by full merges",
            _told(merges[1]),
            merges[1]["full"] > 0 == merges[1]["switch"] + merges[1]["partial"],
        ),
        stated(
            "the same, beginning at the edge of a page",
            "by switch merges",
            _told(merges[0]),
            merges[0]["switch"] > 0 == merges[0]["full"] + merges[0]["partial"],
        ),
        stated(
            "time of the whole against that of aligned pieces",
            "worse performance",
            f"{slowdown:.1f} times as long",
            slowdown > 1.2,
        ),
    ]
    columns: Columns = {
        "first_sector": list(stream),
        "pages_written_by_two": list(written.values()),
        **{kind: [merges[first][kind] for first in stream] for kind in merges[0]},
        "stream_ns": [int(run.times_ns.sum()) for run in stream.values()],
    }
    totals = [float(run.times_ns.sum()) / 1e9 for run in stream.values()]
    picture = drawings.sequential_pieces(
        {
            f"from sector {first}": (merges[first], total)
            for first, total in zip(stream, totals, strict=True)
        },
        f"{blocks} blocks, 8 sectors at a time",
    )
    return hand_in("19", rows, picture, columns, folder)


def _told(merges: dict[str, int]) -> str:
    return ", ".join(f"{count} {kind}" for kind, count in merges.items())


def figure_36(drives: Drives, folder: Path) -> FigureResult:
    """Draw response times of writes and reads by size, in steps of 1 KB."""
    sizes = np.array(multiples(KIB, KIB, 64 * KIB))
    writes = np.array([write_cost(drives, DRIVE, int(each)).mean_ns for each in sizes])
    reads = np.array(
        [read(drives.fork(DRIVE), PLACES, int(each)).times_ns.mean() for each in sizes]
    )
    teeth = [kib for kib in range(4, 64, 4) if writes[kib - 1] < min(writes[kib - 2], writes[kib])]
    fit = np.polyfit(sizes, reads, 1)
    off = np.abs(reads - np.polyval(fit, sizes)) / reads
    explained = 1 - np.var(reads - np.polyval(fit, sizes)) / np.var(reads)
    drop = np.array([writes[kib - 2] / writes[kib - 1] for kib in range(4, 65, 4)])
    rows = [
        stated(
            "writes: shortest at multiples of the effective page, so that the line is a saw",
            "saw-toothed, at multiples of 4 KB",
            f"at {len(teeth)} of 15 multiples shorter than 1 KB less and 1 KB more",
            len(teeth) == 15,
        ),
        stated(
            "writes of 1 KB less than a multiple",
            "take visibly longer at all sizes",
            f"{_range(drop[:ROUND])} times as long up to {4 * ROUND} KB, "
            f"{_range(drop[ROUND:])} beyond",
            bool(drop.min() >= VISIBLE),
            "where a chip writes more than one page, what the cut page keeps is read before its "
            "chip's turn comes, so that reading adds little",
        ),
        stated(
            "reads grow almost in a straight line",
            "almost linear",
            f"a line explains {100 * explained:.1f} % of the variance; "
            f"it is off by {100 * float(np.median(off)):.1f} % in the median",
            bool(explained > 0.95),
        ),
        stated(
            "reads do not pay for pages they cover in part",
            "no effect",
            f"{_falls(reads)} of 63 steps of 1 KB make a read shorter, {_falls(writes)} a write",
            _falls(reads) == 0 < _falls(writes),
        ),
    ]
    columns: Columns = {
        "size_bytes": sizes.tolist(),
        "write_ns": writes.tolist(),
        "read_ns": reads.tolist(),
    }
    notes = ["the paper labels the figure SMI; that this is the Transcend SLC is our inference"]
    picture = drawings.sizes(sizes, writes, reads, PAGE)
    return hand_in("36", rows, picture, columns, folder, notes)


def _range(factors: np.ndarray) -> str:
    return f"{factors.min():.2f} to {factors.max():.2f}"


def _falls(times: Sequence[float] | np.ndarray) -> int:
    return int((np.diff(times) < 0).sum())
