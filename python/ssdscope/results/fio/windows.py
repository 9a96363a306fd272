"""Logs that fio averaged (``log_avg_msec``): sums over windows and over jobs side by side.

A row is a mean over the window that ends at its time, of one direction of one job. Windows in
which nothing happened have no row. So a rate is what all windows of all jobs moved, over the time
in which any job ran; and a mean latency weighs by the requests of each window, which the IOPS log
of the same job has. Without one it weighs by time, and says so.
"""

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from itertools import pairwise
from pathlib import Path
from typing import Any

import numpy as np
import numpy.typing as npt

from ssdscope.targets import Log
from ssdscope.targets.fio_logs import scan_fio_logs

Array = npt.NDArray[Any]
OPS = {"read": 0, "write": 1, "discard": 3}
_APART = 1.5
"""Windows that end more than so many periods apart do not follow one another."""


@dataclass(frozen=True)
class Windows:
    """Windows of one direction of a job: arrays of shape (n,), times in ns."""

    begin_ns: Array
    end_ns: Array
    values: Array

    @property
    def lengths(self) -> Array:
        """Return how long each window is, in ns; shape (n,)."""
        return self.end_ns - self.begin_ns

    def amount_until(self, times: Array) -> Array:
        """Add up value times length until each time, for values a second; same shape."""
        ends = np.column_stack([self.begin_ns, self.end_ns]).ravel()
        steps = np.column_stack([np.zeros(len(self.values)), self.values * self.lengths]).ravel()
        found: Array = np.interp(times, ends, np.cumsum(steps) / 1e9)
        return found


Job = Mapping[str, Windows]
"""Windows by direction."""


def jobs_of(path: str, unit_ns: int | None) -> list[Job]:
    """Read the windows of a log: one job, or several one behind the other (``per_job_logs=0``)."""
    chunks: list[tuple[Array, ...]] = []

    def take(rows: Log) -> None:
        columns = rows.columns
        end = np.asarray(columns["complete_ns"])
        value = end - np.asarray(columns["submit_ns"])
        chunks.append((np.asarray(columns["op"]), end, value))

    scan_fio_logs([path], take, unit_ns=unit_ns, skip_bad=True)
    if not chunks:
        return []
    op, end, value = (np.concatenate(each) for each in zip(*chunks, strict=True))
    # Each job's times begin at 0, and do not go back.
    starts = [0, *(np.flatnonzero(np.diff(end) < -_period(np.sort(end)) / 2) + 1), len(end)]
    return [
        _job(op[one:other], end[one:other], value[one:other]) for one, other in pairwise(starts)
    ]


def _job(op: Array, end: Array, value: Array) -> Job:
    return {
        name: _windows(end[op == number], value[op == number])
        for name, number in OPS.items()
        if (op == number).any()
    }


def _windows(end: Array, value: Array) -> Windows:
    """Find where each window begins: at the end of the one before, unless that is too far off."""
    period = _period(end)
    before = np.concatenate([[0], end[:-1]])
    begin = np.where(end - before > _APART * period, end - period, before)
    return Windows(begin, end, value)


def _period(end: Array) -> int:
    """Return the usual distance of two rows; of a single row its time."""
    steps = np.diff(end)
    steps = steps[steps > 0]
    return int(np.median(steps)) if len(steps) else int(end[0])


@dataclass(frozen=True)
class Span:
    """When a job ran, as far as its log says, in ns: fio drops the window that its end cuts.

    Attributes
    ----------
    period_ns
        The usual length of a window.
    """

    begin_ns: int
    end_ns: int
    period_ns: int


def ran(spans: Sequence[Span]) -> tuple[int, list[float]]:
    """Say for how long any job ran, and for which share of that each did.

    Jobs whose logs end less than a window apart ended together.

    Returns
    -------
    elapsed_ns, shares
        Gaps between jobs are left out.
    """
    first, last = min(each.begin_ns for each in spans), max(each.end_ns for each in spans)
    own = []
    for each in spans:
        near = _APART * each.period_ns
        begin = first if each.begin_ns - first <= near else each.begin_ns
        own.append((begin, last if last - each.end_ns <= near else each.end_ns))
    total = union(own)
    return total, [(end - begin) / total if total else 0.0 for begin, end in own]


def union(spans: Sequence[tuple[int, int]]) -> int:
    """Return how long the spans are together; what several share counts once."""
    total, until = 0, 0
    for begin, end in sorted(spans):
        total += max(0, end - max(begin, until))
        until = max(until, end)
    return total


def span_of(job: Job) -> Span:
    """Say when a job ran."""
    begin = min(int(each.begin_ns[0]) for each in job.values())
    end = max(int(each.end_ns[-1]) for each in job.values())
    return Span(begin, end, max(_period(each.end_ns) for each in job.values()))


def elapsed(spans: Sequence[Span]) -> int:
    """Return for how long any job ran, in ns; gaps between jobs are left out."""
    return ran(spans)[0] if spans else 0


def summed_rate(jobs: Sequence[Job], name: str) -> float | None:
    """Add up the rates of a direction over jobs: per second of the time in which any job ran."""
    spans = [span_of(job) for job in jobs]
    took_ns, shares = ran(spans)
    if not took_ns:
        return None
    return sum(
        float(np.sum(job[name].values * job[name].lengths)) / (span.end_ns - span.begin_ns) * share
        for job, span, share in zip(jobs, spans, shares, strict=True)
        if name in job and span.end_ns > span.begin_ns
    )


def mean_latency(jobs: Sequence[Job], name: str, rates: Sequence[Job | None]) -> tuple[float, str]:
    """Average latencies of a direction, of which there are some, over windows and jobs.

    Parameters
    ----------
    rates
        The windows of each job's IOPS log; None where there is none.

    Returns
    -------
    mean, weighed by
        In ns; by ``requests``, or by ``time`` where a job's requests are not known.
    """
    pairs = [(job[name], rate) for job, rate in zip(jobs, rates, strict=True) if name in job]
    counted = [
        np.zeros(0) if rate is None or name not in rate else _requests(each, rate[name])
        for each, rate in pairs
    ]
    by = "requests" if all(len(each) and each.sum() > 0 for each in counted) else "time"
    weights = counted if by == "requests" else [each.lengths for each, _ in pairs]
    total = sum(float(np.sum(each)) for each in weights)
    weighed = sum(
        float(np.sum(each.values * weight))
        for (each, _), weight in zip(pairs, weights, strict=True)
    )
    return (weighed / total, by) if total else (float(pairs[0][0].values.mean()), "rows")


def _requests(latencies: Windows, rate: Windows) -> Array:
    """Count the requests of each window of latencies by the rates of the same job."""
    found: Array = rate.amount_until(latencies.end_ns) - rate.amount_until(latencies.begin_ns)
    return found


def beside(path: str, kind: str) -> str | None:
    """Name the IOPS log of the job whose log of latencies this is, if there is one."""
    place = Path(path)
    head, found, tail = place.name.rpartition(f"_{kind}.")
    other = place.with_name(f"{head}_iops.{tail}")
    return str(other) if found and other.is_file() else None
