"""Figures 17, 18, 19 and 36: writes that do not fit effective pages."""

from collections.abc import Mapping, Sequence
from dataclasses import dataclass

import numpy as np
import numpy.typing as npt

from ssdscope.studies.judging import SIMILAR_WITHIN
from ssdscope.studies.kuo2009 import drawings
from ssdscope.studies.kuo2009.bench import (
    KIB,
    MIB,
    SECTOR,
    Drives,
    Served,
    multiples,
    read,
    write,
)
from ssdscope.studies.kuo2009.sheet import Binder, Columns, because, exact, hand_in, stated
from ssdscope.studies.record import Claim, FigureResult

DRIVE = "transcend-slc"
PAGE = 4 * KIB
"""The effective page of the drive, as the paper found it (figure 35)."""
PLACES = np.arange(8) * 8 * MIB
"""Where each size is written and read: in different blocks, fewer than there are log blocks."""

FOUR_SECTORS = ("ftl.map_unit_bytes=2k",)
"""The paper's examples have effective pages of four sectors: here, one physical page."""
EXAMPLE_PAGE = 4 * SECTOR
ONE_CHIP = ("nand.channels=1", "nand.ways=1", "ftl.merge_unit_bytes=128k")
ROUND = 4
"""Effective pages that the drive's chips write side by side."""
TOOTH = 0.5
"""A tooth of a saw is there if it is at least half as high as the first one."""
LINEAR = 0.95
"""Share of the variance that an almost straight line explains."""

Curve = npt.NDArray[np.float64]
"""Response times, or other values, by size."""


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


def _at_places(drives: Drives, size: int, drive: str = DRIVE, *sets: str) -> Served:
    """Write one size from edges of pages on, without the write buffer where it can be off."""
    device = drives.unbuffered(drive, *sets)
    read(device, PLACES, max(SECTOR, device.info.logical_block_bytes))  # loads the mapping table
    return write(device, PLACES, size)


def write_cost(drives: Drives, drive: str, size: int, *sets: str) -> SizeCost:
    """Count what writes of one size take inside a drive."""
    served = _at_places(drives, size, drive, *sets)
    return SizeCost(
        size,
        float(served.times_ns.mean()),
        float(served.share_ns("rmw").mean()),
        served.counts["flash_bytes_programmed"] / PLACES.size,
    )


def figure_17(drives: Drives, binder: Binder) -> FigureResult:
    """Draw writes below the effective page: response time, and what reading takes of it."""
    pages = {DRIVE: PAGE, "samsung-slc": 16 * KIB}
    costs = {
        drive: [write_cost(drives, drive, size) for size in multiples(SECTOR, SECTOR, page)]
        for drive, page in pages.items()
    }
    smaller = write_cost(drives, "samsung-slc", SECTOR, "ftl.map_unit_bytes=4k").mean_ns
    rows = claims_17(costs[DRIVE], costs["samsung-slc"][0].mean_ns, smaller)
    columns: Columns = {
        "drive": [drive for drive, each in costs.items() for _ in each],
        "size_bytes": [each.size for listed in costs.values() for each in listed],
        "mean_ns": [each.mean_ns for listed in costs.values() for each in listed],
        "rmw_ns": [each.rmw_ns for listed in costs.values() for each in listed],
        "programmed_bytes": [each.programmed for listed in costs.values() for each in listed],
    }
    return hand_in("17", rows, drawings.small_writes(costs, pages), columns, binder)


def claims_17(costs: Sequence[SizeCost], large_ns: float, smaller_ns: float) -> list[Claim]:
    """Hold writes up to an effective page against the paper's words.

    Parameters
    ----------
    costs
        By size; the last one is a whole effective page.
    large_ns, smaller_ns
        What a sector takes with pages of 16 KB, and of 4 KB.
    """
    small, whole = costs[:-1], costs[-1]
    ratios = [each.mean_ns / whole.mean_ns for each in small]
    rewritten = {each.programmed for each in small}
    reading = min(each.rmw_ns for each in small)
    return [
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
            f"{reading / 1e3:.0f} us spent reading; {whole.rmw_ns / 1e3:.0f} us for a whole page",
            rewritten == {float(whole.size)} and whole.rmw_ns == 0 < reading,
        ),
        stated(
            "the larger the effective page, the more a small write costs",
            "yes",
            f"a sector takes the Samsung SLC {large_ns / 1e3:.0f} us with its pages of 16 KB, and "
            f"{smaller_ns / 1e3:.0f} us if they are 4 KB",
            large_ns > smaller_ns,
        ),
    ]


@dataclass(frozen=True)
class Straddling:
    """A write of eight sectors, by its first one.

    Attributes
    ----------
    pages, read_first
        Effective pages written, and of these read before.
    """

    pages: float
    read_first: int
    time_ns: float


def figure_18(drives: Drives, binder: Binder) -> FigureResult:
    """Write sectors 3 to 10 with pages of four sectors, and beside it sectors 4 to 11."""
    runs, alone = straddling(drives), straddling(drives, *ONE_CHIP)
    *rows, longer = claims_18(runs)
    rows.append(
        because(
            longer,
            "the preset programs the three pages side by side on different chips, so that only "
            "the reading adds to the time",
            f"on a single chip: {_times(alone):.2f} times as long",
            shown=_times(alone) > SIMILAR_WITHIN,
        )
    )
    columns: Columns = {
        "first_sector": list(runs),
        "pages_written": [each.pages for each in runs.values()],
        "pages_read_first": [each.read_first for each in runs.values()],
        "response_ns": [each.time_ns for each in runs.values()],
    }
    picture = drawings.page_spans(
        {f"sectors {first} to {first + 7}": (first, 8) for first in runs},
        [each.time_ns for each in runs.values()],
        4,
    )
    return hand_in("18", rows, picture, columns, binder)


def straddling(drives: Drives, *sets: str) -> dict[int, Straddling]:
    """Write eight sectors from sector 3, and from sector 4."""
    found = {}
    for first in (3, 4):
        run = write(drives.fork(DRIVE, *FOUR_SECTORS, *sets), first * SECTOR, 8 * SECTOR)
        pages = run.counts["flash_bytes_programmed"] / EXAMPLE_PAGE
        found[first] = Straddling(pages, run.counts["rmw_reads"], float(run.times_ns[0]))
    return found


def _times(runs: Mapping[int, Straddling]) -> float:
    return runs[3].time_ns / runs[4].time_ns


def claims_18(runs: Mapping[int, Straddling]) -> list[Claim]:
    """Hold the two writes against the paper's counts and words."""
    return [
        exact("sectors 3 to 10: effective pages written", 3, runs[3].pages, "pages"),
        exact("of these read, modified and written", 2, runs[3].read_first, "pages"),
        exact("the same data from sector 4 on: pages written", 2, runs[4].pages, "pages"),
        stated(
            "response time of the write that begins inside a page",
            "far longer",
            f"{_times(runs):.2f} times as long",
            _times(runs) > SIMILAR_WITHIN,
        ),
    ]


@dataclass(frozen=True)
class Stream:
    """A sequential write in pieces of eight sectors.

    Attributes
    ----------
    pages
        Effective pages that the first two pieces alone write.
    merges
        By kind, of the whole.
    """

    pages: float
    merges: dict[str, int]
    time_ns: int


BLOCKS = 24


def figure_19(drives: Drives, binder: Binder) -> FigureResult:
    """Write on and on, eight sectors at a time, from sector 1 and from sector 0."""
    streams = {first: _stream(drives, first) for first in (1, 0)}
    rows = claims_19(streams[1], streams[0])
    kinds = list(streams[0].merges)
    columns: Columns = {
        "first_sector": list(streams),
        "pages_written_by_two": [each.pages for each in streams.values()],
        **{kind: [each.merges[kind] for each in streams.values()] for kind in kinds},
        "stream_ns": [each.time_ns for each in streams.values()],
    }
    picture = drawings.sequential_pieces(
        {
            f"from sector {first}": (each.merges, each.time_ns / 1e9)
            for first, each in streams.items()
        },
        f"{BLOCKS} blocks, 8 sectors at a time",
    )
    return hand_in("19", rows, picture, columns, binder)


def _stream(drives: Drives, first: int) -> Stream:
    starts = np.arange(BLOCKS * MIB // (8 * SECTOR)) * 8 * SECTOR + first * SECTOR
    pair = write(drives.fork(DRIVE, *FOUR_SECTORS), starts[:2], 8 * SECTOR)
    whole = write(drives.fork(DRIVE, *FOUR_SECTORS), starts, 8 * SECTOR)
    merges = {kind: whole.counts[kind] for kind in ("switch", "partial", "full")}
    pages = pair.counts["flash_bytes_programmed"] / EXAMPLE_PAGE
    return Stream(pages, merges, int(whole.times_ns.sum()))


def claims_19(shifted: Stream, aligned: Stream) -> list[Claim]:
    """Hold pieces that end inside pages, and aligned ones, against the paper's words."""
    slowdown = shifted.time_ns / aligned.time_ns
    return [
        exact("sectors 1 to 8, then 9 to 16: effective pages written", 6, shifted.pages, "pages"),
        exact("sectors 0 to 7, then 8 to 15: effective pages written", 4, aligned.pages, "pages"),
        stated(
            "a long sequential write in such pieces: how its blocks are merged",
            "only by full merges",
            _told(shifted.merges),
            shifted.merges["full"] > 0 == shifted.merges["switch"] + shifted.merges["partial"],
        ),
        stated(
            "the same, beginning at the edge of a page",
            "by switch merges",
            _told(aligned.merges),
            aligned.merges["switch"] > 0 == aligned.merges["full"] + aligned.merges["partial"],
        ),
        stated(
            "time of the whole against that of aligned pieces",
            "worse performance",
            f"{slowdown:.1f} times as long",
            slowdown > SIMILAR_WITHIN,
        ),
    ]


def _told(merges: dict[str, int]) -> str:
    return ", ".join(f"{count} {kind}" for kind, count in merges.items())


def figure_36(drives: Drives, binder: Binder) -> FigureResult:
    """Draw response times of writes and reads by size, in steps of 1 KB."""
    sizes = np.array(multiples(KIB, KIB, 64 * KIB))
    writes = np.array([_at_places(drives, int(each)).times_ns.mean() for each in sizes])
    reads = np.array(
        [read(drives.fork(DRIVE), PLACES, int(each)).times_ns.mean() for each in sizes]
    )
    columns: Columns = {
        "size_bytes": sizes.tolist(),
        "write_ns": writes.tolist(),
        "read_ns": reads.tolist(),
    }
    notes = ["the paper labels the figure SMI; that this is the Transcend SLC is our inference"]
    picture = drawings.sizes(sizes, writes, reads, PAGE)
    return hand_in("36", claims_36(writes, reads), picture, columns, binder, notes)


def claims_36(writes_ns: Curve, reads_ns: Curve) -> list[Claim]:
    """Hold response times of 1, 2, ... 64 KB against the paper's words."""
    edges = range(4, 64, 4)
    dips = [k for k in edges if writes_ns[k - 1] < min(writes_ns[k - 2], writes_ns[k])]
    teeth = np.array([writes_ns[k - 2] - writes_ns[k - 1] for k in (*edges, 64)]) / 1e3
    kib = np.arange(1, reads_ns.size + 1)
    rest = reads_ns - np.polyval(np.polyfit(kib, reads_ns, 1), kib)
    linear = float(1 - np.var(rest) / np.var(reads_ns))
    return [
        stated(
            "writes: shortest at multiples of the effective page, so that the line is a saw",
            "saw-toothed, at multiples of 4 KB",
            f"at {len(dips)} of 15 multiples shorter than 1 KB less and 1 KB more",
            len(dips) == len(edges),
        ),
        stated(
            "the saw goes on: how much longer 1 KB less than a multiple takes",
            "visibly, at all sizes",
            f"{_range(teeth[:ROUND])} us up to {4 * ROUND} KB, {_range(teeth[ROUND:])} us beyond",
            bool(teeth[0] > 0 and teeth.min() >= TOOTH * teeth[0]),
        ),
        stated(
            "reads grow almost in a straight line",
            "almost linear",
            f"a line explains {100 * linear:.1f} % of the variance",
            linear > LINEAR,
        ),
        stated(
            "reads do not pay for pages they cover in part",
            "no effect",
            f"{_falls(reads_ns)} of 63 steps of 1 KB make a read shorter, "
            f"{_falls(writes_ns)} a write",
            _falls(reads_ns) == 0 < _falls(writes_ns),
        ),
    ]


def _range(values: Curve) -> str:
    return f"{values.min():.0f} to {values.max():.0f}"


def _falls(times_ns: Curve) -> int:
    return int((np.diff(times_ns) < 0).sum())
