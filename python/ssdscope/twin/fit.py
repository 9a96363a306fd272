"""How far off designs are, and their numbers by least squares.

Steps are Gauss and Newton's, damped (Levenberg 1944), in logarithms. A slope costs a simulation for
each number; so slopes are carried along by what steps come to (Broyden 1965), and measured anew
only where a step with those is no improvement. Libraries measure them at every step.
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass, field, replace
from typing import TYPE_CHECKING

import numpy as np

from ssdscope.twin.free import Free, free_of, moved
from ssdscope.twin.rows import stacked

if TYPE_CHECKING:
    import numpy.typing as npt

    from ssdscope.twin.design import Design
    from ssdscope.twin.running import Runner, Which

__all__ = ["Fitter", "Tried"]

FAILED = 3.0
"""The miss, as a logarithm, of a workload that a design cannot run."""
SMALL = 2.0
"""Misses in units of what is known, from which on they count as they are, not squared: a few that a
design cannot have do not bend all others."""
FAR = 1.5
"""How far a number may end from where it began, of a logarithm, as easily as it is known."""
FURTHEST = 1.2
"""The largest step, of a logarithm."""
DAMPINGS = (0.001, 0.05, 1.0)
GAIN = 0.98
"""A step is better if its cost is so many times that of before."""
ENOUGH = 0.05
"""A cost of which nothing is left to be gained: misses of a fifth of what is known."""


@dataclass(frozen=True)
class Tried:
    """A design and how far off it is.

    Attributes
    ----------
    misses
        Logarithms of its times over the drive's.
    cost
        What they cost, a number each.
    free, slopes
        Its numbers, and how misses depend on their logarithms, shape (misses, numbers), if known.
    """

    design: Design
    misses: npt.NDArray[np.float64]
    cost: float
    free: tuple[Free, ...] = ()
    slopes: npt.NDArray[np.float64] | None = None

    @property
    def runs(self) -> bool:
        """Whether it came to an end on most rows."""
        return float(np.median(np.abs(self.misses))) < FAILED

    @property
    def slopes_by_key(self) -> dict[str, npt.NDArray[np.float64]]:
        """Slopes that are known, by the key of the number, shape (misses,)."""
        if self.slopes is None:
            return {}
        return {each.key: self.slopes[:, place] for place, each in enumerate(self.free)}

    @property
    def error(self) -> float:
        """Return the median of the misses, as a share."""
        return float(np.median(np.abs(np.expm1(self.misses))))


@dataclass
class Fitter:
    """Holds designs to rows.

    Attributes
    ----------
    runner
        Runs them.
    known
        By key of a drive file, how far its number is known, as a share.
    kept
        Designs whose numbers were fitted.
    """

    runner: Runner
    known: Mapping[str, float] = field(default_factory=dict)
    kept: list[Tried] = field(default_factory=list)

    def __post_init__(self) -> None:
        rows = self.runner.rows
        self._wanted = stacked(row.logs() for row in rows)
        self._weights = stacked(row.weights() for row in rows)
        sizes = [row.logs().size for row in rows]
        self._slow, self._cheap = (
            np.repeat(each, sizes)
            for each in ([row.slow for row in rows], [row.cheap for row in rows])
        )

    def tried(self, designs: Sequence[Design]) -> list[Tried]:
        """Run designs as they are."""
        return self._judged(designs, self._misses(designs))

    def tried_quickly(self, designs: Sequence[Design], like: Tried) -> list[Tried]:
        """Run designs on what is cheap; of the rest they are taken to do as another does."""
        ran = self._misses(designs, "cheap")
        return self._judged(designs, [np.where(self._cheap, each, like.misses) for each in ran])

    def _judged(
        self, designs: Sequence[Design], misses: Sequence[npt.NDArray[np.float64]]
    ) -> list[Tried]:
        pairs = zip(designs, misses, strict=True)
        return [Tried(design, each, self.cost(each)) for design, each in pairs]

    def cost(self, misses: npt.NDArray[np.float64]) -> float:
        """Return what misses cost on average (soft L1)."""
        squares = (misses * self._weights / SMALL) ** 2
        return float(np.mean(2 * (np.sqrt(1 + squares) - 1)) * SMALL**2)

    def _misses(
        self, designs: Sequence[Design], which: Which = "all"
    ) -> list[npt.NDArray[np.float64]]:
        ran = self.runner.logs(designs, which)
        return [
            np.nan_to_num(np.clip(logs - self._wanted, -FAILED, FAILED), nan=FAILED) for logs in ran
        ]

    def fitted(self, at: Tried, steps: int, like: Tried | None = None) -> Tried:
        """Fit the numbers of a design, all together.

        Parameters
        ----------
        at
            Where to begin; with slopes, if some are known.
        steps
            How many are taken at most.
        like
            What was found of such a design on the quick rows alone.
        """
        fresh = False
        for _ in range(steps):
            if at.cost < ENOUGH or self.runner.over:
                break
            if at.slopes is None:
                at, fresh = self.sloped(at, like), like is None
            better = self.stepped(at)
            if better is not at:
                at, fresh = better, False
            elif fresh:
                break
            else:
                at, like = replace(at, slopes=None), None
        self.kept.append(at)
        return at

    def stepped(self, at: Tried) -> Tried:
        """Take the boldest step that is better; stay if none is."""
        for by in self._moves(at, at):
            (trial,) = self.tried([moved(at.design, by)])
            if trial.cost < GAIN * at.cost:
                return replace(trial, free=at.free, slopes=_carried(at, trial))
        return at

    def sloped(self, at: Tried, like: Tried | None = None) -> Tried:
        """Change each number a little, and see what depends on it, if that is not known.

        Parameters
        ----------
        at
            A design.
        like
            Of such a one slopes on the quick rows may be known.
        """
        if at.slopes is not None:
            return at
        free = tuple(free_of(at.design))
        slopes = np.zeros((at.misses.size, len(free)))
        known = {} if like is None else like.slopes_by_key
        for place, each in enumerate(free):
            if each.key in known:
                slopes[~self._slow, place] = known[each.key]
        unknown = [each for each in free if each.key not in known]
        self._measure(slopes, at, free, unknown, "quick")
        self._measure(slopes, at, free, [each for each in free if each.at_rest], "slow")
        return replace(at, free=free, slopes=slopes)

    def _measure(
        self,
        slopes: npt.NDArray[np.float64],
        at: Tried,
        free: Sequence[Free],
        asked: Sequence[Free],
        which: Which,
    ) -> None:
        """Fill in what depends on some numbers, on rows that are quick or slow."""
        rows = self._slow if which == "slow" else ~self._slow
        if not rows.any():
            return
        changed = [moved(at.design, {each: each.step}) for each in asked]
        for each, design, there in zip(asked, changed, self._misses(changed, which), strict=True):
            place = free.index(each)
            if by := _moved_by(at.design, design, free)[place]:
                slopes[rows, place] = (there - at.misses)[rows] / by

    def promised(self, tried: Tried, like: Tried) -> float:
        """Return the cost of a design, were its numbers fitted and its slopes those of another."""
        if like.slopes is None:
            return tried.cost
        by = next(self._moves(tried, like))
        return self.cost(tried.misses + like.slopes @ np.array(list(by.values())))

    def _moves(self, at: Tried, like: Tried) -> Iterator[dict[Free, float]]:
        """Return steps by the slopes of a design, from bold to careful."""
        if like.slopes is None:
            return
        off = at.misses * self._weights
        weights = self._weights * (1 + (off / SMALL) ** 2) ** -0.25
        far = np.array([self.known.get(each.key, FAR) for each in like.free])
        scaled = like.slopes * weights[:, None]
        for damping in DAMPINGS:
            size = np.sqrt(damping * np.mean(np.sum(scaled**2, axis=0)) + 1e-12)
            matrix = np.vstack([scaled, np.diag(1 / far), size * np.eye(far.size)])
            target = np.concatenate([-at.misses * weights, np.zeros(2 * far.size)])
            by = np.linalg.lstsq(matrix, target, rcond=None)[0]
            yield dict(zip(like.free, np.clip(by, -FURTHEST, FURTHEST).tolist(), strict=True))

    def quick(self, each: Tried, like: Tried, steps: int = 2) -> Tried:
        """Fit a neighbour with the slopes of the design beside it, which cost nothing."""
        if like.slopes is None:
            return each
        free, none = tuple(free_of(each.design)), np.zeros(each.misses.size)
        known = like.slopes_by_key
        slopes = np.column_stack([known.get(one.key, none) for one in free])
        at = replace(each, free=free, slopes=slopes)
        for _ in range(steps):
            better = self.stepped(at)
            if better is at:
                break
            at = better
        return at


def _moved_by(before: Design, after: Design, free: Sequence[Free]) -> npt.NDArray[np.float64]:
    """Return by how much numbers changed, as logarithms: whole ones move in steps."""
    pairs = ((before.number(each.key), after.number(each.key)) for each in free)
    return np.array([np.log(new / old) if old > 0 < new else 0.0 for old, new in pairs])


def _carried(at: Tried, trial: Tried) -> npt.NDArray[np.float64] | None:
    """Correct slopes by what a step came to."""
    by = _moved_by(at.design, trial.design, at.free)
    length = float(by @ by)
    if at.slopes is None or length < 1e-12:
        return at.slopes
    surprise = trial.misses - at.misses - at.slopes @ by
    return at.slopes + np.outer(surprise, by) / length
