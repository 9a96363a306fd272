"""Interleave degree: how many reads a drive can serve side by side.

Physics
    Chips, or the dies of a chip, read at the same time; two reads on one of them follow each
    other. Which places share one is a matter of the firmware, and need not be known.
Statistic
    Pairs of single-block reads that go out together, several times over: the median of the
    slower of the two, over the faster. It has a level for pairs that wait for nothing, perhaps one
    for pairs that share a channel, and the highest for pairs that share a die.
    Sharing a die divides places into classes: one place is taken, and those that wait for it
    go with it, until none is left. The classes are counted.
Decision rule
    Detected if the levels are five standard errors apart, pairs within a class have one level,
    so many places were sorted that one class more would have shown (99.99 %), and of fresh places
    nearly every one waits for exactly one of the classes. Undetectable with `masked` if all pairs
    wait: the drive takes one command at a time, or has a single die.
Assumptions
    The places hold data. What the drive has to look up is brought to hand by a read of the same
    block just before, and on a drive that keeps one piece of its mapping table, all places lie
    within one. That needs a read cache that is off, or none.
Cost
    Some 50 places and 250 reads of a block for each die and each other die.
Source
    PROBING.md 2.7, which fits the share 1/N of random pairs; classes give N exactly.
    Chen, Lee, Zhang (HPCA 2011) look for strides at which bandwidth dips, which presumes striping.
"""

from __future__ import annotations

import math
from collections.abc import Iterator
from typing import TYPE_CHECKING, Any

import numpy as np

from ssdscope import stats
from ssdscope.probes.conflicts import Conflicts, alike
from ssdscope.probes.discipline import cautions
from ssdscope.probes.finding import Detected, Finding, Reason, Undetectable
from ssdscope.probes.info import ProbeInfo
from ssdscope.probes.picture import Axis, Picture, series
from ssdscope.probes.rows import random_blocks, without_read_cache

if TYPE_CHECKING:
    from numpy.typing import NDArray

    from ssdscope.probes.bench import Bench
    from ssdscope.probes.conflicts import Repeated

DEGREE = "interleave_degree"
PROBE_NAME = "interleave"
RANDOM_PAIRS = 600
TIMES = 5
MOST_TIMES = 25
LEAST_SHARE = 0.008
"""Of random pairs; levels of fewer are chance."""
LEVELS_APART = 0.04
WAITS_FROM = 0.05
"""How much slower, in the logarithm, a pair on one die must at least be."""
ALL_WAIT_FROM = 0.4
"""If the pairs that wait least are slower by so much, in the logarithm, all wait."""
PLACES_PER_CLASS = 11
PLACES, MOST_PLACES = 400, 800
"""So many at least: the share of data on a die may be as low as a hundredth."""
ON_LEVELS = 0.85
"""Share of pairs that lie on one of the levels, and not between: on a hard disk all lie between."""
SAME_CLASS_PAIRS = 90
FITTING_SHARE = 0.97


def detect(bench: Bench) -> Iterator[Finding]:
    """Answer how many reads are served side by side."""
    rng = bench.rng(PROBE_NAME)
    evidence: dict[str, Any] = {"cautions": cautions(bench.info)}
    with without_read_cache(bench) as cached:
        if cached:
            yield _refused(Reason.CACHE_NOT_CONTROLLABLE, evidence)
            return
        low, high = _range(bench, rng)
        block = bench.info.logical_block_bytes
        places = random_blocks(rng, low, high, (2, RANDOM_PAIRS), block)
        pairs = Conflicts(bench, places.ravel(), rng, neighbours=False)
        numbers = np.arange(2 * RANDOM_PAIRS).reshape(2, -1)
        seen = pairs.pairs(numbers[0], numbers[1], TIMES)
        _draw(evidence, seen.slower)
        bench.progress("random pairs", 0.2)
        found = _levels(seen, LEAST_SHARE)
        evidence["levels"] = np.exp(found).tolist()
        if found[0] > ALL_WAIT_FROM:
            yield _refused(Reason.MASKED, evidence)
            return
        if len(found) == 1 or not _on_levels(seen, found):
            yield _refused(Reason.EFFECT_BELOW_NOISE, evidence)
            return
        yield _sorted_out(bench, (low, high), found, seen, rng, evidence)


def _refused(reason: Reason, evidence: dict[str, Any]) -> Finding:
    return Undetectable(name=DEGREE, probe=PROBE_NAME, reason=reason, evidence=evidence)


def _range(bench: Bench, rng: np.random.Generator) -> tuple[float, float]:
    """Give where places may lie so that the drive can have at hand what two of them need."""
    zone, cache = bench.found("map_zone_bytes"), bench.found("map_cache_bytes")
    if not isinstance(zone, (int, float)) or zone != cache:
        return 0.0, float(bench.info.capacity_bytes)
    index = int(rng.integers(1, max(int(bench.info.capacity_bytes / zone) - 1, 2)))
    return (index + 0.1) * zone, (index + 0.9) * zone


def _levels(read: Repeated, least_share: float) -> NDArray[Any]:
    return stats.levels(read.slower, read.deviation, least_share=least_share, apart=LEVELS_APART)


def _on_levels(read: Repeated, found: NDArray[Any]) -> bool:
    """Say whether pairs lie on levels as closely as their scatter lets expect."""
    off = np.abs(read.slower[:, None] - found).min(axis=1)
    return bool(np.mean(off < 4 * read.deviation + LEVELS_APART / 2) >= ON_LEVELS)


def _sorted_out(
    bench: Bench,
    within: tuple[float, float],
    found: NDArray[Any],
    seen: Repeated,
    rng: np.random.Generator,
    evidence: dict[str, Any],
) -> Finding:
    """Sort places into classes, and hold fresh ones against them."""
    below, top = float(found[-2]), float(found[-1])
    share = float(np.mean(seen.slower > (below + top) / 2))
    for _ in range(3):
        times = _times(seen, top - below)
        count = min(max(round(PLACES_PER_CLASS / share), PLACES), MOST_PLACES)
        places = np.unique(random_blocks(rng, *within, count, bench.info.logical_block_bytes))
        places = alike(bench, places, times, rng)
        if len(places) < PLACES // 2:
            break
        drive = Conflicts(bench, rng.permutation(places), rng, neighbours=False)
        class_of, classes = drive.classes((below + top) / 2, times)
        bench.progress("places sorted", 0.7)
        inside = drive.pairs(*_same_class(class_of, rng), MOST_TIMES)
        finer = _levels(inside, 0.05)
        if len(finer) > 1:  # sharing a channel was taken for sharing a die
            below, top = float(finer[-2]), float(finer[-1])
            share *= float(np.mean(inside.slower > (below + top) / 2))
            continue
        if classes == 1:
            return _refused(Reason.MASKED, evidence)
        if len(places) < PLACES_PER_CLASS * (classes - 1):
            if count == MOST_PLACES:
                break
            share = 1 / (2 * classes)
            continue
        evidence |= {"classes": classes, "places": len(places), "repetitions": times}
        if not _fits(bench, drive, class_of, (below + top) / 2, times, within, rng):
            break
        return Detected(
            name=DEGREE,
            probe=PROBE_NAME,
            value=classes,
            interval=None,
            effect=math.expm1(top - max(float(found[0]), 0.0)),
            evidence=evidence,
        )
    return _refused(Reason.EFFECT_BELOW_NOISE, evidence)


def _times(seen: Repeated, apart: float) -> int:
    """Give how often to read a pair, so that it lies five deviations from the threshold."""
    once = seen.deviation * math.sqrt(TIMES)
    return min(max(math.ceil((10 * once / apart) ** 2), TIMES), MOST_TIMES)


def _same_class(
    class_of: NDArray[np.int64], rng: np.random.Generator
) -> tuple[NDArray[np.int64], NDArray[np.int64]]:
    """Draw pairs of places of one class."""
    first, second = np.triu_indices(class_of.size, 1)
    same = np.flatnonzero(class_of[first] == class_of[second])
    chosen = rng.permutation(same)[:SAME_CLASS_PAIRS]
    return first[chosen], second[chosen]


def _fits(
    bench: Bench,
    drive: Conflicts,
    class_of: NDArray[np.int64],
    waits_from: float,
    times: int,
    within: tuple[float, float],
    rng: np.random.Generator,
) -> bool:
    """Say whether fresh places wait for exactly one class each."""
    classes = int(class_of.max()) + 1
    ones = np.array([drive.places[np.argmax(class_of == each)] for each in range(classes)])
    fresh = random_blocks(rng, *within, 2 * classes + 60, bench.info.logical_block_bytes)
    fresh = alike(bench, np.setdiff1d(fresh, ones), times, rng)
    both = Conflicts(bench, np.concatenate([ones, fresh]), rng, neighbours=False)
    grid = np.meshgrid(np.arange(classes), classes + np.arange(fresh.size))
    read = both.pairs(grid[0].ravel(), grid[1].ravel(), times)
    waits = (read.slower > waits_from).reshape(fresh.size, classes).sum(axis=1)
    return bool(np.mean(waits == 1) >= FITTING_SHARE)


def _draw(evidence: dict[str, Any], slower: NDArray[Any]) -> None:
    ratio = np.sort(np.exp(slower))
    shares = np.arange(1, ratio.size + 1) / ratio.size
    chart = Picture(
        title="Two random reads at once",
        caption="The slower of two over what one takes alone; the highest step is sharing a die.",
        x=Axis("relative latency"),
        y=Axis("share of pairs"),
        series=(series("pairs", ratio, shares, "steps"),),
    )
    evidence |= {"relative_latency": ratio.tolist(), "picture": chart.to_json()}


PROBE = ProbeInfo(
    name=PROBE_NAME,
    summary="how many reads are served side by side",
    weight="light",
    properties=(DEGREE,),
    cost="some 10,000 pairs of reads of a block, at 50 dies 100,000",
    detect=detect,
)
