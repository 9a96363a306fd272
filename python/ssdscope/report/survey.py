"""The sweep of the page: every pattern by size and depth, and points between for the twin."""

from collections.abc import Callable, Generator, Iterator, Sequence
from contextlib import closing
from dataclasses import asdict, dataclass, fields, replace
from itertools import takewhile
from typing import Any

import numpy as np

from ssdscope.errors import DeviceError
from ssdscope.targets import Device
from ssdscope.targets.records import DeviceInfo
from ssdscope.workloads import Workload
from ssdscope.workloads.figures import Figure, Stretch, counted, figures_of, run_stretch

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

    Each write on a simulated drive has copies of it, so that all of them start from the same
    state and none ages the drive for the next; so they run side by side. A real drive has to live
    with what was done.
    """
    seeds = range(seed, seed + len(points) * SEEDS_APART, SEEDS_APART)
    asked = list(zip(points, seeds, strict=True))
    rows = _side_by_side if device.info.snapshot else _one_by_one
    with closing(rows(device, asked, effort)) as measured:
        for done, (point, row) in enumerate(zip(points, measured, strict=True), start=1):
            yield row
            progress(f"{point.rw} {point.block_bytes // 1024} KiB", done / len(points))


def _one_by_one(
    device: Device, asked: Sequence[tuple[Point, int]], effort: Effort
) -> Generator[Measurement, None, None]:
    for point, seed in asked:
        yield _measure([device], point, effort, seed)


def _side_by_side(
    device: Device, asked: Sequence[tuple[Point, int]], effort: Effort
) -> Generator[Measurement, None, None]:
    """Measure the reads in front one by one, and the others on copies, several at a time."""
    from joblib import Parallel, delayed

    reads = list(takewhile(lambda each: not each[0].writes, asked))
    yield from _one_by_one(device, reads, effort)
    # A run is one call into Rust that lets go of Python, so threads are enough.
    workers = Parallel(n_jobs=-1, prefer="threads", return_as="generator")
    with closing(
        workers(
            delayed(_measure)(_copies(device, point), point, effort, seed)
            for point, seed in asked[len(reads) :]
        )
    ) as rows:
        yield from rows


def _copies(device: Device, point: Point) -> list[Device]:
    return [device.fork() for _ in range(BURSTS if point.writes else 1)]


def workload_of(point: Point, seed: int) -> Workload:
    """Give the workload of a point; where it ends is another matter."""
    return Workload(rw=point.rw, block_bytes=point.block_bytes, iodepth=point.iodepth, seed=seed)


def _measure(drives: Sequence[Device], point: Point, effort: Effort, seed: int) -> Measurement:
    """Run a point on each of some drives that are in one state."""
    sort = "burst" if point.writes else "read"
    try:
        stretches = list(_stretches(drives, point, effort, seed))
    except DeviceError as error:
        return Measurement(point, sort, failure=error.message)
    found = figures_of(stretches).get("write" if point.writes else "read")
    if found is None:
        return Measurement(point, sort, failure="no request was served in the time allowed")
    return Measurement(point, sort, found)


def _stretches(
    drives: Sequence[Device], point: Point, effort: Effort, seed: int
) -> Iterator[Stretch]:
    """Run a point once on each drive."""
    plan = workload_of(point, seed)
    if drives[0].info.clock == "wall":
        plan = replace(plan, io_bytes=MUCH_BYTES, runtime_ns=effort.runtime_ns)
    else:
        plan = counted(plan, _requests(point, effort))
    for burst, drive in enumerate(drives):
        yield run_stretch(drive, plan.seeded(seed + burst))


def _requests(point: Point, effort: Effort) -> int:
    deep = min(PER_DEPTH * point.iodepth, ENOUGH_BYTES // point.block_bytes)
    least = effort.requests if point.writes else LEAST_READS * effort.requests // LEAST_WRITES
    return max(least, 4 * point.iodepth, deep)
