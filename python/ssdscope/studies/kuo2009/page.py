"""Figures 17, 18, 19 and 36: writes that do not fit effective pages; and pages of other sizes."""

from collections.abc import Mapping, Sequence
from itertools import pairwise
from typing import TYPE_CHECKING, Any

import numpy as np
import numpy.typing as npt

from ssdscope.plots import panels
from ssdscope.plots.panels import Line, Panel, in_panels
from ssdscope.plots.style import LIGHT
from ssdscope.probes.budget import StageProgress
from ssdscope.studies.kuo2009.bench import (
    KIB,
    MERGES,
    MIB,
    SECTOR,
    Drives,
    Served,
    multiples,
    number,
    numbers,
    read,
    share_of,
    size,
    span,
    write,
)
from ssdscope.studies.kuo2009.mapping import BY_PAGE
from ssdscope.studies.record import Columns, Measured, Reading

if TYPE_CHECKING:
    from matplotlib.figure import Figure

DRIVE = "transcend-slc"
PAGE = 4 * KIB
"""The effective page of the drive, as the paper found it (figure 35)."""
PLACES = np.arange(8) * 8 * MIB
"""Where each size is written and read on a target; a preset has the same times anywhere."""
ROUNDS_BYTES = 64 * KIB
"""Whole rounds of all chips of a drive."""
LABELS = {"transcend-slc": "Transcend SLC", "samsung-slc": "Samsung SLC"}

FOUR_SECTORS = ("ftl.map_unit_bytes=2k",)
"""The paper's examples have effective pages of four sectors: here, one physical page."""
EXAMPLE_PAGE = 4 * SECTOR

Curve = npt.NDArray[Any]
"""Response times, or other values, by size."""


def _at_places(drives: Drives, length: int, drive: str = DRIVE, *sets: str) -> Served:
    """Write one size from edges of pages on, without the write buffer where it can be off."""
    device, places = drives.unbuffered(drive, *sets), _places(drives)
    read(device, places, max(SECTOR, device.info.logical_block_bytes))  # loads the mapping table
    return write(device, places, length)


def _places(drives: Drives) -> npt.NDArray[np.int64]:
    return PLACES[:1] if drives.target is None else PLACES


def _in_use(drives: Drives, length: int, drive: str = DRIVE) -> float:
    """Return the mean time of a write to a block that has a log block, which holds whole rounds."""
    if drives.target is not None:
        return _at_places(drives, length).mean_ns
    device = drives.unbuffered(drive)
    places = np.column_stack([PLACES + MIB // 2, PLACES]).ravel()
    lengths = np.tile([ROUNDS_BYTES, length], PLACES.size)
    return float(write(device, places, lengths).times_ns[1::2].mean())


def write_cost(drives: Drives, drive: str, length: int, *sets: str) -> dict[str, float]:
    """Count what writes of one size take inside a drive: for each, bytes and nanoseconds."""
    served = _at_places(drives, length, drive, *sets)
    return {
        "size_bytes": length,
        "mean_ns": served.mean_ns,
        "rmw_ns": float(served.share_ns("rmw").mean()),
        "programmed_bytes": served.counts["flash_bytes_programmed"] / served.times_ns.size,
        "read_bytes": served.counts["flash_bytes_read"] / served.times_ns.size,
    }


def figure_17(drives: Drives, _: StageProgress) -> Measured:
    """Write less than an effective page: response time, and what reading takes of it."""
    pages = {DRIVE: PAGE, "samsung-slc": 16 * KIB}
    costs = {
        drive: [write_cost(drives, drive, each) for each in multiples(SECTOR, SECTOR, page)]
        for drive, page in pages.items()
    }
    every = [{"drive": drive, **each} for drive, listed in costs.items() for each in listed]
    columns: Columns = {name: [each[name] for each in every] for name in every[0]}
    drawn = [
        Panel(f"{drive}, effective page {size(pages[drive])}", x="written at once (KB)",
              y="response time (ms)",
              bars={"write": [(each["mean_ns"] - each["rmw_ns"]) / 1e6 for each in listed],
                    "read what is kept": [each["rmw_ns"] / 1e6 for each in listed]},
              names=[f"{each['size_bytes'] / KIB:g}" if place % (len(listed) // 8) == 0 else ""
                     for place, each in enumerate(listed, start=1)], legend="upper left")
        for drive, listed in costs.items()
    ]  # fmt: skip
    found = {
        f"{name}: {LABELS[drive]}": each
        for drive, listed in costs.items()
        for name, each in cut_pages(listed).items()
    }
    return Measured(found, lambda: in_panels(drawn), columns)


def cut_pages(costs: Sequence[Mapping[str, float]]) -> dict[str, Reading]:
    """Read off what writes up to an effective page take, by size; the last one is a whole page."""
    small, whole = costs[:-1], costs[-1]
    return {
        "cut page, time": span(each["mean_ns"] / whole["mean_ns"] for each in small),
        **{
            f"cut page, {what}": span(each[f"{name}_bytes"] / whole["size_bytes"] for each in small)
            for what, name in (("programmed", "programmed"), ("read", "read"))
        },
        "cut page, reading": number(min(each["rmw_ns"] for each in small) / 1e3),
        "whole page, reading": number(whole["rmw_ns"] / 1e3),
    }


def figure_18(drives: Drives, _: StageProgress) -> Measured:
    """Write sectors 3 to 10 with pages of four sectors, and beside it sectors 4 to 11."""
    every = [_straddling(drives, first) for first in (3, 4)]
    cut, aligned = every
    found = numbers(
        {
            "sectors 3 to 10, pages": cut["pages_written"],
            "sectors 3 to 10, read first": cut["pages_read_first"],
            "sectors 4 to 11, pages": aligned["pages_written"],
            "sectors 3 to 10, time": cut["response_ns"] / aligned["response_ns"],
        }
    )
    columns: Columns = {name: [each[name] for each in every] for name in cut}
    return Measured(found, lambda: _spans(every), columns)


def _straddling(drives: Drives, first: int) -> dict[str, float]:
    """Write eight sectors from one on."""
    run = write(drives.fork(DRIVE, *FOUR_SECTORS), first * SECTOR, 8 * SECTOR)
    return {
        "first_sector": first,
        "pages_written": run.counts["flash_bytes_programmed"] / EXAMPLE_PAGE,
        "pages_read_first": run.counts["rmw_reads"],
        "response_ns": float(run.times_ns[0]),
    }


def _spans(runs: Sequence[Mapping[str, float]]) -> "Figure":
    """Draw which sectors of which pages the writes cover, and how long they take."""
    figure, (axes,) = panels.canvas(1, width=6.4, height=2.2)
    for row, run in enumerate(runs):
        first = int(run["first_sector"])
        for start in range(first // 4 * 4, first + 8, 4):
            partly = start < first or start + 4 > first + 8
            axes.barh(row, 4, 0.8, left=start, facecolor="none",
                      edgecolor=LIGHT.s2 if partly else LIGHT.muted,
                      hatch="////" if partly else None, linewidth=0.8)  # fmt: skip
        axes.barh(row, 8, 0.36, left=first, color=LIGHT.s1)
        label = f"sectors {first} to {first + 7}\n{run['response_ns'] / 1e3:.0f} µs"
        axes.text(16.4, row, label, va="center", fontsize=8.2)
    axes.set_xticks(range(0, 17, 4))
    axes.set_xlabel("sector")
    axes.set_xlim(0, 21)
    axes.set_yticks([])
    axes.invert_yaxis()
    panels.head(axes, "hatched: read, modified and written")
    return figure


BLOCKS = 24


def figure_19(drives: Drives, _: StageProgress) -> Measured:
    """Write on and on, eight sectors at a time, from sector 1 and from sector 0."""
    streams = [_stream(drives, first) for first in (1, 0)]
    columns: Columns = {name: [each[name] for each in streams] for name in streams[0]}
    names = [f"from sector {each['first_sector']}" for each in streams]
    drawn = (
        Panel(f"{BLOCKS} blocks, 8 sectors at a time", y="merges", names=names,
              bars={kind: columns[kind] for kind in MERGES}, legend="upper right"),
        Panel("time of the whole", y="time (s)", names=names,
              bars={"": [each["stream_ns"] / 1e9 for each in streams]}),
    )  # fmt: skip
    return Measured(in_pieces(*streams), lambda: in_panels(drawn, width=3.6, height=2.7), columns)


def _stream(drives: Drives, first: int) -> dict[str, int]:
    """Write pieces of eight sectors: two alone, and many."""
    starts = np.arange(BLOCKS * MIB // (8 * SECTOR)) * 8 * SECTOR + first * SECTOR
    pair = write(drives.fork(DRIVE, *FOUR_SECTORS), starts[:2], 8 * SECTOR)
    whole = write(drives.fork(DRIVE, *FOUR_SECTORS), starts, 8 * SECTOR)
    return {
        "first_sector": first,
        "pages_written_by_two": pair.counts["flash_bytes_programmed"] // EXAMPLE_PAGE,
        **{kind: whole.counts[kind] for kind in MERGES},
        "stream_ns": int(whole.times_ns.sum()),
    }


def in_pieces(shifted: Mapping[str, int], aligned: Mapping[str, int]) -> dict[str, Reading]:
    """Compare pieces that end inside pages with aligned ones."""
    return numbers(
        {
            "pieces from sector 1, pages": shifted["pages_written_by_two"],
            "pieces from sector 0, pages": aligned["pages_written_by_two"],
            "pieces from sector 1, full": share_of("full", shifted),
            "pieces from sector 0, switch": share_of("switch", aligned),
            "pieces from sector 1, time": shifted["stream_ns"] / aligned["stream_ns"],
        }
    )


def figure_36(drives: Drives, _: StageProgress) -> Measured:
    """Measure response times of writes and reads by size, in steps of 1 KB."""
    sizes = np.array(multiples(KIB, KIB, 64 * KIB))
    writes = np.array([_in_use(drives, int(each)) for each in sizes])
    places = _places(drives)
    reads = np.array([read(drives.fork(DRIVE), places, int(each)).mean_ns for each in sizes])
    columns: Columns = {
        "size_bytes": sizes.tolist(),
        "write_ns": writes.tolist(),
        "read_ns": reads.tolist(),
    }
    found = by_size(writes, reads)
    if drives.target is None:
        found["reads, writes: Samsung SLC"] = span(
            _in_use(drives, each, "samsung-slc")
            / read(drives.fork("samsung-slc"), places, each).mean_ns
            for each in multiples(16 * KIB, 16 * KIB, 64 * KIB)
        )
    whole = sizes % PAGE == 0
    drawn = [
        Panel(head, [Line(None, sizes / KIB, times / 1e6, index, 2.6, 1.0),
                     Line(f"multiples of {size(PAGE)}", sizes[whole] / KIB, times[whole] / 1e6, 3,
                          3.6, dash="")],
              "size (KB)", "response time (ms)", legend="lower right" if index else "")
        for head, times, index in (("writes", writes, 1), ("reads", reads, 0))
    ]  # fmt: skip
    notes = ["the paper labels the figure SMI; that this is the Transcend SLC is our inference"]
    return Measured(found, lambda: in_panels(drawn), columns, notes)


def by_size(writes_ns: Curve, reads_ns: Curve) -> dict[str, Reading]:
    """Read off response times of 1, 2, ... 64 KB."""
    edges = range(4, 64, 4)
    dips = [k for k in edges if writes_ns[k - 1] < min(writes_ns[k - 2], writes_ns[k])]
    teeth = np.array([writes_ns[k - 2] - writes_ns[k - 1] for k in (*edges, 64)]) / 1e3
    kib = np.arange(1, reads_ns.size + 1)
    rest = reads_ns - np.polyval(np.polyfit(kib, reads_ns, 1), kib)
    falls = [int((np.diff(each) < 0).sum()) for each in (reads_ns, writes_ns)]
    least = float(teeth.min() / teeth[0]) if teeth[0] > 0 else float("nan")
    return {
        "saw, at multiples": number(len(dips)),
        "saw, goes on": Reading(f"{teeth.min():.0f} to {teeth.max():.0f} us", least),
        "reads, line": number(1 - float(np.var(rest) / np.var(reads_ns))),
        "reads, no saw": Reading(
            f"{falls[0]} of 63 steps of 1 KB make a read shorter, {falls[1]} a write", falls[0]
        ),
        "reads, writes: Transcend SLC": span(writes_ns / reads_ns),
    }


UNITS = tuple(2 * KIB << step for step in range(6))
"""Effective pages of 2 to 64 KB."""
DEMAND = ("map.kind=demand", "map.cache_bytes=8k")
"""A controller with little memory, so that what it looks up has to be loaded."""


def page_sizes(drives: Drives, _: StageProgress) -> Measured:
    """Change the effective page: what small writes cost, and what management does."""
    runs = {unit: _of_page(drives, unit) for unit in UNITS}
    first, last = runs[UNITS[0]], runs[UNITS[-1]]
    columns: Columns = {
        "effective_page_bytes": list(UNITS),
        **{name: [each[name] for each in runs.values()] for name in first},
    }
    found = {
        "page size, amplification": span(
            each["programmed_for_written"] * SECTOR / unit for unit, each in runs.items()
        ),
        "page size, small writes": number(last["sector_ns"] / first["sector_ns"]),
        "page size, throughput": number(last["whole_page_rate"] / last["sector_rate"]),
        "page size, management": number(
            max(later / max(one, 1) for one, later in pairwise(columns["table_moves"]))
        ),
        "page size, cut": number(100 * min(runs[unit]["cut"] for unit in UNITS if unit >= PAGE)),
        "page size, mixed": number(first["mixed_rate"] / last["mixed_rate"]),
    }  # fmt: skip
    drawn = (
        Panel("", [Line("a sector", UNITS, np.array(columns["sector_ns"]) / 1e3, 1)],
              "effective page", "response time (us)", sizes=True, legend="upper left"),
        Panel("", [Line(None, UNITS, columns["table_moves"], 0)], "effective page",
              "tables written back in 512 MB", sizes=True, log=True),
        Panel("1 to 16 sectors anywhere", [Line(None, UNITS, np.array(columns["cut"]) * 100, 2)],
              "effective page", "writes that are cut (%)", sizes=True),
    )  # fmt: skip
    return Measured(found, lambda: in_panels(drawn, width=3.4), columns)


def _of_page(drives: Drives, unit: int) -> dict[str, float]:
    """Write sectors, whole pages, and small pieces anywhere with pages of one size."""
    sets = (f"ftl.map_unit_bytes={unit}", "map.kind=ram")
    small = _at_places(drives, SECTOR, DRIVE, *sets)
    whole = _at_places(drives, unit, DRIVE, *sets)
    random = drives.random("page size")
    count = drives.long(400)
    lengths = random.integers(1, 17, count) * SECTOR
    places = random.integers(0, MIB // SECTOR - 16, count) * SECTOR
    mixed = write(drives.fork(DRIVE, *sets), places, lengths)
    cut = (places % unit != 0) | ((places + lengths) % unit != 0)
    paged = drives.switched_on("sim:mqsim-8g", *BY_PAGE, f"ftl.map_unit_bytes={unit}", *DEMAND)
    managed = write(paged, np.arange(4096) * 128 * KIB, 128 * KIB).counts
    return {
        "sector_ns": small.mean_ns,
        "sector_rate": small.rate,
        "whole_page_rate": whole.rate,
        "programmed_for_written": small.counts["flash_bytes_programmed"] / SECTOR,
        "table_moves": managed["map_write_backs"],
        "cut": float(cut.mean()),
        "mixed_rate": mixed.rate,
    }
