"""When collection starts, what it costs and why: what figure 1 does not show of it.

The paper says that collection starts when free blocks fall below a limit, sooner on the smaller
drive, and that it costs 5.5 to 7 %. Here drives are written in order until they erase a block,
attribution says what the time went into, and the reserve that the paper does not give is varied for
all three limits.
"""

from collections.abc import Iterable, Mapping, Sequence
from functools import partial
from typing import TYPE_CHECKING

import numpy as np

from ssdscope.plots import panels
from ssdscope.probes.budget import StageProgress
from ssdscope.results import Log
from ssdscope.studies.machado2015.claims import LARGEST, MIB
from ssdscope.studies.machado2015.procedure import (
    REQUESTS,
    RESERVE_PERCENT,
    Cell,
    Configuration,
    Line,
    run_lines,
)
from ssdscope.studies.record import Columns, Measured, Reading, Table
from ssdscope.targets import Device
from ssdscope.targets.records import OP_WRITE

if TYPE_CHECKING:
    from matplotlib.figure import Figure

KEPT_PERCENT = (5, 50, 90)
BEYOND_PERCENT = (1, 2, 3, 4, 5, 6, 8, 10)
"""Points reserved beyond what is kept free; beside 90 % there are fewer."""
SOONER_PERCENT = (51, 54, 58)
"""Reserves with which both sizes are written until they collect, 50 % kept free."""
POINTS = {"32 GB, writes of 4 MB": (32, LARGEST), "4 GB, writes of 1 MB": (4, MIB)}
"""Where collection costs what the paper says: size in GB, bytes of a write."""
AGAIN_BYTES, AGAIN_TIMES = 64 * MIB, 64
"""A range that is overwritten, and how often: four times the drive's spare blocks and more."""


Sweep = Mapping[tuple[int, int], Cell]
"""Writes of 4 MB in order on 32 GB, by the percentages kept free and reserved beyond."""


def measure(seed: int, progress: StageProgress) -> Measured:
    """Write in order until collection starts, with every reserve, and again and again."""
    swept = sweep(seed, progress)
    own = [
        Configuration("greedy", *each) for each in ((5, 32), (50, 32), (90, 32), (5, 4), (50, 4))
    ]
    read = {
        **{
            f"starts: {each.size_gb} GB, {each.min_free_percent} %": start(each, seed)[1]
            for each in own
        },
        **_sooner(seed),
        **_costs(seed, swept[50, 1]),
        "least reserve": _least_reserve(swept),
        **overwritten(seed),
    }
    columns: Columns = {
        "kept_percent": [kept for kept, _ in swept],
        "reserved_percent": [kept + beyond for kept, beyond in swept],
        "mean_ns": [cell.mean_ns for cell in swept.values()],
        "block_erases": [cell.block_erases for cell in swept.values()],
    }
    return Measured(read, partial(_drawn, swept), columns, NOTES, table(swept))


NOTES = (
    "the paper counts free blocks of the drive, the firmware those of each plane",
    "what 300 writes cost hangs on the points reserved beyond the limit, not on the limit",
)


def sweep(seed: int, progress: StageProgress) -> Sweep:
    """Run writes of 4 MB in order on 32 GB with every limit and reserve."""
    asked = {
        (kept, beyond): Configuration("greedy", kept, 32, kept + beyond)
        for kept in KEPT_PERCENT
        for beyond in BEYOND_PERCENT
        if kept + beyond < 100
    }
    lines = [Line(_line(*key), each.open) for key, each in asked.items()]
    cells = run_lines(lines, seed, progress, ("write",), [LARGEST])
    return {key: cells[_line(*key), "write", LARGEST] for key in asked}


def _line(kept: int, beyond: int) -> str:
    return f"{kept} % kept free, {kept + beyond} % reserved"


def start(configuration: Configuration, seed: int) -> tuple[int, Reading]:
    """Write in order, by 1 MB, until a block is erased: how many MB, and how many blocks are free.

    Those are counted from the limit, in blocks of a plane.
    """
    target = configuration.open(seed)
    device, chips = target.device, (target.drive or {})["nand"]
    places = device.info.capacity_bytes // MIB
    done = 0
    while not (counters := device.counters() or {})["block_erases"]:
        _write(device, [done % places], MIB)
        done += 1
    pages = configuration.size_gb * 1024 * MIB // chips["page_bytes"]
    free = configuration.reserve_ratio - counters["flash_pages_programmed"] / pages
    above = (free - configuration.min_free_percent / 100) * chips["blocks_per_plane"]
    said = f"{100 * free:.2f} %, after {done:,} MB: {above:.1f} blocks of a plane above"
    return done, Reading(said, above)


def _write(device: Device, places: Iterable[int], size: int) -> Log:
    offsets = np.fromiter(places, np.int64) * size
    return device.run_list(np.full(offsets.size, OP_WRITE), offsets, np.full(offsets.size, size))


def _sooner(seed: int) -> dict[str, Reading]:
    """Compare the two sizes, with the same share reserved."""
    found = {}
    for reserve in SOONER_PERCENT:
        large, small = (start(Configuration("greedy", 50, gb, reserve), seed)[0] for gb in (32, 4))
        said = f"after {small:,} MB on 4 GB, {large:,} MB on 32 GB"
        found[f"sooner: {reserve} % reserved"] = Reading(said, large / small)
    return found


def _costs(seed: int, large: Cell) -> dict[str, Reading]:
    """Say which part of the cost is collection, and what is left of it elsewhere."""
    found = {}
    for name, (size_gb, size) in POINTS.items():
        few, half = (Configuration("greedy", percent, size_gb) for percent in (5, 50))
        base, slow = _in_order(few, size, seed), _in_order(half, size, seed)
        parts = {cause: column.mean() for cause, column in (slow.attribution_ns or {}).items()}
        more = slow.latency_ns.mean() - base.latency_ns.mean()
        found[f"collection: {name}"] = Reading(
            f"{parts['gc'] / 1e6:.2f} of {more / 1e6:.2f} ms", parts["gc"] / more
        )
        front = _in_order(half, size, seed, ["gc.background=false"]).latency_ns.mean()
        rest = (front - base.latency_ns.mean()) / more
        found[f"background: {name}"] = Reading(f"{rest:.2f} times as much", rest)
    # As many blocks of a plane to write to as on 32 GB with 51 % reserved: 19 and no more.
    late = Configuration("greedy", 50, 4, reserve_percent=58)
    ratio = _in_order(late, LARGEST, seed).latency_ns.mean() / large.mean_ns
    said = f"{ratio:.3f} times as long as on 32 GB, writes of 4 MB in order"
    return found | {"as late": Reading(said, ratio)}


def _in_order(configuration: Configuration, size: int, seed: int, sets: Sequence[str] = ()) -> Log:
    return _write(configuration.open(seed, sets).device, range(REQUESTS), size)


def _least_reserve(swept: Sweep) -> Reading:
    erases = {5 + beyond: cell.block_erases for (kept, beyond), cell in swept.items() if kept == 5}
    none = [reserve for reserve, count in erases.items() if not count]
    least = min(erases)
    said = f"{least} %: {erases[least]:,} blocks erased"
    return Reading(f"{said}; none from {min(none)} % on" if none else said, float(erases[least]))


def overwritten(seed: int) -> dict[str, Reading]:
    """Overwrite a range in order, and count what is programmed, copied and erased."""
    target = Configuration("greedy", 5, 4).open(seed)
    places = range(AGAIN_BYTES // MIB)
    counts = []
    for _ in range(2):  # the second time every block was written before
        for _ in range(AGAIN_TIMES // 2):
            _write(target.device, places, MIB)
        counts.append(target.device.counters() or {})
    before, after = counts
    pages, erases, copies = (
        after[name] - before[name]
        for name in ("flash_pages_programmed", "block_erases", "gc_pages_moved")
    )
    chips = (target.drive or {})["nand"]
    written = (after["host_bytes_written"] - before["host_bytes_written"]) // chips["page_bytes"]
    erased = erases * chips["pages_per_block"]
    return {
        "erased first": Reading(
            f"{erased:,} pages erased, {pages:,} programmed, in {erases:,} blocks", erased / pages
        ),
        "another page": Reading(f"{pages:,} for {written:,} overwritten", pages / written),
        "invalid": Reading(f"{copies:,} of {erased:,} pages erased were copied", copies / erased),
    }


def table(swept: Sweep) -> Table:
    """List what becomes of writes of 4 MB in order on 32 GB, by what is reserved."""
    least = min(cell.mean_ns for cell in swept.values())
    rows = tuple(
        (
            f"{kept} %",
            f"{kept + beyond} %",
            f"{cell.block_erases:,}",
            f"{100 * (cell.mean_ns / least - 1):+.2f} %",
            f"{RESERVE_PERCENT[kept]} %",
        )
        for (kept, beyond), cell in swept.items()
    )
    heads = ("kept free", "reserved", "blocks erased", "over the fastest", "reserved in figure 1")
    return Table(heads, rows)


def _drawn(swept: Sweep) -> "Figure":
    """Draw what writes of 4 MB in order cost, by what is reserved beyond the limit."""
    figure, (axes,) = panels.canvas(1, width=6.4, height=3.8)
    least = min(cell.mean_ns for cell in swept.values())
    drawn = []
    for index, kept in enumerate(KEPT_PERCENT):
        costs = {
            beyond: 100 * (cell.mean_ns / least - 1)
            for (share, beyond), cell in swept.items()
            if share == kept
        }
        look = {"size": 11 - 3.0 * index, "width": 3.2 - index}
        drawn.append(panels.Line(f"{kept} % kept free", [*costs], [*costs.values()], index, **look))
    panels.lines(axes, drawn)
    panels.head(axes, "32 GB: 300 writes of 4 MB in order")
    panels.signed(axes)
    panels.paper_line(axes, 5.5, right=True)
    axes.set_xlabel("reserved beyond what is kept free (points)")
    axes.set_ylabel("longer than without collection")
    axes.legend(frameon=False, fontsize=8, loc="center right")
    return figure
