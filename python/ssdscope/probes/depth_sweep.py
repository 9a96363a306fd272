"""Throughput against queue depth: the depth beyond which waiting buys nothing.

Random 4 KiB reads at depths 1 to 256. The knee is the depth that reaches 90 % of the
plateau, which the deeper half of the curve tells. A curve that levels off and then rises again
has two knees, and the answer names both.
"""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

import numpy as np

from ssdscope import stats
from ssdscope.probes.discipline import base_request_bytes, cautions, random_offsets
from ssdscope.probes.finding import Absent, Ambiguous, Detected, Finding, Reason, Undetectable

if TYPE_CHECKING:
    from numpy.typing import NDArray

    from ssdscope.probes.bench import Bench
    from ssdscope.targets.records import DeviceInfo

KNEE = "queue_depth_knee"
PROBE_NAME = "latency"

DEPTHS = (1, 2, 3, 4, 6, 8, 12, 16, 24, 32, 48, 64, 96, 128, 192, 256)
BLOCKS = 12
MAX_BLOCKS = 24
"""On a real drive, where noise is worth more blocks and time is the limit."""
SHARE_OF_WALL = 1 / 6
PLATEAU_SHARE = 0.9
FLAT_WITHIN = 0.10
USELESS_WIDTH = 0.6
"""Relative width of an interval that tells nothing."""
RISES_AGAIN = 0.05
"""A doubling of the depth that gains so much more than one before it is a second step."""


def detect(bench: Bench, rng: np.random.Generator) -> list[Finding]:
    """Answer the knee."""
    base = base_request_bytes(bench.info)
    if bench.info.capacity_bytes < 4 * base:
        return [Undetectable(name=KNEE, probe=PROBE_NAME, reason=Reason.RANGE_TOO_SMALL)]
    plan = _plan(bench, base, rng)
    depths = np.array([depth for depth, _ in plan])
    if len(plan) < 4:
        return [Undetectable(name=KNEE, probe=PROBE_NAME, reason=Reason.BUDGET_EXHAUSTED)]
    with bench.without_caches():
        rates = _measure(bench, base, plan, rng)
    requests = sum(count for _, count in plan) * len(rates)
    return [_judge(bench.info, depths, rates, requests, seed=int(rng.integers(2**32)))]


def _plan(bench: Bench, base: int, rng: np.random.Generator) -> list[tuple[int, int]]:
    """Choose depths and how many requests each; on a slow real drive fewer of both."""
    full = [(depth, 16 * depth + 512) for depth in DEPTHS]
    if bench.virtual:
        return full
    alone_ns = float(np.median(_reads(bench, base, 1, 32, rng).latency_ns))
    # As if the drive gained nothing from depth: what one block may cost at the very worst.
    allowed = bench.budget.wall_s * SHARE_OF_WALL / BLOCKS / max(alone_ns, 1.0) * 1e9
    plan: list[tuple[int, int]] = []
    for depth, wanted in full:
        share = int(allowed / len(full))
        least = 4 * depth + 16
        if least > 4 * share:
            break
        plan.append((depth, max(least, min(wanted, share))))
    return plan


def _measure(
    bench: Bench, base: int, plan: list[tuple[int, int]], rng: np.random.Generator
) -> NDArray[Any]:
    """Rates in requests per second, one row per block, one column per depth."""
    deadline = bench.deadline(SHARE_OF_WALL)
    blocks = BLOCKS * min(bench.budget.repetitions, 2) if bench.virtual else MAX_BLOCKS
    rates: list[NDArray[Any]] = []
    for block in range(blocks):
        row = np.empty(len(plan))
        for column in rng.permutation(len(plan)):
            depth, count = plan[column]
            row[column] = _rate(_reads(bench, base, depth, count, rng), depth)
        rates.append(row)
        bench.progress("throughput against queue depth", (1 + (block + 1) / blocks) / 2)
        if not bench.virtual and deadline.left_s == 0 and len(rates) >= 2:
            break
    return np.array(rates)


def _reads(bench: Bench, base: int, depth: int, count: int, rng: np.random.Generator) -> Any:
    lengths = np.full(count, base, np.uint64)
    offsets = random_offsets(rng, bench.info.capacity_bytes, lengths)
    return bench.read(offsets, lengths, iodepth=depth)


def _rate(log: Any, depth: int) -> float:
    """Count requests per second while the queue was full: not while it filled or drained."""
    done = np.sort(log.complete_ns.astype(np.int64))
    first, last = depth - 1, len(done) - depth
    span_ns = int(done[last] - done[first])
    return (last - first) / span_ns * 1e9 if span_ns > 0 else float("inf")


def _judge(
    info: DeviceInfo, depths: NDArray[Any], rates: NDArray[Any], requests: int, seed: int
) -> Finding:
    common: dict[str, Any] = {"name": KNEE, "probe": PROBE_NAME, "requests": requests}
    if not np.isfinite(rates).all():
        return Undetectable(reason=Reason.EFFECT_BELOW_NOISE, **common)
    typical = stats.log_median(rates, axis=0)
    draws = stats.block_bootstrap(
        rates, lambda b: stats.log_median(b, axis=0), replicates=1000, seed=seed
    )
    low, high = stats.percentile_interval(draws)
    common["evidence"] = {
        "depths": depths.tolist(),
        "median_iops": typical.tolist(),
        "median_low_iops": low.tolist(),
        "median_high_iops": high.tolist(),
        "request_bytes": base_request_bytes(info),
        "blocks": len(rates),
        "plateau_share": PLATEAU_SHARE,
        "plateau_iops": stats.plateau(depths, typical),
        "cautions": cautions(info),
    }
    gain = float(typical.max() / typical[0])
    best = int(np.argmax(typical))
    flat = stats.tost(np.log(rates[:, best] / rates[:, 0]), np.log1p(FLAT_WITHIN))
    if flat.holds():
        return Absent(
            bound=float(np.expm1(flat.bound)),
            reason="depth gains nothing: the drive serves one request at a time",
            **common,
        )
    gains = draws.max(axis=1) / draws[:, 0]
    if float(stats.percentile_interval(gains)[0]) < 1 + FLAT_WITHIN:
        return Undetectable(reason=Reason.EFFECT_BELOW_NOISE, **common)
    knee = stats.saturation_depth(depths, typical, PLATEAU_SHARE)
    if not np.isfinite(knee):
        return Ambiguous(
            candidates=(float(depths[-1]),),
            reason=f"throughput still rises at depth {depths[-1]}: the knee is deeper",
            **common,
        )
    shelf = _shelf(depths, typical, draws)
    if shelf is not None:
        end = float(depths[shelf - 1])
        first = min(stats.saturation_depth(depths[:shelf], typical[:shelf], PLATEAU_SHARE), end)
        reason = f"throughput levels off near depth {end:g} and rises again beyond"
        return Ambiguous(candidates=(first, knee), reason=reason, **common)
    knees = np.array([stats.saturation_depth(depths, draw, PLATEAU_SHARE) for draw in draws])
    # A draw that does not saturate knows no more than that its knee lies beyond the range.
    span = stats.percentile_interval(np.minimum(knees, depths[-1]))
    interval = (min(float(span[0]), knee), max(float(span[1]), knee))
    if interval[1] - interval[0] > USELESS_WIDTH * knee:
        return Undetectable(reason=Reason.EFFECT_BELOW_NOISE, **common)
    return Detected(value=knee, interval=interval, effect=gain - 1, **common)


def _shelf(depths: NDArray[Any], typical: NDArray[Any], draws: NDArray[Any]) -> int | None:
    """Count the depths before a second rise that noise does not explain; None without one."""
    pair = stats.second_rise(depths, typical)
    if pair is None:
        return None
    flat, steep = pair
    gains = np.array([stats.doubling_gains(depths, draw) for draw in draws])
    low, _ = stats.percentile_interval(gains[:, steep] - gains[:, flat])
    end = int(np.flatnonzero(depths == 2 * depths[flat])[0]) + 1
    return end if low > RISES_AGAIN and end >= 4 else None
