"""When "there is no effect" may be said: two one-sided tests (TOST)."""

from __future__ import annotations

import math
from dataclasses import dataclass
from typing import TYPE_CHECKING

import numpy as np

if TYPE_CHECKING:
    from numpy.typing import ArrayLike


@dataclass(frozen=True)
class Equivalence:
    """The verdict of :func:`tost`."""

    p_value: float
    bound: float
    """The largest effect that is still compatible with the data (one-sided)."""

    def holds(self, alpha: float = 0.05) -> bool:
        """Whether every effect of at least the margin is ruled out."""
        return self.p_value < alpha


def tost(differences: ArrayLike, margin: float, alpha: float = 0.05) -> Equivalence:
    """Test whether the mean of paired ``differences`` lies inside (-margin, +margin).

    Parameters
    ----------
    differences : array_like, shape (n,)
        At least two.
    margin : float
        The smallest effect that would matter, in the unit of the differences.
    alpha : float
        Error probability of the one-sided bound.
    """
    from scipy.special import stdtr, stdtrit

    sample = np.asarray(differences, dtype=float)
    if sample.size < 2:
        raise ValueError("an equivalence test needs at least two differences")
    if margin <= 0:
        raise ValueError(f"the margin must be positive, not {margin}")
    mean = float(sample.mean())
    error = float(sample.std(ddof=1)) / math.sqrt(sample.size)
    freedom = sample.size - 1
    if error == 0:
        return Equivalence(0.0 if abs(mean) < margin else 1.0, abs(mean))
    above = 1 - float(stdtr(freedom, (mean + margin) / error))
    below = float(stdtr(freedom, (mean - margin) / error))
    bound = abs(mean) + float(stdtrit(freedom, 1 - alpha)) * error
    return Equivalence(max(above, below), bound)
