"""Figures 6, 7 and 8: chips that work at the same time.

The drives are the Transcend SLC's chip (table 1 of the thesis) on a few channels, behind a host
link and a mapping that take no time, and with a buffer that takes a request in at once: what is
left is chips and channels.
"""

from collections.abc import Mapping, Sequence
from dataclasses import dataclass

import numpy as np

from ssdscope.studies.judging import quoted, similar
from ssdscope.studies.kuo2009 import schemes
from ssdscope.studies.kuo2009.bench import SECTOR, Drives, Served, read, write
from ssdscope.studies.kuo2009.schemes import Lane
from ssdscope.studies.kuo2009.sheet import Binder, Columns, hand_in, number, stated
from ssdscope.studies.kuo2009.timeline import Timeline, watch
from ssdscope.studies.record import Claim, FigureResult

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


def chips(channels: int, ways: int, unit_bytes: int = PAGE) -> tuple[str, ...]:
    """Give the changes that make a drive of so many chips."""
    return (
        *ALONE,
        f"nand.channels={channels}",
        f"nand.ways={ways}",
        f"ftl.map_unit_bytes={unit_bytes}",
        f"ftl.merge_unit_bytes={channels * ways * 64 * PAGE}",
    )


@dataclass(frozen=True)
class Stream:
    """Pages written in order.

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


def stream(drives: Drives, sets: Sequence[str], pages: int) -> Stream:
    """Write some pages in one request."""
    device = drives.fork(DRIVE, *sets)
    before = (device.counters() or {})["channel_busy_ns"][0]
    run = write(device, 0, pages * PAGE)
    busy = (device.counters() or {})["channel_busy_ns"][0] - before
    return Stream(pages, run.elapsed_ns, busy / run.elapsed_ns)


def watched(drives: Drives, sets: Sequence[str], pages: int) -> Timeline:
    """Watch the drive write some pages."""
    device = drives.fork(DRIVE, *sets, *BUFFER)
    return watch(device, lambda drive: write(drive, 0, pages * PAGE), STEPS, STEP_NS)


def lanes(timeline: Timeline) -> list[Lane]:
    """Lay out a timing diagram: channels above, chips below."""
    return [
        *(
            Lane(f"channel {number}", timeline.spans(busy), "first")
            for number, busy in enumerate(timeline.channels)
        ),
        *(
            Lane(f"chip {number}", timeline.spans(busy), "third")
            for number, busy in enumerate(timeline.dies)
        ),
    ]


WORDS = {"first": "data on the channel", "third": "chip busy (data in, and program)"}


def figure_6(drives: Drives, binder: Binder, *sets: str) -> FigureResult:
    """Write two pages to two chips, each on a channel of its own."""
    drive = (*chips(2, 1), *sets)
    one, two = (stream(drives, drive, pages) for pages in (1, 2))
    timeline = watched(drives, drive, 2)
    return hand_in(
        "6",
        claims_6(one, two, timeline),
        schemes.timings({"two channels, a page for each": lanes(timeline)}, WORDS),
        _columns({"one page": one, "two pages": two}),
        binder,
    )


def claims_6(one: Stream, two: Stream, timeline: Timeline) -> list[Claim]:
    """Hold two pages on two channels against one alone."""
    each = [timeline.busy_ns(busy) for busy in timeline.channels]
    together = timeline.busy_ns(np.asarray(timeline.channels.all(axis=0))) / max(min(each), 1)
    return [
        stated(
            "two pages, each on a channel of its own, against one page",
            "at the same time",
            f"{two.elapsed_ns / one.elapsed_ns:.2f} times as long",
            quoted(one.elapsed_ns, two.elapsed_ns),
        ),
        stated(
            "channels work independently: transfers that overlap",
            "nearly all of their time",
            f"{100 * together:.0f} % of it",
            len(each) > 1 and quoted(1.0, together),
        ),
    ]


PAGES = 60
"""Written to each chip: fewer than a block has, so that nothing is merged."""


def figure_7(drives: Drives, binder: Binder, *sets: str) -> FigureResult:
    """Write to one chip of a channel, and to four in turn."""
    runs = {
        number: stream(drives, (*chips(1, number), *sets), PAGES * number) for number in (1, 2, 4)
    }
    timelines = {
        f"{number} on a channel: {100 * runs[number].used:.0f} % of it used ({paper})": lanes(
            watched(drives, (*chips(1, number), *sets), pages)
        )
        for number, pages, paper in ((1, 2, "paper: about 20 %"), (4, 8, "paper: more"))
    }
    columns = _columns({f"{number} chips": run for number, run in runs.items()})
    picture = schemes.timings(timelines, WORDS)
    notes = [
        "the share of four chips is not in the paper: it follows from the 20 % of one, times four"
    ]
    return hand_in("7", claims_7(runs), picture, columns, binder, notes)


def claims_7(runs: Mapping[int, Stream]) -> list[Claim]:
    """Hold the use of the channel, by the number of chips, against the paper's."""
    shares = {number: 100 * run.used for number, run in runs.items()}
    faster = runs[1].page_ns / runs[4].page_ns
    return [
        number("one chip writes: the channel is in use", 20, shares[1], "%"),
        stated(
            "four chips take turns: the channel is in use",
            "more; four times 20 % are 80 %",
            f"{shares[4]:.1f} % ({shares[2]:.1f} % with two)",
            quoted(80, shares[4]),
        ),
        stated(
            "four chips write against one",
            "higher rate, as programs overlap",
            f"{faster:.1f} times the rate",
            quoted(4, faster),
        ),
    ]


@dataclass(frozen=True)
class Spread:
    """Reads of one place again and again.

    Attributes
    ----------
    channels_ns
        How long each channel transferred.
    dies_ns
        How long each die was busy.
    time_ns
        Mean response time.
    """

    channels_ns: tuple[int, ...]
    dies_ns: tuple[int, ...]
    time_ns: float


STRIPED = "ftl.stripe_bytes=512"
READS = 64


def figure_8(drives: Drives, binder: Binder) -> FigureResult:
    """Read two sectors again and again, spread over two channels and not."""
    striped = spread(drives, (*chips(2, 1, 2 * PAGE), STRIPED))
    plain = spread(drives, chips(2, 1, 2 * PAGE))
    columns: Columns = {
        "layout": ["striped"] * 2 + ["not striped"] * 2,
        "channel": [0, 1, 0, 1],
        "transfer_ns": [*striped.channels_ns, *plain.channels_ns],
        "die_busy_ns": [*striped.dies_ns, *plain.dies_ns],
        "mean_ns": [each.time_ns for each in (striped, plain) for _ in range(2)],
    }
    panels = {
        head: [
            *(
                Lane(f"channel {number}", [(0, busy / READS)], "first")
                for number, busy in enumerate(each.channels_ns)
            ),
            *(
                Lane(f"chip {number}", [(0, busy / READS)], "third")
                for number, busy in enumerate(each.dies_ns)
            ),
        ]
        for head, each in (("sectors spread over channels", striped), ("not spread", plain))
    }
    words = {"first": "transfer, for each read", "third": "chip busy, for each read"}
    notes = [
        "the paper spreads a sector's bytes; the simulated drive deals whole sectors, two here"
    ]
    picture = schemes.timings(panels, words)
    return hand_in("8", claims_8(striped, plain), picture, columns, binder, notes)


def spread(drives: Drives, sets: Sequence[str]) -> Spread:
    """Read the same two sectors again and again."""
    device = drives.fork(DRIVE, *sets)
    before = device.counters() or {}
    run: Served = read(device, np.zeros(READS), 2 * SECTOR)
    after = device.counters() or {}
    channels, dies = (
        tuple(one - other for one, other in zip(after[name], before[name], strict=True))
        for name in ("channel_busy_ns", "die_busy_ns")
    )
    return Spread(channels, dies, float(run.times_ns.mean()))


def claims_8(striped: Spread, plain: Spread) -> list[Claim]:
    """Hold reads of sectors that are spread over channels against those that are not."""
    most = max(striped.channels_ns) / max(plain.channels_ns)
    shares = [100 * busy / sum(striped.dies_ns) for busy in striped.dies_ns]
    used = sum(busy > 0 for busy in striped.channels_ns)
    return [
        stated(
            "a request uses all channels",
            "yes",
            f"{used} of {len(striped.channels_ns)}; not spread, "
            f"{sum(busy > 0 for busy in plain.channels_ns)}",
            used == len(striped.channels_ns) > 1,
        ),
        stated(
            "transfer time, dealt to both channels",
            "evenly: half on each",
            f"{100 * most:.0f} % of what one alone takes",
            quoted(0.5, most),
        ),
        stated(
            "response time",
            "shorter",
            f"{striped.time_ns / 1e3:.1f} us instead of {plain.time_ns / 1e3:.1f}",
            striped.time_ns < plain.time_ns,
        ),
        stated(
            "one place used again and again: load of the chips",
            "even",
            " and ".join(f"{share:.0f} %" for share in shares),
            similar(max(shares), max(min(shares), 1e-9)),
        ),
    ]


def _columns(runs: Mapping[str, Stream]) -> Columns:
    return {
        "run": list(runs),
        "pages": [each.pages for each in runs.values()],
        "elapsed_ns": [each.elapsed_ns for each in runs.values()],
        "channel_share": [each.used for each in runs.values()],
    }
