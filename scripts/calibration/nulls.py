"""Latencies in which there is nothing of what an engine looks for: six kinds of null."""

from __future__ import annotations

from collections.abc import Callable
from typing import TYPE_CHECKING

import numpy as np

if TYPE_CHECKING:
    from numpy.typing import NDArray

__all__ = ["NULLS", "VALUES", "WAITS", "latencies"]

VALUES = 2000
"""Of a series."""
WAITS = 1.6
"""Times the usual: what noise of 15 % exceeds once in a thousand."""


def latencies(kind: str, count: int, rng: np.random.Generator) -> NDArray[np.float64]:
    """Draw latencies of 1 in which there is nothing but what a null is named for.

    Parameters
    ----------
    kind
        A key of `NULLS`.
    """
    quiet = np.exp(rng.uniform(0.02, 0.15) * np.abs(rng.normal(size=count)))
    return quiet * NULLS[kind](count, rng)


def _noise(count: int, _: np.random.Generator) -> NDArray[np.float64]:
    return np.ones(count)


def _drift(count: int, rng: np.random.Generator) -> NDArray[np.float64]:
    """Rise by up to 30 % and fall again, over half the series to twenty times as long."""
    turns = rng.uniform(0.05, 2.0)
    angle = np.linspace(0, np.pi * turns, count) + rng.uniform(0, np.pi)
    return np.asarray(1 + rng.uniform(0.02, 0.3) * np.sin(angle) ** 2)


def _spikes(count: int, rng: np.random.Generator) -> NDArray[np.float64]:
    times = np.ones(count)
    hit = rng.random(count) < rng.uniform(0.001, 0.02)
    times[hit] = rng.uniform(2, 40, int(hit.sum()))
    return times


def _user(count: int, rng: np.random.Generator) -> NDArray[np.float64]:
    """Be disturbed by bursts of somebody's requests, each a few of ours long."""
    times = np.ones(count)
    for begin in np.flatnonzero(rng.random(count) < rng.uniform(0.0005, 0.005)):
        times[begin : begin + rng.integers(2, 30)] *= rng.uniform(1.2, 4)
    return times


def _alike(count: int, rng: np.random.Generator) -> NDArray[np.float64]:
    """Follow neighbours: a first-order process of 5 %."""
    from scipy.signal import lfilter

    kept = rng.uniform(0.5, 0.95)
    shocks = 0.05 * np.sqrt(1 - kept**2) * rng.normal(size=count)
    return np.asarray(np.exp(lfilter([1.0], [1.0, -kept], shocks)))


def _waits(count: int, rng: np.random.Generator) -> NDArray[np.float64]:
    """Wait at even distances from the first request on, as for collection, or for a cold entry."""
    times = np.ones(count)
    times[rng.integers(0, 40) :: rng.integers(20, 400)] *= rng.uniform(1.5, 20)
    return times


def _level(count: int, rng: np.random.Generator) -> NDArray[np.float64]:
    """Take longer from some request on, as when a buffer is full."""
    times = np.ones(count)
    times[rng.integers(count // 10, count) :] *= rng.uniform(1.1, 4)
    return times


NULLS: dict[str, Callable[[int, np.random.Generator], NDArray[np.float64]]] = {
    "noise": _noise,
    "drift": _drift,
    "spikes": _spikes,
    "another user": _user,
    "neighbours alike": _alike,
    "even waits": _waits,
    "a step": _level,
}
"""What may be instead of what is looked for; the last two are other mechanisms."""
