"""The queue-depth knee: at which depth small random reads come to 90 % of their rate at depth 256.

What holds an answer back without occupying the drive (noise, a spike, drift) leaves fewer requests
inside: those outside are the rate times how long they are held (Little 1961). So `saturation` is
over the requests inside; of short queues, `never_held` says what all of them inside are worth.
Every depth reads the same random places within a block, each time moved as a whole, lest a table
or cache hold them, once its queue is as uneven as it stays; a few places read again and again
before and after tell how long answers are held. First doublings of the depth, then the depths about
the knee. On a wall clock nobody knows what is held back: there the depth itself counts, and the
interval holds what another run would give. Source: PROBING 2.2.
"""

from __future__ import annotations

import math
from contextlib import suppress
from dataclasses import dataclass, replace
from functools import partial
from typing import TYPE_CHECKING

import numpy as np

from ssdscope import stats
from ssdscope.findings import (
    DEPTH_SWEEP,
    Ambiguous,
    Axis,
    Evidence,
    Exhibit,
    Finding,
    Reason,
    Step,
    series,
)
from ssdscope.inference.noise import floor
from ssdscope.inference.series import Series, Weighed
from ssdscope.probes import verdict
from ssdscope.probes.bench.discipline import (
    base_request_bytes,
    cautions,
    in_peace,
)
from ssdscope.probes.latency.held import never_held
from ssdscope.probes.latency.saturation import saturation, saturations
from ssdscope.probes.plan import Ask, Plan, State, Stopped
from ssdscope.targets.quiet import machine_busy
from ssdscope.units import format_binary

if TYPE_CHECKING:
    from collections.abc import Iterator

    from numpy.typing import NDArray

    from ssdscope.probes.bench.ledger import Bench
    from ssdscope.targets.records import DeviceInfo, Log

NAME, KNEE = "latency", "queue_depth_knee"

DOUBLINGS = tuple(2**power for power in range(9))
PLATEAU_SHARE = 0.9
COUNTED = 4096
"""Reads of a settled queue that are counted."""
FIRST_BLOCKS, BLOCKS, MORE_BLOCKS = 2, 3, 5
NEAR = 6
"""Depths about the knee, from three quarters of it to a third more, that are tried."""
HELD_PLACES, HELD_ROUNDS, HELD_CLIPPED = 4, 33, 0.97
"""Places that tell how long answers are held, how often each is read, and from which share of them
on an answer counts as a spike."""
LEAST_HELD = 0.1
"""Share of the times at which answers are held the least: by noise and spikes, not by drift."""
NOISE_LESS, NOISE_OFF, DRIFT_OFF = 0.25, 0.9, 0.15
"""By what share the correction for noise and spikes is too large, and by what shares that for them
and that for drift may be off: noise differs from read to read, so that queues are uneven in other
ways than by their number, and dies that would keep step do not. Of 115 drawn drives whose knee was
told so, all but four agreed with their noiseless twins."""
RATE_OFF = 0.01
"""What a share of the plateau may be off by, however long it is measured."""
BEYOND = 3 / 4
"""Of the most requests inside: from there on their rate need not be that of a plateau."""
GOOD_WIDTH = 1.1
"""Upper end of an interval over its lower at which measuring may stop."""
RISES_AGAIN = 0.05
"""A doubling of the depth that gains so much more than one before it is a second step."""
LEAST_DEPTHS, LEAST_COUNTED = 4, 16
CALM, CALM_AFTER_NS = 1.5, tuple(250_000_000 << doubled for doubled in range(6))
"""Times their least that the few reads take, more than drift and noise make of them, where the
drive is still at what others have asked of it; and how long it is left alone then."""
REST_NS = 2_000_000_000
WARM_BYTES, MOST_WARM = 256 << 10, 8192
SHARE_OF_WALL = 1 / 6


@dataclass(frozen=True, kw_only=True)
class Rates(Plan):
    """Reads per second at each of some depths.

    Attributes
    ----------
    depths
        Ascending; on a slow real drive the deepest are left out.
    blocks
        Each has every depth once.
    """

    depths: tuple[int, ...]
    blocks: int

    def measure(self, bench: Bench, rng: np.random.Generator) -> Series:
        """Give two rows of each depth in each block, which is a stratum.

        At `x` the depth stands the rate, and at minus the depth how many requests were inside.
        """
        lists, reads = _lists(bench, self, rng), _Reads(bench, rng)
        rows: list[tuple[int, int, float]] = []
        for block in range(self.blocks):
            if bench.foreign.written_bytes:
                bench.renew(State.AS_FOUND)
            with bench.without_caches():
                reads.warm()
                places = reads.places(max(map(sum, lists.values())))
                for depth in rng.permutation(list(lists)).tolist():
                    moved = reads.moved(places)
                    rows.append((block, depth, reads.rate(moved, depth, lists[depth])))
                    if bench.virtual:
                        bench.idle(int(rng.uniform(0, 2 * REST_NS)))
        if bench.quiet is not None and bench.quiet.drowned:
            raise Stopped(Reason.MACHINE_BUSY, machine_busy(bench.quiet))
        block_of, depths, rates = (np.array(column) for column in zip(*rows, strict=True))
        return Series.of(
            np.concatenate([depths, -depths]),
            np.concatenate([rates, reads.inside(depths, rates)]),
            stratum=np.tile(block_of, 2) + MORE_BLOCKS * self.number,
        )


def _lists(bench: Bench, plan: Rates, rng: np.random.Generator) -> dict[int, tuple[int, int, int]]:
    """Give reads until a queue has settled, that count, and behind them, by depth.

    On a slow real drive these are fewer, and fewer depths.
    """
    full = {each: (stats.settling_requests(each), COUNTED, each) for each in plan.depths}
    if bench.virtual:
        return full
    reads = _Reads(bench, rng)
    alone_ns = float(np.median(bench.read(reads.places(32), reads.size).latency_ns))
    # As if the drive gained nothing from depth: what one block may cost at the very worst.
    allowed_ns = 1e9 * bench.budget.wall_s * SHARE_OF_WALL / (2 * MORE_BLOCKS)
    share = int(allowed_ns / max(alone_ns, 1.0) / len(full))
    lists = {}
    for depth, (settling, counted, behind) in full.items():
        if 4 * depth + LEAST_COUNTED > 4 * share:
            break
        before = min(settling, max(2 * depth, share // 2))
        lists[depth] = before, max(LEAST_COUNTED, min(counted, share - before)), behind
    if len(lists) < min(LEAST_DEPTHS, len(full)):
        said = "reads take so long that only a few depths can be tried"
        raise Stopped(Reason.BUDGET_EXHAUSTED, said)
    return lists


class _Reads:
    """Random reads of the smallest size, and how long answers to a few of them are held."""

    def __init__(self, bench: Bench, rng: np.random.Generator) -> None:
        self._bench, self._rng = bench, rng
        self.size = base_request_bytes(bench.info)
        self._few_places = np.tile(self.places(HELD_PLACES), HELD_ROUNDS)
        self._least_ns = math.inf
        self._times: list[NDArray[np.float64]] = []

    def places(self, count: int) -> NDArray[np.uint64]:
        """Draw starts of reads."""
        slots = self._bench.info.capacity_bytes // self.size
        return (self._rng.integers(0, slots, count) * self.size).astype(np.uint64)

    def moved(self, places: NDArray[np.uint64]) -> NDArray[np.uint64]:
        """Move all by as much, round the drive: they lie on the same parts, mostly."""
        steps = self._bench.info.capacity_bytes // WARM_BYTES
        if steps < 2:
            return places
        by = np.uint64(self._rng.integers(steps) * WARM_BYTES)
        return np.asarray((places + by) % np.uint64(steps * WARM_BYTES), np.uint64)

    def _peaceful(self, places: NDArray[np.uint64], depth: int) -> Log:
        read = partial(self._bench.read, places, self.size, iodepth=depth)
        return in_peace(self._bench, read, patient=True)

    def warm(self) -> None:
        """Read half of a drive that was just returned to a state: its tables are empty."""
        info = self._bench.info
        slots = info.capacity_bytes // WARM_BYTES
        if info.snapshot and slots:
            starts = self._rng.integers(0, slots, min(slots // 2, MOST_WARM)) * WARM_BYTES
            with suppress(Stopped):
                self._bench.read(starts.astype(np.uint64), WARM_BYTES)

    def rate(self, places: NDArray[np.uint64], depth: int, counts: tuple[int, int, int]) -> float:
        """Give reads per second while the queue was full, the drive at no work of others."""
        for rest_ns in CALM_AFTER_NS:
            before = self._few()
            rate = self._rate(places, depth, counts)
            after = self._few()
            if self._is_calm(before) and self._is_calm(after):
                break
            self._bench.idle(rest_ns)
        self._times += [before, after]
        return rate

    def _few(self) -> NDArray[np.float64]:
        """Read the few places, whose first round looks up what they need."""
        if not self._bench.virtual:
            return np.empty(0)
        times = self._peaceful(self._few_places, 1).latency_ns.astype(float)
        self._least_ns = min(self._least_ns, float(np.median(times)))
        return times.reshape(HELD_ROUNDS, HELD_PLACES)[1:]

    def _is_calm(self, times: NDArray[np.float64]) -> bool:
        """Whether the drive is not at what others have asked of it, if anyone has."""
        return (
            not times.size
            or max(self._bench.foreign) == 0
            or (float(np.median(times)) < CALM * self._least_ns)
        )

    def _rate(self, places: NDArray[np.uint64], depth: int, counts: tuple[int, int, int]) -> float:
        settling, counted, _ = counts
        log = self._peaceful(places[: sum(counts)], depth)
        done = np.sort(log.complete_ns)
        span_ns = int(done[settling + counted] - done[settling])
        if span_ns <= 0:
            raise Stopped(Reason.EFFECT_BELOW_NOISE, "answers come faster than the clock can tell")
        return counted / span_ns * 1e9

    def inside(self, depths: NDArray[np.int64], rates: NDArray[np.float64]) -> NDArray[np.float64]:
        """Give how many requests were inside the drive, by what was read before and after each."""
        if not self._bench.virtual:
            return depths.astype(float)
        times = np.array(self._times).reshape(len(depths), -1, HELD_PLACES)
        floors = floor(times.reshape(-1, HELD_PLACES))
        longer = (times / floors).reshape(len(depths), -1)
        usual = np.quantile(longer, HELD_CLIPPED, axis=1, keepdims=True)
        factors = np.minimum(longer, usual).mean(axis=1)
        spikes_ns = max(float(times.mean() - (factors * floors.mean()).mean()), 0.0)
        # Each is inside for as long as it takes alone, at the least; and all of them at the most.
        least = np.minimum(rates * floors.mean() / 1e9, depths)
        return np.asarray(np.maximum(depths / factors - rates * spikes_ns / 1e9, least))


def detect(ask: Ask) -> Iterator[Finding]:
    """Answer the knee."""
    if ask.info.capacity_bytes < 4 * base_request_bytes(ask.info):
        yield verdict.refused(KNEE, Reason.RANGE_TOO_SMALL, Evidence(), probe=NAME)
        return
    wall = ask.info.clock != "virtual"
    taken = ask.take(plans(ask.info)[0])
    ask.progress("throughput against queue depth", 2 / 3)
    near = _near(_weighed([taken]))
    parts = [ask.take(Rates(depths=near, blocks=BLOCKS, number=1))]
    found = _weighed(parts)
    if wall or _unsure(found):
        parts.append(ask.take(Rates(depths=near, blocks=MORE_BLOCKS, number=2)))
        found = _weighed(parts, lasting=wall)
    yield _answer(found, _evidence(ask.info, taken, parts))


def _near(found: Weighed) -> tuple[int, ...]:
    """Choose depths about a knee and those that it was seen between, one, and the deepest."""
    knee, deepest = found.detail["depth"], int(found.detail["deepest"])
    low, high = max(1, int(knee * 3 / 4)), min(math.ceil(knee * 4 / 3) + 1, deepest)
    every = np.unique(np.geomspace(low, high, min(NEAR, high - low + 1)).round())
    below = 2 ** int(math.log2(knee))
    between = {below, min(2 * below, deepest)}
    return tuple(sorted({1, *every.astype(int).tolist(), *between, deepest}))


def _weighed(parts: list[Series], *, lasting: bool = False) -> Weighed:
    """Weigh rates over the requests inside; what held answers may be off widens the interval."""
    x, y, stratum = (
        np.concatenate([getattr(each, name) for each in parts]) for name in ("x", "y", "stratum")
    )
    depth, rate, stratum, inside = x[x > 0], y[x > 0], stratum[x > 0], y[x < 0]
    curve = Series.of(*never_held(depth, rate, inside, stratum), stratum=stratum)
    every, place = np.unique(depth, return_inverse=True)
    shares = PLATEAU_SHARE, PLATEAU_SHARE - RATE_OFF, PLATEAU_SHARE + RATE_OFF
    found, *others = saturations(curve, shares, place=place)
    if found.estimate is None or found.interval is None:
        raise Stopped(Reason.BUDGET_EXHAUSTED, "too few depths can be tried")
    means = np.maximum.accumulate([curve.x[place == each].mean() for each in range(every.size)])
    knee = float(np.exp(np.interp(math.log(found.estimate), np.log(means), np.log(every))))
    held = math.log(knee / found.estimate)
    holds = [np.log(each / inside[depth == each]) for each in every]
    least = [float(np.quantile(each, LEAST_HELD)) for each in holds]
    noise = min(held, float(np.interp(math.log(knee), np.log(every), least)))
    best = found.estimate * math.exp(NOISE_LESS * noise)
    off = [NOISE_OFF * noise, DRIFT_OFF * (held - noise)]
    if lasting:
        off.append(_differing(curve, place))
    low, high = (
        math.hypot(math.log(end / found.estimate), math.log(shifted / found.estimate), *off)
        for end, shifted in zip(
            found.interval, (each.estimate or 1.0 for each in others), strict=True
        )
    )
    ends = best * math.exp(-low), best * math.exp(high)
    detail = {"depth": knee, "deepest": float(every[-1]), "most": float(means[-1])}
    return replace(found, estimate=best, interval=ends, detail=detail)


def _differing(curve: Series, place: NDArray[np.int64]) -> float:
    """Give by how much, in the logarithm, the knee of another run may differ."""

    def knee(strata: NDArray[np.int64]) -> float:
        chosen = np.isin(curve.stratum, strata)
        found = saturation(curve.where(chosen), PLATEAU_SHARE, place=place[chosen])
        return math.log(found.estimate or 1.0)

    strata = np.unique(curve.stratum)
    groups = np.array_split(strata, strata.size // 2)
    halves = np.array([[knee(each[:1]), knee(each[1:])] for each in groups])
    return stats.lasting(halves.mean(axis=1), halves)


def _unsure(found: Weighed) -> bool:
    """Whether more blocks may tell."""
    low, high = found.interval or (0.0, 0.0)
    if not verdict.is_found(found, "saturation"):
        return True
    return math.ceil(high) > math.ceil(low) and high > GOOD_WIDTH * low


def _answer(found: Weighed, evidence: Evidence) -> Finding:
    """Answer the least depth that reaches the knee, a whole number; of several the middle."""
    low, high = (float(math.ceil(end)) for end in found.interval or (0.0, 0.0))
    knee, deepest = (low + high) / 2, found.detail["deepest"]
    if high == 1:
        said = "depth gains next to nothing: one request at a time gives 90 % of what a queue does"
        return verdict.absent(KNEE, found.bound, evidence.unfitted(), probe=NAME, reason=said)
    if low == 1:
        return verdict.refused(KNEE, Reason.EFFECT_BELOW_NOISE, evidence, probe=NAME)
    if high > BEYOND * found.detail["most"]:
        either = (Step(at=each, word="knee?") for each in (knee, deepest))
        return Ambiguous(
            name=KNEE,
            probe=NAME,
            candidates=(knee, deepest),
            reason=f"throughput still rises at depth {deepest:g}: the knee is deeper",
            evidence=evidence.fitting(DEPTH_SWEEP, *either),
        )
    step = Step(at=knee, low=low, high=high, word="knee")
    shown = evidence.fitting(DEPTH_SWEEP, step)
    return verdict.weighed(
        KNEE, found, "saturation", shown, probe=NAME, value=knee, interval=(low, high)
    )


def _evidence(info: DeviceInfo, first: Series, parts: list[Series]) -> Evidence:
    """Gather rates with intervals, and where the curve levels off before its plateau."""
    taken = [each.where(each.x > 0) for each in (first, *parts)]
    depths, rates = (np.concatenate([getattr(each, name) for each in taken]) for name in ("x", "y"))
    every = np.unique(depths)
    table = [rates[depths == each] for each in every]
    means = np.array([each.mean() for each in table])
    margins = np.array([2 * each.std(ddof=1) / math.sqrt(each.size) for each in table])
    exhibit = Exhibit(
        name=DEPTH_SWEEP,
        title="Reads per second against queue depth",
        caption=f"Random reads of {format_binary(base_request_bytes(info))}; the band is the 95 % "
        "interval of the mean. A knee gives 90 % of the rate at the deepest queue.",
        x=Axis("queue depth", "depth", log=True),
        y=Axis("reads per second", "iops"),
        series=(series("mean rate", every, means, low=means - margins, high=means + margins),),
    )
    evidence = Evidence(
        exhibits=(exhibit,),
        figures={
            "request_bytes": base_request_bytes(info),
            "plateau_share": PLATEAU_SHARE,
            "plateau_iops": float(stats.isotonic(means)[-1]),
        },
        cautions=tuple(cautions(info)),
    )
    shelf = _shelf(taken[0])
    if shelf is None:
        return evidence
    said = f"throughput levels off near depth {shelf:g} and rises again beyond"
    levels = Step(at=shelf, word="levels off")
    noted = evidence.fitting(DEPTH_SWEEP, levels).noting(shelf_depth=shelf)
    return replace(noted, cautions=(*noted.cautions, said))


def _shelf(doublings: Series) -> float | None:
    """Give the depth of a level that a second rise ends, unless chance explains it."""
    depths = np.unique(doublings.x)
    blocks = [doublings.where(doublings.stratum == each) for each in np.unique(doublings.stratum)]
    rates = np.array([each.y[np.argsort(each.x)] for each in blocks])
    pair = stats.second_rise(depths, rates.mean(axis=0))
    if pair is None:
        return None
    gains = stats.doubling_gains(depths, rates.mean(axis=0))
    # What blocks differ by is chance. A rise is of four rates; it is the largest of many.
    chance = 2 * math.sqrt(np.log(rates).var(axis=0, ddof=1).mean() / len(rates))
    rise = gains[pair[1]] - gains[pair[0]]
    return float(depths[pair[0]]) if rise > RISES_AGAIN + 4 * chance else None


def plans(_info: DeviceInfo) -> tuple[Rates, ...]:
    """Give what is asked at first, and the most that is asked about a knee."""
    first = Rates(depths=DOUBLINGS, blocks=FIRST_BLOCKS)
    return first, Rates(depths=DOUBLINGS, blocks=MORE_BLOCKS, number=2)
