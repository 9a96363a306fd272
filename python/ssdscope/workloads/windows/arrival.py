"""Arrival, concurrency, idle time: when requests come and how many are on their way."""

import numpy as np

from ssdscope.workloads.windows.segments import Floats, Windows, divide

FEATURES = (
    "iops",
    "interarrival_scv",
    "dispersion_10ms",
    "dispersion_100ms",
    "dispersion_1s",
    "peak_to_mean",
    "idle_share",
    "longest_idle_s",
)
CONCURRENCY = ("q_dep", "q_dep_p95")

BINS_NS = {"10ms": 10_000_000, "100ms": 100_000_000, "1s": 1_000_000_000}
IDLE_NS = 100_000_000
"""A pause from here on counts as idle time."""


def arrival(windows: Windows) -> dict[str, Floats]:
    """Describe when requests come.

    ``iops``: requests per second. ``interarrival_scv``: squared coefficient of variation of
    the times between two requests of the window (1 of a Poisson process). ``dispersion_*``:
    variance over mean of the numbers of requests in bins of that length. ``peak_to_mean``:
    the busiest second over the mean one. ``idle_share``, ``longest_idle_s``: pauses of 100 ms
    or more between requests, or between one and an end of the window.
    """
    of, times = windows.of, windows.arrival_ns
    same = of[1:] == of[:-1]
    gaps, gaps_of = np.diff(times)[same], of[1:][same]
    mean = windows.mean(gaps, gaps_of)
    found = {
        "iops": windows.per_second(windows.counts),
        "interarrival_scv": divide(windows.variance(gaps, gaps_of), mean**2),
    }
    for name, bin_ns in BINS_NS.items():
        found[f"dispersion_{name}"] = _dispersion(windows, bin_ns)
    second = times // BINS_NS["1s"]
    begins = np.flatnonzero(np.append(True, second[1:] != second[:-1]))[: len(second)]
    counts = np.diff(np.append(begins, len(second)))
    peak = windows.percentile(counts, of[begins], 100)
    return found | {"peak_to_mean": divide(peak, found["iops"])} | _idle(windows)


def _dispersion(windows: Windows, bin_ns: int) -> Floats:
    """Variance over mean of counts in bins; bins without requests count.

    With the counts c of the bins that have any, the mean of squares is their sum of c^2 over
    the number of all bins, so that empty bins need not be made.
    """
    bins = windows.window_ns // bin_ns
    place = windows.arrival_ns // bin_ns
    begins = np.flatnonzero(np.append(True, place[1:] != place[:-1]))[: len(place)]
    counts = np.diff(np.append(begins, len(place)))
    squares = windows.sum(counts.astype(np.float64) ** 2, windows.of[begins]) / bins
    mean = windows.counts / bins
    return divide(squares - mean**2, mean)


def _idle(windows: Windows) -> dict[str, Floats]:
    ends = np.arange(windows.count + 1, dtype=np.int64) * windows.window_ns
    marks = np.sort(np.concatenate([windows.arrival_ns, ends]))
    pauses = np.diff(marks)
    long = pauses >= IDLE_NS
    pauses, of = pauses[long], (marks[:-1] // windows.window_ns)[long]
    longest = windows.percentile(pauses, of, 100) / 1e9
    return {
        "idle_share": windows.sum(pauses, of) / windows.window_ns,
        "longest_idle_s": np.nan_to_num(longest),
    }


def concurrency(
    windows: Windows, traced_ns: Floats, iops: Floats, previous_latency_ns: Floats
) -> dict[str, Floats]:
    """Describe how many requests are on their way.

    ``q_dep``: their mean over time, where the trace has latencies; else by Little's law, the
    rate times the mean latency of the window before. ``q_dep_p95``: what requests find on
    arrival, themselves included; NaN without latencies.
    """
    by_little = iops * previous_latency_ns / 1e9
    known = np.isfinite(traced_ns)
    if not known.any():
        return {"q_dep": by_little, "q_dep_p95": np.full(windows.count, np.nan)}
    begin = windows.arrival_ns[known]
    end = np.sort(begin + traced_ns[known].astype(np.int64))
    bounds = np.arange(windows.count + 1, dtype=np.int64) * windows.window_ns
    begun = np.searchsorted(begin, bounds, "left")
    ended = np.searchsorted(end, bounds, "left")
    # Time in flight until each bound: what has ended in full, what has begun up to the bound.
    until = (
        np.append(0.0, np.cumsum(end / 1e9))[ended]
        - np.append(0.0, np.cumsum(begin / 1e9))[begun]
        + bounds / 1e9 * (begun - ended)
    )
    seen = np.arange(1, len(begin) + 1) - np.searchsorted(end, begin, "right")
    return {
        "q_dep": np.diff(until) / (windows.window_ns / 1e9),
        "q_dep_p95": windows.percentile(seen, windows.of[known], 95),
    }
