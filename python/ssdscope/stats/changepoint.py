"""Where a rising curve stops rising, and where it rises again."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

import numpy as np

if TYPE_CHECKING:
    from collections.abc import Sequence

    from numpy.typing import ArrayLike, NDArray


def second_rise(depths: ArrayLike, rates: ArrayLike) -> tuple[int, int] | None:
    """Find where a rate that had stopped growing grows again: two steps instead of one.

    The gain of a saturating curve from one depth to twice that depth only ever shrinks. The
    pair of doublings is sought, one behind the other, between which it grows most.

    Parameters
    ----------
    depths, rates : array_like, shape (n,)
        Depths sorted; both positive.

    Returns
    -------
    tuple of int or None
        Indices at which the flat and the steeper doubling begin; None if none is steeper.
    """
    xs = np.asarray(depths, dtype=float)
    gains = doubling_gains(xs, rates)
    starts = np.flatnonzero(~np.isnan(gains))
    growth = {
        (flat, steep): gains[steep] - gains[flat]
        for flat in starts
        for steep in starts
        if 2 * xs[flat] <= xs[steep]
    }
    best = max(growth, key=lambda pair: growth[pair], default=None)
    if best is None or growth[best] <= 0:
        return None
    return int(best[0]), int(best[1])


def doubling_gains(depths: ArrayLike, rates: ArrayLike) -> NDArray[Any]:
    """Give the growth of the logarithm of a rate from each depth to twice that depth.

    Returns
    -------
    ndarray, shape (n,)
        NaN where twice the depth was not measured.
    """
    xs, logs = np.asarray(depths, dtype=float), np.log(np.asarray(rates, dtype=float))
    gains = np.full(len(xs), np.nan)
    for index, depth in enumerate(xs):
        twice = np.flatnonzero(xs == 2 * depth)
        if twice.size:
            gains[index] = logs[twice[0]] - logs[index]
    return gains


def isotonic(values: ArrayLike) -> NDArray[Any]:
    """Give the nearest values, by least squares, that never fall."""
    from scipy.optimize import isotonic_regression

    return np.asarray(isotonic_regression(np.asarray(values, dtype=float)).x)


def saturation_depth(depths: ArrayLike, rates: ArrayLike, share: float = 0.9) -> float:
    """Return the depth at which a rate first reaches ``share`` of what the deepest queue gives.

    That is measured; what a law of saturation would give beyond depends on which law is believed.
    Rates that fall by noise are evened out first; between two depths the curve is taken as a
    straight line over the logarithm of the depth.

    Parameters
    ----------
    depths, rates : array_like, shape (n,)
        Depths sorted; both positive.
    share : float
        In (0, 1].
    """
    return float(saturation_depths(np.atleast_2d(depths), np.atleast_2d(rates), (share,))[0, 0])


def saturation_depths(
    depths: ArrayLike, rates: ArrayLike, shares: Sequence[float]
) -> NDArray[np.float64]:
    """Return the depths of several curves and shares; as `saturation_depth`.

    Parameters
    ----------
    depths, rates : array_like, shape (curves, n)

    Returns
    -------
    ndarray, shape (shares, curves)
    """
    xs = np.log2(np.asarray(depths, dtype=float))
    ys = np.array([isotonic(each) for each in np.asarray(rates, dtype=float)])
    curves, found = np.arange(len(xs)), np.empty((len(shares), len(xs)))
    for share, row in zip(shares, found, strict=True):
        target = share * ys[:, -1]
        at = np.argmax(ys >= target[:, None], axis=1)
        before = np.maximum(at - 1, 0)
        low, high = ys[curves, before], ys[curves, at]
        rise = np.where(at > 0, high - low, 1.0)
        fraction = np.where(at > 0, (target - low) / rise, 0.0)
        row[:] = 2 ** (xs[curves, before] + fraction * (xs[curves, at] - xs[curves, before]))
    return found


def settling_requests(depth: int) -> int:
    """Say after how many requests at random places a queue of so many is as uneven as it stays.

    Fresh it is spread evenly over the dies and up to an eighth faster than later, when it is long
    on some and short on others, which eight times its depth bring about; or up to a fifth, where
    dies keep step, as those of deep queues do until lengths that differ by chance have come to
    differ by the depth: a random walk, which takes as many steps as its square.
    """
    return max(8 * depth, depth**2 // 2)
