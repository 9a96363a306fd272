"""Figures 23 and 24: zones of the mapping table: starting, random reads, and what tables cost."""

from collections.abc import Sequence
from dataclasses import dataclass
from itertools import pairwise

import numpy as np
import numpy.typing as npt

from ssdscope.plots import schemes
from ssdscope.plots.panels import Line, Panel, in_panels
from ssdscope.plots.schemes import Lane
from ssdscope.probes.budget import StageProgress
from ssdscope.studies.kuo2009.bench import (
    GIB,
    KIB,
    MIB,
    SECTOR,
    Drives,
    Served,
    Times,
    numbers,
    read,
    size,
    slow,
    span,
    write,
)
from ssdscope.studies.record import Columns, Measured, Reading

DRIVE = "transcend-slc"
ZONE = 476 * MIB
"""The zone of the drive, as the paper found it (figure 40)."""
SIZE = 4 * KIB
READS = 400
ZONES = (0.25, 0.5, 1, 2, 4, 8, 16, 32)
CAPACITIES = (0.25, 0.5, 1, 2)
"""Of drives that hold 4 to 32 GB, by the Transcend's."""


@dataclass(frozen=True)
class Start:
    """The first reads of a drive that was just switched on.

    Attributes
    ----------
    loads, wait_ns
        Tables that the first read loaded, and how long it waited for them.
    all_loads, all_ns
        The same of a read in every zone, which loads the whole mapping table.
    zones
        How many the drive has.
    """

    loads: int
    wait_ns: int
    all_loads: int
    all_ns: int
    zones: int


def started(drives: Drives, *sets: str) -> Start:
    """Read once, and then in every other zone."""
    device = drives.switched_on(DRIVE, *sets)
    capacity = device.info.capacity_bytes
    first = read(device, 0, SECTOR)
    rest = read(device, np.arange(ZONE, capacity, ZONE), SECTOR)
    loads = first.counts["map_loads"]
    wait = int(first.share_ns("map").sum())
    return Start(
        loads,
        wait,
        loads + rest.counts["map_loads"],
        wait + int(rest.share_ns("map").sum()),
        -(-capacity // ZONE),
    )


def figure_23(drives: Drives, _: StageProgress) -> Measured:
    """Count what the first read after switching on loads, and what the whole table is."""
    found = started(drives)
    columns: Columns = {
        "what": ["the first read", "a read in every zone"],
        "tables_loaded": [found.loads, found.all_loads],
        "wait_ns": [found.wait_ns, found.all_ns],
    }
    lanes = [
        Lane("the first zone's table", [(0, found.wait_ns)], "first"),
        Lane(f"all {found.zones} tables", [(0, found.all_ns)], "second"),
    ]
    head = f"before the first answer (zones of {ZONE // MIB} MB)"
    words = {"first": "with zones", "second": "without: the whole table"}
    notes = ["the time that a table takes is assumed; how many are loaded is counted"]
    tables = []
    for factor in CAPACITIES:
        capacity = factor * drives.settings.get("capacity", 1)
        larger = Drives(drives.seed, {**drives.settings, "capacity": capacity})
        tables.append(started(larger).all_loads / factor / found.all_loads)
    read_off = at_start(found) | {"tables, capacity": span(tables)}
    return Measured(
        read_off, lambda: schemes.timings({head: lanes}, words, unit="ms"), columns, notes
    )


def at_start(found: Start) -> dict[str, Reading]:
    """Read off what a drive that was switched on loads."""
    return numbers(
        {
            "start, tables": found.loads,
            "start, wait": found.wait_ns / found.all_ns if found.all_ns else float("nan"),
            "start, other zones": found.all_loads / found.zones,
        }
    )


@dataclass(frozen=True)
class Reads:
    """Random reads within the drive's first zones; the first read, which loads one, left out."""

    zones: float
    offsets: npt.NDArray[np.int64]
    times_ns: Times
    loads: int

    @property
    def crosses(self) -> npt.NDArray[np.bool_]:
        """Whether each read is in another zone than the one before it."""
        zone = self.offsets // ZONE
        return np.asarray(np.diff(zone, prepend=zone[0]) != 0)

    @property
    def mean_ns(self) -> float:
        """Mean response time."""
        return float(self.times_ns.mean())


def figure_24(drives: Drives, _: StageProgress) -> Measured:
    """Read at random within a zone and over several."""
    runs = [_reads(drives, zones) for zones in ZONES]
    inside, over = (next(each for each in runs if each.zones == zones) for zones in (1, 4))
    found = within_and_over(inside, over, runs) | _costs(drives) | _sizes(drives)
    columns: Columns = {
        "zones": [each.zones for each in runs for _ in each.offsets],
        "offset_bytes": [int(at) for each in runs for at in each.offsets],
        "response_ns": [int(time) for each in runs for time in each.times_ns],
    }
    # Smaller dots in front: both lines have a level in common.
    dots = [
        Line(f"within {each.zones:g} zones", range(1, each.times_ns.size + 1),
             each.times_ns / 1e6, index, dot, dash="")
        for each, index, dot in ((inside, 0, 4), (over, 1, 2))
    ]  # fmt: skip
    means = Line(None, [each.zones * ZONE for each in runs],
                 [each.mean_ns / 1e6 for each in runs], 0, 4)  # fmt: skip
    panels = (
        Panel("random reads of 4 KB", dots, "request", "response time (ms)", legend="upper left"),
        Panel("", [means], "range of the reads (bytes)", "mean response time (ms)", sizes=True,
              marks=[(ZONE, f"zone, {size(ZONE)}")]),
    )  # fmt: skip
    return Measured(found, lambda: in_panels(panels), columns)


def _reads(drives: Drives, zones: float, *sets: str, within: int = ZONE) -> Reads:
    device = drives.fork(DRIVE, *sets)
    count = drives.long(READS)
    offsets = drives.random(f"24 {zones}").integers(0, int(zones * within) // SIZE, count + 1)
    read(device, offsets[:1] * SIZE, SIZE)
    served = read(device, offsets[1:] * SIZE, SIZE)
    # The place of the first read tells whether the second crosses.
    return Reads(zones, offsets[1:] * SIZE, served.times_ns, served.counts["map_loads"])


def within_and_over(inside: Reads, over: Reads, runs: Sequence[Reads]) -> dict[str, Reading]:
    """Read off reads within a zone, over several, and by range."""
    late = slow(over.times_ns)
    fast, median = over.times_ns[~late], float(np.median(inside.times_ns))
    high = float(np.median(over.times_ns[late])) if late.any() else float("nan")
    last = max(each.zones for each in runs if each.mean_ns < 1.1 * runs[0].mean_ns)
    right = late == over.crosses
    return numbers(
        {
            "within a zone, spread": inside.times_ns.max() / inside.times_ns.min(),
            "within a zone, loads": inside.loads,
            "over zones, lower level": float(np.median(fast)) / median,
            "over zones, higher level": high / median,
            "over zones, who is late": 100 * float(right[1:].mean()),
            "range, where": last,
        }
    )


def _costs(drives: Drives) -> dict[str, Reading]:
    """Use two places in turn, within a zone and in two: writes, write-backs, shares of time."""
    turns = drives.long(8)
    loads, times = {}, {}
    for zones, place in ((1, 0), (2, ZONE)):
        # Both pages of one log block would be merged; one write each leaves tables alone.
        device = drives.fork(DRIVE, "ftl.log_blocks=4")
        write(device, [MIB, place + 2 * MIB], SIZE)
        run = write(device, np.tile([MIB, place + 2 * MIB], turns), SIZE)
        loads[zones], times[zones] = run.counts["map_loads"] / run.times_ns.size, run.mean_ns
    written = _two(drives, first=write)
    plain = _two(drives, first=read)
    shares = [_map_share(drives, order) for order in ("random", "order")]
    return numbers(
        {
            "writes in turn, loads": loads[2],
            "writes in turn, time": times[2] / times[1],
            "write-back, written": written.counts["map_write_backs"],
            "write-back, read": plain.counts["map_write_backs"],
            "write-back, time": written.mean_ns / plain.mean_ns,
            "tables, random": shares[0] / shares[1],
        }
    )


def _two(drives: Drives, first: object) -> Served:
    """Write, or read, in one zone, then read in another."""
    device = drives.fork(DRIVE)
    (write if first is write else read)(device, MIB, SIZE)
    return read(device, ZONE + MIB, SIZE)


def _map_share(drives: Drives, order: str) -> float:
    """Return the share of the time of reads over four zones that tables take."""
    places = np.arange(2000) * (4 * ZONE // 2000 // SIZE) * SIZE
    if order == "random":
        places = drives.random("24 order").permutation(places)
    return read(drives.fork(DRIVE), places, SIZE).share("map")


def _sizes(drives: Drives) -> dict[str, Reading]:
    """Change the zone, and how many tables are held: loads for each read of 1 GB."""
    sizes = [16 * MIB, 64 * MIB, 256 * MIB, ZONE]
    runs = [_reads(drives, 1, f"map.zone_bytes={each}", within=GIB) for each in sizes]
    held = [_reads(drives, 8, f"map.resident_zones={each}") for each in (1, 2, 4, 8)]
    return {
        "zone size, time": span(later.mean_ns / one.mean_ns for one, later in pairwise(runs)),
        "tables held, time": span(later.mean_ns / one.mean_ns for one, later in pairwise(held)),
    }
