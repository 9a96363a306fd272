"""Figures 12, 13 and 16: effective blocks and pages, made of what chips do together."""

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from typing import TYPE_CHECKING

import numpy as np

from ssdscope.studies.judging import quoted
from ssdscope.studies.kuo2009 import schemes
from ssdscope.studies.kuo2009.bench import KIB, MIB, SECTOR, Drives, periods, slow, write
from ssdscope.studies.kuo2009.chips import BUFFER, DRIVE, PAGE, chips, stream
from ssdscope.studies.kuo2009.pictures import canvas, title
from ssdscope.studies.kuo2009.schemes import Box, Lane
from ssdscope.studies.kuo2009.sheet import Binder, Columns, exact, hand_in, number, stated
from ssdscope.studies.kuo2009.timeline import Timeline, watch
from ssdscope.studies.record import Claim, FigureResult

if TYPE_CHECKING:
    from matplotlib.figure import Figure

CHANNELS, WAYS = 2, 4
"""As in figure 12."""
PHYSICAL_BLOCK = 128 * KIB
STEPS, STEP_NS = 8000, 10_000
ERASE_MS = 1.5
"""Table 1."""


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
    updates = write(drives.fork(DRIVE, *drive), np.zeros(600), 4 * KIB).times_ns
    steps = periods(slow(updates))
    span = float(np.median(steps)) * 4 * KIB if steps else float("nan")
    merges = max(int(timeline.merges[-1]), 1)
    return Erased(blocks / merges, timeline.since_merge(), span)


def figure_12(drives: Drives, binder: Binder) -> FigureResult:
    """Count the physical blocks, and the chips, that one merge erases."""
    found = erased(drives)
    dies = range(found.timeline.dies.shape[0])
    columns: Columns = {
        "chip": list(dies),
        "erases_ns": [found.timeline.busy_ns(found.timeline.dies[die]) for die in dies],
    }
    looks = dict.fromkeys(found.erasing, "first")
    picture = _grid(
        CHANNELS,
        WAYS,
        {die: [Box(f"physical block {die}", looks.get(die, "plain"), width=3)] for die in dies},
        "blue: erased together, by one merge (effective block 0)",
    )
    return hand_in("12", claims_12(found), picture, columns, binder)


def claims_12(found: Erased) -> list[Claim]:
    """Hold what a merge erases against the paper's product of channels and ways."""
    units = CHANNELS * WAYS
    return [
        exact("physical blocks that one merge erases", units, found.blocks, "blocks"),
        exact("chips that erase", units, len(found.erasing), "chips"),
        number(
            "the largest effective block: physical block x channels x ways",
            units * PHYSICAL_BLOCK / KIB,
            found.span_bytes / KIB,
            "KB",
        ),
    ]


def figure_13(drives: Drives, binder: Binder) -> FigureResult:
    """Watch the chips erase an effective block."""
    found = erased(drives)
    lanes = [
        Lane(f"chip {number}", found.timeline.spans(busy), "second")
        for number, busy in enumerate(found.timeline.dies)
    ]
    columns: Columns = {
        "chip": [number for number, lane in enumerate(lanes) for _ in lane.spans],
        "begin_ns": [begin for lane in lanes for begin, _ in lane.spans],
        "end_ns": [end for lane in lanes for _, end in lane.spans],
    }
    head = f"all blocks in {found.together_ms:.2f} ms (one: {ERASE_MS} ms, table 1)"
    picture = schemes.timings({head: lanes}, {"second": "erases a block"}, unit="ms")
    return hand_in("13", claims_13(found), picture, columns, binder)


def claims_13(found: Erased) -> list[Claim]:
    """Hold the time of the erases against that of one."""
    return [
        number(
            "time in which an effective block of eight physical blocks is erased",
            ERASE_MS,
            found.together_ms or float("nan"),
            "ms",
        ),
        stated(
            "chips erase side by side",
            "almost entirely",
            f"{found.alone_ms:.1f} ms of erases in {found.together_ms:.1f} ms",
            quoted(CHANNELS * WAYS * found.together_ms, found.alone_ms) and found.together_ms > 0,
        ),
    ]


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


def figure_16(drives: Drives, binder: Binder) -> FigureResult:
    """Write a sector into each of two effective pages, and see which chips program."""
    drive = chips(*IN_STEP, 2 * PAGE)
    pages = programmed(drives, drive, 2 * PAGE)
    doubled = programmed(drives, (*chips(*IN_STEP, 4 * PAGE), *TWO_PLANES), 4 * PAGE)
    one = stream(drives, chips(1, 1), 1).elapsed_ns
    together = stream(drives, drive, 2).elapsed_ns
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
    picture = _grid(*IN_STEP, boxes, "physical pages that one write of a sector programs")
    rows = claims_16(pages, doubled[0].pages, together / one)
    return hand_in("16", rows, picture, columns, binder)


def programmed(drives: Drives, sets: Sequence[str], page_bytes: int) -> list[Programmed]:
    """Write a sector into each of the first two effective pages, and count."""
    device = drives.fork(DRIVE, *sets)
    found = []
    for page in (0, 1):
        before = (device.counters() or {})["die_busy_ns"]
        run = write(device, page * page_bytes, SECTOR)
        after = (device.counters() or {})["die_busy_ns"]
        worked = [one > other for one, other in zip(after, before, strict=True)]
        places = [divmod(int(die), IN_STEP[1]) for die in np.flatnonzero(worked)]
        found.append(Programmed(run.counts["flash_bytes_programmed"] / PAGE, tuple(places)))
    return found


def _named(places: Sequence[tuple[int, int]]) -> str:
    return " and ".join(f"{way} of channel {channel}" for channel, way in places)


def claims_16(pages: Sequence[Programmed], doubled: float, ratio: float) -> list[Claim]:
    """Hold what writes of one sector program against the paper's drawing.

    Parameters
    ----------
    pages
        Of two effective pages, on a chip of each channel.
    doubled
        Physical pages of an effective one that also spans two planes.
    ratio
        Time of an effective page by that of a physical one alone.
    """
    channels = [sorted(channel for channel, _ in each.chips) for each in pages]
    apart = not set(pages[0].chips) & set(pages[1].chips)
    return [
        exact("a write of one sector: physical pages programmed", 2, pages[0].pages, "pages"),
        stated(
            "chips in step: one of each channel, and the next ones for the next page",
            "yes",
            "chips " + "; then ".join(_named(each.chips) for each in pages),
            apart and channels == [list(range(IN_STEP[0]))] * 2,
        ),
        stated(
            "an effective page takes the time of a physical one",
            "at the same time",
            f"{ratio:.2f} times as long",
            quoted(1.0, ratio),
        ),
        exact(
            "with programs of two planes the effective page is larger by",
            2,
            doubled / pages[0].pages,
            "times",
        ),
    ]


def _grid(channels: int, ways: int, boxes: Mapping[int, Sequence[Box]], head: str) -> "Figure":
    """Draw the chips of each channel in a column, with what is in them."""
    figure, (axes,) = canvas(1, width=2.6 * channels, height=0.7 + 0.5 * ways)
    schemes.bare(axes, 4.6 * channels, 1.25 * ways + 0.8)
    for channel in range(channels):
        schemes.note(axes, 4.6 * channel + 1, 0.6, f"channel {channel}")
        for way in range(ways):
            top = 0.8 + 1.25 * way
            schemes.note(axes, 4.6 * channel, top + 0.6, f"chip {way}")
            schemes.row(
                axes, 4.6 * channel + 1, top, boxes.get(channel * ways + way, [Box(width=3)])
            )
    title(axes, head)
    return figure
