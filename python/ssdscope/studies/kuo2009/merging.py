"""Figure 5: full, partial and switch merges of a log block, and what each costs."""

from collections.abc import Mapping
from dataclasses import dataclass
from typing import TYPE_CHECKING

import numpy as np

from ssdscope.studies.kuo2009 import schemes
from ssdscope.studies.kuo2009.bench import Drives, write
from ssdscope.studies.kuo2009.pictures import canvas, title
from ssdscope.studies.kuo2009.schemes import Box
from ssdscope.studies.kuo2009.sheet import Binder, Columns, exact, hand_in, stated
from ssdscope.studies.record import Claim, FigureResult

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
ELSEWHERE = 40 * PAGE
"""A page of another block, whose update takes the log block away."""


@dataclass(frozen=True)
class Merge:
    """What the drive counted of one merge.

    Attributes
    ----------
    kinds
        Merges by kind.
    read, copied
        Pages read, and written, by the merge.
    erased
        Blocks erased.
    time_ns
        Time that the write waited for the merge.
    """

    kinds: Mapping[str, int]
    read: float
    copied: int
    erased: int
    time_ns: int


def figure_5(drives: Drives, binder: Binder) -> FigureResult:
    """Update a block in three ways, have its log block merged, and count."""
    merges = {kind: merged(drives, kind) for kind in UPDATES}
    columns: Columns = {
        "updated_as_for": list(merges),
        **{kind: [each.kinds[kind] for each in merges.values()] for kind in UPDATES},
        "pages_read": [each.read for each in merges.values()],
        "pages_copied": [each.copied for each in merges.values()],
        "blocks_erased": [each.erased for each in merges.values()],
        "time_ns": [each.time_ns for each in merges.values()],
    }
    return hand_in("5", claims(merges), _drawn(merges), columns, binder)


def merged(drives: Drives, kind: str, *sets: str) -> Merge:
    """Update a block's pages in order, then another block, so that the log block is merged."""
    device = drives.fork(DRIVE, *SMALL, *sets)
    updates = write(device, np.array(UPDATES[kind]) * PAGE, PAGE)
    after = write(device, ELSEWHERE, PAGE)
    counts = {name: updates.counts[name] + count for name, count in after.counts.items()}
    return Merge(
        {each: counts[each] for each in UPDATES},
        counts["flash_bytes_read"] / PAGE,
        counts["gc_pages_moved"],
        counts["block_erases"],
        int(after.share_ns("merge").sum()),
    )


def claims(merges: Mapping[str, Merge]) -> list[Claim]:
    """Hold the three against the paper's costs."""
    full, partial, switch = (merges[kind] for kind in ("full", "partial", "switch"))
    alone = {kind: each.kinds[kind] for kind, each in merges.items()}
    rest = PAGES - len(UPDATES["partial"])
    return [
        stated(
            "updates out of order, from the first page on, of the whole block in order",
            "full, partial, switch merge",
            ", ".join(f"{count} {kind}" for kind, count in alone.items()),
            all(
                each.kinds == {other: int(other == kind) for other in UPDATES}
                for kind, each in merges.items()
            ),
        ),
        exact("full merge: pages of the block read and written", PAGES, full.copied, "pages"),
        exact("full merge: blocks erased", 2, full.erased, "blocks"),
        exact(
            "partial merge: only the pages left in the data block", rest, partial.copied, "pages"
        ),
        exact("partial merge: blocks erased", 1, partial.erased, "blocks"),
        exact("switch merge: pages copied", 0, switch.copied + switch.read, "pages"),
        exact("switch merge: blocks erased", 1, switch.erased, "blocks"),
        stated(
            "the full merge costs most, the switch merge least",
            "yes",
            f"{full.time_ns / 1e6:.1f}, {partial.time_ns / 1e6:.1f}, {switch.time_ns / 1e6:.1f} ms",
            full.time_ns > partial.time_ns > switch.time_ns,
        ),
    ]


def _drawn(merges: Mapping[str, Merge]) -> "Figure":
    """Draw the data block, the log block and what becomes the data block, for each kind."""
    figure, panels = canvas(3, width=3.2, height=2.7)
    for axes, (kind, merge), letter in zip(panels, merges.items(), "abc", strict=True):
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
            f"{merge.copied} pages copied, {merge.erased} erased, {merge.time_ns / 1e6:.1f} ms"
        )
        schemes.note(axes, 0, 5.7, counted)
        for page in kept:
            schemes.arrow(axes, (page + 0.5, 1.1), (page + 0.5, 3.9))
        for place, page in enumerate(updated if kind == "full" else ()):
            schemes.arrow(axes, (place + 0.5, 2.9), (page + 0.5, 3.9))
        title(axes, f"({letter}) {kind} merge")
    return figure
