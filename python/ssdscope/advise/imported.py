"""What results of fio say of a drive: as findings that settings can rest on.

Two properties follow from rates of random reads: how many in flight give what the drive can, and
how a read's latency grows with its size. All others need a probe.
"""

from collections.abc import Mapping, Sequence
from statistics import fmean
from typing import Any, TypeAlias

import numpy as np
import numpy.typing as npt

from ssdscope.advise.facts import ALPHA, BETA, KNEE
from ssdscope.findings import (
    DEPTH_SWEEP,
    SIZE_SWEEP,
    Ambiguous,
    Axis,
    Detected,
    Evidence,
    Exhibit,
    Finding,
    Findings,
    Line,
    series,
)

Array: TypeAlias = npt.NDArray[np.float64]
PROBE = "fio"
USUAL_BYTES = 4096
PLATEAU_SHARE = 0.9
"""Of the rate at the deepest queue: who reaches it is at the knee, as of the probe."""
LEAST_POINTS = 4
"""Depths or sizes that make a curve."""
LINE_ERROR_MAX = 0.05
"""Root mean square by which a line may miss latencies, as a share of them."""
EXACT = 1e-9
"""Less than this is no miss."""


def findings_of(records: Sequence[Mapping[str, Any]]) -> Findings:
    """Return what random reads of a drive say; nothing where they were measured too sparsely.

    Parameters
    ----------
    records
        Results of fio on one drive, as `ssdscope.results.fio.folders.find` gives them.
    """
    reads = [each for each in records if _is_random_read(each)]
    return Findings([*_knee(reads), *_line(reads)])


def _is_random_read(record: Mapping[str, Any]) -> bool:
    plan = record["workload"]
    return (
        not record["interrupted"]
        and plan.get("rw") == "randread"
        and not plan["paced"]
        and bool(plan["in_flight"] and plan["block_bytes"] and record["read"])
        and bool(record["read"]["iops"] and record["read"]["latency_ns"])
    )


def _knee(reads: Sequence[Mapping[str, Any]]) -> list[Finding]:
    """Find the least number in flight that gives 90 % of the rate at the deepest queue."""
    sizes = {each["workload"]["block_bytes"] for each in reads}
    if not sizes:
        return []
    size = USUAL_BYTES if USUAL_BYTES in sizes else min(sizes)
    rates = _rates([each for each in reads if each["workload"]["block_bytes"] == size])
    if len(rates) < LEAST_POINTS:
        return []
    depths, means = list(rates), list(rates.values())
    shown = Exhibit(
        name=DEPTH_SWEEP,
        title="Reads per second against requests in flight",
        caption=f"Random reads of {size} bytes by fio, the best of all numbers of jobs.",
        x=Axis("queue depth", "depth", log=True),
        y=Axis("reads per second", "iops"),
        series=(series("mean rate", depths, means),),
    )
    figures = {"request_bytes": size, "plateau_share": PLATEAU_SHARE, "plateau_iops": means[-1]}
    evidence = Evidence(exhibits=(shown,), figures=figures)
    place = next(n for n, rate in enumerate(means) if rate >= PLATEAU_SHARE * means[-1])
    knee, below = float(depths[place]), float(depths[max(place - 1, 0)])
    if place == len(depths) - 1:
        reason = f"reads per second still rise at depth {knee:g}: the knee is deeper"
        either = (below, knee)
        return [
            Ambiguous(name=KNEE, probe=PROBE, candidates=either, reason=reason, evidence=evidence)
        ]
    return [_detected(KNEE, knee, (below, knee), means[-1] / means[0], evidence)]


def _rates(reads: Sequence[Mapping[str, Any]]) -> dict[int, float]:
    """Return the rate at each number in flight, in order: the best of all divisions into jobs."""
    found: dict[int, dict[int, list[float]]] = {}
    for each in reads:
        plan = each["workload"]
        by_jobs = found.setdefault(plan["in_flight"], {})
        by_jobs.setdefault(plan["numjobs"], []).append(each["read"]["iops"])
    return {depth: max(map(fmean, found[depth].values())) for depth in sorted(found)}


def _line(reads: Sequence[Mapping[str, Any]]) -> list[Finding]:
    """Fit the latency of single reads over their size, if one line holds for all sizes."""
    single: dict[int, list[float]] = {}
    for each in reads:
        if each["workload"]["in_flight"] == 1:
            mean = each["read"]["latency_ns"]["mean"]
            single.setdefault(each["workload"]["block_bytes"], []).append(mean)
    if len(single) < LEAST_POINTS:
        return []
    x = np.array(sorted(single), dtype=float)
    y = np.array([fmean(single[int(size)]) for size in x])
    (alpha, beta), halves, error = _fitted(x, y)
    if error > LINE_ERROR_MAX or alpha <= 0 or beta <= 0:
        return []
    line = Line(intercept=alpha, slope=beta, first=float(x[0]), last=float(x[-1]), error=error)
    shown = Exhibit(
        name=SIZE_SWEEP,
        title="Latency of single reads against size",
        caption="Random reads by fio, one in flight.",
        x=Axis("request size", "bytes"),
        y=Axis("mean latency", "ns"),
        series=(series("mean latency", x, y),),
        fitted=(line,),
    )
    return [
        _detected(name, value, (value - half, value + half), 1 / error, Evidence(exhibits=(shown,)))
        for name, value, half in ((ALPHA, alpha, halves[0]), (BETA, beta, halves[1]))
    ]


def _fitted(x: Array, y: Array) -> tuple[tuple[float, float], tuple[float, float], float]:
    """Fit a line whose misses are shares of the latency.

    Returns
    -------
    (alpha, beta), halves, error
        Halves of 95 % intervals of both; the root mean square of the misses.
    """
    from scipy.stats import t

    design = np.column_stack([1 / y, x / y])
    both, *_ = np.linalg.lstsq(design, np.ones(len(x)), rcond=None)
    misses = design @ both - 1
    freedom = len(x) - 2
    spread = np.sqrt(np.diag(np.linalg.inv(design.T @ design)) * np.sum(misses**2) / freedom)
    halves = float(t.ppf(0.975, freedom)) * spread
    error = max(float(np.sqrt(np.mean(misses**2))), EXACT)
    return (float(both[0]), float(both[1])), (float(halves[0]), float(halves[1])), error


def _detected(
    name: str, value: float, interval: tuple[float, float], effect: float, evidence: Evidence
) -> Detected:
    return Detected(
        name=name, probe=PROBE, value=value, interval=interval, effect=effect, evidence=evidence
    )
