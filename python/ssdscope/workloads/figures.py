"""One run of a workload from where a drive is, as figures that say what they rest on.

The requests that fill the queue and those that empty it do not count, so that a figure is of the
full depth. Intervals hold for latencies that depend on each other; a percentile is told only if
ten samples lie beyond it.
"""

from __future__ import annotations

import math
from collections.abc import Mapping, Sequence
from dataclasses import asdict, dataclass, replace
from typing import TYPE_CHECKING, Any, Self

import numpy as np

from ssdscope import stats
from ssdscope.targets.records import OP_READ, OP_WRITE

if TYPE_CHECKING:
    import numpy.typing as npt

    from ssdscope.targets.device import Device
    from ssdscope.targets.quiet import Quiet
    from ssdscope.targets.records import Log
    from ssdscope.workloads.workload import Workload

PERCENTILES = (50.0, 90.0, 99.0, 99.9, 99.99)
DIGITS = 3
"""That a mean is shown with: no interval is narrower than the last of them, as so few requests do
not meet what is rare."""
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
    waited_share
        Of the time, that our threads had no core, where that is so much that latencies are at most
        and rates at least what the drive does; else None.
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
    waited_share: float | None = None

    def to_json(self) -> dict[str, Any]:
        """Give it as plain data."""
        return asdict(self)


@dataclass(frozen=True)
class Part:
    """The reads, or the writes, of a stretch.

    Attributes
    ----------
    latency_ns
        In the order of issue, shape (n,), float64.
    bytes
        All that they moved.
    attribution_ns
        Mean time by cause; None where the drive cannot say.
    """

    latency_ns: npt.NDArray[np.float64]
    bytes: int
    attribution_ns: dict[str, float] | None

    @classmethod
    def of(cls, log: Log) -> Self:
        """Take the requests of a log, all of one direction."""
        causes = log.attribution_ns
        return cls(
            np.asarray(log.latency_ns, dtype=np.float64),
            int(log.bytes.sum()),
            None if causes is None else {name: float(each.mean()) for name, each in causes.items()},
        )

    @classmethod
    def joined(cls, parts: Sequence[Self]) -> Self:
        """Put parts behind each other."""
        weights = [part.latency_ns.size for part in parts]
        means = [part.attribution_ns for part in parts]
        return cls(
            np.concatenate([part.latency_ns for part in parts]),
            sum(part.bytes for part in parts),
            None
            if any(each is None for each in means)
            else {
                cause: float(np.average([(each or {})[cause] for each in means], weights=weights))
                for cause in means[0] or {}
            },
        )


@dataclass(frozen=True)
class Stretch:
    """The counted requests of a run.

    Attributes
    ----------
    parts
        By direction, ``read`` and ``write``; one of which nothing was served is left out.
    duration_ns
        From the first submission that counts to the last.
    depth
        Requests in flight.
    quiet
        How quiet the machine was; None where nothing of it reaches the drive's clock.
    """

    parts: Mapping[str, Part]
    duration_ns: int
    depth: int
    quiet: Quiet | None = None

    @classmethod
    def of(cls, log: Log, duration_ns: int, depth: int) -> Self:
        """Take a log in the order of issue."""
        chosen = {name: log.select(log.op == op) for name, op in DIRECTIONS.items()}
        parts = {name: Part.of(each) for name, each in chosen.items() if len(each)}
        return cls(parts, duration_ns, depth)

    @classmethod
    def joined(cls, stretches: Sequence[Self]) -> Self:
        """Put the rounds of one workload behind each other."""
        return cls(
            {name: Part.joined(parts) for name, parts in parts_of(stretches).items()},
            sum(each.duration_ns for each in stretches),
            stretches[0].depth,
            _quiet(stretches),
        )

    @property
    def bytes(self) -> int:
        """Moved in both directions."""
        return sum(part.bytes for part in self.parts.values())

    def latencies_ns(self, direction: str) -> npt.NDArray[np.float64]:
        """Give the latencies of ``read`` or ``write``, in order."""
        part = self.parts.get(direction)
        return np.empty(0) if part is None else part.latency_ns


def _quiet(stretches: Sequence[Stretch]) -> Quiet | None:
    """Take the machine of several stretches as one."""
    told: Quiet | None = None
    for each in stretches:
        told = told if each.quiet is None else each.quiet.joined(told)
    return told


def parts_of(stretches: Sequence[Stretch]) -> dict[str, list[Part]]:
    """List what was served, by direction."""
    every = {
        name: [each.parts[name] for each in stretches if name in each.parts] for name in DIRECTIONS
    }
    return {name: parts for name, parts in every.items() if parts}


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
    return replace(stretch_of(log, workload), quiet=result.quiet)


def stretch_of(log: Log, workload: Workload) -> Stretch:
    """Take of the log of a workload what was issued and served at full depth."""
    issued, depth = _issued(log, workload)
    end = len(issued) - depth
    # From one submission to another: what is in flight at both ends is as much.
    last = log.submit_ns[issued[end]] if depth else log.complete_ns.max(initial=0)
    first = log.submit_ns[issued[depth]] if len(log) else 0
    counted = log.select(_served(log, issued[depth:end]))
    return Stretch.of(counted, int(last) - int(first), max(depth, 1))


def stretch_latencies_ns(log: Log, workload: Workload) -> npt.NDArray[np.float64]:
    """Give the latencies alone of `stretch_of`, of both directions."""
    issued, depth = _issued(log, workload)
    counted = _served(log, issued[depth : len(issued) - depth])
    return np.asarray(log.latency_ns[counted], dtype=np.float64)


def _issued(log: Log, workload: Workload) -> tuple[npt.NDArray[np.intp], int]:
    """Give rows in the order of issue, and how many fill the queue; as many empty it."""
    depth = workload.iodepth * workload.numjobs
    if workload.arrival != "closed" or len(log) < 4 * depth:
        depth = 0
    return np.argsort(log.index, kind="stable"), depth


def _served(log: Log, rows: npt.NDArray[np.intp]) -> npt.NDArray[np.intp]:
    return rows[log.error[rows] == 0] if log.error.any() else rows


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
    return {name: _figure(parts, stretches, drift) for name, parts in parts_of(stretches).items()}


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


def _figure(parts: Sequence[Part], stretches: Sequence[Stretch], drift: float) -> Figure:
    every = Part.joined(parts)
    mean = float(every.latency_ns.mean())
    low, high = _interval([part.latency_ns for part in parts], stretches[0].depth, mean, drift)
    duration_ns = sum(stretch.duration_ns for stretch in stretches)
    quiet = _quiet(stretches)
    return Figure(
        requests=every.latency_ns.size,
        duration_ns=duration_ns,
        mean_ns=mean,
        ci95_low_ns=low,
        ci95_high_ns=high,
        percentiles_ns=percentiles(every.latency_ns),
        max_ns=int(every.latency_ns.max()),
        iops=every.latency_ns.size * 1e9 / duration_ns if duration_ns else None,
        bandwidth_bytes_per_s=every.bytes * 1e9 / duration_ns if duration_ns else None,
        attribution_ns=every.attribution_ns,
        bursts=len(stretches),
        waited_share=quiet.lost_share if quiet is not None and quiet.held_up else None,
    )


def percentiles(latency_ns: npt.NDArray[np.float64]) -> dict[str, int | None]:
    """Give the percentiles that so many samples support, and None for the others."""
    return {
        f"{percent:g}": int(stats.nearest_rank(latency_ns, percent))
        if stats.supported(percent, latency_ns.size)
        else None
        for percent in PERCENTILES
    }


def last_digit(value: float) -> float:
    """Give what one more in the last digit shown of a positive value means."""
    return float(10.0 ** (math.floor(math.log10(value)) - DIGITS + 1)) if value > 0 else 0.0


def _interval(
    series: Sequence[npt.NDArray[np.float64]], depth: int, mean: float, drift: float
) -> tuple[float | None, float | None]:
    """Judge one stretch by its batches, and several by the means of each besides.

    The interval is of the mean's logarithm (delta method), so that it stays above zero however few
    and scattered the bursts are; for a narrow one that is the same.
    """
    inside = [stats.correlated_mean(each, depth) for each in series]
    halves = [each.half_width for each in inside if each is not None]
    if len(series) == 1 and not halves:
        return None, None
    # Bursts that happen to agree are not surer than what is seen within each.
    half = math.sqrt(sum(each**2 for each in halves)) / len(series)
    if len(series) > 1:
        half = max(half, stats.student([each.mean() for each in series]).half_width)
    half = max(half, last_digit(mean) / 2)
    factor = math.exp(half / mean) if mean > 0 else 1.0
    return mean * (1 / factor + min(drift, 0)), mean * (factor + max(drift, 0))
