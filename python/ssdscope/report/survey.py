"""The sweep of the page: every pattern by size and depth, and points between for the twin."""

from collections.abc import Callable, Iterator, Sequence
from dataclasses import asdict, dataclass
from typing import Any

import numpy as np

from ssdscope.errors import DeviceError
from ssdscope.targets import Device, RunResult
from ssdscope.targets.records import DeviceInfo
from ssdscope.workloads import Workload

READS = ("read", "randread")
WRITES = ("write", "randwrite")
SIZES_BYTES = tuple(kib * 1024 for kib in (4, 16, 64, 256, 1024))
DEPTHS = (1, 2, 4, 8, 16, 32, 64)
PER_DEPTH = 32
"""Requests per request in flight, so that filling and draining the queue do not show."""
ENOUGH_BYTES = 64 << 20
"""Of a deep queue of large requests, whose drive is busy all the time anyway."""
MUCH_BYTES = 1 << 50
"""Where time is the limit, the size of the drive is none."""
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


def off_grid(info: DeviceInfo, count: int, rng: np.random.Generator) -> list[Point]:
    """Draw points between the grid's, evenly over the logarithms of size and depth.

    No point of the grid is among them: the twin is not held to what it was fitted to.
    """
    allowed = sizes(info)
    if len(allowed) < 2:
        return []
    on_grid = set(grid(info))
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
    """One workload and what it came to; `failure` tells why there are no numbers."""

    point: Point
    requests: int = 0
    mean_ns: float = float("nan")
    ci95_low_ns: float | None = None
    ci95_high_ns: float | None = None
    p50_ns: int = 0
    p99_ns: int = 0
    max_ns: int = 0
    iops: float = 0.0
    bandwidth_bytes_per_s: float = 0.0
    attribution_ns: dict[str, float] | None = None
    failure: str | None = None

    def to_json(self) -> dict[str, Any]:
        """Flatten into one object with the workload's keys first."""
        values = asdict(self)
        flat = {**values.pop("point"), **values}
        return flat if self.failure is None else flat | {"mean_ns": None}


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
        alone = point.writes and device.info.snapshot
        yield _measure(device.fork() if alone else device, point, effort, seed + index)
        progress(f"{point.rw} {point.block_bytes // 1024} KiB", (index + 1) / len(points))


def _measure(device: Device, point: Point, effort: Effort, seed: int) -> Measurement:
    wall = device.info.clock == "wall"
    workload = Workload(
        rw=point.rw,
        block_bytes=point.block_bytes,
        iodepth=point.iodepth,
        requests=None if wall else _requests(point, effort),
        io_bytes=MUCH_BYTES if wall else None,
        runtime_ns=effort.runtime_ns if wall else None,
        ramp_requests=point.iodepth,
        seed=seed,
    )
    try:
        return _row(point, device.run(workload).whole())
    except DeviceError as error:
        return Measurement(point, failure=error.message)


def _requests(point: Point, effort: Effort) -> int:
    deep = min(PER_DEPTH * point.iodepth, ENOUGH_BYTES // point.block_bytes)
    return max(effort.requests, 4 * point.iodepth, deep)


def _row(point: Point, result: RunResult) -> Measurement:
    direction = result.write if point.writes else result.read
    if direction is None:
        return Measurement(point, failure="no request was served in the time allowed")
    latency = direction.latency_ns
    return Measurement(
        point,
        requests=direction.requests,
        mean_ns=latency.mean,
        ci95_low_ns=latency.ci95_low,
        ci95_high_ns=latency.ci95_high,
        p50_ns=latency.p50,
        p99_ns=latency.p99,
        max_ns=latency.max,
        iops=direction.iops or 0.0,
        bandwidth_bytes_per_s=direction.bandwidth_bytes_per_s or 0.0,
        attribution_ns=direction.attribution_ns,
    )
