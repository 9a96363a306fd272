"""Jobs side by side added up: what one direction of several of them came to.

Requests and bytes are sums, means weigh by requests, and rates are over the time in which any of
the jobs ran: jobs that begin and end apart do not add their rates. Percentiles of several jobs
follow from `json+` alone; without, they are known only where all jobs have them in one bin.
"""

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from math import sqrt
from typing import Any

from ssdscope.results.fio import bins
from ssdscope.results.fio.sections import Latency, Section
from ssdscope.results.fio.windows import union
from ssdscope.targets.told import IN_THOUSANDTHS

TOGETHER = 0.01
"""Jobs that begin within this share of their run time began together: fio starts one by one."""


@dataclass(frozen=True)
class Ran:
    """A direction of a job, and when the job began.

    Attributes
    ----------
    begin_ns
        After the first of the group.
    """

    begin_ns: int
    section: Section


def elapsed(ran: Sequence[Ran]) -> int:
    """Return for how long any of them ran, in ns; gaps are left out."""
    longest = max((each.section.runtime_ns for each in ran), default=0)
    if all(each.begin_ns <= TOGETHER * longest for each in ran):
        return longest
    return union([(each.begin_ns, each.begin_ns + each.section.runtime_ns) for each in ran])


def summed(ran: Sequence[Ran]) -> dict[str, Any] | None:
    """Add a direction up over jobs, in the keys of a run; None if there was no request."""
    if not ran:
        return None
    sections = [each.section for each in ran]
    requests = sum(each.requests for each in sections)
    moved = sum(each.bytes for each in sections)
    took_s = elapsed(ran) / 1e9
    tail, tail_of = _one_of([each.tail for each in sections], [each.tail_of for each in sections])
    means, of = _one_of([each.latency for each in sections], [each.latency_of for each in sections])
    percentiles = _percentiles(tail)
    return {
        "requests": requests,
        "bytes": moved,
        "iops": requests / took_s if took_s else None,
        "bandwidth_bytes_per_s": moved / took_s if took_s else None,
        "latency_ns": _latency(means, percentiles),
        "latency_of": of,
        "percentiles_of": tail_of if percentiles else None,
        "percentiles_ns": {f"{percent:g}": value for percent, value in percentiles.items()},
        "percentile_method": "fio-bins" if percentiles else None,
        "ci95_method": None,
        "attribution_ns": None,
    }


def _one_of(
    parts: Sequence[Latency | None], kinds: Sequence[str | None]
) -> tuple[list[Latency], str | None]:
    """Take latencies if all jobs have them, and of the same kind."""
    known = [each for each in parts if each is not None]
    if len(known) < len(parts) or len(set(kinds)) != 1:
        return [], None
    return known, kinds[0]


def _latency(parts: Sequence[Latency], percentiles: Mapping[float, float]) -> dict[str, Any] | None:
    if not parts:
        return None
    total = sum(each.requests for each in parts)
    mean = sum(each.mean_ns * (each.requests / total) for each in parts)
    square = sum(each.requests * (each.stddev_ns**2 + (each.mean_ns - mean) ** 2) for each in parts)
    return {
        "mean": mean,
        "stddev": sqrt(square / total),
        "ci95_low": None,
        "ci95_high": None,
        "min": min(each.min_ns for each in parts),
        **{name: percentiles.get(share / 10) for name, share in IN_THOUSANDTHS.items()},
        "max": max(each.max_ns for each in parts),
    }


def _percentiles(parts: Sequence[Latency]) -> dict[float, float]:
    """Return the percentiles of all requests, in ns."""
    if not parts:
        return {}
    if len(parts) == 1:
        return dict(parts[0].percentiles)
    asked = set.intersection(*(set(each.percentiles) for each in parts))
    if all(each.bins for each in parts):
        counts = bins.joined([dict(each.bins) for each in parts])
        exact = {percent: bins.percentile(counts, percent) for percent in sorted(asked)}
        return {percent: value for percent, value in exact.items() if value is not None}
    found = {}
    for percent in sorted(asked):
        values = [each.percentiles[percent] for each in parts]
        # That of all lies between those of the jobs.
        if max(values) <= min(values) * (1 + bins.BIN_SHARE):
            found[percent] = min(values)
    return found
