"""One run of a workload from where a drive is, as figures that say what they rest on.

The requests that fill the queue and those that empty it do not count, so that a figure is of the
full depth. Intervals hold for latencies that depend on each other; a percentile is told only if
ten samples lie beyond it.
"""

from __future__ import annotations

import math
from collections.abc import Sequence
from dataclasses import asdict, dataclass, replace
from typing import TYPE_CHECKING, Any

import numpy as np

from ssdscope import stats
from ssdscope.targets.records import OP_READ, OP_WRITE

if TYPE_CHECKING:
    import numpy.typing as npt

    from ssdscope.targets.device import Device
    from ssdscope.targets.records import Log
    from ssdscope.workloads.workload import Workload

PERCENTILES = (50.0, 90.0, 99.0, 99.9, 99.99)
LEAST_SHARE = 0.0005
"""Of the mean: no interval is narrower on either side. So few requests do not meet what is rare."""
DIRECTIONS = {"read": OP_READ, "write": OP_WRITE}


@dataclass(frozen=True)
class Figure:
    """What the reads, or the writes, of a measured stretch came to.

    Attributes
    ----------
    requests, duration_ns
        What is behind the numbers, over all `bursts` together.
    mean_ns, ci95_low_ns, ci95_high_ns
        Mean latency and its interval; None where there are too few for one.
    percentiles_ns
        By percent, nearest-rank; None where fewer than ten samples lie beyond.
    max_ns
        The slowest.
    iops, bandwidth_bytes_per_s
        Per second of the stretch.
    attribution_ns
        Mean time by cause; None where the drive cannot say.
    bursts
        How many runs from the same state these are of.
    """

    requests: int
    duration_ns: int
    mean_ns: float
    ci95_low_ns: float | None
    ci95_high_ns: float | None
    percentiles_ns: dict[str, int | None]
    max_ns: int
    iops: float | None
    bandwidth_bytes_per_s: float | None
    attribution_ns: dict[str, float] | None = None
    bursts: int = 1

    def to_json(self) -> dict[str, Any]:
        """Give it as plain data."""
        return asdict(self)


@dataclass(frozen=True)
class Stretch:
    """The counted requests of a run, in the order of issue.

    Attributes
    ----------
    log
        Their rows.
    duration_ns
        From the first submission that counts to the last.
    depth
        Requests in flight.
    """

    log: Log
    duration_ns: int
    depth: int

    def latencies_ns(self, direction: str) -> npt.NDArray[np.float64]:
        """Give the latencies of ``read`` or ``write``, in order."""
        chosen = self.log.op == DIRECTIONS[direction]
        return np.asarray(self.log.latency_ns[chosen], dtype=np.float64)


def run_stretch(device: Device, workload: Workload) -> Stretch:
    """Run a workload to its own limits, and keep what was issued and served at full depth.

    Raises
    ------
    DeviceError
        If the drive fails.
    KeyboardInterrupt
        After Ctrl-C.
    """
    result, log = device.run_logged(workload)
    result.whole()
    log = log.select(np.argsort(log.index, kind="stable"))
    depth = workload.iodepth * workload.numjobs
    if workload.arrival != "closed" or len(log) < 4 * depth:
        depth = 0
    end = len(log) - depth
    # From one submission to another: what is in flight at both ends is as much.
    last = log.submit_ns[end] if depth else log.complete_ns.max(initial=0)
    first = log.submit_ns[depth] if len(log) else 0
    counted = log.select(np.arange(depth, end))
    return Stretch(counted.select(counted.error == 0), int(last) - int(first), max(depth, 1))


def figures_of(stretches: Sequence[Stretch], drift: float = 0.0) -> dict[str, Figure]:
    """Sum up one stretch, or several bursts from the same state.

    Parameters
    ----------
    stretches
        At least one.
    drift
        By what share the latency may still change in the long run, below 0 if it falls; the
        interval reaches as far.

    Returns
    -------
    dict
        By direction, ``read`` and ``write``; one of which nothing was served is left out.
    """
    found = {}
    for direction in DIRECTIONS:
        series = [stretch.latencies_ns(direction) for stretch in stretches]
        if sum(each.size for each in series):
            found[direction] = _figure(direction, stretches, series, drift)
    return found


def measure(
    device: Device, workload: Workload, requests: int, *, drift: float = 0.0
) -> dict[str, Figure]:
    """Measure a workload from the state that the drive is in.

    Parameters
    ----------
    device
        The drive.
    workload
        The workload; its own limits do not matter.
    requests
        How many count.
    drift
        As in `figures_of`.

    Raises
    ------
    DeviceError
        If the drive fails.
    KeyboardInterrupt
        After Ctrl-C.
    """
    return figures_of([run_stretch(device, counted(workload, requests))], drift)


def counted(workload: Workload, requests: int) -> Workload:
    """Give a workload that ends when so many requests were counted by `run_stretch`."""
    every = requests + 2 * workload.iodepth * workload.numjobs
    return replace(
        workload, requests=every, io_bytes=None, runtime_ns=None, until_ci=None,
        ramp_requests=0, ramp_ns=None,
    )  # fmt: skip


def _figure(
    direction: str,
    stretches: Sequence[Stretch],
    series: Sequence[npt.NDArray[np.float64]],
    drift: float,
) -> Figure:
    every = np.concatenate(series)
    low, high = _interval(series, stretches[0].depth, float(every.mean()), drift)
    duration_ns = sum(stretch.duration_ns for stretch in stretches)
    chosen = [stretch.log.op == DIRECTIONS[direction] for stretch in stretches]
    moved = sum(
        int(stretch.log.bytes[rows].sum()) for stretch, rows in zip(stretches, chosen, strict=True)
    )
    return Figure(
        requests=every.size,
        duration_ns=duration_ns,
        mean_ns=float(every.mean()),
        ci95_low_ns=low,
        ci95_high_ns=high,
        percentiles_ns=percentiles(every),
        max_ns=int(every.max()),
        iops=every.size * 1e9 / duration_ns if duration_ns else None,
        bandwidth_bytes_per_s=moved * 1e9 / duration_ns if duration_ns else None,
        attribution_ns=_attribution(stretches, chosen),
        bursts=len(stretches),
    )


def percentiles(latency_ns: npt.NDArray[np.float64]) -> dict[str, int | None]:
    """Give the percentiles that so many samples support, and None for the others."""
    return {
        f"{percent:g}": int(stats.nearest_rank(latency_ns, percent))
        if stats.supported(percent, latency_ns.size)
        else None
        for percent in PERCENTILES
    }


def _interval(
    series: Sequence[npt.NDArray[np.float64]], depth: int, mean: float, drift: float
) -> tuple[float | None, float | None]:
    """Judge one stretch by its batches, and several by the means of each besides."""
    inside = [stats.correlated_mean(each, depth) for each in series]
    halves = [each.half_width for each in inside if each is not None]
    if len(series) == 1 and not halves:
        return None, None
    # Bursts that happen to agree are not surer than what is seen within each.
    half = math.sqrt(sum(each**2 for each in halves)) / len(series)
    if len(series) > 1:
        half = max(half, stats.student([each.mean() for each in series]).half_width)
    half = max(half, LEAST_SHARE * mean)
    return mean - half + min(drift, 0) * mean, mean + half + max(drift, 0) * mean


def _attribution(
    stretches: Sequence[Stretch], chosen: Sequence[npt.NDArray[np.bool_]]
) -> dict[str, float] | None:
    parts = [stretch.log.attribution_ns for stretch in stretches]
    if any(part is None for part in parts):
        return None
    causes = parts[0] or {}
    return {
        cause: float(
            np.concatenate(
                [(part or {})[cause][rows] for part, rows in zip(parts, chosen, strict=True)]
            ).mean()
        )
        for cause in causes
    }
