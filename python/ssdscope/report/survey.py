"""The sweep of the page: every pattern by size and depth, and points between for the twin."""

from collections.abc import Callable, Iterator, Sequence
from dataclasses import asdict, dataclass, fields, replace
from typing import Any

import numpy as np

from ssdscope.errors import DeviceError
from ssdscope.targets import Device
from ssdscope.targets.copies import Course, run_on_copies
from ssdscope.targets.records import DeviceInfo
from ssdscope.workloads import Workload
from ssdscope.workloads.figures import (
    Figure,
    Stretch,
    counted,
    figures_of,
    run_stretch,
    stretch_of,
)

READS = ("read", "randread")
WRITES = ("write", "randwrite")
SIZES_BYTES = tuple(kib * 1024 for kib in (4, 16, 64, 256, 1024))
BETWEEN_BYTES = tuple(kib * 1024 for kib in (8, 12, 24, 40, 96, 160, 384, 640))
"""Sizes between the grid's, one at a time: they show how many pages are served side by side."""
DEPTHS = (1, 2, 4, 8, 16, 32, 64)
PER_DEPTH = 32
"""Requests per request in flight, so that filling and draining the queue do not show."""
ENOUGH_BYTES = 64 << 20
"""Of a deep queue of large requests, whose drive is busy all the time anyway."""
MUCH_BYTES = 1 << 50
"""Where time is the limit, the size of the drive is none."""
BURSTS = 4
"""Of the writes on a simulated drive, each from the same state: how far they differ is their
interval, whatever happens in one."""
LEAST_READS, LEAST_WRITES = 1000, 400
SEEDS_APART = 100
StageProgress = Callable[[str, float], None]


@dataclass(frozen=True, order=True)
class Point:
    """One workload of one pattern, size and depth."""

    rw: str
    block_bytes: int
    iodepth: int

    @property
    def writes(self) -> bool:
        """Whether it writes."""
        return self.rw in WRITES


def patterns(info: DeviceInfo) -> tuple[str, ...]:
    """Give the patterns that may run: reads only on a drive that may not be written."""
    return READS + WRITES if info.writable else READS


def sizes(info: DeviceInfo) -> list[int]:
    """Give the grid's sizes that this drive takes, at least four of which fit side by side."""
    return [
        size
        for size in SIZES_BYTES
        if size % info.logical_block_bytes == 0 and 4 * size <= info.capacity_bytes
    ]


def grid(info: DeviceInfo) -> list[Point]:
    """List every pattern at every size and depth; reads come first, they age nothing."""
    return [
        Point(rw, size, depth) for rw in patterns(info) for size in sizes(info) for depth in DEPTHS
    ]


def between(info: DeviceInfo) -> list[Point]:
    """List sizes between the grid's, one request at a time, for the twin."""
    allowed = sizes(info)
    inside = [
        size
        for size in BETWEEN_BYTES
        if allowed and allowed[0] < size < allowed[-1] and size % info.logical_block_bytes == 0
    ]
    return [Point(rw, size, 1) for rw in patterns(info) for size in inside]


SPLITS = GRID, BETWEEN, OFF_GRID = "grid", "between", "off-grid"
"""What points are for: the page's curves; more for the twin to be fitted to; to hold it to."""


def planned(info: DeviceInfo, held_out: int, rng: np.random.Generator) -> list[tuple[Point, str]]:
    """List all points with what they are for; reads come first, they age nothing.

    Parameters
    ----------
    held_out
        How many points are drawn that nothing is fitted to.
    rng
        Draws them.
    """
    plan = [(point, GRID) for point in grid(info)]
    plan += [(point, BETWEEN) for point in between(info)]
    plan += [(point, OFF_GRID) for point in off_grid(info, held_out, rng)]
    return sorted(plan, key=lambda each: each[0].writes)


def off_grid(info: DeviceInfo, count: int, rng: np.random.Generator) -> list[Point]:
    """Draw points between the grid's, evenly over the logarithms of size and depth.

    No point of the grid is among them: the twin is not held to what it was fitted to.
    """
    allowed = sizes(info)
    if len(allowed) < 2:
        return []
    on_grid = {*grid(info), *between(info)}
    unit = max(4096, info.logical_block_bytes)
    drawn: list[Point] = []
    names = patterns(info)
    for _ in range(20 * count):
        if len(drawn) == count:
            break
        size = unit * round(2 ** rng.uniform(*np.log2([allowed[0], allowed[-1]])) / unit)
        depth = round(2 ** rng.uniform(0, np.log2(DEPTHS[-1])))
        point = Point(names[len(drawn) % len(names)], max(size, unit), depth)
        if point not in on_grid and point not in drawn:
            drawn.append(point)
    return sorted(drawn, key=lambda point: (point.writes, point))


@dataclass(frozen=True)
class Measurement:
    """One workload and what it came to; `failure` tells why there are no numbers.

    Attributes
    ----------
    sort
        ``read``; of writes ``burst``, so many requests from the state the drive was in, or
        ``sustained``, what it keeps up.
    figure
        What its requests came to.
    """

    point: Point
    sort: str
    figure: Figure | None = None
    failure: str | None = None

    def to_json(self) -> dict[str, Any]:
        """Flatten into one object with the workload's keys first."""
        told = {**asdict(self.point), "sort": self.sort, "failure": self.failure}
        if self.figure is None:
            return told | dict.fromkeys(FIGURE_KEYS)
        values = self.figure.to_json()
        ranks = values.pop("percentiles_ns")
        return told | values | {"p50_ns": ranks["50"], "p99_ns": ranks["99"]}


FIGURE_KEYS = (
    *(each.name for each in fields(Figure) if each.name != "percentiles_ns"), "p50_ns", "p99_ns",
)  # fmt: skip


@dataclass(frozen=True)
class Effort:
    """How long each point is measured.

    Attributes
    ----------
    requests
        Per point on a simulated drive, which knows no time.
    runtime_ns
        Wall time per point on a real drive, however many requests that is.
    """

    requests: int
    runtime_ns: int


def collect(
    device: Device,
    points: Sequence[Point],
    effort: Effort,
    *,
    seed: int,
    progress: StageProgress,
) -> Iterator[Measurement]:
    """Run each point, in order, and give each row as soon as it is there.

    A simulated drive is forked before each write, so that all of them start from the same
    state and none ages the drive for the next. A real drive has to live with what was done.
    """
    for index, point in enumerate(points):
        yield _measure(device, point, effort, seed + index * SEEDS_APART)
        progress(f"{point.rw} {point.block_bytes // 1024} KiB", (index + 1) / len(points))


def workload_of(point: Point, seed: int) -> Workload:
    """Give the workload of a point; where it ends is another matter."""
    return Workload(rw=point.rw, block_bytes=point.block_bytes, iodepth=point.iodepth, seed=seed)


def _measure(device: Device, point: Point, effort: Effort, seed: int) -> Measurement:
    sort = "burst" if point.writes else "read"
    try:
        stretches = list(_stretches(device, point, effort, seed))
    except DeviceError as error:
        return Measurement(point, sort, failure=error.message)
    found = figures_of(stretches).get("write" if point.writes else "read")
    if found is None:
        return Measurement(point, sort, failure="no request was served in the time allowed")
    return Measurement(point, sort, found)


def _stretches(device: Device, point: Point, effort: Effort, seed: int) -> Iterator[Stretch]:
    """Run a point once; bursts that can begin from one state several times."""
    plan = workload_of(point, seed)
    if device.info.clock == "wall":
        runtime = replace(plan, io_bytes=MUCH_BYTES, runtime_ns=effort.runtime_ns)
        yield run_stretch(device, runtime)
        return
    limited = counted(plan, _requests(point, effort))
    if not point.writes or not device.info.snapshot:
        yield run_stretch(device, limited)
        return
    bursts = [limited.seeded(seed + burst) for burst in range(BURSTS)]
    for outcome in run_on_copies([Course(device, [burst], logged=True) for burst in bursts]):
        yield stretch_of(outcome.last_log, limited)


def _requests(point: Point, effort: Effort) -> int:
    deep = min(PER_DEPTH * point.iodepth, ENOUGH_BYTES // point.block_bytes)
    least = effort.requests if point.writes else LEAST_READS * effort.requests // LEAST_WRITES
    return max(least, 4 * point.iodepth, deep)
