"""The sweep of the page: every pattern by size and depth, and points between for the twin."""

import time
from collections import Counter
from collections.abc import Callable, Iterator, Sequence
from dataclasses import asdict, dataclass, fields, replace
from typing import Any

import numpy as np

from ssdscope.errors import DeviceError
from ssdscope.probes.budget import Deadline
from ssdscope.report import order
from ssdscope.seeds import numbered
from ssdscope.targets import Device
from ssdscope.targets.copies import Course, run_on_copies
from ssdscope.targets.metered import TIME_OVER, ExhaustedError
from ssdscope.targets.records import DeviceInfo
from ssdscope.twin.rows import SHARES
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
PER_DEPTH = 16
"""Requests per request in flight, so that filling and draining the queue do not show."""
ENOUGH_BYTES = 64 << 20
"""Of a deep queue of large requests, whose drive is busy all the time anyway."""
LEAST_POINT_S = 0.01
"""A point of a real drive takes so long at least; of those for which there is no time, none."""
MUCH_BYTES = 1 << 50
"""Where time is the limit, the size of the drive is none."""
BURSTS, FEW_BURSTS, NARROW = 4, 2, 0.02
"""Of the writes on a simulated drive, each from the same state: how far they differ is their
interval, whatever happens in one. Few will do where that is already within such a share."""
LEAST_READS, LEAST_WRITES = 1000, 400
LEAST_OF_COURSE = 32
"""Requests of a burst whose course is told."""
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
    """List all points with what they are for, in the order in which they are measured.

    What tells most comes first, and the others are spread evenly (`order`). On a drive that has
    to live with what was written, reads come before writes.

    Parameters
    ----------
    held_out
        How many points are drawn that nothing is fitted to.
    rng
        Draws them.
    """
    splits = dict.fromkeys(grid(info), GRID)
    splits |= dict.fromkeys(between(info), BETWEEN)
    splits |= dict.fromkeys(off_grid(info, held_out, rng), OFF_GRID)
    ahead = overview(info)
    plan = ahead + order.evenly([point for point in splits if point not in ahead])
    if not info.snapshot:
        plan = ahead + sorted(plan[len(ahead) :], key=lambda point: point.writes)
    return [(point, splits[point]) for point in plan]


def overview(info: DeviceInfo) -> list[Point]:
    """List the points that tell most; all are of the grid."""
    on_grid = set(grid(info))
    named = (Point(*each) for each in order.first(info, sizes(info)))
    return [point for point in named if point in on_grid]


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
    course_ns
        Of a burst, mean latencies of its requests between the shares of `twin.rows.SHARES`.
    """

    point: Point
    sort: str
    figure: Figure | None = None
    failure: str | None = None
    course_ns: tuple[float, ...] | None = None

    def to_json(self) -> dict[str, Any]:
        """Flatten into one object with the workload's keys first."""
        told = {**asdict(self.point), "sort": self.sort, "failure": self.failure}
        if self.sort == "burst":
            told["course_ns"] = None if self.course_ns is None else list(self.course_ns)
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
    wall_s
        Wall time of all points together on a real drive, however many requests that is. What a
        point leaves, or takes too much, is shared by those behind it.
    tries
        How often a point is measured at most, until the machine is quiet meanwhile.
    """

    requests: int
    wall_s: float = 0.0
    tries: int = 1


def collect(
    device: Device,
    points: Sequence[Point],
    effort: Effort,
    *,
    seed: int,
    progress: StageProgress,
    begin: int = 0,
) -> Iterator[Measurement]:
    """Run each point, in order, and give each row as soon as it is there.

    A simulated drive is forked before each, so that all of them start from the same state and
    in any order. A real drive has to live with what was done.
    """
    pace = Pace(points, effort.wall_s)
    for index, point in enumerate(points, begin):
        own = numbered(seed, index, "report.survey.points")
        yield _measure(device, point, effort.requests, pace, own, effort.tries)
        progress(f"{point.rw} {point.block_bytes // 1024} KiB", (index - begin + 1) / len(points))


class Pace:
    """Shares wall time out among points: of reads and of writes each its part.

    So reads of a drive that is slow today leave writes as much as was meant for them.
    """

    def __init__(
        self, points: Sequence[Point], wall_s: float, clock: Callable[[], float] = time.monotonic
    ) -> None:
        self._left = Counter(point.writes for point in points)
        self._each_s = wall_s / max(len(points), 1)
        self._clock = clock
        self._ends: dict[bool, Deadline] = {}

    def runtime_ns(self, point: Point) -> int:
        """Give the time of the next point; 0 where none is left."""
        left = self._left[point.writes]
        if point.writes not in self._ends:
            self._ends[point.writes] = Deadline(left * self._each_s, self._clock)
        self._left[point.writes] -= 1
        left_s = self._ends[point.writes].left_s
        return round(max(left_s / left, min(LEAST_POINT_S, left_s)) * 1e9)

    def again_ns(self, point: Point) -> int:
        """Give the time of a point that is measured again: what those behind it can do without."""
        spare_s = self._ends[point.writes].left_s - self._left[point.writes] * self._each_s
        return round(min(max(spare_s, 0.0), self._each_s) * 1e9)


def workload_of(point: Point, seed: int) -> Workload:
    """Give the workload of a point; where it ends is another matter."""
    return Workload(rw=point.rw, block_bytes=point.block_bytes, iodepth=point.iodepth, seed=seed)


def _quieter(one: Figure, other: Figure | None) -> Figure:
    """Take the figure for which the machine kept us waiting less."""
    return (
        one if other is None or (other.waited_share or 0.0) > (one.waited_share or 0.0) else other
    )


def _measure(
    device: Device, point: Point, requests: int, pace: Pace, seed: int, tries: int
) -> Measurement:
    sort = "burst" if point.writes else "read"
    direction = "write" if point.writes else "read"
    found: Figure | None = None
    course: tuple[float, ...] | None = None
    try:
        for number in range(tries):
            runtime_ns = pace.again_ns if number else pace.runtime_ns
            own = numbered(seed, number, "report.survey.tries")
            stretches = list(_stretches(device, point, requests, runtime_ns, own))
            figure = figures_of(stretches).get(direction)
            before, found = found, figure if found is None else _quieter(found, figure)
            if found is not before and point.writes:
                course = course_ns([each.latencies_ns(direction) for each in stretches])
            if found is None or found.waited_share is None:
                break
    except DeviceError as error:
        if found is None:
            return Measurement(point, sort, failure=error.message)
    if found is None:
        return Measurement(point, sort, failure="no request was served in the time allowed")
    return Measurement(point, sort, found, course_ns=course)


def course_ns(bursts: Sequence[np.ndarray]) -> tuple[float, ...] | None:
    """Return mean latencies between `twin.rows.SHARES`, over several bursts; None of few.

    Parameters
    ----------
    bursts
        Of each the latencies of its requests, in the order of issue.
    """
    if min((burst.size for burst in bursts), default=0) < LEAST_OF_COURSE:
        return None
    ends = [np.rint(np.multiply(SHARES, burst.size)).astype(int) for burst in bursts]
    parts = [np.split(burst, end[1:-1]) for burst, end in zip(bursts, ends, strict=True)]
    return tuple(
        float(np.mean([part.mean() for part in each])) for each in zip(*parts, strict=True)
    )


def _stretches(
    device: Device,
    point: Point,
    requests: int,
    runtime_ns: Callable[[Point], int],
    seed: int,
) -> Iterator[Stretch]:
    """Run a point once; bursts that can begin from one state several times."""
    plan = workload_of(point, seed)
    if not device.left_s():
        raise ExhaustedError(TIME_OVER)
    if device.info.clock == "wall":
        within_ns = runtime_ns(point)
        if not within_ns:
            raise ExhaustedError(TIME_OVER)
        yield run_stretch(device, replace(plan, io_bytes=MUCH_BYTES, runtime_ns=within_ns))
        return
    limited = counted(plan, _requests(point, requests))
    if not point.writes or not device.info.snapshot:
        # Reads, too, leave a drive in another state: what its dies did last, and when.
        yield run_stretch(device.fork() if device.info.snapshot else device, limited)
        return
    few = list(bursts(device, limited, range(FEW_BURSTS)))
    yield from few
    if not _narrow(figures_of(few).get("write")):
        yield from bursts(device, limited, range(FEW_BURSTS, BURSTS))


def bursts(device: Device, limited: Workload, numbers: Sequence[int]) -> Iterator[Stretch]:
    """Run a workload on a copy of a simulated drive for each number, side by side."""
    seeds = (numbered(limited.seed, number, "report.survey.bursts") for number in numbers)
    courses = [Course(device, [limited.seeded(seed)], logged=True) for seed in seeds]
    for outcome in run_on_copies(courses):
        yield stretch_of(outcome.last_log, limited)


def _narrow(figure: Figure | None) -> bool:
    """Say whether the interval of a few bursts is as narrow as it need be."""
    if figure is None or figure.ci95_low_ns is None or figure.ci95_high_ns is None:
        return False
    return figure.ci95_high_ns - figure.ci95_low_ns <= 2 * NARROW * figure.mean_ns


def most_bytes(point: Point, requests: int) -> int:
    """Give what a point writes at most to copies of a simulated drive.

    Parameters
    ----------
    requests
        As in `Effort`.
    """
    if not point.writes:
        return 0
    return BURSTS * (_requests(point, requests) + 2 * point.iodepth) * point.block_bytes


def _requests(point: Point, requests: int) -> int:
    deep = min(PER_DEPTH * point.iodepth, ENOUGH_BYTES // point.block_bytes)
    least = requests if point.writes else LEAST_READS * requests // LEAST_WRITES
    return max(least, 4 * point.iodepth, deep)
