"""How far apart events come back: the period of what happens once in so many steps."""

from __future__ import annotations

import math
from dataclasses import dataclass
from typing import TYPE_CHECKING

import numpy as np

if TYPE_CHECKING:
    from numpy.typing import ArrayLike, NDArray

SHORTEST = 4
REPEATS = 6
"""A period must fit so often into the series."""
AS_GOOD = 0.75
"""Multiples of a period have as many returns as it has; what has almost as many is shorter."""
LOOSE_FROM = 32
"""From this lag on an event may be one step early or late."""
NEIGHBOURS = 101
"""Lags whose median says how many returns there are by chance where events come in bursts."""
ALL_ALONG = 0.5
"""Times the square of the share of events that return, as of two neighbouring rounds each shows it
by that share: of the rounds since the first one in so many more than by chance an event returns.
What returns within bursts, with nothing in between, is no period."""


@dataclass(frozen=True)
class Recurrence:
    """A lag after which events return.

    Attributes
    ----------
    period
        In steps.
    share
        Of the events, how many are followed by another after one period.
    p_value
        Of so many returns at any lag, if events came at random, or in bursts in which the lags
        around have as many: Poisson, times the lags tried.
    """

    period: int
    share: float
    p_value: float


def recurrence(events: ArrayLike) -> Recurrence | None:
    """Find the shortest lag at which events return as often as at any.

    Parameters
    ----------
    events : array_like of bool, shape (n,)
        Whether something happened at each step; a row of consecutive ones counts as its first.

    Returns
    -------
    Recurrence or None
        None if there are fewer events than make a period, or none that returns more often than
        it would by chance.
    """
    from scipy.ndimage import median_filter
    from scipy.stats import poisson

    first = first_of_each(np.asarray(events, dtype=bool))
    count, n = int(np.count_nonzero(first)), first.size
    longest = n // REPEATS
    if count < REPEATS or longest <= SHORTEST:
        return None
    pairs = returns(first, longest)
    lags = np.arange(SHORTEST, longest + 1)
    loose = np.where(lags >= LOOSE_FROM, 3, 1)
    expected = (count / n) ** 2 * (n - lags) * loose
    found = summed(pairs)[lags]
    found = np.where(lags >= LOOSE_FROM, found, pairs[lags])
    # Where one step more or less counts, too, there are more by chance: each with its like.
    alike = np.split(found, [LOOSE_FROM - SHORTEST])
    around = [median_filter(part, NEIGHBOURS, mode="mirror") for part in alike if part.size]
    by_chance = np.maximum(expected, np.concatenate(around))
    p_values = np.minimum(poisson.sf(found - 0.5, by_chance) * lags.size, 1.0)
    # Of the events within reach of a later one.
    share = (found - expected) / (count * (1 - lags / n))
    likely = np.flatnonzero(p_values <= max(p_values.min() ** 0.5, 1e-300))
    most = share[likely].max()
    if most <= 0:
        return None
    good = likely[share[likely] >= AS_GOOD * most]
    lasting = (each for each in good if _all_along(first, int(lags[each]), share[each]))
    best = next((int(each) for each in lasting), None)
    if best is None:
        return None
    if best != good[0]:  # bursts return, and what is early in one after less than a round
        beyond = good[(good >= best) & (lags[good] < (1 + AS_GOOD) * lags[best])]
        best = int(beyond[share[beyond].argmax()])
    near = slice(max(best - 1, 0), best + 2)
    peak = int(lags[near][np.argmax(pairs[lags[near]])])
    whole = Recurrence(peak, float(share[best]), float(p_values[best]))
    part = _part(_loose(pairs, count / n, by_chance), whole)
    return part if part and _all_along(first, part.period, part.share, loose=True) else whole


def _all_along(
    events: NDArray[np.bool_], period: int, share: float, *, loose: bool = False
) -> bool:
    """Tell whether an event returns in enough of the rounds, from the first one on."""
    again = events[period:].copy()
    if loose or period >= LOOSE_FROM:
        again[1:] |= events[period:-1]
        again[:-1] |= events[period + 1 :]
    begin, end = int(events.argmax()), events.size - period
    returning = np.flatnonzero(events[begin:end] & again[begin:])
    rounds = max((end - begin) // period, 1)
    expected = period * float(events[begin:end].mean() * again[begin:].mean())
    by_chance = -math.expm1(-expected)
    with_one = np.unique(returning // period).size / rounds
    return with_one >= by_chance + ALL_ALONG * share**2 * (1 - by_chance)


@dataclass(frozen=True)
class _Loose:
    """Share of events that return after each lag, a step more or less; and how improbable that is.

    Both have shape (lags,), from `SHORTEST` on.
    """

    share: NDArray[np.float64]
    p_values: NDArray[np.float64]


def _loose(pairs: NDArray[np.float64], rate: float, by_chance: NDArray[np.float64]) -> _Loose:
    """Count three lags together, short ones too.

    Parameters
    ----------
    pairs
        Pairs of events by lag, as `returns` gives them.
    rate
        Events in a step.
    by_chance : ndarray, shape (lags,)
        From `SHORTEST` on, how many there are; of one lag before `LOOSE_FROM`, else of three.
    """
    from scipy.stats import poisson

    steps, lags = round(pairs[0] / rate), SHORTEST + np.arange(by_chance.size)
    found = summed(pairs)[lags]
    expected = 3 * rate**2 * (steps - lags)
    likely = np.maximum(np.where(lags < LOOSE_FROM, 3.0, 1.0) * by_chance, expected)
    share = (found - expected) / (pairs[0] * (1 - lags / steps))
    return _Loose(share, np.minimum(poisson.sf(found - 0.5, likely) * lags.size, 1.0))


def _part(loose: _Loose, whole: Recurrence) -> Recurrence | None:
    """Find the shortest part of a period after which about as much returns, a step more or less.

    Shorter lags than `LOOSE_FROM` are counted to the step: of one whose events come a step early or
    late a multiple would have more. Of longer ones a multiple may look more certain by chance.
    """
    for parts in range(whole.period // SHORTEST, 1, -1):
        lag = round(whole.period / parts)
        if abs(whole.period - lag * parts) > (lag >= LOOSE_FROM):
            continue
        at = lag - SHORTEST
        share, p_value = float(loose.share[at]), float(loose.p_values[at])
        if share >= AS_GOOD * whole.share and p_value <= max(whole.p_value**0.5, 1e-300):
            return Recurrence(lag, share, p_value)
    return None


def first_of_each(events: NDArray[np.bool_]) -> NDArray[np.bool_]:
    """Leave of each row of consecutive events the first."""
    first: NDArray[np.bool_] = events.copy()
    first[1:] &= ~events[:-1]
    return first


def returns(events: NDArray[np.bool_], longest: int) -> NDArray[np.float64]:
    """Count pairs of events at each lag up to the longest, shape (longest + 2,)."""
    size = 1 << int(np.ceil(np.log2(events.size + longest + 2)))
    spectrum = np.fft.rfft(events.astype(float), size)
    pairs = np.fft.irfft(spectrum * spectrum.conj(), size)[: longest + 2]
    return np.round(pairs)


def summed(returns: NDArray[np.float64]) -> NDArray[np.float64]:
    """Add to each lag the one before it and the one after it."""
    padded = np.concatenate([[0.0], returns, [0.0]])
    total: NDArray[np.float64] = padded[:-2] + padded[1:-1] + padded[2:]
    return total
