"""When a burst of writes stops fitting into memory: the request from which on many must wait.

Single slow requests are everywhere; a full buffer shows in that, from some request on, a good
part of them is slow, or waits very long.
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING

import numpy as np

if TYPE_CHECKING:
    from numpy.typing import ArrayLike, NDArray

SLOW = 1.6
"""A request so many times slower than the first ones waited; noise of 15 % does so once in 500."""
LEAST_SLOW_BEHIND = 0.05
"""Share of slow requests that a memory that is full makes behind, at least."""
RISE = 3.0
"""How many times as many as before."""
MOST_DOUBLED = 12
"""Thresholds up to which slow requests are counted, each twice the one before."""


@dataclass(frozen=True)
class Waits:
    """Which requests of bursts waited.

    Attributes
    ----------
    accepted : ndarray, shape (bursts,)
        Requests of each burst before the first that waited.
    released : ndarray, shape (bursts,)
        Requests that did not wait behind the first that did.
    mean_free
        Of those that follow one that waited without waiting, the mean number that is still to
        come at any request behind the first wait.
    """

    accepted: NDArray[np.int64]
    released: NDArray[np.int64]
    mean_free: float


def waits_from(latency_ns: ArrayLike, least: int, slow: float = SLOW) -> Waits | None:
    """Find the first request of each burst that waits, where at least so many surely do not.

    Rare requests are slow for other reasons, and behind the first wait not all are: the place is
    that of the greatest likelihood for one share of slow requests before and another behind, at
    the threshold that tells the two best.

    Parameters
    ----------
    latency_ns : array_like, shape (bursts, requests)
        Of equal bursts that found the same state, in the order of issue, one at a time.
    least
        Requests of each burst that surely do not wait.
    slow
        Times the usual, from which on a request may have waited.

    Returns
    -------
    Waits or None
        None if no threshold tells before and behind.
    """
    times = np.asarray(latency_ns, dtype=float)
    usual, rest = float(np.median(times[:, :least])), times.shape[1] - least
    best: tuple[float, Waits] | None = None
    for threshold in usual * slow * 2.0 ** np.arange(MOST_DOUBLED):
        waiting = times > threshold
        before = (waiting[:, :least].sum() + 0.5) / (waiting[:, :least].size + 1)
        tail = waiting[:, times.shape[1] - max(rest // 2, 1) :]
        behind = (tail.sum() + 0.5) / (tail.size + 1)
        if behind < RISE * before:
            continue
        told, against = np.log(behind / before), np.log((1 - behind) / (1 - before))
        gain = float(behind * told + (1 - behind) * against)
        if best is None or gain > best[0]:
            sums = np.where(waiting[:, least:], told, against)[:, ::-1].cumsum(axis=1)[:, ::-1]
            accepted = least + np.argmax(sums, axis=1).astype(np.int64)
            best = gain, _waits(waiting, accepted)
    return None if best is None else best[1]


def _waits(slow: NDArray[np.bool_], accepted: NDArray[np.int64]) -> Waits:
    """Count, of each burst, how many follow those that waited until the next does."""
    first, follow = [], []
    for row, at in zip(slow, accepted, strict=True):
        waiting = np.append(np.flatnonzero(row[at + 1 :]), len(row) - at - 1)
        first.append(int(waiting[0]))
        follow.append(np.diff(waiting, prepend=-1) - 1)
    free = np.concatenate(follow)
    mean_free = float((free * (free + 1)).sum() / 2 / (free + 1).sum())
    return Waits(accepted, np.array(first, dtype=np.int64), mean_free)
