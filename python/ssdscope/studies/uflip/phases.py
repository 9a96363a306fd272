"""Start-up and running phase: how many requests to leave out, and how many to take.

A drive may serve the first writes from what it had put aside, and then go up and down with what
it does between. A mean is of the running phase if it leaves out the first and covers several
turns of the second: uFLIP's IOIgnore and IOCount.
"""

from collections.abc import Mapping
from dataclasses import dataclass

import numpy as np
import numpy.typing as npt

from ssdscope.inference.recurrence import recurrence
from ssdscope.inference.series import Series
from ssdscope.inference.step import step
from ssdscope.probes import verdict
from ssdscope.studies.judging import SIMILAR_WITHIN

TRACE_REQUESTS = 2048
"""So many of each pattern are looked at."""
EXPENSIVE = 2.0
"""A request that takes so many times the median is one of those that come back."""
PERIODS = 8
LEAST_COUNT, MOST_COUNT = 512, 2048


@dataclass(frozen=True)
class Phases:
    """What the response times of a pattern look like, one after the other.

    Attributes
    ----------
    startup
        Requests before the running phase; 0 without a start-up phase.
    period
        Requests from one expensive one to the next; 1 where none come back.
    startup_ns, running_ns
        Mean response times; of the first None where there is no such phase.
    """

    startup: int
    period: int
    startup_ns: float | None
    running_ns: float


@dataclass(frozen=True)
class Counts:
    """How many requests are left out, by pattern, and how many are taken."""

    ignored: Mapping[str, int]
    count: int


def find_phases(latency_ns: npt.ArrayLike) -> Phases:
    """Tell the phases of a pattern apart.

    Parameters
    ----------
    latency_ns
        Response times in order; shape (n,).
    """
    series = np.asarray(latency_ns, dtype=float)
    startup = _startup(series)
    running = series[startup:]
    return Phases(
        startup,
        _period(running),
        float(series[:startup].mean()) if startup else None,
        float(running.mean()),
    )


def counts(phases: Mapping[str, Phases]) -> Counts:
    """Choose what is left out and what is taken so that means are of the running phase."""
    ignored = {name: _rounded_up(each.startup) for name, each in phases.items()}
    longest = max(each.period for each in phases.values())
    return Counts(ignored, min(max(PERIODS * longest, LEAST_COUNT), MOST_COUNT))


def running_mean(latency_ns: npt.ArrayLike) -> npt.NDArray[np.float64]:
    """Give the mean of all requests up to each."""
    series = np.asarray(latency_ns, dtype=float)
    return np.cumsum(series) / np.arange(1, len(series) + 1)


def _startup(series: npt.NDArray[np.float64]) -> int:
    """Count the requests before response times rise for good, or 0 where they do not."""
    found = step(_in_order(series))
    if found.interval is None or not verdict.is_found(found, "step"):
        return 0
    latest = int(found.interval[1])
    rises = found.detail["after"] > SIMILAR_WITHIN * found.detail["before"]
    # What seems to rise near the end, or anywhere, is a few slow requests and no phase.
    return latest if rises and latest <= len(series) // 2 else 0


def _period(running: npt.NDArray[np.float64]) -> int:
    found = recurrence(_in_order(running), EXPENSIVE * float(np.median(running)))
    if found.estimate is None or not verdict.is_found(found, "recurrence"):
        return 1
    return round(found.estimate)


def _in_order(series: npt.NDArray[np.float64]) -> Series:
    return Series.of(np.arange(series.size), series)


def _rounded_up(startup: int) -> int:
    """Leave out a tenth more than seen, in steps of 16."""
    return -(-startup * 11 // 160) * 16
