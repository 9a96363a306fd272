"""Intervals by conformal prediction: they cover whatever the errors look like.

How far predictions are off is seen on rows that the model did not learn from: in
cross-validation each row is predicted by a model without its fold, so that all of them calibrate
(Lei et al. 2018, split by split). Errors are not everywhere alike: reads in order may be known to a
percent where writes among them are not to a quarter. So a small tree of constants says how large an
error of the logarithm usually is, by the workload and by what is predicted, and the interval
reaches so many times as far as nine rows in ten need (normalised conformal prediction: Papadopoulos
et al. 2008; Lei et al. 2018, 5.2). A row is held to a tree that was grown without its fold, too.

Models without a fold have learnt from less than the model of all rows, and are off by more; the
fewer the rows, the more so. Reaches of what folds say alone cover 93 to 94 % where nine of ten
rows learnt from are 230, and 91.5 % where they are 920 (docs/models.md). So they are shortened.

That holds for rows that are like those it was calibrated on. Of rows in the order of time, each
known before the next is predicted, `following` makes intervals that hold whatever comes: after
each miss the share of known errors that they reach rises, after each hit it falls (adaptive
conformal inference: Gibbs and Candes 2021).
"""

import bisect
import math
from collections.abc import Sequence
from dataclasses import dataclass
from typing import Any, Self

import numpy as np
import numpy.typing as npt

from ssdscope.models.guide.model import GuideModel

Array = npt.NDArray[Any]
COVERAGE = 0.9
LEAST_ROWS, MOST_LEAVES = 20, 6
"""Of a leaf of the tree, and how many it has."""
LEAST_ERROR = 0.005
"""Added to errors before their logarithm: a row that is hit by luck says little."""
FOLDS = 10

LEARNING, LEARNING_MAX = 16.0, 1.0
"""Reaches go with the rows to minus a power, which falls with the root of how many there are."""
FOLLOWS = 0.05
"""By how much of what it missed by the share that is reached moves."""
FIRST_ROWS = 10
"""Rows in the order of time before the first that is followed."""


@dataclass(frozen=True, eq=False)
class Reach:
    """How far an interval goes in either direction, in the logarithm of the target.

    Attributes
    ----------
    usual : GuideModel
        How large an error usually is: of the columns that are told of a workload, and, last, of
        the logarithm of what is predicted.
    times : float
        So many times as far.
    rows : int
        How many rows it was calibrated on.
    """

    usual: GuideModel
    times: float
    rows: int

    @classmethod
    def of(
        cls,
        predicted: Array,
        measured: Array,
        told: Array | None = None,
        folds: Array | None = None,
        *,
        lacked: float = 0.0,
    ) -> Self:
        """Calibrate on predictions of rows that were not learnt from.

        Parameters
        ----------
        predicted, measured : ndarray, shape (n,)
            Positive.
        told : ndarray, shape (n, columns)
            What is known of a row beside what is predicted; None for nothing.
        folds : ndarray, shape (n,)
            Rows of one fold are not held to each other; None for folds of single rows.
        lacked
            The share of rows that the model whose intervals are wanted knows, and those that
            predicted here did not.
        """
        points, off = _points(predicted, told), np.abs(np.log(measured / predicted))
        folds = np.arange(len(off)) % FOLDS if folds is None else folds
        times = np.empty(len(off))
        for fold in np.unique(folds):
            out = folds == fold
            known = ~out if not out.all() else out
            times[out] = off[out] / _usual(points[known], off[known]).evaluate(points[out])
        reach = _rank(sorted(times.tolist()), COVERAGE)
        power = min(LEARNING_MAX, LEARNING / len(off) ** 0.5)
        return cls(_usual(points, off), reach * (1 - lacked) ** power, len(off))

    def interval(self, predicted: Array, told: Array | None = None) -> Array:
        """Give low and high; shape (n, 2)."""
        reach = self.times * self.usual.evaluate(_points(predicted, told))
        return np.column_stack([predicted * np.exp(-reach), predicted * np.exp(reach)])

    def to_json(self) -> dict[str, Any]:
        """Write it as plain data."""
        return {
            "coverage": COVERAGE,
            "usual_ln": self.usual.to_json(),
            "times": self.times,
            "rows": self.rows,
        }

    @classmethod
    def from_json(cls, data: dict[str, Any]) -> Self:
        """Read what `to_json` wrote."""
        usual = GuideModel.from_json(data["usual_ln"])
        return cls(usual, float(data["times"]), int(data["rows"]))


def _points(predicted: Array, told: Array | None) -> Array:
    guess = np.log(predicted)[:, None]
    return guess if told is None else np.hstack([told, guess])


def _usual(points: Array, off: Array) -> GuideModel:
    """Grow a tree of how large errors usually are."""
    from ssdscope.models.estimators import CartRegressor

    tree = CartRegressor(LEAST_ROWS, max_leaf_nodes=MOST_LEAVES, log_target=True, random_state=0)
    return tree.fit(points, off + LEAST_ERROR).model_


def _rank(ordered: Sequence[float], coverage: float) -> float:
    """Give the value that a new one exceeds with a chance of 1 - coverage."""
    rank = math.ceil((len(ordered) + 1) * coverage)
    return float(ordered[min(max(rank, 1), len(ordered)) - 1])


def following(errors: Array, known: Array) -> Array:
    """Give half widths, each from the errors before it; shape (n,).

    Parameters
    ----------
    errors
        Absolute errors of the logarithm in the order of time, at least `FIRST_ROWS`.
    known
        Whether an error is known before the next row is predicted.
    """
    past, share = sorted(errors[:FIRST_ROWS].tolist()), COVERAGE
    halves = np.full(len(errors), past[-1])
    for place in range(FIRST_ROWS, len(errors)):
        halves[place] = _rank(past, share)
        if known[place]:
            share += FOLLOWS * (float(errors[place] > halves[place]) - (1 - COVERAGE))
            bisect.insort(past, float(errors[place]))
    return halves


def covered(interval: Array, measured: Array) -> Array:
    """Tell which values lie in their intervals; booleans of shape (n,)."""
    inside: Array = (interval[:, 0] <= measured) & (measured <= interval[:, 1])
    return inside
