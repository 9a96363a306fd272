"""Figures 1, 6, 7 and 8: a flash chip, and chips that work at the same time.

The drives are the Transcend SLC's chip (table 1 of the thesis) on a few channels, behind a host
link and a mapping that take no time, and with a buffer that takes a request in at once: what is
left is chips and channels.
"""

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from itertools import pairwise

import numpy as np

from ssdscope.plots import schemes
from ssdscope.plots.panels import Panel, in_panels
from ssdscope.plots.schemes import Lane
from ssdscope.probes.budget import StageProgress
from ssdscope.studies.kuo2009.bench import (
    KIB,
    SECTOR,
    Drives,
    Served,
    busy,
    number,
    numbers,
    read,
    span,
    write,
)
from ssdscope.studies.kuo2009.timeline import Timeline, watch
from ssdscope.studies.record import Columns, Measured, Reading

DRIVE = "transcend-slc"
PAGE = 2048
ALONE = (
    "map.kind=ram",
    "host.bytes_per_second=1e12",
    "host.command_ns=0",
    "nand.blocks_per_plane=64",
    "over_provisioning_ratio=0.5",
    "ftl.log_blocks=1",
)
"""Nothing takes time but chips and channels."""
BUFFER = (
    "write_buffer.bytes=2m",
    f"write_buffer.unit_bytes={PAGE}",
    "write_buffer.concurrent_drains=64",
)
"""Takes a request in at once, so that the drive can be watched."""
STEPS, STEP_NS = 700, 1000
WORDS = {"first": "data on the channel", "third": "chip busy (data in, and program)"}


def chips(channels: int, ways: int, unit_bytes: int = PAGE) -> tuple[str, ...]:
    """Give the changes that make a drive of so many chips."""
    return (
        *ALONE,
        f"nand.channels={channels}",
        f"nand.ways={ways}",
        f"ftl.map_unit_bytes={unit_bytes}",
        f"ftl.merge_unit_bytes={channels * ways * 64 * PAGE}",
    )


def figure_1(drives: Drives, _: StageProgress) -> Measured:
    """Read, program and erase one chip, and count."""
    one = chips(1, 1)
    device = drives.fork(DRIVE, *one)
    reading, programming = read(device, 0, PAGE), write(device, 0, PAGE)
    small = (
        read(device, 8 * PAGE, SECTOR).counts["flash_pages_read"],
        write(drives.fork(DRIVE, *one), 0, SECTOR).counts["flash_pages_programmed"],
    )
    block = write(drives.fork(DRIVE, *one), np.arange(65) * PAGE, PAGE)
    again = write(drives.fork(DRIVE, *one), np.zeros(drives.long(10_000)), PAGE)
    moved = reading.share_ns("transfer")[0]
    times = {
        "read a page, us": reading.share_ns("nand")[0] / 1e3,
        "program a page, us": programming.share_ns("nand")[0] / 1e3,
        "erase a block, ms": block.share_ns("merge")[-1] / 1e6,
        "move a byte, ns": moved / (PAGE + 64),
    }
    freed = again.counts["flash_pages_programmed"] / again.counts["block_erases"]
    found = {f"table 1: {case}": number(value) for case, value in times.items()} | {
        "table 1: a page, KB": number(programming.counts["flash_bytes_programmed"] / KIB),
        "table 1: a block, KB": number(freed * PAGE / KIB),
        "unit: read": number(small[0]),
        "unit: written": number(small[1]),
        "erase before write": number(freed),
        "larger pages": span(_page_gains(drives)),
    }
    columns: Columns = {"what": list(found), "value": [each.ours for each in found.values()]}
    shares = {"page on the channel": [moved / 1e3] * 2, "chip": [*times.values()][:2]}
    panel = Panel("one page, one chip", y="time (us)", bars=shares, names=("read", "program"),
                  legend="upper left")  # fmt: skip
    return Measured(found, lambda: in_panels([panel]), columns)


def _page_gains(drives: Drives) -> list[float]:
    """Write in order with pages of 512 bytes, 2 KB and 4 KB; give how much faster each is."""
    rates = []
    for page in (512, 2 * KIB, 4 * KIB):
        sets = (*chips(1, 1, page), f"nand.page_bytes={page}", f"ftl.merge_unit_bytes={64 * page}")
        rates.append(write(drives.fork(DRIVE, *sets), 0, 60 * page).rate)
    return [later / first for first, later in pairwise(rates)]


@dataclass(frozen=True)
class Stream:
    """Pages written in order, or read.

    Attributes
    ----------
    elapsed_ns
        Time of the whole.
    used
        Share of it in which the first channel transfers.
    """

    pages: int
    elapsed_ns: int
    used: float

    @property
    def page_ns(self) -> float:
        """Time for each page."""
        return self.elapsed_ns / self.pages


def stream(drives: Drives, sets: Sequence[str], pages: int, run: object = write) -> Stream:
    """Write, or read, some pages in one request."""
    device = drives.fork(DRIVE, *sets)
    served: list[Served] = []
    do = read if run is read else write
    channels = busy(device, "channel", lambda: served.append(do(device, 0, pages * PAGE)))
    return Stream(pages, served[0].elapsed_ns, channels[0] / served[0].elapsed_ns)


def watched(drives: Drives, sets: Sequence[str], pages: int) -> Timeline:
    """Watch the drive write some pages."""
    device = drives.fork(DRIVE, *sets, *BUFFER)
    return watch(device, lambda drive: write(drive, 0, pages * PAGE), STEPS, STEP_NS)


def lanes(timeline: Timeline) -> list[Lane]:
    """Lay out a timing diagram: channels above, chips below."""
    kinds = (("channel", "first", timeline.channels), ("chip", "third", timeline.dies))
    return [
        Lane(f"{kind} {place}", timeline.spans(each), look)
        for kind, look, every in kinds
        for place, each in enumerate(every)
    ]


def figure_6(drives: Drives, _: StageProgress, *sets: str) -> Measured:
    """Use two chips, each on a channel of its own; then more channels, and more chips on them."""
    drive = (*chips(2, 1), *sets)
    one, two = (stream(drives, drive, pages) for pages in (1, 2))
    both = [stream(drives, drive, pages, read) for pages in (1, 2)]
    timeline = watched(drives, drive, 2)
    rates = {
        channels: [
            1 / stream(drives, (*chips(channels, 4), *sets), 48 * 4 * channels, do).page_ns
            for do in (write, read)
        ]
        for channels in (1, 2, 4, 8)
    }
    wide = 1 / stream(drives, (*chips(4, 8), *sets), 48 * 32).page_ns
    found = of_two(one, two, timeline) | {
        "channels, reads": number(both[1].elapsed_ns / both[0].elapsed_ns),
        "channels, rate": span(
            rate / rates[1][place] / count
            for count, each in rates.items()
            for place, rate in enumerate(each)
        ),
        "ways, rate": number(wide / rates[4][0]),
    }
    picture = {"two channels, a page for each": lanes(timeline)}
    return Measured(found, lambda: schemes.timings(picture, WORDS),
                    _columns({"one page": one, "two pages": two}))  # fmt: skip


def of_two(one: Stream, two: Stream, timeline: Timeline) -> dict[str, Reading]:
    """Compare two pages on two channels with one alone."""
    each = [timeline.busy_ns(channel) for channel in timeline.channels]
    together = timeline.busy_ns(np.asarray(timeline.channels.all(axis=0))) / max(min(each), 1)
    overlap = together if len(each) > 1 else 0.0
    return numbers(
        {"channels, writes": two.elapsed_ns / one.elapsed_ns, "channels overlap": overlap}
    )


PAGES = 60
"""Written to each chip: fewer than a block has, so that nothing is merged."""


def figure_7(drives: Drives, _: StageProgress, *sets: str) -> Measured:
    """Use one chip of a channel, and four in turn."""
    runs, reads = (
        {count: stream(drives, (*chips(1, count), *sets), PAGES * count, do) for count in (1, 2, 4)}
        for do in (write, read)
    )
    timelines = {
        f"{count} on a channel: {100 * runs[count].used:.0f} % of it used ({paper})": lanes(
            watched(drives, (*chips(1, count), *sets), pages)
        )
        for count, pages, paper in ((1, 2, "paper: about 20 %"), (4, 8, "paper: more"))
    }
    columns = _columns({f"{count} chips": run for count, run in runs.items()})
    notes = ["four chips read little faster: a page is longer on the channel than in the chip"]
    return Measured(in_turn(runs, reads), lambda: schemes.timings(timelines, WORDS), columns, notes)


def in_turn(runs: Mapping[int, Stream], reads: Mapping[int, Stream]) -> dict[str, Reading]:
    """Say how much of a channel chips use, by their number, and how fast they are."""
    used = {count: 100 * run.used for count, run in runs.items()}
    return numbers(
        {
            "one chip": used[1],
            "interleaving, use": used[4] / used[1],
            "interleaving, rate": runs[1].page_ns / runs[4].page_ns,
            "interleaving, reads": reads[1].page_ns / reads[4].page_ns,
        }
    )


@dataclass(frozen=True)
class Spread:
    """Requests to one place again and again.

    Attributes
    ----------
    channels_ns
        How long each channel transferred.
    dies_ns
        How long each die was busy.
    time_ns, write_ns
        Mean response time of reads, and of writes.
    """

    channels_ns: Sequence[int]
    dies_ns: Sequence[int]
    time_ns: float
    write_ns: float


STRIPED = "ftl.stripe_bytes=512"
READS = 64


def figure_8(drives: Drives, _: StageProgress) -> Measured:
    """Use two sectors again and again, spread over two channels and not."""
    striped = spread(drives, (*chips(2, 1, 2 * PAGE), STRIPED))
    plain = spread(drives, chips(2, 1, 2 * PAGE))
    pair = {"sectors spread over channels": striped, "not spread": plain}
    columns: Columns = {
        "layout": ["striped"] * 2 + ["not striped"] * 2,
        "channel": [0, 1, 0, 1],
        "transfer_ns": [*striped.channels_ns, *plain.channels_ns],
        "die_busy_ns": [*striped.dies_ns, *plain.dies_ns],
        "mean_ns": [each.time_ns for each in pair.values() for _ in range(2)],
    }
    panels = {
        head: [
            Lane(f"{kind} {place}", [(0, took / READS)], look)
            for kind, look, every in (
                ("channel", "first", each.channels_ns),
                ("chip", "third", each.dies_ns),
            )
            for place, took in enumerate(every)
        ]
        for head, each in pair.items()
    }
    words = {"first": "transfer, for each read", "third": "chip busy, for each read"}
    notes = ["the paper spreads a sector's bytes; the simulated drive deals whole sectors"]
    return Measured(
        striping(striped, plain), lambda: schemes.timings(panels, words), columns, notes
    )


def spread(drives: Drives, sets: Sequence[str]) -> Spread:
    """Read the same two sectors again and again; then write each anew."""
    device = drives.fork(DRIVE, *sets)
    runs: list[Served] = []
    dies: list[int] = []

    def reading() -> None:
        runs.append(read(device, np.zeros(READS), 2 * SECTOR))

    channels = busy(device, "channel", lambda: dies.extend(busy(device, "die", reading)))
    written = write(drives.fork(DRIVE, *sets), 0, 2 * SECTOR)
    return Spread(channels, dies, runs[0].mean_ns, written.mean_ns)


def striping(striped: Spread, plain: Spread) -> dict[str, Reading]:
    """Compare sectors that are spread over channels with those that are not."""
    load = max(striped.dies_ns) / max(min(striped.dies_ns), 1e-9)
    return numbers(
        {
            "striping, channels": sum(took > 0 for took in striped.channels_ns),
            "striping, transfer": max(striped.channels_ns) / max(plain.channels_ns),
            "striping, reads": striped.time_ns / plain.time_ns,
            "striping, writes": striped.write_ns / plain.write_ns,
            "striping, load": load,
        }
    )


def _columns(runs: Mapping[str, Stream]) -> dict[str, list[object]]:
    return {
        "run": list(runs),
        "pages": [each.pages for each in runs.values()],
        "elapsed_ns": [each.elapsed_ns for each in runs.values()],
        "channel_share": [each.used for each in runs.values()],
    }
