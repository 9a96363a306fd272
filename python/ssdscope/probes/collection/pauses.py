"""Plans of the property `idle_gc_onset_ns`: what pauses of several lengths gain the next writes.

Any request wakes a drive: reads that follow each other sooner than idle work begins keep it awake
for ever, and hundreds a little further apart let it begin hundreds of pieces of work, each of which
is finished, however little each exceeds the onset. What that gains is a step, not a slope.
"""

from __future__ import annotations

import math
from dataclasses import dataclass, replace
from functools import partial
from itertools import pairwise
from typing import TYPE_CHECKING

import numpy as np

from ssdscope.findings import Reason
from ssdscope.inference.series import Rival, Series, Weighed, nothing
from ssdscope.inference.step import step
from ssdscope.probes import verdict
from ssdscope.probes.bench.discipline import in_peace
from ssdscope.probes.collection.trials import AWAKE_NS, LONGEST_NS, Trials, Waits
from ssdscope.probes.plan import Plan, Stopped

if TYPE_CHECKING:
    from ssdscope.probes.bench.ledger import Bench
    from ssdscope.targets.records import DeviceInfo

__all__ = [
    "CLOSE",
    "SERVED",
    "WAITED",
    "GoneOn",
    "LeftAlone",
    "Pauses",
    "Rests",
    "gain",
    "growth",
    "settled",
]

SERVED, WAITED, SETTLED = -1, -2, -3
"""Strata: what a read takes, in nanoseconds; which share of their time writes wait; and `Waits`."""
FEWEST = 4
"""Writes whose mean counts, and twice as many, and so on; and trials of each length, before it is
looked at."""
LEAST_ROUNDS, LEAST_TRIALS = 3, 20
"""Of all pauses, before a step is looked for, and of bisection, at least."""
FINEST, CLOSE = 1.03, 1.08
"""Times as long the next pause that bisection may choose; and what ends it."""
MOST_BYTES = 1 << 35
"""Written for a plan at most."""
GROWS = 2
"""Times as long a pause, at least, within which a gain that grows does so."""
EXACT = 1e-6
"""Of a time, that nobody knows: a drive without noise misses nothing."""
LAST, EMPTIED = 16, 2
"""Requests written last; and times what as many writes take as a buffer holds, until it must be
empty."""


@dataclass(frozen=True, kw_only=True)
class Rests(Plan):
    """What these plans have in common.

    Attributes
    ----------
    size_bytes, phase_bytes
        Of a write; it begins so far before a multiple of its size.
    within_bytes
        The merge unit, whose first part is not written; 0 for none.
    settles
        Whether the drive is overwritten at random before, until it has come to rest.
    waits
        What writes take on the settled drive, if that was seen before: by a pause that came last
        it may have room, now.
    share
        Of the capacity, that is written at most.
    """

    size_bytes: int
    phase_bytes: int = 0
    within_bytes: int = 0
    settles: bool = False
    waits: Waits | None = None
    share: float = 8.0

    def writes_bytes(self, info: DeviceInfo) -> int:
        """Give the most that it writes."""
        return min(int(self.share * info.capacity_bytes), MOST_BYTES)

    def trials(self, bench: Bench, rng: np.random.Generator) -> Trials:
        """Get ready for trials."""
        trials = Trials(bench, rng, self.size_bytes, self.phase_bytes, self.within_bytes)
        if self.settles:
            trials.settle()
        trials.calibrate(self.waits)
        return trials


@dataclass(frozen=True, kw_only=True)
class Pauses(Rests):
    """Trials with pauses of several lengths, in any order, until they surely gain something.

    Gives for each trial, over the pause: the means of the first few writes behind it and of more,
    in what a read takes, by stratum. Or trials between two lengths, each where the onset is as
    likely to be shorter as longer (probabilistic bisection, Horstein 1963).

    Attributes
    ----------
    periods_ns
        The pauses.
    held_bytes
        What a buffer may hold that no flush empties, but idle time does. Half as much again is
        written behind each pause before writes count: then it is as full as without a pause.
    rounds
        Trials of each at most; of bisection in all.
    enough
        The evidence of a step with which they end sooner, half of what an answer takes, or without
        hope of that; None for never.
    look
        Where it must show: as of `gain`.
    wrong
        The share of trials that show a gain where there is none, or none where there is one, if
        pauses are chosen by bisection; None if all are tried.
    """

    periods_ns: tuple[int, ...]
    held_bytes: int = 0
    rounds: int = 24
    enough: float | None = verdict.level_of("step") / 2
    look: tuple[int, float] | None = None
    wrong: float | None = None

    def measure(self, bench: Bench, rng: np.random.Generator) -> Series:
        """Try each pause as often, until a step shows, or none is to be hoped for; or bisect."""
        begun, trials = bench.bytes_written, self.trials(bench, rng)
        while True:
            try:
                if self.wrong is None:
                    return self._rounds(bench, trials, begun)
                return self._bisected(bench, trials, begun, self.wrong)
            except Stopped as stop:
                if stop.reason is not Reason.INTERFERENCE or not trials.shorten():
                    raise

    def _rounds(self, bench: Bench, trials: Trials, begun: int) -> Series:
        taken, most = _settled(trials), self.writes_bytes(bench.info)
        for done in range(1, self.rounds + 1):
            for period in trials.rng.permutation(self.periods_ns):
                taken = taken.then(self._tried(bench, trials, int(period)))
            bench.progress("pauses", done / self.rounds)
            if (bench.bytes_written - begun) * (1 + 1 / done) > most:
                break
            if self.enough is None or done < LEAST_ROUNDS:
                continue
            score = gain(taken).score
            hopeless = done >= FEWEST and score * self.rounds < verdict.level_of("step") * done
            if score >= self.enough or hopeless:
                break
        return taken

    def _bisected(self, bench: Bench, trials: Trials, begun: int, wrong: float) -> Series:
        taken, most = _settled(trials), self.writes_bytes(bench.info)
        low, high = self.periods_ns
        tried = np.geomspace(low, high, 2 + int(math.log(high / low, FINEST)))
        said, (stratum, middle) = np.zeros(tried.size), self.look or (0, 0.0)
        for done in range(1, self.rounds + 1):
            shares = np.cumsum(np.exp(said - said.max()))
            ends = np.searchsorted(shares / shares[-1], [0.025, 0.5, 0.975])
            if done > LEAST_TRIALS and tried[ends[2]] <= CLOSE * tried[ends[0]]:
                break
            # Either end of the likeliest middle in turn (Burnashev and Zigangirov 1974).
            period = tried[max(ends[1] - done % 2, 0)]
            rows = self._tried(bench, trials, int(period))
            # Of trials that others have made shorter the longest look counts.
            at = min(stratum, int(rows.stratum.max()))
            gains = float(rows.y[rows.stratum == at][0]) <= middle
            said += np.log(np.where((tried <= period) == gains, 1 - wrong, wrong))
            taken = taken.then(rows)
            bench.progress("pauses around the onset", done / self.rounds)
            if (bench.bytes_written - begun) * (1 + 1 / done) > most:
                break
        return taken

    def _tried(self, bench: Bench, trials: Trials, period_ns: int) -> Series:
        trial = partial(self._trial, trials, period_ns)
        return in_peace(bench, trial, patient=True)

    def _trial(self, trials: Trials, period_ns: int) -> Series:
        skipped = -(-3 * self.held_bytes // (2 * self.size_bytes))
        took, read_ns, served_ns = trials.run(period_ns, skipped + trials.most_writes)
        counts = FEWEST << np.arange(32)
        counts = np.append(counts[counts < trials.most_writes], trials.most_writes)
        means = np.cumsum(took[skipped:])[counts - 1] / counts / read_ns
        rows = [(SERVED, served_ns), (WAITED, trials.waited(took)), *enumerate(means)]
        strata, y = zip(*rows, strict=True)
        return Series.of(np.full(len(y), period_ns), y, stratum=strata)


def _settled(trials: Trials) -> Series:
    return Series.of(np.arange(3), trials.waits, stratum=np.full(3, SETTLED))


def settled(taken: Series) -> Waits:
    """Give what writes took on the settled drive, before a series."""
    return Waits(*taken.y[taken.stratum == SETTLED][:3].tolist())


def gain(taken: Series, look: tuple[int, float] | None = None) -> Weighed:
    """Weigh from which pause on writes are faster, at the number of writes where it shows best.

    Parameters
    ----------
    look
        The stratum to look at, and the time that tells fast ones. If not given, it is the middle
        between what writes take behind the shortest and the longest pause, of each stratum: idle
        work may gain a little more or less, but what begins it gains most.

    Returns
    -------
    Weighed
        The detail has the stratum, and that time.
    """
    every = [_at(taken, *each) for each in ([look] if look else _looks(taken))]
    most = max((each.score for each in every), default=0.0)
    # Of many writes those gain that behind so long a pause have more room, too.
    sure = (each for each in every if each.estimate is not None and 2 * each.score >= most)
    return min(sure, key=lambda each: (each.estimate, -each.score), default=nothing())


def _at(taken: Series, stratum: int, middle: float) -> Weighed:
    rows = taken.where(taken.stratum == stratum)
    rows = rows.where(np.argsort(rows.x, kind="stable"))
    found = step(rows.with_y(1.0 + (rows.y > middle)), falls=True)
    if found.estimate is None:
        return found
    slow, fast = rows.y[rows.x < found.estimate], rows.y[rows.x >= found.estimate]
    effect = float(np.median(slow) / np.median(fast)) - 1
    detail = {"stratum": float(stratum), "middle": middle}
    return replace(found, effect=effect, bound=effect, detail=detail)


def _looks(taken: Series) -> list[tuple[int, float]]:
    """Give each stratum of times, and the middle between those of both ends."""
    looks = []
    for stratum in np.unique(taken.stratum[taken.stratum >= 0]):
        rows = taken.where(taken.stratum == stratum)
        ends = [np.median(rows.y[rows.x == each]) for each in (rows.x.min(), rows.x.max())]
        looks.append((int(stratum), math.sqrt(ends[0] * ends[1])))
    return looks


def growth(taken: Series, stratum: int) -> Rival:
    """Weigh a gain that grows from one pause to another against any step.

    By the sum of what either misses the means by, as of errors that are now and then large.
    """
    rows = taken.where(taken.stratum == stratum)
    tried, logs = np.unique(rows.x), np.log(rows.y)

    def missed(first: float, last: float) -> float:
        before, behind = logs[rows.x <= first], logs[rows.x >= last]
        share = np.clip(np.log(rows.x / first) / math.log(last / first), 0, 1)
        mean = (1 - share) * np.median(before) + share * np.median(behind)
        return float(np.abs(logs - mean).sum()) + logs.size * EXACT

    slow = (missed(a, b) for a in tried for b in tried if b > GROWS * a)
    step_missed = min(missed(a, b) for a, b in pairwise(tried))
    least = min(slow, default=math.inf)
    return Rival("a gain that grows with the pause", len(rows) * math.log(least / step_missed))


@dataclass(frozen=True, kw_only=True)
class LeftAlone(Rests):
    """Reads what was written last, of a drive left alone (x = 1) or kept awake (0) for as long.

    Gives how many times as long it takes as other data; nothing if a flush empties what there is.

    Attributes
    ----------
    held_bytes, unit_bytes
        What a buffer may hold, and in what units, each of which may be merged for singly.
    """

    held_bytes: int
    unit_bytes: int
    rounds: int = 12

    def measure(self, bench: Bench, rng: np.random.Generator) -> Series:
        """Write a few blocks last, wait, and read them among others."""
        trials = self.trials(bench, rng)
        emptying = EMPTIED * self.held_bytes / self.unit_bytes * trials.waits.mean_ns
        quiet_ns = int(np.clip(emptying, trials.quiet_ns, LONGEST_NS))
        if trials.flushed or not trials.buffered:
            return _settled(trials)
        rows = []
        for number in range(self.rounds):
            for alone in trials.rng.permutation(2).tolist():
                period = quiet_ns if alone else AWAKE_NS
                trial = partial(trials.read_back, LAST, period, quiet_ns)
                rows.append((alone, in_peace(bench, trial), number))
        x, y, strata = zip(*rows, strict=True)
        return _settled(trials).then(Series.of(x, y, stratum=strata))


@dataclass(frozen=True, kw_only=True)
class GoneOn(Rests):
    """Writes on and on behind one long pause: whether that has made room for more than was timed.

    Gives means of parts of the second half.
    """

    pause_ns: int
    parts: int = 8

    def measure(self, bench: Bench, rng: np.random.Generator) -> Series:
        """Rest, and write a quarter of the capacity, or for a quarter of an hour."""
        trials = self.trials(bench, rng)
        took = trials.gone_on(self.pause_ns, bench.info.capacity_bytes // 4)
        means = [part.mean() for part in np.array_split(took[took.size // 2 :], self.parts)]
        return Series.of(np.arange(self.parts), means)
