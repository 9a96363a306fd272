"""What is measured for the page beyond the probes."""

from dataclasses import replace
from typing import Any

import numpy as np

from ssdscope import stats
from ssdscope.errors import DeviceError
from ssdscope.probes.budget import Budget, StageProgress
from ssdscope.report import survey
from ssdscope.report.survey import Effort
from ssdscope.report.sustaining import Settled
from ssdscope.targets import Device
from ssdscope.workloads import Workload
from ssdscope.workloads.figures import Stretch, counted, percentiles, run_stretch

HELD_OUT = 40
REQUESTS = survey.LEAST_WRITES
DISTRIBUTION_REQUESTS = 20_000
DEEP = 16


def effort(budget: Budget, points: int) -> Effort:
    """Share the time out among the points."""
    per_point_s = budget.wall_s / max(points, 1)
    return Effort(REQUESTS * budget.repetitions, runtime_ns=round(per_point_s * 1e9))


def distributions(
    device: Device, budget: Budget, seed: int, progress: StageProgress, settled: Settled
) -> list[dict[str, Any]]:
    """Measure the whole distribution of small random requests, alone and with company.

    Of writes that came to rest it is what was measured there, of others that of a burst.
    """
    cases = [("randread", 1), ("randread", DEEP)]
    cases += [("randwrite", 1), ("randwrite", DEEP)] if device.info.writable else []
    found = []
    for done, (rw, depth) in enumerate(cases, start=1):
        sustained = settled.of(rw, _block_bytes(device), depth)
        sort = "sustained" if sustained else ("burst" if rw == "randwrite" else "read")
        case = {"name": _name(rw, depth, sort), "rw": rw, "sort": sort}
        try:
            stretch = sustained.stretch if sustained else None
            stretch = stretch or _run(device, budget, rw, depth, seed)
        except DeviceError as error:
            found.append(case | {"failure": error.message})
            continue
        latency = stretch.latencies_ns("write" if rw == "randwrite" else "read")
        if latency.size:
            found.append(case | _describe(latency) | {"duration_ns": stretch.duration_ns})
        progress(f"distribution of {case['name']}", done / len(cases))
    return found


def _run(device: Device, budget: Budget, rw: str, depth: int, seed: int) -> Stretch:
    workload = Workload(rw=rw, block_bytes=_block_bytes(device), iodepth=depth, seed=seed + depth)
    workload = counted(workload, DISTRIBUTION_REQUESTS * min(budget.repetitions, 8))
    if device.info.clock == "wall":
        share_ns = budget.wall_s * 1e9 / 4
        workload = replace(workload, runtime_ns=round(share_ns))
    # A simulated drive is left as it was found, and writes do not age it for the next case.
    return run_stretch(device.fork() if device.info.snapshot else device, workload)


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
