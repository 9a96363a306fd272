"""What is measured for the page beyond the probes."""

from typing import Any

import numpy as np

from ssdscope import stats
from ssdscope.errors import DeviceError
from ssdscope.probes.budget import Budget, StageProgress
from ssdscope.report.survey import Effort
from ssdscope.targets import Device
from ssdscope.workloads import Workload

HELD_OUT = 40
REQUESTS = 400
DISTRIBUTION_REQUESTS = 20_000
SHARE_OF_WALL = 0.25
DISTRIBUTION_SHARE = 0.1
PERCENTILES = (50.0, 90.0, 99.0, 99.9, 99.99, 100.0)
DEEP = 16


def effort(budget: Budget, points: int) -> Effort:
    """Share the time out among the points."""
    per_point_s = SHARE_OF_WALL * budget.wall_s / max(points, 1)
    return Effort(REQUESTS * budget.repetitions, runtime_ns=round(per_point_s * 1e9))


def distributions(
    device: Device, budget: Budget, seed: int, progress: StageProgress
) -> list[dict[str, Any]]:
    """Measure the whole distribution of small random requests, alone and with company."""
    cases = [("randread", 1), ("randread", DEEP)]
    cases += [("randwrite", 1), ("randwrite", DEEP)] if device.info.writable else []
    wall = device.info.clock == "wall"
    found = []
    for done, (rw, depth) in enumerate(cases, start=1):
        workload = Workload(
            rw=rw,
            block_bytes=max(4096, device.info.logical_block_bytes),
            iodepth=depth,
            # The log holds the first ones too, which are not counted below.
            requests=DISTRIBUTION_REQUESTS * min(budget.repetitions, 8) + depth,
            runtime_ns=round(DISTRIBUTION_SHARE * budget.wall_s * 1e9 / 4) if wall else None,
            ramp_requests=depth,
            seed=seed + depth,
        )
        # A simulated drive is left as it was found, and writes do not age it for the next case.
        alone = device.fork() if device.info.snapshot else device
        try:
            result, log = alone.run_logged(workload)
        except DeviceError as error:
            found.append({"name": _name(rw, depth), "failure": error.message})
            continue
        result.whole()
        latency = log.latency_ns[log.error == 0][depth:]
        if latency.size:
            found.append({"name": _name(rw, depth), "rw": rw} | _describe(latency))
        progress(f"distribution of {_name(rw, depth)}", done / len(cases))
    return found


def _name(rw: str, depth: int) -> str:
    return f"4 KiB {'reads' if rw == 'randread' else 'writes'}, depth {depth}"


def _describe(latency_ns: np.ndarray) -> dict[str, Any]:
    value, exceeded = stats.ecdf(latency_ns)
    return {
        "requests": int(latency_ns.size),
        "latency_ns": value.tolist(),
        "exceeded": exceeded.tolist(),
        "percentiles_ns": {
            f"{percent:g}": stats.nearest_rank(latency_ns, percent) for percent in PERCENTILES
        },
    }
