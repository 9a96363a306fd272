"""What is measured for the page beyond the probes."""

import math
from collections.abc import Mapping, Sequence
from dataclasses import replace
from typing import Any

import numpy as np

from ssdscope import stats
from ssdscope.errors import DeviceError
from ssdscope.probes.budget import Budget, StageProgress
from ssdscope.report import mixed, survey
from ssdscope.report.stage_budget import brevity
from ssdscope.report.survey import Effort
from ssdscope.report.sustaining import Settled
from ssdscope.results.drops import with_drops
from ssdscope.seeds import numbered
from ssdscope.targets import Device
from ssdscope.targets.device import FITTING
from ssdscope.targets.records import DeviceInfo
from ssdscope.workloads import Workload
from ssdscope.workloads.figures import Stretch, counted, percentiles, run_stretch

HELD_OUT = 40
REQUESTS, LEAST_REQUESTS = survey.LEAST_WRITES, 100
DISTRIBUTION_REQUESTS = 20_000
DEEP = 16
OVER_TIME = 4
"""Times as many requests are run to show a rate over time."""
CASES = 5
"""Of a real drive's time each distribution, and the rate over time, has such a part."""
TRIED_REQUESTS, CASE_SHARE = 500, 0.5
"""On a simulated drive so many requests of a case are tried, and it takes such a share of what is
left to the stage; those behind it have more than they need if it is cheap."""


def effort(budget: Budget) -> Effort:
    """Say how long points are measured."""
    requests = max(LEAST_REQUESTS, round(REQUESTS * budget.repetitions * brevity(budget)))
    return Effort(requests, budget.wall_s)


def writes_bytes(info: DeviceInfo, budget: Budget, *, overview: bool) -> int:
    """Give what the points of a simulated drive write at most: those of the overview, or the rest.

    Which are held out hangs on the seed: as many of the largest are not less.
    """
    points = survey.overview(info)
    if not overview:
        known = set(points)
        points = [each for each in (*survey.grid(info), *survey.between(info)) if each not in known]
    each = [survey.most_bytes(point, effort(budget).requests) for point in points]
    if overview:
        return sum(each)
    mixes = mixed.writes_bytes(info, effort(budget))
    return sum(each) + HELD_OUT * max(each, default=0) + mixes


def distributions_bytes(info: DeviceInfo, budget: Budget) -> int:
    """Give what the distributions of a simulated drive write at most."""
    if not info.writable:
        return 0
    requests = _distribution_requests(budget)
    block = max(4096, info.logical_block_bytes)
    alone, deep = (requests + 2 * depth for depth in (1, DEEP))
    return (alone + deep + OVER_TIME * requests) * block


def settled_distributions(device: Device, settled: Settled) -> list[dict[str, Any]]:
    """Describe the latencies of small random writes that came to rest, each with its depth."""
    told = []
    for rw, depth in _cases(device):
        sustained = settled.of(rw, _block_bytes(device), depth) if rw in survey.WRITES else None
        if sustained is not None and sustained.stretch is not None:
            told.append({"rw": rw, "iodepth": depth} | _of_stretch(rw, sustained.stretch))
    return told


def distributions(
    device: Device,
    budget: Budget,
    seed: int,
    progress: StageProgress,
    sustained: Sequence[Mapping[str, Any]],
) -> list[dict[str, Any]]:
    """Measure the whole distribution of small random requests, alone and with company.

    Of writes that came to rest it is what was measured there, of others that of a burst.

    Parameters
    ----------
    sustained
        What `settled_distributions` gave.
    """
    known = {(each["rw"], each["iodepth"]): each for each in sustained}
    cases = _cases(device)
    found = []
    for done, (rw, depth) in enumerate(cases, start=1):
        kept = dict(known.get((rw, depth), {}))
        kept.pop("iodepth", None)
        sort = "sustained" if kept else ("burst" if rw in survey.WRITES else "read")
        case = {"name": _name(rw, depth, sort), "rw": rw, "sort": sort}
        try:
            found.append(case | (kept or _of_stretch(rw, _run(device, budget, rw, depth, seed))))
        except DeviceError as error:
            found.append(case | {"failure": error.message})
            continue
        progress(f"distribution of {case['name']}", done / len(cases))
    return [each for each in found if "failure" in each or each["requests"]]


def over_time(device: Device, budget: Budget, seed: int) -> dict[str, Any]:
    """Run small random requests from the state as found, and keep their rate over time.

    Writes where there may be some. A failure becomes the result.
    """
    rw = "randwrite" if device.info.writable else "randread"
    plan = Workload(rw=rw, block_bytes=_block_bytes(device), iodepth=DEEP, seed=seed)
    workload = {"rw": rw, "block_bytes": plan.block_bytes, "iodepth": DEEP}
    try:
        limited = _limited(device, budget, plan, OVER_TIME * _distribution_requests(budget))
        alone = device.fork() if device.info.snapshot else device
        result = alone.run(limited, timeline_ns=FITTING).whole()
    except DeviceError as error:
        return workload | {"failure": error.message}
    timeline = with_drops(result.summary["timeline"])
    return workload | {"requests": result.requests, "timeline": timeline}


def _cases(device: Device) -> list[tuple[str, int]]:
    """List patterns and depths: reads, and writes where they may be."""
    patterns = ("randread", "randwrite") if device.info.writable else ("randread",)
    return [(rw, depth) for rw in patterns for depth in (1, DEEP)]


def _of_stretch(rw: str, stretch: Stretch) -> dict[str, Any]:
    """Describe the latencies of a stretch; of none there is their number only."""
    latency = stretch.latencies_ns("write" if rw in survey.WRITES else "read")
    if not latency.size:
        return {"requests": 0}
    return _describe(latency) | {"duration_ns": stretch.duration_ns}


def _run(device: Device, budget: Budget, rw: str, depth: int, seed: int) -> Stretch:
    own = numbered(seed, depth, "report.performance")
    workload = Workload(rw=rw, block_bytes=_block_bytes(device), iodepth=depth, seed=own)
    workload = _limited(device, budget, workload, _distribution_requests(budget))
    # A simulated drive is left as it was found, and writes do not age it for the next case.
    return run_stretch(device.fork() if device.info.snapshot else device, workload)


def _limited(device: Device, budget: Budget, workload: Workload, requests: int) -> Workload:
    """Limit a workload to so many requests, or to as many as the time allows."""
    if device.info.snapshot:
        requests = _affordable(device, workload, requests)
    limited = counted(workload, requests)
    if device.info.clock == "wall":
        return replace(limited, runtime_ns=round(budget.wall_s * 1e9 / CASES))
    return limited


def _distribution_requests(budget: Budget) -> int:
    return round(DISTRIBUTION_REQUESTS * min(budget.repetitions, 8) * brevity(budget))


def _affordable(device: Device, workload: Workload, requests: int) -> int:
    """Give how many requests fit into a share of what is left, by what the first of them cost."""
    before_s = device.left_s()
    if math.isinf(before_s):
        return requests
    device.fork().run(counted(workload, TRIED_REQUESTS))
    each_s = (before_s - device.left_s()) / TRIED_REQUESTS
    share_s = CASE_SHARE * device.left_s()
    return max(TRIED_REQUESTS, min(requests, int(share_s / each_s))) if each_s > 0 else requests


def _block_bytes(device: Device) -> int:
    return max(4096, device.info.logical_block_bytes)


def _name(rw: str, depth: int, sort: str) -> str:
    what = "reads" if rw == "randread" else f"writes ({sort})"
    return f"{what}, depth {depth}"


def _describe(latency_ns: np.ndarray) -> dict[str, Any]:
    value, exceeded = stats.ecdf(latency_ns)
    return {
        "requests": int(latency_ns.size),
        "latency_ns": value.tolist(),
        "exceeded": exceeded.tolist(),
        "percentiles_ns": percentiles(latency_ns) | {"100": int(latency_ns.max())},
    }
