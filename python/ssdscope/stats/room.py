"""How much a leaking buffer holds, from how much it took at several paces.

A buffer of ``C`` that loses ``k`` per time while it is filled at one request per ``t`` takes
``V = C + k V t`` before it is full, so ``1 / V = (1 - k t) / C`` is a line in the pace ``t``
whose start is ``1 / C``. Of one burst alone, how fast it leaked while it filled is a guess:
many drives leave their buffer alone until it is full, others until a mark is reached.
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING, Any

import numpy as np

from ssdscope.seeds import stream
from ssdscope.stats.bootstrap import percentile_interval

if TYPE_CHECKING:
    from numpy.typing import ArrayLike, NDArray

REPLICATES = 1000
AGREE = 0.03
"""Relative difference up to which all paces are on one line."""
UNEVEN = 0.02
"""Share of the room within which it is known if it leaks."""


@dataclass(frozen=True)
class Room:
    """What fits.

    Attributes
    ----------
    requests, interval
        Requests, and a 95 % interval.
    leak_per_ns
        Requests that leave per nanosecond while it is filled.
    """

    requests: float
    interval: tuple[float, float]
    leak_per_ns: float


def room(accepted: ArrayLike, paces_ns: ArrayLike, service_ns: float, seed: int) -> Room:
    """Estimate the room of a buffer.

    What leaks may stop when the drive has other things to do, so the two fastest paces decide
    where the others are not on their line.

    Parameters
    ----------
    accepted : array_like, shape (bursts, paces)
        Requests taken before the first had to wait.
    paces_ns : array_like, shape (paces,)
        Time between requests, ascending; at least two.
    service_ns
        Nothing leaves sooner than this after a burst began; 0 if unknown.
    seed : int
        Of the bootstrap.
    """
    counts = np.asarray(accepted, dtype=float)
    paces = np.asarray(paces_ns, dtype=float)
    draws = stream(seed, "stats.room").integers(0, len(counts), (REPLICATES, len(counts)))
    rows = np.vstack([np.median(counts, axis=0), np.median(counts[draws], axis=1)])
    near, leak = _line(rows[:, :2], paces[:2], service_ns)
    whole, leak_of_all = _line(rows, paces, service_ns)
    if abs(whole[0] - near[0]) <= AGREE * near[0]:
        samples, leak = whole, leak_of_all
    else:
        samples = near
    low, high = percentile_interval(samples[1:])
    value = float(samples[0])
    # What rounding to whole requests may make of the start, and leaving in lots instead of evenly.
    slack = 0.0 if leak[0] == 0 else max(0.5 / (1 - paces[0] / paces[1]), UNEVEN * value)
    return Room(
        value, (min(float(low), value - slack), max(float(high), value + slack)), float(leak[0])
    )


def _line(
    counts: NDArray[Any], paces: NDArray[Any], service_ns: float
) -> tuple[NDArray[Any], NDArray[Any]]:
    """Give room and leak of each row; no leak where more time brings no more in."""
    still = np.ptp(counts, axis=1) <= np.maximum(1.0, 0.01 * counts[:, 0])
    away = paces - paces.mean()
    inverse = 1 / counts
    slope = inverse @ away / (away @ away)
    start = inverse.mean(axis=1) - slope * paces.mean()
    leak = np.maximum(-slope / start, 0.0)
    # Until the first request has been served the buffer does not leak.
    fitted = np.minimum(1 / start + leak * service_ns, counts[:, 0])
    return np.where(still, counts[:, 0], fitted), np.where(still, 0.0, leak)
