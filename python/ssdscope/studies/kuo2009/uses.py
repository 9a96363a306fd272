"""Figures 10 and 11: what the geometry is for, and what decides it; and what suits a disk."""

from collections.abc import Sequence

import numpy as np
import numpy.typing as npt

from ssdscope.plots.panels import Panel, in_panels
from ssdscope.probes.budget import StageProgress
from ssdscope.probes.literal import effective_block, effective_page, zone
from ssdscope.probes.literal.effective_block import GrowingWrites
from ssdscope.probes.literal.effective_page import ShiftedPairs
from ssdscope.probes.plan import State
from ssdscope.studies.kuo2009 import layout
from ssdscope.studies.kuo2009.bench import (
    KIB,
    MIB,
    SLC,
    Drives,
    Served,
    number,
    numbers,
    read,
    slow,
    write,
)
from ssdscope.studies.record import Columns, Measured, Reading, Table
from ssdscope.targets import Device

DRIVE, BLOCK, PAGE = "transcend-slc", MIB, 4 * KIB
DISK = "sim:ryu-hdd"
SPAN = 64 * MIB
SPREAD_OVER = 32
"""Blocks over which something is spread that would fit into one."""
CACHE_PAGES = 1024


def figure_10(drives: Drives, _: StageProgress) -> Measured:
    """Use the geometry in an application, a file system, and a disk cache; and do not."""
    near, far = _commits(drives, 1), _commits(drives, SPREAD_OVER)
    by_block, by_page = (_evicted(drives, whole=whole) for whole in (True, False))
    first, last = (layout.repeated(drives, layout.LAYOUTS[name]) for name in ("25", "28"))
    found = numbers(
        {
            "application, faster": far.mean_ns / near.mean_ns,
            "application, late": 100 * float(slow(near.times_ns).mean()),
            "file system, faster": first.write_ns / last.write_ns,
            "disk cache, faster": by_page.times_ns.sum() / by_block.times_ns.sum(),
            "disk cache, collections": by_block.counts["gc_runs"] / by_page.counts["gc_runs"],
        }
    )
    pairs = {
        "application": (far.mean_ns, near.mean_ns),
        "file system": (first.write_ns, last.write_ns),
        "disk cache": (by_page.mean_ns, by_block.mean_ns),
    }
    columns: Columns = {
        "layer": list(pairs),
        "without_ns": [one for one, _ in pairs.values()],
        "with_geometry_ns": [other for _, other in pairs.values()],
    }
    panels = [
        Panel(layer, y="time of a write (ms)", names=["without", "with geometry"],
              bars={"": [each / 1e6 for each in pair]})
        for layer, pair in pairs.items()
    ]  # fmt: skip
    return Measured(found, lambda: in_panels(panels, width=3.0), columns)


def _commits(drives: Drives, blocks: int) -> Served:
    """Append commits of 4 KB to a log within so many blocks, in turn."""
    turns = np.arange(drives.long(2000))
    places = turns % blocks * BLOCK + turns // blocks * PAGE % BLOCK
    return write(drives.fork(DRIVE), places, PAGE)


def _evicted(drives: Drives, *, whole: bool) -> Served:
    """Write through a disk cache: evict page by page, the oldest first, or whole blocks."""
    random = drives.random("10")
    blocks = SPAN // BLOCK
    popular = random.zipf(1.3, drives.long(20_000)) % blocks
    pages = popular * (BLOCK // PAGE) + random.integers(0, BLOCK // PAGE, popular.size)
    dirty: dict[int, None] = {}
    out: list[int] = []
    for page in pages.tolist():
        dirty.pop(page, None)
        dirty[page] = None
        if len(dirty) > CACHE_PAGES:
            oldest = next(iter(dirty))
            block = oldest // (BLOCK // PAGE)
            leaving = [each for each in dirty if each // (BLOCK // PAGE) == block]
            for each in sorted(leaving) if whole else [oldest]:
                del dirty[each]
                out.append(each)
    return write(drives.fork(DRIVE), np.array(out, dtype=np.int64) * PAGE, PAGE)


CHANGES = {
    "as it is": (),
    "channels x 2": ("nand.channels=4", "ftl.map_unit_bytes=8k", "ftl.merge_unit_bytes=2m",
                     "nand.blocks_per_plane=8192"),
    "ways / 2": ("nand.ways=2", "ftl.merge_unit_bytes=512k", "nand.blocks_per_plane=32768"),
    "firmware: pages x 2": ("ftl.map_unit_bytes=8k",),
    "firmware: blocks / 2": ("ftl.merge_unit_bytes=512k",),
    "firmware: zones / 2": (f"map.zone_bytes={238 * MIB}",),
}  # fmt: skip
"""The Transcend with more chips in step, fewer in turn, and another firmware."""
GEOMETRY = ("effective page", "effective block", "zone")
BLOCK_SIZES = tuple(BLOCK >> 2 << step for step in range(5))
MOVES = {
    "channels x 2": (2, 2, 1),
    "ways / 2": (1, 0.5, 1),
    "firmware: pages x 2": (2, 1, 1),
    "firmware: blocks / 2": (1, 0.5, 1),
    "firmware: zones / 2": (1, 1, 0.5),
}
"""By how much page, block and zone are larger."""


def figure_11(drives: Drives, _: StageProgress) -> Measured:
    """Change chips and firmware one at a time, and run the paper's detectors."""
    found = {name: _geometry(drives, sets) for name, sets in CHANGES.items()}
    columns: Columns = {
        "change": list(found),
        **{name: [each[place] for each in found.values()] for place, name in enumerate(GEOMETRY)},
    }
    rows = tuple(
        (name, *("none" if np.isnan(each) else f"{each / KIB:g} KB" for each in values))
        for name, values in found.items()
    )
    panels = [
        Panel(what, y="times as large", names=[str(place) for place in range(len(found))],
              bars={"": [values[place] / found["as it is"][place] for values in found.values()]},
              x="change, in the order of the table")
        for place, what in enumerate(GEOMETRY)
    ]  # fmt: skip
    return Measured(
        moved(found),
        lambda: in_panels(panels, width=3.0),
        columns,
        table=Table(("change", *GEOMETRY), rows),
    )


def moved(found: dict[str, list[float]]) -> dict[str, Reading]:
    """Ask of each change whether it moves what it should and nothing else."""
    base = found["as it is"]
    right = {
        name: [each / one for each, one in zip(found[name], base, strict=True)] == list(by)
        for name, by in MOVES.items()
    }
    kinds = {
        kind: [is_so for name, is_so in right.items() if name.startswith("firmware") is firmware]
        for kind, firmware in (("hardware", False), ("firmware", True))
    }
    return {
        f"what decides: {kind}": Reading(f"{sum(each)} of {len(each)} changes", all(each))
        for kind, each in kinds.items()
    }


def _geometry(drives: Drives, sets: Sequence[str]) -> list[float]:
    """Run tables 4, 3 and 6 of the paper on the changed drive; NaN where one finds nothing."""
    uri, every = f"sim:kuo-{DRIVE}", (*drives.sets(DRIVE), *sets)
    by_page, by_block = ShiftedPairs(), GrowingWrites(BLOCK_SIZES, State.AS_FOUND)
    tried = [drives.probed.bench(uri, every) for _ in GEOMETRY]
    with tried[0].allowance(by_page.planned_writes_bytes):
        share = effective_page.THRESHOLD_SHARE["writes"]
        page = effective_page.answer(by_page.sizes, by_page.run(tried[0]), share)
    with tried[1].allowance(by_block.planned_writes_bytes(tried[1].info)):
        block = effective_block.answer(BLOCK_SIZES, by_block.run(tried[1]))
    with tried[2].allowance(0):
        far = zone.answer(zone.TwoPlaces(512 * MIB).run(tried[2])).size_bytes
    return [float("nan") if each is None else float(each) for each in (page, block, far)]


def disk(drives: Drives, _: StageProgress) -> Measured:
    """Do to a disk, and to an SSD, what suits a disk."""
    hard = drives.switched_on(DISK)
    flash = drives.fork(DRIVE, "map.kind=ram")
    arrival = drives.random("disk").integers(0, SPAN // PAGE, 2048) * PAGE
    swept = np.sort(arrival.reshape(-1, 32), axis=1).ravel()
    grouped = np.arange(2048) // 64 * BLOCK + np.arange(2048) % 64 * PAGE
    dealt = grouped.reshape(32, 64).T.ravel()
    uncached = (_uncached(hard.fork()), _uncached(hard.fork()))
    found = numbers(
        {
            "sorted, disk": _ratio(uncached, arrival, swept),
            "sorted, SSD": _ratio((flash.fork(), flash.fork()), arrival, swept),
            "sweep, collections": write(drives.fork(DRIVE), dealt, PAGE).counts["gc_runs"] / 2048,
            "sweep, time": _ratio((drives.fork(DRIVE), drives.fork(DRIVE)), dealt, grouped),
            "middle, disk": _middle(drives, hard),
            "middle, SSD": _middle(drives, flash),
            "disk cache": write(_uncached(hard.fork()), arrival[:100], PAGE).mean_ns
            / write(hard.fork(), arrival[:100], PAGE).mean_ns,
        }
    )
    times = {name: _random_reads(drives, name) for name in (DISK, *SLC.values())}
    found |= {
        f"random reads: {label}": number(times[DISK] / times[name]) for label, name in SLC.items()
    }
    columns: Columns = {"drive": list(times), "random_read_ns": list(times.values())}
    bars = {"": [each / 1e6 for each in times.values()]}
    panel = Panel("random reads of 4 KB over the drive", y="mean response time (ms)",
                  names=["disk", *SLC], bars=bars)  # fmt: skip
    return Measured(found, lambda: in_panels([panel], width=5.6), columns)


def _uncached(device: Device) -> Device:
    device.set_write_cache(False)
    return device


def _ratio(
    devices: tuple[Device, Device], one: npt.NDArray[np.int64], other: npt.NDArray[np.int64]
) -> float:
    """Write in two orders; give how much longer the first takes."""
    return write(devices[0], one, PAGE).mean_ns / write(devices[1], other, PAGE).mean_ns


def _middle(drives: Drives, device: Device) -> float:
    """Read hot data at the end of a drive, and in its middle, between reads anywhere."""
    capacity = device.info.capacity_bytes
    random = drives.random("disk middle")
    anywhere = random.integers(0, capacity // PAGE, 1000) * PAGE
    hot = random.integers(0, SPAN // PAGE, 1000) * PAGE
    times = []
    for begin in (capacity - SPAN, capacity // 2 // PAGE * PAGE):
        places = np.column_stack([anywhere, begin + hot]).ravel()
        times.append(read(device.fork(), places, PAGE).mean_ns)
    return times[0] / times[1]


def _random_reads(drives: Drives, name: str) -> float:
    device = drives.switched_on(name)
    pages = device.info.capacity_bytes // PAGE
    places = drives.random("disk reads").integers(0, pages, drives.long(400)) * PAGE
    return read(device, places, PAGE).mean_ns
