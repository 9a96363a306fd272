"""What a drive does with so many requests inside, by what it does with some of them held back.

Noise, a spike or drift holds an answer back without occupying the drive. Where few requests are
inside, a queue of them is not a little shorter all the time: now all are inside, now one is not.
Each is inside for the same share of the time, by itself, so that their number follows a binomial
law, and the rate of a queue is the mean of the rates of all shorter ones, by that law. The rate at
each depth follows from it and from those below, as long as all are inside often enough.
"""

from __future__ import annotations

from typing import TYPE_CHECKING

import numpy as np

if TYPE_CHECKING:
    from numpy.typing import NDArray

__all__ = ["never_held"]

OFTEN = 0.5
"""Share of the time that all requests of a queue are inside, below which the rate with all of them
inside is more what was worked out before than what was measured."""


def never_held(
    depths: NDArray[np.float64],
    rates: NDArray[np.float64],
    inside: NDArray[np.float64],
    strata: NDArray[np.int64],
) -> tuple[NDArray[np.float64], NDArray[np.float64]]:
    """Return rates of queues as if no answer were held back, as deep as that is known.

    Parameters
    ----------
    depths, rates, inside : ndarray, shape (n,)
        Requests in flight, what was read per second, and how many were inside in the mean.
    strata : ndarray of int, shape (n,)
        What was measured together; each depth is once in a stratum.

    Returns
    -------
    inside, rates : ndarray, shape (n,)
        For deeper queues as they were measured.
    """
    from scipy.stats import binom

    places, even = inside.copy(), rates.copy()
    for stratum in np.unique(strata):
        rows = np.flatnonzero(strata == stratum)
        known, values = [0.0], [0.0]
        for row in rows[np.argsort(depths[rows])]:
            depth, share = depths[row], min(inside[row] / depths[row], 1.0)
            if share**depth < OFTEN:
                break
            count = np.arange(depth + 1)
            often = binom.pmf(count, depth, share)
            # Between the last rate that is known and this one, both count.
            own = np.clip((count - known[-1]) / (depth - known[-1]), 0, 1)
            others = float(often @ ((1 - own) * np.interp(count, known, values)))
            places[row], even[row] = depth, (rates[row] - others) / float(often @ own)
            known.append(float(depth))
            values.append(float(even[row]))
    return places, even
