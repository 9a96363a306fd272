"""The search for the design most like the drive: times by least squares, structure by trial.

Of one structure the times are fitted to the logarithms of the measured means. Of several, that
one stays whose fitted times come nearest; what is tried next are its neighbours.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator, Sequence
from dataclasses import dataclass, field
from functools import cached_property
from typing import TYPE_CHECKING, TypeAlias

import numpy as np

from ssdscope.twin.likeness import Allowance, Measured, means_of_each
from ssdscope.twin.noise import without_spikes

if TYPE_CHECKING:
    import numpy.typing as npt

    from ssdscope.twin.design import Design

Question: TypeAlias = "Callable[[Design], Iterator[Design]]"
"""Gives the neighbours of a design that differ from it in one respect."""

FAILED = 3.0
"""The miss, as a logarithm, of a workload that a design cannot run."""
SMALL = 0.02
"""Misses up to here count with their squares, and beyond as they are: a few workloads that a
structure cannot have do not bend all the others."""
STEP = 0.04
"""By which times are changed to see what depends on them."""
TIED = 0.01
"""What a time loses by leaving where it began, so that one on which nothing depends stays."""
BOUNDS_NS = {
    "firmware": (50.0, 1e8),
    "link": (0.02, 1e4),
    "read": (1_000.0, 1e7),
    "transfer": (1e-3, 200.0),
    "program": (10_000.0, 1e7),
    "erase": (300_000.0, 8e6),
    "copy": (1e-3, 100.0),
    "load": (1_000.0, 1e8),
    "write_back": (1_000.0, 1e8),
}
"""What times of drives lie between; ``link``, ``transfer`` and ``copy`` are per byte."""
DAMPINGS = (0.003, 0.1, 2.0)
FURTHEST = 1.2
"""The largest step, of a logarithm."""
HOPEFUL = 1.0
"""A neighbour is fitted if it promises a cost below so many times what the best design promises."""
PROMISING = 1.1
"""A neighbour whose times were roughly fitted is fitted well if its cost is below so many times
that of the best."""
ALIKE = 4e-3
"""The cost of misses of 13 thousandths: nothing is left to ask."""
ELSEWHERE = 500
"""Seeds that confirm a structure are other ones than those it was fitted with."""
GAIN, BETTER = 0.98, 0.92
"""A step, or a structure, is better if its cost is so many times that of before."""


@dataclass
class Fitted:
    """A design with its fitted times.

    Attributes
    ----------
    misses
        Logarithms of what it takes over what was measured, by row.
    slopes
        How they depend on the logarithms of the times, shape (rows, times), if that is known.
    """

    design: Design
    misses: npt.NDArray[np.float64]
    slopes: npt.NDArray[np.float64] | None = None

    @property
    def cost(self) -> float:
        """What the misses cost, on average."""
        return cost_of(self.misses)


@dataclass
class Judge:
    """Runs designs on the rows to be met, and remembers what that took.

    Attributes
    ----------
    names
        The times that are fitted.
    allowance
        Work that may still be done.
    """

    rows: Sequence[Measured]
    names: Sequence[str]
    seed: int
    allowance: Allowance
    _seen: dict[str, npt.NDArray[np.float64]] = field(default_factory=dict)

    @cached_property
    def _free(self) -> npt.NDArray[np.float64]:
        """Give the share of a delay that each row shows.

        Where latencies grow as the depth does requests wait for each other, and the depth
        over the rate is the latency, whatever holds single ones up.
        """
        known = {(row.rw, row.block_bytes, row.iodepth): row.mean_ns for row in self.rows}
        free = []
        for row in self.rows:
            alone = known.get((row.rw, row.block_bytes, 1), row.mean_ns)
            grown = np.log(row.mean_ns / alone) / np.log(row.iodepth) if row.iodepth > 1 else 0.0
            free.append(float(np.clip(1 - grown, 0, 1)))
        return np.array(free)

    @property
    def spent(self) -> bool:
        """Whether no more may be run."""
        return self.allowance.spent

    def judged(self, design: Design, slopes: npt.NDArray[np.float64] | None = None) -> Fitted:
        """Run a design as it is."""
        return Fitted(design, self.misses(design), slopes)

    def misses(self, design: Design) -> npt.NDArray[np.float64]:
        """Run a design; shape (rows,)."""
        return self.misses_of_each([design])[0]

    def misses_of_each(self, designs: Sequence[Design]) -> list[npt.NDArray[np.float64]]:
        """Run several designs, side by side; of each shape (rows,)."""
        files = [design.trimmed().values() for design in designs]
        keys = [repr(sorted(values.items())) for values in files]
        new = {
            key: values for key, values in zip(keys, files, strict=True) if key not in self._seen
        }
        calm = {key: without_spikes(values) for key, values in new.items()}
        means = means_of_each(
            [values for values, _ in calm.values()], self.rows, self.seed, self.allowance
        )
        wanted = np.array([row.mean_ns for row in self.rows])
        for (key, (_, spikes_ns)), mean in zip(calm.items(), means, strict=True):
            with np.errstate(all="ignore"):
                misses = np.log((mean + spikes_ns * self._free) / wanted)
            self._seen[key] = np.nan_to_num(np.clip(misses, -FAILED, FAILED), nan=FAILED)
        return [self._seen[key] for key in keys]

    def elsewhere(self, design: Design) -> float:
        """Give the cost of a design with other seeds: what hangs on the draw is no likeness."""
        other = Judge(self.rows, self.names, self.seed + ELSEWHERE, self.allowance)
        return other.judged(design).cost

    def slopes(self, at: Fitted) -> npt.NDArray[np.float64]:
        """Change each time a little, and see what depends on it."""
        times = at.design.times
        changed = [at.design.timed({name: times[name] * (1 + STEP)}) for name in self.names]
        return np.column_stack(
            [(misses - at.misses) / np.log(1 + STEP) for misses in self.misses_of_each(changed)]
        )


def fit(judge: Judge, at: Fitted, rounds: int) -> Fitted:
    """Fit the times of a design by damped Gauss-Newton steps in their logarithms.

    Slopes are measured where they are unknown, and where a step with those that are carried along
    (by Broyden's rule) is no improvement.
    """
    start, fresh = at.design, at.slopes is None
    for _ in range(rounds):
        if judge.spent or at.cost < ALIKE / 10 or at.cost >= cost_of(np.array([FAILED])):
            break
        if at.slopes is None:
            at, fresh = Fitted(at.design, at.misses, judge.slopes(at)), True
        better = _step(judge, at, start)
        if better.cost < GAIN * at.cost:
            at, fresh = better, False
        elif fresh:
            return min(at, better, key=lambda each: each.cost)
        else:
            at = Fitted(at.design, at.misses)
    return at


def _step(judge: Judge, at: Fitted, start: Design) -> Fitted:
    """Take the boldest step that is better; where it stands if none is."""
    for move in _moves(at, start, judge.names):
        trial = judge.judged(at.design.timed(_moved(at.design, judge.names, move)))
        trial.slopes = _carried(at, trial, move)
        if trial.cost < GAIN * at.cost:
            return trial
    return at


def _moves(at: Fitted, start: Design, names: Sequence[str]) -> Iterator[npt.NDArray[np.float64]]:
    """Give steps by the known slopes, of the logarithms of the times, from bold to careful."""
    if at.slopes is None:
        return
    weights = np.sqrt(1 / np.maximum(np.abs(at.misses), SMALL))
    scaled, wanted = at.slopes * weights[:, None], -at.misses * weights
    times = at.design.times
    away = np.array([np.log(times[name] / start.times[name]) for name in names])
    eye = np.eye(len(names))
    for damping in DAMPINGS:
        size = np.sqrt(damping * np.mean(np.sum(scaled**2, axis=0)) + 1e-12)
        matrix = np.vstack([scaled, TIED * eye, size * eye])
        target = np.concatenate([wanted, -TIED * away, np.zeros(len(away))])
        move = np.linalg.lstsq(matrix, target, rcond=None)[0]
        yield np.clip(move, -FURTHEST, FURTHEST)


def _moved(design: Design, names: Sequence[str], move: npt.NDArray[np.float64]) -> dict[str, float]:
    return {
        name: float(np.clip(design.times[name] * np.exp(by), *BOUNDS_NS[name]))
        for name, by in zip(names, move, strict=True)
    }


def _carried(
    at: Fitted, trial: Fitted, move: npt.NDArray[np.float64]
) -> npt.NDArray[np.float64] | None:
    """Correct slopes by what a step came to (Broyden 1965)."""
    length = float(move @ move)
    if at.slopes is None or length < 1e-12:
        return at.slopes
    surprise = trial.misses - at.misses - at.slopes @ move
    return at.slopes + np.outer(surprise, move) / length


def climb(judge: Judge, at: Fitted, questions: Sequence[Question], alike: float = ALIKE) -> Fitted:
    """Ask one question after the other, the most promising first, and keep what is better.

    Each neighbour is run once; the slopes that are known say what its times could still gain, and
    that orders the questions. They are asked in rounds until none changes anything. Nothing is
    asked any more when the cost is below `alike`.
    """
    asked: set[str] = set()
    changed = True
    while changed and not judge.spent and at.cost > alike:
        before = at
        for question in _ordered(judge, at, questions):
            at = _answered(judge, at, question, asked, alike)
        changed = at is not before
    return at


def _ordered(judge: Judge, at: Fitted, questions: Sequence[Question]) -> list[Question]:
    """Order questions by the best that one of their neighbours promises; leave out the hopeless."""
    promised: dict[int, float] = {}
    for number, question in enumerate(questions):
        if judge.spent:
            break
        designs = list(question(at.design))
        tried = zip(designs, judge.misses_of_each(designs), strict=True)
        costs = [_promised(judge, Fitted(design, misses, at.slopes)) for design, misses in tried]
        promised[number] = min(costs, default=np.inf)
    least = HOPEFUL * _promised(judge, at)
    hopeful = [each for each in promised if promised[each] < least]
    return [questions[each] for each in sorted(hopeful, key=lambda each: promised[each])]


def _promised(judge: Judge, quick: Fitted) -> float:
    """Give the cost of a design if its times were fitted and its slopes those it was given."""
    if quick.slopes is None:
        return quick.cost
    moves = _moves(quick, quick.design, judge.names)
    return min(quick.cost, *(cost_of(quick.misses + quick.slopes @ move) for move in moves))


def _answered(
    judge: Judge, at: Fitted, question: Question, asked: set[str], alike: float
) -> Fitted:
    """Try the neighbours of a question, again as long as one of them is better."""
    again = True
    while again and not judge.spent and at.cost > alike:
        again = False
        best, least = at, HOPEFUL * _promised(judge, at)
        for design in question(at.design):
            if repr(design) not in asked and not judge.spent:
                asked.add(repr(design))
                best = min(best, _tried(judge, at, design, least), key=lambda each: each.cost)
        if best.cost < BETTER * at.cost and judge.elsewhere(best.design) < at.cost:
            at, again = best, True
    return at


def _tried(judge: Judge, at: Fitted, design: Design, least: float) -> Fitted:
    """Fit a neighbour as far as it is promising: first with the slopes that are known."""
    quick = judge.judged(design, at.slopes)
    if _promised(judge, quick) > least:
        return quick
    for _ in range(2):
        better = _step(judge, quick, design)
        if better.cost >= GAIN * quick.cost:
            break
        quick = better
    if quick.cost > PROMISING * at.cost or quick.cost < 0.5 * at.cost:
        return quick
    return fit(judge, Fitted(quick.design, quick.misses), 1)


def cost_of(misses: npt.NDArray[np.float64]) -> float:
    """Give what misses cost on average: their squares near nothing, themselves beyond."""
    size = np.abs(misses)
    near = size**2 / (2 * SMALL)
    return float(np.mean(np.where(size < SMALL, near, size - SMALL / 2)))
