"""The asymptotic bounds of a closed loop, fitted: a request alone, or the queue that it waits in.

With few requests in flight each takes the time that it takes alone. With many, the part of the
drive that is busiest is never idle: a request takes the time of one there for each in flight. Its
latency is never less than either (Denning and Buzen 1978), and near the larger one of both. A sum
of both is twice that where they are alike, at the knee. So they are joined by a norm,
``(alone**p + queue**p)**(1/p)``, whose order p is fitted, too: 1 is the sum, and a knee of a drive
that takes up requests as they come is nearly the larger one.
"""

from typing import Any

import numpy as np
import numpy.typing as npt

Array = npt.NDArray[Any]
SHARPEST = 16.0
"""Of two times that are alike the norm is 4 % above the larger one: data cannot tell more."""
FIRST_SHARPNESS = 4.0
LEAST_COEFFICIENT = 1e-3
"""As a share of a typical latency: where a search over logarithms begins if a time was left out."""
OUTLYING = 0.05
"""Misses of the logarithm count by their square up to here, and beyond by their size."""
STEPS = 100


def bounds_of(terms: Array, target: Array, first: Array) -> tuple[Array, float]:
    """Fit what times are proportional to, and how sharply the larger one of two bounds rules.

    Parameters
    ----------
    terms : ndarray, shape (n, 2 * times)
        Of the queue first, then the same of a request alone; none negative.
    target : ndarray, shape (n,)
        Positive.
    first : ndarray, shape (2 * times,)
        Coefficients of a sum that is near the target.

    Returns
    -------
    coefficients, sharpness
    """
    from scipy.optimize import least_squares

    scale = np.maximum(terms.max(axis=0), 1e-300)
    takes = np.flatnonzero((terms > 0).any(axis=0))
    scaled = (terms / scale)[:, takes]
    queue = takes < terms.shape[1] // 2
    begin = np.maximum((first * scale)[takes], LEAST_COEFFICIENT * float(np.median(target)))
    limits = np.full(len(takes) + 1, np.inf)
    limits[-1] = np.log(SHARPEST)
    wanted = np.log(target)

    def missed(logs: Array) -> Array:
        off: Array = _log_total(logs, scaled, queue)[0] - wanted
        return off

    def slopes(logs: Array) -> Array:
        return _log_total(logs, scaled, queue)[1]

    found = least_squares(
        missed,
        np.append(np.log(begin), np.log(FIRST_SHARPNESS)),
        jac=slopes,
        bounds=(np.append(np.full(len(takes), -np.inf), 0.0), limits),
        loss="soft_l1",
        f_scale=OUTLYING,
        max_nfev=STEPS,
    )
    coefficients = np.zeros(terms.shape[1])
    coefficients[takes] = np.exp(found.x[:-1]) / scale[takes]
    return coefficients, float(np.exp(found.x[-1]))


def _log_total(logs: Array, terms: Array, queue: Array) -> tuple[Array, Array]:
    """Compute the logarithm of the joined times, and its derivatives; (n,) and (n, times + 1)."""
    times, sharpness = terms * np.exp(logs[:-1]), np.exp(logs[-1])
    sides = np.column_stack([times[:, queue].sum(axis=1), times[:, ~queue].sum(axis=1)])
    sides = np.maximum(sides, 1e-300)
    ratios = np.log(sides / sides.max(axis=1, keepdims=True))
    weights = np.exp(sharpness * ratios)
    norm = weights.sum(axis=1)
    total = np.log(sides.max(axis=1)) + np.log(norm) / sharpness
    share = weights / norm[:, None]
    slopes = np.empty((len(terms), len(logs)))
    slopes[:, :-1][:, queue] = times[:, queue] * (share / sides)[:, :1]
    slopes[:, :-1][:, ~queue] = times[:, ~queue] * (share / sides)[:, 1:]
    slopes[:, -1] = (share * ratios).sum(axis=1) - np.log(norm) / sharpness
    return total, slopes
