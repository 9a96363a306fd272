"""Writes that wait for collection: after how many of them they return."""

from __future__ import annotations

from typing import TYPE_CHECKING

import numpy as np

from ssdscope import stats
from ssdscope.probes.slow_writes import FINE_THRESHOLDS, THRESHOLDS

if TYPE_CHECKING:
    from numpy.typing import NDArray

SURE = {0.3: 1e-6, 0.2: 1e-9, 0.1: 1e-12, 0.05: 1e-20}
"""How improbable by chance returns must be that make so small a share of all that is slow."""
SHORT, LONG_REQUEST_BYTES = 32, 128 * 1024
"""Writes: with shorter periods planes and pages of unlike speed return, too, though little slower,
but for requests that lie on many of them."""
LEAST_BLOCK_BYTES = 64 * 1024
"""No flash is erased in smaller blocks."""
SURE_OF_MANY = {0.3: 1e-6, 0.2: 1e-30}
"""Likewise of many requests at once, which wait for each other, and so return with the stripe."""
FITS = 10
"""A period must fit so often into what was written."""
UNEVEN_PARTS, ALSO_SLOW = (4, 3, 2), 0.3
"""Of a period: waits in it that are looked for; and the share of the rise that each must have."""
TURNS, LEAST_ROUNDS, BY_CHANCE = (2, 3, 4), 4, 1e-4
"""So many waits may take turns, so often at least; how improbable by chance their lengths are."""


def period_of(
    slow: NDArray[np.float64],
    size_bytes: int,
    *,
    alone: bool = True,
    shortest: int = 1,
    known_bytes: float = 0.0,
) -> stats.Recurrence | None:
    """Find the period of slow writes, by the threshold at which they return most surely.

    Parameters
    ----------
    slow : ndarray, shape (n,)
        Latencies over the usual ones, as `relative` gives them.
    size_bytes
        Of a write.
    alone
        Whether they were written one by one.
    shortest
        Writes: shorter periods do not count.
    known_bytes
        What another probe lets expect: taken before any other that is sure. Where waits of unlike
        length take turns, a higher threshold sees only every other, and more surely.

    Returns
    -------
    Recurrence or None
        None if at no threshold slow writes return more often than chance would have it.
    """
    thresholds, most = (FINE_THRESHOLDS, SURE) if alone else (THRESHOLDS, SURE_OF_MANY)
    sure: list[stats.Recurrence] = []
    for threshold in thresholds:
        found = stats.recurrence(slow > threshold)
        least = max(shortest, LEAST_BLOCK_BYTES / size_bytes)
        if found is None or found.period < least:
            continue
        plain = found.period >= SHORT or size_bytes >= LONG_REQUEST_BYTES
        clear = threshold >= THRESHOLDS[0] and _is_sure(found, SURE_OF_MANY)
        if _is_sure(found, most) and (plain or clear) and FITS * found.period <= slow.size:
            sure.append(found)
    expected = [each for each in sure if each.period * size_bytes == known_bytes]
    return max(expected or sure, key=lambda each: each.share, default=None)


def folded(slow: NDArray[np.float64], period: int) -> NDArray[np.float64]:
    """Give the median at each place within a period, over the last periods of the series."""
    rounds = max(min(slow.size // period, FITS), 1)
    return np.asarray(np.median(slow[-rounds * period :].reshape(rounds, period), axis=0))


def uneven_parts(slow: NDArray[np.float64], period: int) -> int:
    """Count the waits in a period that are evenly apart, but for whole writes; 1 if it is one.

    What returns after 13.5 writes is at the same place of a period only after 27.
    """
    profile = folded(slow, period)
    first, rise = int(profile.argmax()), float(profile.max()) - 1
    for parts in UNEVEN_PARTS:
        apart = first + np.arange(1, parts) * period / parts
        held = [profile[each.astype(int) % period] for each in (np.floor(apart), np.ceil(apart))]
        if period % parts and np.maximum(*held).min() - 1 >= ALSO_SLOW * rise:
            return parts
    return 1


def taking_turns(slow: NDArray[np.float64], period: int) -> int:
    """Count the waits after which equally long ones return; 1 if all are alike.

    Every second, third or fourth wait is held against the others (Kruskal and Wallis 1952). Each
    may come a write early or late.
    """
    from scipy.stats import kruskal

    whole = slow[: slow.size // period * period].reshape(-1, period)
    waits = np.arange(int(np.log(whole).mean(axis=0).argmax()), slow.size, period)
    length = np.array([slow[max(wait - 1, 0) : wait + 2].max() for wait in waits])
    chances = {1: BY_CHANCE}
    for turns in TURNS:
        several = [length[start::turns] for start in range(turns)]
        if length.size >= LEAST_ROUNDS * turns and np.ptp(length) > 0:
            chances[turns] = float(kruskal(*several).pvalue)
    return min(chances, key=lambda each: chances[each])


def train_of(
    slow: NDArray[np.float64], shortest: int, thresholds: tuple[float, ...]
) -> stats.Recurrence | None:
    """Find the period of slow writes that are few among others, by the surest threshold.

    What returns as surely after a part of it is not few among others, but all of what is slow.
    """
    found = []
    for threshold in thresholds:
        train = stats.train(slow > threshold, shortest)
        if train is not None and not _returns_sooner(slow > threshold, train, shortest):
            found.append(train)
    return min(found, key=lambda each: each.p_value, default=None)


def _returns_sooner(events: NDArray[np.bool_], train: stats.Recurrence, shortest: int) -> bool:
    """Whether events surely return after a part of a train's period, that is too short for one."""
    part = stats.recurrence(events)
    if part is None or part.period >= shortest or train.period % part.period:
        return False
    return _is_sure(part, SURE_OF_MANY)


def _is_sure(found: stats.Recurrence, at_most: dict[float, float]) -> bool:
    return any(found.share >= share and found.p_value <= p for share, p in at_most.items())
