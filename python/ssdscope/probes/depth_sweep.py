"""Throughput against queue depth: the depth beyond which waiting buys nothing.

Physics: one request at a time leaves most of a drive idle; more at once share it out, until some
part (flash, bus, link, the firmware's queue) is always busy. Random requests leave units idle by
chance, so the plateau is approached slowly.
Statistic: rates of random 4 KiB reads at depths 1 to 256 while the queue is full, in randomised
blocks, of which the mean is taken without a tenth on either side (a deep queue may stay for long on
few of the dies, in some blocks and not in others, where a median jumps from one rate to the other);
the depth that gives 90 % of what the deepest queue gives, with the interval of resampled blocks.
Decision: the knee, if its interval does not touch depth 1; absent if no depth gains 3 %;
ambiguous if the last step to the deepest queue still gains so much; undetectable if the latter half
of the blocks has it elsewhere, as where others' writes move data to few of the dies meanwhile, or
if others write and the deepest queue, whose list is the longest, gets 3 % more done than queues far
beyond the knee, as where a table is moved to faster cells. A curve that levels off and rises again
has its knee where it reaches the plateau, and a caution that says where it levelled off.
Assumptions: the drive is in use (the size sweep came before) and nobody else is busy on it. One
that others wrote to is returned to what it was, where that can be, before each block.
Cost: 1,000,000 to 4,000,000 reads on a simulated drive with the full budget. Source: PROBING 2.2.
"""

from __future__ import annotations

from dataclasses import replace
from functools import partial
from typing import TYPE_CHECKING, Any

import numpy as np

from ssdscope import stats
from ssdscope.findings import (
    DEPTH_SWEEP,
    Absent,
    Ambiguous,
    Axis,
    Detected,
    Evidence,
    Exhibit,
    Finding,
    Reason,
    Step,
    Undetectable,
    series,
)
from ssdscope.probes.calm import Calm
from ssdscope.probes.discipline import (
    PATIENCE_NS,
    WAITS_NS,
    base_request_bytes,
    cautions,
    looks,
    random_offsets,
)
from ssdscope.probes.states import State
from ssdscope.units import format_binary

if TYPE_CHECKING:
    from numpy.typing import NDArray

    from ssdscope.probes.bench import Bench
    from ssdscope.targets.records import DeviceInfo

KNEE = "queue_depth_knee"
PROBE_NAME = "latency"

DEPTHS = (1, 2, 3, 4, 6, 8, 12, 16, 24, 32, 48, 64, 96, 128, 192, 256)
FIRST_BLOCKS = 12
MOST_LOOKS = 3
SHARE_OF_WALL = 1 / 6
PLATEAU_SHARE = 0.9
FLAT_WITHIN = 0.03
"""Less than depth gains at the crest of a drift where it gains the tenth that makes a knee."""
GOOD_WIDTH = 0.08
"""Relative width of an interval at which measuring may stop."""
COUNTED, COUNTED_QUEUES = 512, 8
"""Requests that are counted once a queue has settled, and so many times its depth."""
USELESS_WIDTH = 0.2
"""Relative width of an interval that tells too little: a knee may be off by a tenth either way."""
LEFT_OUT = 0.1
"""Of the blocks, on either side, lest one that others spoiled counts."""
MOVES = 0.25
"""How far apart knees of the former and the latter half of the blocks may be."""
FAR_TIMES, LATE_RISE = 8, 0.03
"""Times the knee, from where depth gains nothing; and how much more the deepest queue may get."""
RISES_AGAIN = 0.05
"""A doubling of the depth that gains so much more than one before it is a second step."""
REPLICATES = 400


def detect(bench: Bench, rng: np.random.Generator) -> list[Finding]:
    """Answer the knee."""
    base = base_request_bytes(bench.info)
    if bench.info.capacity_bytes < 4 * base:
        return [Undetectable(name=KNEE, probe=PROBE_NAME, reason=Reason.RANGE_TOO_SMALL)]
    plan = _plan(bench, base, rng)
    depths = np.array([depth for depth, _ in plan])
    if len(plan) < 4:
        slow = Evidence(detail="reads take so long that only a few depths can be tried")
        reason = Reason.BUDGET_EXHAUSTED
        return [Undetectable(name=KNEE, probe=PROBE_NAME, reason=reason, evidence=slow)]
    per_block = sum(count for _, count in plan)
    seed = int(rng.integers(2**32))
    rates = np.empty((0, len(plan)))
    calm = Calm(bench)
    for look, blocks in enumerate(looks(bench, FIRST_BLOCKS, SHARE_OF_WALL, MOST_LOOKS), start=1):
        rows = [_rates(bench, base, plan, rng, calm) for _ in range(blocks)]
        rates = np.concatenate([rates, rows])
        bench.progress("throughput against queue depth", (1 + look / MOST_LOOKS) / 2)
        theirs = bench.foreign.written_bytes > 0
        requests = per_block * len(rates)
        knee = judge(bench.info, depths, rates, requests, seed=seed, others_write=theirs)
        if not isinstance(knee, Detected | Undetectable) or _narrow(knee):
            break
    return [knee]


def _narrow(knee: Finding) -> bool:
    if not isinstance(knee, Detected) or knee.interval is None:
        return False
    low, high = knee.interval
    return high - low <= GOOD_WIDTH * float(knee.value)


def _plan(bench: Bench, base: int, rng: np.random.Generator) -> list[tuple[int, int]]:
    """Choose depths and how many requests each; on a slow real drive fewer of both."""
    full = [
        (depth, stats.settling_requests(depth) + COUNTED_QUEUES * depth + COUNTED)
        for depth in DEPTHS
    ]
    if bench.virtual:
        return full
    alone_ns = float(np.median(_reads(bench, base, 1, 32, rng).latency_ns))
    # As if the drive gained nothing from depth: what one block may cost at the very worst.
    allowed = bench.budget.wall_s * SHARE_OF_WALL / FIRST_BLOCKS / max(alone_ns, 1.0) * 1e9
    plan: list[tuple[int, int]] = []
    for depth, wanted in full:
        share = int(allowed / len(full))
        least = 4 * depth + 16
        if least > 4 * share:
            break
        plan.append((depth, max(least, min(wanted, share))))
    return plan


def _rates(
    bench: Bench, base: int, plan: list[tuple[int, int]], rng: np.random.Generator, calm: Calm
) -> NDArray[Any]:
    """Rates in requests per second of one block, in random order: one for each depth.

    A drive that others wrote to begins as it was found, if it can be returned to that: what they
    wrote has moved, and pages of a mapping table with it, to few of the dies by chance.
    """
    if bench.foreign.written_bytes:
        bench.renew(State.AS_FOUND)
    row = np.empty(len(plan))
    waits_ns = PATIENCE_NS if bench.virtual else WAITS_NS
    with bench.without_caches():
        for column in rng.permutation(len(plan)):
            depth, count = plan[column]
            log = calm.measured(partial(_reads, bench, base, depth, count, rng), waits_ns)
            row[column] = _rate(log, depth)
    return row


def _reads(bench: Bench, base: int, depth: int, count: int, rng: np.random.Generator) -> Any:
    lengths = np.full(count, base, np.uint64)
    offsets = random_offsets(rng, bench.info.capacity_bytes, lengths)
    return bench.read(offsets, lengths, iodepth=depth)


def _rate(log: Any, depth: int) -> float:
    """Count requests per second while the queue was full and its parts unevenly so."""
    done = np.sort(log.complete_ns.astype(np.int64))
    first, last = stats.settling_requests(depth), len(done) - depth
    if last - first < COUNTED:  # a short list of a slow drive
        first = len(done) // 2
    span_ns = int(done[last] - done[first])
    return (last - first) / span_ns * 1e9 if span_ns > 0 else float("inf")


def judge(
    info: DeviceInfo,
    depths: NDArray[Any],
    rates: NDArray[Any],
    requests: int,
    seed: int,
    *,
    others_write: bool = False,
) -> Finding:
    """Answer from rates, shape (blocks, depths)."""
    common: dict[str, Any] = {"name": KNEE, "probe": PROBE_NAME, "requests": requests}
    if not np.isfinite(rates).all():
        return Undetectable(reason=Reason.EFFECT_BELOW_NOISE, **common)
    typical = _typical(rates)
    draws = stats.block_bootstrap(rates, _typical, replicates=REPLICATES, seed=seed)
    common["evidence"] = evidence = _evidence(info, depths, typical, draws, len(rates))
    best = int(np.argmax(typical))
    flat = stats.tost(np.log(rates[:, best] / rates[:, 0]), np.log1p(FLAT_WITHIN))
    if flat.holds():
        return Absent(
            bound=float(np.expm1(flat.bound)),
            reason="depth gains nothing: the drive serves one request at a time",
            **common,
        )
    knee = stats.saturation_depth(depths, typical, PLATEAU_SHARE)
    knees = np.array([stats.saturation_depth(depths, draw, PLATEAU_SHARE) for draw in draws])
    span = stats.percentile_interval(knees)
    low, high = min(float(span[0]), knee), max(float(span[1]), knee)
    if high > depths[-2]:
        candidates = knee, float(depths[-1])
        either = (Step(at=each, word="knee?") for each in candidates)
        common["evidence"] = evidence.fitting(DEPTH_SWEEP, *either)
        return Ambiguous(
            candidates=candidates,
            reason=f"throughput still rises at depth {depths[-1]}: the knee is deeper",
            **common,
        )
    if low <= depths[0] or high - low > USELESS_WIDTH * knee:
        return Undetectable(reason=Reason.EFFECT_BELOW_NOISE, **common)
    if _moved(depths, rates) or (others_write and _rises_late(depths, typical, knee)):
        return Undetectable(reason=Reason.INTERFERENCE, **common)
    gain = float(typical.max() / typical[0]) - 1
    step = Step(at=knee, low=low, high=high, word="knee")
    common["evidence"] = evidence.fitting(DEPTH_SWEEP, step)
    return Detected(value=knee, interval=(low, high), effect=gain, **common)


def _typical(rates: NDArray[Any]) -> NDArray[Any]:
    return stats.middle_mean(rates, LEFT_OUT)


def _moved(depths: NDArray[Any], rates: NDArray[Any]) -> bool:
    """Say whether the knee of the latter half of the blocks is another than that of the former."""
    halves = (_typical(half) for half in np.array_split(rates, 2))
    knees = [stats.saturation_depth(depths, each, PLATEAU_SHARE) for each in halves]
    return max(knees) > (1 + MOVES) * min(knees)


def _rises_late(depths: NDArray[Any], typical: NDArray[Any], knee: float) -> bool:
    """Say whether the deepest queue, whose list takes longest, gets more done than all far off.

    There is nothing more to gain there; but what others write meanwhile may have been moved.
    """
    far = (depths >= FAR_TIMES * knee) & (depths < depths[-1] / 2)
    plateau = float(stats.isotonic(typical)[-1])
    return bool(far.any() and typical[far].mean() < (1 - LATE_RISE) * plateau)


def _evidence(
    info: DeviceInfo,
    depths: NDArray[Any],
    typical: NDArray[Any],
    draws: NDArray[Any],
    blocks: int,
) -> Evidence:
    """Gather rates with intervals, and where the curve levels off before its plateau."""
    low, high = stats.percentile_interval(draws)
    base = base_request_bytes(info)
    share = f"{100 * PLATEAU_SHARE:.0f} %"
    exhibit = Exhibit(
        name=DEPTH_SWEEP,
        title="Reads per second against queue depth",
        caption=f"Random reads of {format_binary(base)}; the band is the 95 % interval of the "
        f"mean. A knee gives {share} of the plateau.",
        x=Axis("queue depth", "depth", log=True),
        y=Axis("reads per second", "iops"),
        series=(series("mean rate", depths, typical, low=low, high=high),),
    )
    evidence = Evidence(
        exhibits=(exhibit,),
        figures={
            "request_bytes": base,
            "blocks": blocks,
            "plateau_share": PLATEAU_SHARE,
            "plateau_iops": float(stats.isotonic(typical)[-1]),
        },
        cautions=tuple(cautions(info)),
    )
    shelf = _shelf(depths, typical, draws)
    if shelf is None:
        return evidence
    said = f"throughput levels off near depth {shelf:g} and rises again beyond"
    levels = Step(at=shelf, word="levels off")
    noted = evidence.fitting(DEPTH_SWEEP, levels).noting(shelf_depth=shelf)
    return replace(noted, cautions=(*noted.cautions, said))


def _shelf(depths: NDArray[Any], typical: NDArray[Any], draws: NDArray[Any]) -> float | None:
    """Give the depth of a level that a second rise ends, unless noise explains it."""
    pair = stats.second_rise(depths, typical)
    if pair is None:
        return None
    flat, steep = pair
    gains = np.array([stats.doubling_gains(depths, draw) for draw in draws])
    low, _ = stats.percentile_interval(gains[:, steep] - gains[:, flat])
    return float(depths[flat]) if low > RISES_AGAIN else None
