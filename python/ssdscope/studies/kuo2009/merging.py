"""Figure 5: full, partial and switch merges of a log block, and what each costs."""

from collections.abc import Mapping
from typing import TYPE_CHECKING

import numpy as np

from ssdscope.plots import panels, schemes
from ssdscope.plots.schemes import Box
from ssdscope.probes.budget import StageProgress
from ssdscope.studies.kuo2009.bench import MERGES, Drives, number, numbers, read, span, write
from ssdscope.studies.record import Columns, Measured, Reading

if TYPE_CHECKING:
    from matplotlib.figure import Figure

DRIVE = "transcend-slc"
PAGE = 2048
PAGES = 4
"""Pages of a block, as few as a drawing shows."""
SMALL = (
    "nand.channels=1",
    "nand.ways=1",
    f"nand.pages_per_block={PAGES}",
    "nand.blocks_per_plane=64",
    "over_provisioning_ratio=0.2",
    f"ftl.map_unit_bytes={PAGE}",
    f"ftl.merge_unit_bytes={PAGES * PAGE}",
    "ftl.log_blocks=1",
    "map.kind=ram",
)
"""The Transcend SLC's chip and firmware, with one chip and one log block."""
UPDATES = {"full": (1, 0, 3, 2), "partial": (0, 1), "switch": (0, 1, 2, 3)}
"""Pages of a block in the order in which they are updated before its log block is merged."""
ORDERS = ((3, 2, 1, 0), (2, 0, 3, 1), (1, 1, 1, 1))
"""More orders in which a block can be updated: backwards, mixed, one page again and again."""
ELSEWHERE = 40 * PAGE
"""A page of another block, whose update takes the log block away."""


def figure_5(drives: Drives, _: StageProgress, *sets: str) -> Measured:
    """Update a block in three ways, have its log block merged, and count."""
    merges = {kind: _merged(drives, kind, *sets) for kind in UPDATES}
    columns: Columns = {
        "updated_as_for": list(merges),
        **{name: [each[name] for each in merges.values()] for name in merges["full"]},
    }
    switch = merges["switch"]
    took = [each["time_ns"] for each in merges.values()]
    alone = all(each[other] == (other == kind) for kind, each in merges.items() for other in MERGES)
    found = {
        "merges, kinds": Reading(
            ", ".join(f"{each[kind]:g} {kind}" for kind, each in merges.items()), alone
        ),
        **numbers(
            {
                f"{kind} merge, {what}": merges[kind][name]
                for kind in ("full", "partial")
                for what, name in (
                    ("read", "pages_read"),
                    ("copied", "pages_copied"),
                    ("erased", "blocks_erased"),
                )
            }
        ),
        "switch merge, copied": number(switch["pages_copied"] + switch["pages_read"]),
        "switch merge, erased": number(switch["blocks_erased"]),
        "merges, order of costs": Reading(
            ", ".join(f"{each / 1e6:.1f}" for each in took) + " ms",
            [took[0] / max(took[1], 1), took[1] / max(took[2], 1)],
        ),
        "merges, full over switch": number(took[0] / max(took[2], 1)),
        "log block, filled": span(_filled(drives, order, *sets) for order in ORDERS),
        **_after_a_merge(drives, *sets),
    }
    return Measured(found, lambda: _drawn(merges), columns)


def _merged(drives: Drives, kind: str, *sets: str) -> dict[str, float]:
    """Update a block's pages in order, then another block, so that the log block is merged."""
    device = drives.fork(DRIVE, *SMALL, *sets)
    updates = write(device, np.array(UPDATES[kind]) * PAGE, PAGE)
    after = write(device, ELSEWHERE, PAGE)
    counts = {name: updates.counts[name] + count for name, count in after.counts.items()}
    return {
        **{each: counts[each] for each in UPDATES},
        "pages_read": counts["flash_bytes_read"] / PAGE,
        "pages_copied": counts["gc_pages_moved"],
        "blocks_erased": counts["block_erases"],
        "time_ns": int(after.share_ns("merge").sum()),
    }


def _after_a_merge(drives: Drives, *sets: str) -> dict[str, Reading]:
    """Read a block in order after its full merge, and update it in order."""
    device = drives.fork(DRIVE, *SMALL, *sets)
    write(device, np.array(UPDATES["full"]) * PAGE, PAGE)
    write(device, ELSEWHERE, PAGE)
    pages = np.arange(PAGES) * PAGE
    reads = [read(device, each, PAGE).mean_ns for each in (pages, pages + 8 * PAGES * PAGE)]
    again = write(device, np.append(pages, 2 * ELSEWHERE), PAGE)
    switched = again.counts["switch"] > 0
    return {
        "after a merge, reads": number(reads[0] / reads[1]),
        "after a merge, switch": Reading("yes" if switched else "no", switched),
    }


def _filled(drives: Drives, order: tuple[int, ...], *sets: str) -> int:
    """Count the updates in some order that a log block takes before it is merged."""
    run = write(drives.fork(DRIVE, *SMALL, *sets), np.tile(order, 2) * PAGE, PAGE)
    return int(np.argmax(run.share_ns("merge") > 0))


def _drawn(merges: Mapping[str, Mapping[str, float]]) -> "Figure":
    """Draw the data block, the log block and what becomes the data block, for each kind."""
    figure, every = panels.canvas(3, width=3.2, height=2.7)
    for axes, (kind, merge), letter in zip(every, merges.items(), "abc", strict=True):
        schemes.bare(axes, 6.8, 6.2)
        updated = UPDATES[kind]
        kept = [page for page in range(PAGES) if page not in updated]
        looks = ["kept" if page in kept else "first" for page in range(PAGES)]
        data = [Box(f"P{p}", "kept" if p in kept else "stale") for p in range(PAGES)]
        log = [Box(f"P{page}", "first") for page in updated]
        becomes = [Box(f"P{page}", look) for page, look in enumerate(looks)]
        schemes.row(axes, 0, 0.3, data, "data block\n(grey: stale)")
        schemes.row(axes, 0, 2.1, [*log, *[Box()] * len(kept)], "log block, as\nwritten")
        tail = "free block,\ncopied to" if kind == "full" else "the log block,\nnow data block"
        schemes.row(axes, 0, 3.9, becomes, tail)
        counted = (
            f"{merge['pages_copied']:g} pages copied, {merge['blocks_erased']:g} erased, "
            f"{merge['time_ns'] / 1e6:.1f} ms"
        )
        schemes.note(axes, 0, 5.7, counted)
        for page in kept:
            schemes.arrow(axes, (page + 0.5, 1.1), (page + 0.5, 3.9))
        for place, page in enumerate(updated if kind == "full" else ()):
            schemes.arrow(axes, (place + 0.5, 2.9), (page + 0.5, 3.9))
        panels.head(axes, f"({letter}) {kind} merge")
    return figure
