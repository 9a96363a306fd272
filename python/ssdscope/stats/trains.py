"""Rare events that return in step, round after round, among many more that come by chance.

`recurrence` counts pairs, of which chance makes as many as a train does once other events are
twenty times as frequent. A train has one at the same place of each round: ten in a row are no
chance.
"""

from __future__ import annotations

from typing import TYPE_CHECKING

import numpy as np

from ssdscope.stats.recurrence import Recurrence, first_of_each, returns

if TYPE_CHECKING:
    from numpy.typing import ArrayLike

ROUNDS, MOST_ROUNDS = 10, 20
"""At the end of the series, in which a train is looked for: what is before may not be settled."""
KEPT = 0.8
"""Share of the rounds that have the event: one is a step late, or missed, now and then."""
CANDIDATES = 64
"""Lags with the most pairs beyond chance."""
MOST_BY_CHANCE = 1e-9


def train(events: ArrayLike, shortest: int) -> Recurrence | None:
    """Find the shortest lag with an event at one place of nearly each of the last rounds.

    Parameters
    ----------
    events : array_like of bool, shape (n,)
        Whether something happened at each step; a row of consecutive ones counts as its first.
    shortest
        Lag that is looked for.

    Returns
    -------
    Recurrence or None
        Its share is that of the rounds; its p value binomial, times the lags and places.
    """
    from scipy.stats import binom

    first = first_of_each(np.asarray(events, dtype=bool))
    count, n = int(np.count_nonzero(first)), first.size
    longest = n // ROUNDS
    if count < ROUNDS or longest < shortest:
        return None
    lags = np.arange(shortest, longest + 1)
    expected = (count / n) ** 2 * (n - lags)
    beyond = (returns(first, longest)[lags] - expected) / np.sqrt(expected + 1)
    for lag in np.sort(lags[np.argsort(beyond)[-CANDIDATES:]]).tolist():
        rounds = min(n // lag, MOST_ROUNDS)
        kept = int(first[-rounds * lag :].reshape(rounds, lag).sum(axis=0).max())
        by_chance = float(binom.sf(kept - 1, rounds, count / n)) * lag * lags.size
        if kept >= KEPT * rounds and by_chance < MOST_BY_CHANCE:
            return Recurrence(lag, kept / rounds, by_chance)
    return None
