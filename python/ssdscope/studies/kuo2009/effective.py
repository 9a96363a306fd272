"""Figures 12, 13 and 16: effective blocks and pages, made of what chips do together."""

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from typing import TYPE_CHECKING

import numpy as np

from ssdscope.plots import panels, schemes
from ssdscope.plots.schemes import Box, Lane
from ssdscope.probes.budget import StageProgress
from ssdscope.studies.kuo2009.bench import (
    KIB,
    MIB,
    SECTOR,
    SLC,
    Drives,
    busy,
    counted,
    number,
    numbers,
    periods,
    read,
    slow,
    write,
)
from ssdscope.studies.kuo2009.chips import BUFFER, DRIVE, PAGE, chips, stream
from ssdscope.studies.kuo2009.timeline import Timeline, watch
from ssdscope.studies.record import Columns, Measured, Reading
from ssdscope.targets.opening import resolve_drive

if TYPE_CHECKING:
    from matplotlib.figure import Figure

CHANNELS, WAYS = 2, 4
"""As in figure 12."""
STEPS, STEP_NS = 8000, 10_000


@dataclass(frozen=True)
class Erased:
    """An effective block that was written in order, so that a switch merge erases the old one.

    Attributes
    ----------
    blocks
        Physical blocks erased for each merge.
    timeline
        From the merge on.
    span_bytes
        What one place takes of updates from one collection to the next; NaN if it has none.
    """

    blocks: float
    timeline: Timeline
    span_bytes: float

    @property
    def together_ms(self) -> float:
        """Time in which any chip erases."""
        return self.timeline.busy_ns(self.timeline.dies) / 1e6

    @property
    def alone_ms(self) -> float:
        """Time that the erases take one after the other."""
        return sum(self.timeline.busy_ns(die) for die in self.timeline.dies) / 1e6

    @property
    def erasing(self) -> list[int]:
        """Which chips erase."""
        return np.flatnonzero(self.timeline.dies.any(axis=1)).tolist()


def erased(drives: Drives, *sets: str) -> Erased:
    """Write an effective block, and watch the old one go."""
    drive = (*chips(CHANNELS, WAYS, 2 * PAGE), *sets)
    device = drives.fork(DRIVE, *drive, *BUFFER)
    before = (device.counters() or {})["block_erases"]
    timeline = watch(device, lambda each: write(each, 0, MIB), STEPS, STEP_NS)
    blocks = (device.counters() or {})["block_erases"] - before
    merges = max(int(timeline.merges[-1]), 1)
    updates = write(drives.fork(DRIVE, *drive), np.zeros(600), 4 * KIB).times_ns
    steps = periods(slow(updates))
    span = float(np.median(steps)) * 4 * KIB if steps else float("nan")
    return Erased(blocks / merges, timeline.since_merge(), span)


def figure_12(drives: Drives, _: StageProgress) -> Measured:
    """Count the physical blocks, and the chips, that one merge erases."""
    found = erased(drives)
    dies = range(found.timeline.dies.shape[0])
    columns: Columns = {
        "chip": list(dies),
        "erases_ns": [found.timeline.busy_ns(found.timeline.dies[die]) for die in dies],
    }
    looks = dict.fromkeys(found.erasing, "first")
    boxes = {die: [Box(f"physical block {die}", looks.get(die, "plain"), width=3)] for die in dies}
    head = "blue: erased together, by one merge (effective block 0)"
    read_off = erased_by_merge(found) | {
        f"largest block: {label}": number(over_the_largest(drives, name))
        for label, name in SLC.items()
    }
    return Measured(read_off, lambda: _grid(CHANNELS, WAYS, boxes, head), columns)


def erased_by_merge(found: Erased) -> dict[str, Reading]:
    """Read off what a merge erases."""
    return numbers(
        {
            "merge, blocks": found.blocks,
            "merge, chips": len(found.erasing),
            "effective block": found.span_bytes / KIB,
        }
    )


def over_the_largest(drives: Drives, name: str) -> float:
    """Return the data between collections of one place over physical block x channels x ways."""
    file = resolve_drive(f"sim:kuo-{name}", drives.sets(name))
    nand, page = file["nand"], file["ftl"]["map_unit_bytes"]
    largest = nand["pages_per_block"] * nand["page_bytes"] * nand["channels"] * nand["ways"]
    count = 16 * largest // page
    unbuffered = ("write_buffer.bytes=0",) if file.get("write_buffer", {}).get("bytes") else ()
    run = write(drives.fork(name, *unbuffered), np.zeros(count), page)
    collected = run.counts["gc_runs"]
    return count * page / collected / largest if collected else float("nan")


def figure_13(drives: Drives, _: StageProgress) -> Measured:
    """Watch the chips erase an effective block."""
    found = erased(drives)
    lanes = [
        Lane(f"chip {place}", found.timeline.spans(die), "second")
        for place, die in enumerate(found.timeline.dies)
    ]
    columns: Columns = {
        "chip": [place for place, lane in enumerate(lanes) for _ in lane.spans],
        "begin_ns": [begin for lane in lanes for begin, _ in lane.spans],
        "end_ns": [end for lane in lanes for _, end in lane.spans],
    }
    head = f"all blocks in {found.together_ms:.2f} ms"
    words = {"second": "erases a block"}
    return Measured(
        erase_times(found), lambda: schemes.timings({head: lanes}, words, unit="ms"), columns
    )


def erase_times(found: Erased) -> dict[str, Reading]:
    """Read off how long the erases of an effective block take."""
    together = found.together_ms or float("nan")
    beside = found.alone_ms / (CHANNELS * WAYS * together)
    return numbers({"erase, time": together, "erase, side by side": beside})


@dataclass(frozen=True)
class Programmed:
    """A write of one sector.

    Attributes
    ----------
    pages
        Physical pages programmed.
    chips
        Which worked: channel, and place on it.
    """

    pages: float
    chips: tuple[tuple[int, int], ...]


IN_STEP = (2, 2)
"""Channels and ways of figure 16."""
TWO_PLANES = ("nand.planes=2", "ftl.plane_order=PCWD", "ftl.merge_unit_bytes=1m")


def figure_16(drives: Drives, _: StageProgress) -> Measured:
    """Write a sector into each of two effective pages, and see which chips program."""
    drive = chips(*IN_STEP, 2 * PAGE)
    pages = programmed(drives, drive, 2 * PAGE)
    one = stream(drives, chips(1, 1), 1).elapsed_ns
    together = stream(drives, drive, 2).elapsed_ns
    sensed = read(drives.fork(DRIVE, *drive), 0, SECTOR).counts["flash_pages_read"]
    found = in_step(pages, together / one, sensed) | {
        "two planes": number(_planes(drives, on=True)),
    }
    boxes = {
        channel * IN_STEP[1] + way: [Box(f"of effective page {page}", look, width=3)]
        for page, look in enumerate(("first", "second"))
        for channel, way in pages[page].chips
    }
    columns: Columns = {
        "effective_page": list(range(len(pages))),
        "physical_pages": [each.pages for each in pages],
        "chips": [_named(each.chips) for each in pages],
    }
    head = "physical pages that one write of a sector programs"
    return Measured(found, lambda: _grid(*IN_STEP, boxes, head), columns)


def _planes(drives: Drives, *, on: bool) -> float:
    """Program a page on each of two planes of every chip in step, by the time of one page."""
    sets = (*chips(*IN_STEP, 4 * PAGE), *TWO_PLANES, f"scheduler.multi_plane={str(on).lower()}")
    two = write(drives.fork(DRIVE, *sets), 0, 4 * PAGE).share_ns("nand")[0]
    return float(two / write(drives.fork(DRIVE, *chips(1, 1)), 0, PAGE).share_ns("nand")[0])


def programmed(drives: Drives, sets: Sequence[str], page_bytes: int) -> list[Programmed]:
    """Write a sector into each of the first two effective pages, and count."""
    device = drives.fork(DRIVE, *sets)
    found = []
    for page in (0, 1):
        counts: dict[str, int] = {}

        def one(counts: dict[str, int] = counts, place: int = page * page_bytes) -> None:
            counts |= counted(device, lambda: write(device, place, SECTOR))

        worked = [took > 0 for took in busy(device, "die", one)]
        places = tuple(
            (die // IN_STEP[1], die % IN_STEP[1]) for die, works in enumerate(worked) if works
        )
        found.append(Programmed(counts["flash_bytes_programmed"] / PAGE, places))
    return found


def _named(places: Sequence[tuple[int, int]]) -> str:
    return " and ".join(f"{way} of channel {channel}" for channel, way in places)


def in_step(pages: Sequence[Programmed], ratio: float, sensed: float) -> dict[str, Reading]:
    """Read off what requests of one sector use.

    Parameters
    ----------
    pages
        Of two effective pages, on a chip of each channel.
    ratio
        Time of an effective page by that of a physical one alone.
    sensed
        Physical pages that a read of one sector reads.
    """
    channels = [sorted(channel for channel, _ in each.chips) for each in pages]
    apart = not set(pages[0].chips) & set(pages[1].chips)
    return {
        "chips in step": Reading(
            "chips " + "; then ".join(_named(each.chips) for each in pages),
            apart and channels == [list(range(IN_STEP[0]))] * 2,
        ),
        **numbers(
            {
                "effective page, written": pages[0].pages,
                "effective page, read": sensed,
                "effective page, time": ratio,
            }
        ),
    }


def _grid(channels: int, ways: int, boxes: Mapping[int, Sequence[Box]], head: str) -> "Figure":
    """Draw the chips of each channel in a column, with what is in them."""
    figure, (axes,) = panels.canvas(1, width=2.6 * channels, height=0.7 + 0.5 * ways)
    schemes.bare(axes, 4.6 * channels, 1.25 * ways + 0.8)
    for channel in range(channels):
        schemes.note(axes, 4.6 * channel + 1, 0.6, f"channel {channel}")
        for way in range(ways):
            top = 0.8 + 1.25 * way
            schemes.note(axes, 4.6 * channel, top + 0.6, f"chip {way}")
            drawn = boxes.get(channel * ways + way, [Box(width=3)])
            schemes.row(axes, 4.6 * channel + 1, top, drawn)
    panels.head(axes, head)
    return figure
