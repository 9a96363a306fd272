"""A search for the pause from which on trials of a drive's idle time gain: a step.

Periods from the shortest to the longest tell between which two of them writes gain most; between
those any period is tried until a sequential test says on which side of the step it lies.
"""

from __future__ import annotations

import math
from dataclasses import dataclass, field
from typing import TYPE_CHECKING

import numpy as np

from ssdscope import stats
from ssdscope.findings import Reason
from ssdscope.probes.bench import Stopped
from ssdscope.probes.idle_trials import AWAKE_NS

if TYPE_CHECKING:
    from numpy.typing import NDArray

    from ssdscope.probes.budget import Deadline
    from ssdscope.probes.idle_trials import Trials

LEAST_GAIN = 0.05
LEAST_SCATTER = 0.03
SIDE = 0.5
"""Of the full gain: the side of the step is told by this."""
SCANNED, MOST_SCANNED, TOLD_BY = 4, 8, 0.15
"""Trials of each period at first: so that their mean is known to such a share of the gain."""
APART, SCAN_ERRORS = 6.0, 3.0
"""How many times longer the next period is at most, and standard errors that the step must have."""
ODDS = math.log(1e4)
MOST_TRIALS, AGREEING = 60, 3
"""For each period: so many more must agree than disagree, as one may have been disturbed."""
OUTLYING = 0.25
LEAST_AROUND, MOST_AROUND = 12, 40
"""Pairs of fresh trials on both sides of the step."""


@dataclass
class Steps:
    """A search for the period from which on trials gain.

    Attributes
    ----------
    long_ns
        A pause that gains all there is.
    writes
        Timed in each trial.
    awake, rested
        Logarithm of what they take after none, and after long idle time.
    scatter
        Standard deviation of a trial.
    gains
        Of each trial by period, as a share of the full gain.
    """

    trials: Trials
    deadline: Deadline
    long_ns: int
    writes: int
    awake: float
    rested: float
    scatter: float
    gains: dict[int, list[float]] = field(default_factory=dict)
    reads_ns: list[float] = field(default_factory=list)

    @property
    def errors_of_one(self) -> float:
        """Scatter of a trial, as a share of the full gain."""
        return self.scatter / (self.awake - self.rested)

    def logs(self, period_ns: int, trials: int, times: int = 1) -> NDArray[np.float64]:
        """Make trials, of so many times the usual number of pauses; logarithms of their writes."""
        if not self.trials.bench.virtual and self.deadline.left_s <= 0:
            raise Stopped(Reason.BUDGET_EXHAUSTED, "its time is over")
        gaps = times * self.trials.gaps(period_ns)
        found = [self.trials.run(period_ns, self.writes, gaps) for _ in range(trials)]
        self.reads_ns += [each.read_ns for each in found]
        logs: NDArray[np.float64] = np.log([each.writes_ns.mean() for each in found])
        return logs

    def tried(self, period_ns: int, trials: int, times: int = 1) -> NDArray[np.float64]:
        """Make trials; give what they gain, as shares of the full gain."""
        logs = self.logs(period_ns, trials, times)
        gains = np.clip((self.awake - logs) / (self.awake - self.rested), -OUTLYING, 1 + OUTLYING)
        self.gains.setdefault(period_ns, []).extend(gains.tolist())
        return gains

    def gains_at(self, period_ns: int) -> bool:
        """Tell on which side of the step a period lies.

        Raises
        ------
        Stopped
            If trials scatter too much to tell.
        """
        odds, done = 0.0, 0
        while abs(odds) < 0.99 * ODDS:
            if done >= MOST_TRIALS:
                raise Stopped(Reason.EFFECT_BELOW_NOISE)
            gains = self.tried(period_ns, AGREEING)
            each = (gains - SIDE) / self.errors_of_one**2
            odds += float(np.clip(each, -ODDS / AGREEING, ODDS / AGREEING).sum())
            done += AGREEING
        return odds > 0

    def around(self, low_ns: int, high_ns: int) -> tuple[float, float, float]:
        """Make fresh trials at two periods in turn, those at the lower of twice as many pauses.

        Returns
        -------
        tuple of float
            Their median gains, and how probable by chance it is that the higher gains more.
        """
        from scipy.stats import mannwhitneyu

        count = int(np.clip((self.errors_of_one / 0.07) ** 2, LEAST_AROUND, MOST_AROUND))
        pairs = np.array(
            [(self.tried(low_ns, 1, 2)[0], self.tried(high_ns, 1)[0]) for _ in range(count)]
        )
        below, beyond = np.median(pairs, axis=0).tolist()
        more = mannwhitneyu(pairs[:, 1], pairs[:, 0], alternative="greater")
        return below, beyond, float(more.pvalue)

    def bracket(self) -> tuple[int, int]:
        """Find two periods between which writes gain most, and what they take on either side.

        Returns
        -------
        tuple of int
            The shortest and the longest if trials scatter too much to tell.
        """
        count = math.ceil(math.log(self.long_ns / AWAKE_NS) / math.log(APART)) + 1
        periods = np.geomspace(AWAKE_NS, self.long_ns, count).round().astype(int).tolist()
        rounds = int(np.clip((self.errors_of_one / TOLD_BY) ** 2, SCANNED, MOST_SCANNED))
        logs = np.empty((count, rounds))
        for each in range(rounds):
            # In any order: what drives do changes with time as well.
            for place in self.trials.overwriter.rng.permutation(count):
                logs[place, each] = self.logs(periods[place], 1)[0]
        splits = [(logs[:each].ravel(), logs[each:].ravel()) for each in range(1, count)]
        left = [sum(np.abs(each - np.median(each)).sum() for each in split) for split in splits]
        step = int(np.argmin(left))
        sides = splits[step]
        awake, rested = (float(np.median(each)) for each in sides)
        scatter = max(LEAST_SCATTER, math.hypot(*map(stats.mad, sides)) / math.sqrt(2))
        error = scatter * math.sqrt(sum(1 / each.size for each in sides))
        if awake - rested < max(LEAST_GAIN, SCAN_ERRORS * error):
            return AWAKE_NS, self.long_ns
        self.awake, self.rested, self.scatter = awake, rested, scatter
        # A few trials that scatter may be one period off.
        return periods[max(step - 1, 0)], periods[min(step + 2, count - 1)]
