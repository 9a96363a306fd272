"""Workloads run on a drive, one row each."""

from collections.abc import Callable, Iterator, Sequence
from dataclasses import asdict, dataclass
from typing import Any

from ssdscope.errors import DeviceError
from ssdscope.models.design import Point
from ssdscope.targets import Device, RunResult
from ssdscope.workloads import Workload

PER_DEPTH = 32
"""Requests per request in flight, so that filling and draining the queue do not show."""
ENOUGH_BYTES = 64 << 20
"""Of a deep queue of large requests, whose drive is busy all the time anyway."""
MUCH_BYTES = 1 << 50
"""Where time is the limit, the size of the drive is none."""
StageProgress = Callable[[str, float], None]


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
        return _row(point, device.run(workload))
    except DeviceError as error:
        return Measurement(point, failure=error.message)


def _requests(point: Point, effort: Effort) -> int:
    deep = min(PER_DEPTH * point.iodepth, ENOUGH_BYTES // point.block_bytes)
    return max(effort.requests, 4 * point.iodepth, deep)


def _row(point: Point, result: RunResult) -> Measurement:
    if result.interrupted:
        raise KeyboardInterrupt
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
