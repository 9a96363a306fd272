"""Interleave degree: how many reads a drive can serve side by side.

Physics
    Chips, or the dies of a chip, read at the same time; two reads on one of them follow each
    other. Which places share one is a matter of the firmware, and need not be known.
Statistic
    Pairs of single-block reads that go out together, several times over, and more often if noise
    hides the levels: the median of the slower of the two, over the faster. It has a level for pairs
    that wait for nothing, perhaps one for pairs that share a channel, and the highest for pairs
    that share a die, unless that of a few is chance, by which nothing can be sorted.
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
    within one, along which all classes must come twice, and one of them in a second round of merge
    units, if there are such, as a few of these may lie on a part of the dies (`reconcile`). A place
    that waits for no other is no class: others are drawn then. A read cache that stays on must
    forget before places are read again: it is filled with others between rounds in which every
    place takes part once, each time with another.
Cost
    Some 50 places and 250 reads of a block for each die and each other die.
Source
    PROBING.md 2.7, which fits the share 1/N of random pairs; classes give N exactly.
    Chen, Lee, Zhang (HPCA 2011) look for strides at which bandwidth dips, which presumes striping.
"""

from __future__ import annotations

import math
from collections.abc import Iterator
from dataclasses import dataclass, replace
from itertools import pairwise
from typing import TYPE_CHECKING, Any

import numpy as np

from ssdscope import stats
from ssdscope.findings import (
    Axis,
    Detected,
    Exhibit,
    Finding,
    Partition,
    Reason,
    Undetectable,
    series,
)
from ssdscope.probes.conflicts import Conflicts, Tournament, alike
from ssdscope.probes.discipline import cautions
from ssdscope.probes.info import ProbeInfo
from ssdscope.probes.notes import Notes
from ssdscope.probes.rows import random_blocks, without_read_cache
from ssdscope.probes.together import Together, cached_units

if TYPE_CHECKING:
    from numpy.typing import NDArray

    from ssdscope.probes.bench import Bench
    from ssdscope.probes.together import Repeated

DEGREE = "interleave_degree"
PROBE_NAME = "interleave"
PLACES = "places-by-die"
"""The exhibit of places sorted by which of them wait for each other."""
PART_ONLY = "part_only"
"""In the evidence, where only a part of the drive was looked at."""
RANDOM_PAIRS = 600
TIMES = 5
MOST_TIMES = 50
LEAST_SHARE = 0.008
"""Of random pairs; levels of fewer are chance."""
LEVELS_APART = 0.04
ALL_WAIT_FROM = 0.4
"""If the pairs that wait least are slower by so much, in the logarithm, all wait."""
PLACES_PER_CLASS, MORE = 11, 1.25
MOST_PLACES = (400, 800)
"""So many at least and at most: the share of data on a die may be as low as a hundredth."""
PAIRED_PLACES = (60, 400)
"""Where each is paired with each other."""
ON_LEVELS = 0.85
"""Share of pairs that lie on one of the levels, and not between: on a hard disk all lie between."""
SAME_CLASS_PAIRS = 90
FITTING_SHARE = 0.97
ROUNDS_SEEN = 2
"""Over all classes, in a part of the drive, for it to have all there are."""


def detect(bench: Bench) -> Iterator[Finding]:
    """Answer how many reads are served side by side."""
    rng = bench.rng(PROBE_NAME)
    notes = Notes(cautions=cautions(bench.info))
    with without_read_cache(bench) as cached:
        together = Together(bench, rng, cached_units(bench) if cached else 0)
        low, high = _range(bench, rng)
        block = bench.info.logical_block_bytes
        places = random_blocks(rng, low, high, (2, RANDOM_PAIRS), block)
        numbers = np.arange(2 * RANDOM_PAIRS).reshape(2, -1)
        pairs = Conflicts(together, places.ravel(), rng)
        for times in (TIMES, MOST_TIMES):  # noise may hide the levels at first
            seen = pairs.pairs(numbers[0], numbers[1], times)
            found = _levels(seen, LEAST_SHARE)
            if len(found) > 1 and _on_levels(seen, found):
                break
        notes.show(_pairs(seen.slower))
        bench.progress("random pairs", 0.2)
        notes.figures["levels"] = np.exp(found).tolist()
        if found[0] > ALL_WAIT_FROM:
            notes.detail = "any two reads wait for each other"
            yield _refused(Reason.MASKED, notes)
            return
        if len(found) == 1 or not _on_levels(seen, found):
            yield _refused(Reason.EFFECT_BELOW_NOISE, notes)
            return
        source = _Places(bench, together, (low, high), rng)
        once = seen.deviation * math.sqrt(times)
        yield _answer(source, _gaps(seen, found), once, notes)


def _answer(source: _Places, gaps: list[_Gap], once: float, notes: Notes) -> Finding:
    """Sort places by the highest level, or by a lower one where that of few pairs is chance."""
    for gap in gaps:
        told = _sorted_out(source, gap, once, notes)
        if isinstance(told, Detected) or (told is not None and gap is gaps[0]):
            return told
    return _refused(Reason.EFFECT_BELOW_NOISE, notes)


def _refused(reason: Reason, notes: Notes) -> Finding:
    return Undetectable(name=DEGREE, probe=PROBE_NAME, reason=reason, evidence=notes.evidence())


def _range(bench: Bench, rng: np.random.Generator) -> tuple[float, float]:
    """Give where places may lie so that the drive can have at hand what two of them need."""
    zone, cache = bench.found("map_zone_bytes"), bench.found("map_cache_bytes")
    if not isinstance(zone, (int, float)) or zone != cache:
        return 0.0, float(bench.info.capacity_bytes)
    index = int(rng.integers(1, max(int(bench.info.capacity_bytes / zone) - 1, 2)))
    return (index + 0.1) * zone, (index + 0.9) * zone


@dataclass(frozen=True)
class _Gap:
    """Two levels next to each other, in the logarithm: pairs that share something do not, or do.

    Attributes
    ----------
    below, top
        The levels.
    share
        Of random pairs, those above.
    lowest
        Of all levels.
    """

    below: float
    top: float
    share: float
    lowest: float

    @property
    def middle(self) -> float:
        """From where pairs wait."""
        return (self.below + self.top) / 2


def _gaps(seen: Repeated, found: NDArray[Any]) -> list[_Gap]:
    """Give neighbours among levels, the highest first: those that share a die wait longest."""
    return [
        _Gap(below, top, float(np.mean(seen.slower > (below + top) / 2)), float(found[0]))
        for below, top in pairwise(found.tolist())
    ][::-1]


def _levels(read: Repeated, least_share: float) -> NDArray[Any]:
    return stats.levels(read.slower, read.deviation, least_share=least_share, apart=LEVELS_APART)


def _on_levels(read: Repeated, found: NDArray[Any]) -> bool:
    """Say whether pairs lie on levels as closely as their scatter lets expect."""
    off = np.abs(read.slower[:, None] - found).min(axis=1)
    return bool(np.mean(off < 4 * read.deviation + LEVELS_APART / 2) >= ON_LEVELS)


@dataclass(frozen=True)
class _Places:
    """Places to be sorted: where they may lie, and how they are read."""

    bench: Bench
    together: Together
    within: tuple[float, float]
    rng: np.random.Generator

    @property
    def narrow(self) -> bool:
        """Whether they lie in a part of the drive, which need not reach all that works alone."""
        return self.within[1] - self.within[0] < self.bench.info.capacity_bytes

    def drawn(self, count: int, times: int, but: NDArray[Any] | None = None) -> NDArray[Any]:
        """Draw places that take alike long, none of them among some others."""
        block = self.bench.info.logical_block_bytes
        places = np.unique(random_blocks(self.rng, *self.within, count, block))
        places = places if but is None else np.setdiff1d(places, but)
        return alike(self.bench, self.together, places, times, self.rng)

    def pairs_of(self, places: NDArray[Any], times: int) -> Conflicts:
        """Give what tells of each two of them whether they wait."""
        if self.together.cached_units:
            return Tournament(self.together, places, self.rng, times)
        return Conflicts(self.together, places, self.rng)


def _sorted_out(source: _Places, gap: _Gap, once: float, notes: Notes) -> Finding | None:
    """Sort places into classes, and hold fresh ones against them; None if they do not fit.

    Of a pair that is read once, `once` is the deviation.
    """
    share = gap.share
    least, most = PAIRED_PLACES if source.together.cached_units else MOST_PLACES
    for _ in range(3):
        times = _times(once, gap.top - gap.below)
        count = min(max(round(MORE * PLACES_PER_CLASS / share), least), most)
        places = source.drawn(count, times)
        if len(places) < least // 2:
            break
        drive = source.pairs_of(source.rng.permutation(places), times)
        class_of, classes = drive.classes(gap.middle, times)
        source.bench.progress("places sorted", 0.7)
        same = _same_class(class_of, source.rng)
        if not same[0].size:
            break
        inside = drive.pairs(*same, MOST_TIMES)
        finer = _levels(inside, 0.05)
        if len(finer) > 1:  # sharing a channel was taken for sharing a die
            gap = replace(gap, below=float(finer[-2]), top=float(finer[-1]))
            share *= float(np.mean(inside.slower > gap.middle))
            continue
        if classes == 1:
            notes.detail = "any two reads wait for each other"
            return _refused(Reason.MASKED, notes)
        if len(places) < PLACES_PER_CLASS * (classes - 1):
            if count == most:
                break
            share = 1 / (MORE * classes)
            continue
        if np.bincount(class_of[class_of >= 0]).min() == 1:  # waits for nothing: in memory, perhaps
            continue
        notes.figures |= {"classes": classes, "places": len(places), "repetitions": times}
        notes.show(_sorted(drive.places, class_of, classes))
        if source.narrow:
            if not _in_turn(drive.places, class_of):
                notes.detail = "what the drive has at hand does not lie on all dies in turn"
                return _refused(Reason.RANGE_TOO_SMALL, notes)
            notes.figures[PART_ONLY] = True
        if not _fits(source, drive, class_of, gap.middle, times):
            break
        return Detected(
            name=DEGREE,
            probe=PROBE_NAME,
            value=classes,
            interval=None,
            effect=math.expm1(gap.top - max(gap.lowest, 0.0)),
            evidence=notes.evidence(),
        )
    return None


def _times(once: float, apart: float) -> int:
    """Give how often to read a pair, so that it lies five deviations from the threshold."""
    return min(max(math.ceil((10 * once / apart) ** 2), TIMES), MOST_TIMES)


def _in_turn(places: NDArray[Any], class_of: NDArray[np.int64]) -> bool:
    """Say whether one class after the other comes again: what they lie on was gone round twice."""
    along = class_of[np.argsort(places)]
    along = along[along >= 0]
    turns = 1 + np.count_nonzero(np.diff(along))
    return bool(turns >= ROUNDS_SEEN * len(np.unique(along)))


def _same_class(
    class_of: NDArray[np.int64], rng: np.random.Generator
) -> tuple[NDArray[np.int64], NDArray[np.int64]]:
    """Draw pairs of places of one class."""
    first, second = np.triu_indices(class_of.size, 1)
    same = np.flatnonzero((class_of[first] == class_of[second]) & (class_of[first] >= 0))
    chosen = rng.permutation(same)[:SAME_CLASS_PAIRS]
    return first[chosen], second[chosen]


def _fits(
    source: _Places,
    drive: Conflicts,
    class_of: NDArray[np.int64],
    waits_from: float,
    times: int,
) -> bool:
    """Say whether fresh places wait for exactly one class each."""
    classes = int(class_of.max()) + 1
    members = _examples(drive, class_of, waits_from, times)
    each = min(len(one) for one in members)
    if not each:
        return False
    met_by_class = np.array([one[:each] for one in members])
    count = 2 * classes + 60
    if source.together.cached_units:  # in a round each place is read once
        count = min(count, classes * each)
    fresh = source.drawn(count, times, but=drive.places)
    number, fits = np.arange(fresh.size), np.zeros(fresh.size, np.bool_)
    for repeated in (times, MOST_TIMES):  # those that do not fit are asked again, more often
        waits = np.zeros(number.size)
        for turn in range(classes):
            met = met_by_class[(number + turn) % classes, number // classes % each]
            read = source.together.read(met, fresh[number][:, None], repeated)
            waits += read.slower[:, 0] > waits_from
        fits[number] = waits == 1
        if fits.mean() >= FITTING_SHARE:
            return True
        number = np.flatnonzero(~fits)
    return False


def _examples(
    drive: Conflicts, class_of: NDArray[np.int64], waits_from: float, times: int
) -> list[NDArray[np.int64]]:
    """Give places of each class: the first; of a tournament all that surely belong to it."""
    classes = range(int(class_of.max()) + 1)
    if not isinstance(drive, Tournament):
        return [drive.places[[np.argmax(class_of == each)]] for each in classes]
    first, second = np.indices((class_of.size, class_of.size))
    waits = drive.pairs(first, second, times).slower > waits_from
    alike = class_of[:, None] == class_of
    agree = (waits == alike) | np.eye(class_of.size, dtype=bool)
    surely = agree.mean(axis=1) >= FITTING_SHARE
    return [drive.places[surely & (class_of == each)] for each in classes]


def _sorted(places: NDArray[Any], class_of: NDArray[np.int64], classes: int) -> Exhibit:
    """Show which places belong together."""
    members = tuple(tuple(map(float, np.sort(places[class_of == one]))) for one in range(classes))
    names = tuple(f"unit {one + 1}" for one in range(classes))
    return Exhibit(
        name=PLACES,
        title="Places that wait for each other",
        caption="Reads of one unit wait for each other, and for no other; each point is a place.",
        x=Axis("place", "bytes"),
        y=Axis("unit"),
        series=(series("places", places, class_of + 1, "points"),),
        fitted=(Partition(names=names, members=members),),
    )


def _pairs(slower: NDArray[Any]) -> Exhibit:
    ratio = np.sort(np.exp(slower))
    shares = np.arange(1, ratio.size + 1) / ratio.size
    return Exhibit(
        name="random-pairs",
        title="Two random reads at once",
        caption="The slower of two over what one takes alone; the highest step is sharing a die.",
        x=Axis("relative latency"),
        y=Axis("share of pairs"),
        series=(series("pairs", ratio, shares, "steps"),),
    )


PROBE = ProbeInfo(
    name=PROBE_NAME,
    summary="how many reads are served side by side",
    weight="light",
    properties=(DEGREE,),
    cost="some 10,000 pairs of reads of a block, at 50 dies 100,000",
    detect=detect,
)
