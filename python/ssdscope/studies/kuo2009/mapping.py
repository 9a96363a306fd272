"""Figures 3 and 4: out-of-place updates, and whose data a log block takes.

With one-to-one mapping a log block takes the updates of one data block, with many-to-one mapping
those of any. The thesis's drives are one-to-one; here the Transcend SLC is run with both.
"""

from itertools import pairwise
from typing import TYPE_CHECKING

import numpy as np

from ssdscope.plots import panels, schemes
from ssdscope.plots.panels import Line, Panel, in_panels
from ssdscope.plots.schemes import Box
from ssdscope.probes.budget import StageProgress
from ssdscope.probes.literal import effective_block
from ssdscope.probes.plan import State
from ssdscope.studies.kuo2009.bench import (
    KIB,
    MERGES,
    MIB,
    Drives,
    Served,
    number,
    numbers,
    read,
    write,
)
from ssdscope.studies.record import Columns, Measured, Reading

if TYPE_CHECKING:
    from matplotlib.figure import Figure

DRIVE, BLOCK, PAGE = "transcend-slc", MIB, 4 * KIB
ONE = ("ftl.log_association=one-to-one", "ftl.log_blocks=16", "map.kind=ram")
MANY = ("ftl.log_association=many-to-one", "ftl.log_blocks=2", "map.kind=ram")
"""Two log blocks: one follows sequential writes, one takes all others."""
BY_PAGE = (
    "nand.channels=2", "nand.ways=4", "nand.dies=1", "nand.planes=1", "nand.pages_per_block=64",
    "nand.blocks_per_plane=16384", "nand.page_bytes=2048", "nand.spare_bytes=64",
    "nand.read_ns=20000", "nand.program_ns=200000", "nand.erase_ns=1500000",
    "channel.ns_per_byte=25", "host.bytes_per_second=300e6", "host.command_ns=20000",
    "ftl.map_unit_bytes=4096", "over_provisioning_ratio=0.0728129",
)  # fmt: skip
"""The same chips and host on a drive that maps pages."""
SPREADS = (1, 4, 16, 64, 256)
COMPARED = 8


def figure_3(drives: Drives, _: StageProgress) -> Measured:
    """Update one page again and again; then map pages instead of blocks."""
    device = drives.fork(DRIVE)
    before = read(device, 0, PAGE).times_ns[0]
    updates = [write(device, 0, PAGE).counts for _ in range(300)]
    after = read(device, 0, PAGE).times_ns[0]
    erases = [each["block_erases"] for each in updates]
    first = int(np.argmax(np.array(erases) > 0))
    capacity = device.info.capacity_bytes
    pages = drives.random("3").integers(0, capacity // PAGE, drives.long(300)) * PAGE
    by_block = write(drives.fork(DRIVE), pages, PAGE)
    paged = drives.switched_on("sim:mqsim-8g", *BY_PAGE)
    by_page = write(paged, pages % paged.info.capacity_bytes, PAGE)
    found = numbers(
        {
            "out of place, programmed": sum(
                each["flash_bytes_programmed"] - each["gc_pages_moved"] * 2 * KIB
                for each in updates[:first]
            ) / (first * PAGE),
            "out of place, erases": first,
            "out of place, reads": after / before,
            "by page, rate": by_page.rate / by_block.rate,
        }
    )  # fmt: skip
    columns: Columns = {"update": list(range(1, 301)), "erased": erases}
    line = Line("blocks erased in all", list(range(1, 301)), np.cumsum(erases).tolist(), 0, 1.5)
    panel = Panel("one page updated again and again", [line], "update", legend="upper left")
    return Measured(found, lambda: in_panels([panel]), columns)


def scattered(drives: Drives, blocks: int, *sets: str) -> dict[str, float]:
    """Deal updates of one page round so many data blocks, until several log blocks are full."""
    device = drives.fork(DRIVE, *sets)
    per_log, logs = BLOCK // PAGE, 3
    turns = np.arange((2 + logs) * per_log)
    places = turns % blocks * BLOCK + (1 + turns // blocks % (per_log - 1)) * PAGE
    write(device, places[: 2 * per_log], PAGE)
    run = write(device, places[2 * per_log :], PAGE)
    return {
        "data_blocks": blocks,
        "pages_copied_for_a_log_block": run.counts["gc_pages_moved"] / logs,
        "blocks_merged_for_a_log_block": sum(run.counts[kind] for kind in MERGES) / logs,
        "bytes_per_s": run.rate,
    }


def figure_4(drives: Drives, _: StageProgress) -> Measured:
    """Update one page in each of several data blocks, with both mappings."""
    (one_logs, one_merged), (many_logs, many_merged) = (
        _used(drives, *each) for each in (ONE, MANY)
    )
    runs = [scattered(drives, blocks, *MANY) for blocks in SPREADS]
    copied = [_copied(drives, *sets) for sets in ((), MANY)]
    found = spread_out(runs) | numbers(
        {
            "one-to-one, log blocks": one_logs,
            "many-to-one, log blocks": many_logs,
            "many-to-one, merged": many_merged,
            "one-to-one, first merge": _first_merge(drives, ONE),
            "many-to-one, first merge": _first_merge(drives, MANY),
            "many-to-one, table 3": copied[1] / copied[0],
            "many-to-one, detector": _detected(drives) / KIB,
        }
    )
    columns: Columns = {name: [each[name] for each in runs] for name in runs[0]}
    logs = {"one-to-one": (one_logs, one_merged), "many-to-one": (many_logs, many_merged)}
    return Measured(found, lambda: _drawn(logs), columns)


def _used(drives: Drives, *sets: str) -> tuple[int, int]:
    """Count the log blocks that updates of eight data blocks use, and what the first merges."""
    device = drives.fork(DRIVE, *sets)
    turns = np.arange(COMPARED * BLOCK // PAGE)
    places = turns % COMPARED * BLOCK + (1 + turns // COMPARED) * PAGE
    run = write(device, places, PAGE)
    taken = int(np.argmax(run.share_ns("merge") > 0))
    for end in (taken, taken + 1):  # it is collected as it is full, or as another is needed
        first = write(drives.fork(DRIVE, *sets), places[:end], PAGE)
        if merged := sum(first.counts[kind] for kind in MERGES):
            break
    return -(-taken * PAGE // BLOCK), merged


def _first_merge(drives: Drives, sets: tuple[str, ...]) -> int:
    """Count the writes to ever other data blocks until the first merge."""
    run = write(drives.fork(DRIVE, *sets), np.arange(600) * BLOCK + PAGE, PAGE)
    waits = run.share_ns("merge") > 0
    return int(np.argmax(waits)) if waits.any() else waits.size


def spread_out(runs: list[dict[str, float]]) -> dict[str, Reading]:
    """Read off what scatter costs with many-to-one mapping."""
    copied = [each["pages_copied_for_a_log_block"] for each in runs]
    said = ", ".join(
        f"{blocks}: {pages:.0f}" for blocks, pages in zip(SPREADS, copied, strict=False)
    )
    return {
        "many-to-one, scatter": Reading(said, [more / few for few, more in pairwise(copied)]),
        "many-to-one, rate": number(runs[0]["bytes_per_s"] / runs[-1]["bytes_per_s"]),
    }


def _copied(drives: Drives, *sets: str) -> float:
    """Count the pages copied for each write of half a block, 64 MB after the last."""
    device = drives.fork(DRIVE, *sets)
    places = np.arange(48) * effective_block.DISTANCE_BYTES
    write(device, places[:24], BLOCK // 2)
    run: Served = write(device, places[24:], BLOCK // 2)
    return run.counts["gc_pages_moved"] / 24


def _detected(drives: Drives) -> int:
    """Run table 3 on the drive with many-to-one mapping."""
    sizes = [BLOCK // 4, BLOCK // 2, BLOCK, 2 * BLOCK]
    procedure = effective_block.GrowingWrites(sizes, start=State.AS_FOUND)
    bench = drives.probed.bench(f"sim:kuo-{DRIVE}", (*drives.sets(DRIVE), *MANY))
    with bench.allowance(procedure.planned_writes_bytes(bench.info)):
        return effective_block.answer(sizes, procedure.run(bench))


def _drawn(logs: dict[str, tuple[int, int]]) -> "Figure":
    """Draw which log block takes the updates of eight data blocks."""
    figure, every = panels.canvas(2, width=4.8, height=2.2)
    for axes, (head, (used, merged)) in zip(every, logs.items(), strict=True):
        schemes.bare(axes, COMPARED * 1.2 + 1, 4.4)
        for block in range(COMPARED):
            schemes.row(axes, 1.2 * block, 0.4, [Box(f"D{block}", "kept")])
            log = block if used > 1 else 0
            schemes.arrow(axes, (1.2 * block + 0.5, 1.2), (1.2 * log + 0.5, 2.4))
        for log in range(min(used, COMPARED)):
            schemes.row(axes, 1.2 * log, 2.4, [Box(f"L{log}", "first")])
        schemes.note(axes, 0, 4.0, f"{used} log blocks; one collected merges {merged} data blocks")
        panels.head(axes, f"{head}: a page updated in each of {COMPARED} blocks")
    return figure
