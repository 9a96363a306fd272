"""Figure 23: with zones, a drive that was switched on loads one table, not all of them."""

from dataclasses import dataclass

import numpy as np

from ssdscope.studies.kuo2009 import schemes
from ssdscope.studies.kuo2009.bench import MIB, SECTOR, Drives, read
from ssdscope.studies.kuo2009.schemes import Lane
from ssdscope.studies.kuo2009.sheet import Binder, Columns, exact, hand_in, stated
from ssdscope.studies.kuo2009.zone import DRIVE, ZONE
from ssdscope.studies.record import Claim, FigureResult


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


def figure_23(drives: Drives, binder: Binder) -> FigureResult:
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
    picture = schemes.timings({head: lanes}, words, unit="ms")
    notes = ["the time that a table takes is assumed; how many are loaded is counted"]
    return hand_in("23", claims(found), picture, columns, binder, notes)


def claims(found: Start) -> list[Claim]:
    """Hold the start against the paper's words."""
    return [
        exact(
            "switched on: tables loaded before the first read is answered", 1, found.loads, "tables"
        ),
        stated(
            "zones shorten the start: the first read waits for one table, not for all",
            "shorter",
            f"{found.wait_ns / 1e6:.1f} ms for {found.loads} of {found.zones} tables, "
            f"{found.all_ns / 1e6:.1f} ms for all",
            0 < found.wait_ns < found.all_ns and found.loads < found.all_loads,
        ),
        exact(
            "the other zones' tables: loaded as they are read",
            found.zones,
            found.all_loads,
            "tables",
        ),
    ]
