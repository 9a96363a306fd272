"""When a burst of writes stops fitting into memory: the request from which on many must wait.

Single slow requests are everywhere; a full buffer shows in that, from some request on, a good
part of them is slow, or waits very long.
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING, Any

import numpy as np

from ssdscope.stats.knee import best_splits

if TYPE_CHECKING:
    from numpy.typing import ArrayLike, NDArray

SLOW = 1.6
"""A request so many times slower than the first ones waited; noise of 15 % does so once in 500."""
FEWEST_FAST = 2
MOST_SLOW_BEFORE, LEAST_SLOW_BEHIND = 0.06, 0.05
"""Shares of slow requests: disturbances make some before, a full buffer makes many behind."""
RISE = 3.0
"""How many times as many."""
FEWEST_TOGETHER, TOGETHER = 5, 0.75
"""Bursts, and the share of them, that must wait at one and the same request: disturbances of one in
fifty do so once in a million."""
MOST_DOUBLED = 12
"""Thresholds up to which slow requests are counted, each twice the one before."""
UNUSUAL = 0.05
"""Share of the longest waits that are left out of a rate: disturbances, and rare upkeep."""


@dataclass(frozen=True)
class Stall:
    """Where a burst began to wait.

    Attributes
    ----------
    accepted : ndarray, shape (bursts,)
        Requests of each burst that did not wait.
    fast_ns, slow_ns
        Time per request before, and behind.
    """

    accepted: NDArray[np.int64]
    fast_ns: float
    slow_ns: float

    @property
    def requests(self) -> float:
        """Median over the bursts."""
        return float(np.median(self.accepted))


def first_stall(latency_ns: ArrayLike) -> Stall | None:
    """Find the request from which on a burst waits; None if it does not.

    Parameters
    ----------
    latency_ns : array_like, shape (bursts, requests)
        Of equal bursts that found the same state, in the order of issue, one at a time.
    """
    times = np.asarray(latency_ns, dtype=float)
    if times.shape[1] < 2 * FEWEST_FAST:
        return None
    usual = float(np.median(times[:, :FEWEST_FAST]))
    together = _split(times, usual)
    if together is None:
        return None
    usual = float(np.median(times[:, :together]))
    together = _split(times, usual)
    if together is None:
        return None
    alone = [_split(row[None, :], usual) for row in times]
    accepted = np.array([together if each is None else each for each in alone], dtype=np.int64)
    behind = np.concatenate([row[at:] for row, at in zip(times, accepted, strict=True)])
    kept = np.sort(behind)[: max(1, round(len(behind) * (1 - UNUSUAL)))]
    return Stall(accepted, usual, float(kept.mean()))


def _split(times: NDArray[Any], usual_ns: float) -> int | None:
    """Split where many requests begin to wait, or the earlier where waits begin to be long."""
    slow = (times > SLOW * usual_ns).mean(axis=0)
    waited = np.maximum(times - usual_ns, 0.0).mean(axis=0)
    found = [_rise(of, slow) for of in (slow, waited)]
    return min((at for at in found if at is not None), default=None)


def _rise(series: NDArray[Any], slow: NDArray[Any]) -> int | None:
    """Split a series in two; None if the share of slow requests is high before or low behind.

    How it goes on may change again behind: then the part before is split again.
    """
    at = series.size
    while at >= 2 * FEWEST_FAST:
        at = int(best_splits(series[None, :at], FEWEST_FAST, max(FEWEST_FAST, at // 8))[0])
        # One more than the share: among ten requests a single disturbance is ten per cent.
        before = max(float(slow[:at].sum()) - 1, 0.0) / at
        if before <= MOST_SLOW_BEFORE:
            behind = float(slow[at:].mean())
            return at if behind >= max(LEAST_SLOW_BEHIND, RISE * before) else None
    return None


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
        As of `first_stall`.
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


def first_waits(latency_ns: ArrayLike, least: int) -> Waits | None:
    """Find the first request of each burst that waits, as `waits_from`, and where all wait at one.

    Where nothing leaves before memory is full, the first wait is the same request of every burst.
    It may be a single long one, behind which so much leaves at once that few follow for a while:
    the shares before and behind tell nothing of that.
    """
    times = np.asarray(latency_ns, dtype=float)
    found = waits_from(times, least)
    waiting = times > SLOW * float(np.median(times[:, :least]))
    common = np.flatnonzero(waiting[:, least:].mean(axis=0) >= TOGETHER) + least
    if len(times) < FEWEST_TOGETHER or not common.size:
        return found
    first = int(common[0])
    accepted = np.full(len(times), times.shape[1] - 1) if found is None else found.accepted
    accepted = np.where(waiting[:, first], np.minimum(accepted, first), accepted)
    return _waits(waiting, accepted)


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
