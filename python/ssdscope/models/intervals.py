"""Intervals by conformal prediction: they cover whatever the errors look like.

How far predictions are off is seen on rows that the model did not learn from: in
cross-validation each row is predicted by a model without its fold, so that all of them calibrate
(Lei et al. 2018, split by split). The interval reaches as far, in the logarithm, as the errors of
nine rows in ten. Errors grow with the latency; so this is done apart in each third of the
predictions, if there are enough rows (Mondrian: Vovk et al. 2005).

Models without a fold have learnt from less than the model of all rows, and are off by more: on all
drives of huang2011 errors fall as rows to the power of 0.12 to 0.21 grow (512 to 4,096 of them,
docs/models.md). So the reaches are a little less than what folds say.

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

Array = npt.NDArray[Any]
COVERAGE = 0.9
PARTS = 3
LEAST_ROWS = 40
"""Rows that a part has at least; with fewer all are taken together."""

LEARNING = 0.18
"""Errors go with the rows to minus this power."""
FOLLOWS = 0.05
"""By how much of what it missed by the share that is reached moves."""
FIRST_ROWS = 10
"""Rows in the order of time before the first that is followed."""


@dataclass(frozen=True, eq=False)
class Reach:
    """How far an interval goes in either direction, in the logarithm of the target.

    Attributes
    ----------
    edges : ndarray, shape (parts - 1,)
        Logarithms of predictions where the parts meet.
    reaches : ndarray, shape (parts,)
        Half widths.
    rows : int
        How many rows it was calibrated on.
    """

    edges: Array
    reaches: Array
    rows: int

    @classmethod
    def of(cls, predicted: Array, measured: Array, *, lacked: float = 0.0) -> Self:
        """Calibrate on predictions of rows that were not learnt from.

        Parameters
        ----------
        predicted, measured : ndarray, shape (n,)
            Positive.
        lacked
            The share of rows that the model whose intervals are wanted knows, and those that
            predicted here did not.
        """
        guess, off = np.log(predicted), np.abs(np.log(measured / predicted))
        parts = PARTS if len(guess) >= PARTS * LEAST_ROWS else 1
        edges = np.quantile(guess, np.arange(1, parts) / parts)
        part = np.searchsorted(edges, guess, side="right")
        reaches = [_rank(sorted(off[part == number].tolist()), COVERAGE) for number in range(parts)]
        return cls(edges, np.array(reaches) * (1 - lacked) ** LEARNING, len(guess))

    def interval(self, predicted: Array) -> Array:
        """Give low and high; shape (n, 2)."""
        reach = self.reaches[np.searchsorted(self.edges, np.log(predicted), side="right")]
        return np.column_stack([predicted * np.exp(-reach), predicted * np.exp(reach)])

    def to_json(self) -> dict[str, Any]:
        """Write it as plain data."""
        return {
            "coverage": COVERAGE,
            "edges_ln": self.edges.tolist(),
            "reaches_ln": self.reaches.tolist(),
            "rows": self.rows,
        }

    @classmethod
    def from_json(cls, data: dict[str, Any]) -> Self:
        """Read what `to_json` wrote."""
        edges, reaches = (np.array(data[key], dtype=float) for key in ("edges_ln", "reaches_ln"))
        if len(reaches) != len(edges) + 1:
            raise ValueError("an interval whose parts and edges do not go together")
        return cls(edges, reaches, int(data["rows"]))


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
