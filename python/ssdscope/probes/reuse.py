"""How many different things a drive keeps: read them one after the other, then again backwards.

Of a memory that gives up what was used longest ago (or first), the last ones read are still
there, however many were read before. Read backwards, they are fast, and from the first that is
gone on all are slow: one step, at what fits. Repeating one of the fast ones brings in nothing and
puts none of the others out, so that not all need be read again.
"""

from __future__ import annotations

from dataclasses import dataclass, replace
from typing import TYPE_CHECKING, Any

import numpy as np

from ssdscope import stats
from ssdscope.probes.rows import read_rows

if TYPE_CHECKING:
    from collections.abc import Callable

    from numpy.typing import NDArray

    from ssdscope.probes.bench import Bench

    Places = Callable[[NDArray[np.int64]], NDArray[np.int64]]
    """Gives a place to read in each of the things numbered; another one every time it can."""

FIRST = 8
GROWTH = 4
SAMPLES = 1024
FILLED_TO = 0.8
"""The step must lie in this share of what was read, so that what is beyond shows."""
LOOKS = 3
"""More looks, until two that follow each other agree."""
ALIKE = 0.02
MOST_ROUNDS = 24
REPEATED_BELOW = 4096
"""Things that are read several times over, so that noise does not move the step."""


@dataclass(frozen=True)
class Kept:
    """Where reading backwards became slow.

    Attributes
    ----------
    count
        Things that are kept.
    low, high
        What it may be.
    back, slower
        How far back, and the logarithm of how much slower than the nearest; shapes (n,).
    """

    count: int
    low: int
    high: int
    back: NDArray[np.int64]
    slower: NDArray[Any]


def kept(
    bench: Bench, places: Places, available: int, contrast: float, rng: np.random.Generator
) -> Kept | None:
    """Count how many of the things numbered below ``available`` are kept; None if all are.

    Parameters
    ----------
    places
        Where to read each.
    contrast
        By how much, in the logarithm, one that is gone is slower.
    """
    count = FIRST
    while True:
        count = min(count, available)
        found = _backwards(bench, places, available, count, contrast, rng)
        if found is not None and found.high <= FILLED_TO * count:
            if count > REPEATED_BELOW:
                return found
            break
        if count == available:
            break
        count *= GROWTH
    for _ in range(LOOKS):
        if found is None:
            return None
        count = min(max(round(found.count * 1.3), FIRST), available)
        before, found = found, _backwards(bench, places, available, count, contrast, rng)
        if found is not None and abs(before.count - found.count) <= ALIKE * found.count:
            return replace(found, low=min(before.low, found.low), high=max(before.high, found.high))
    return None


def _backwards(
    bench: Bench,
    places: Places,
    available: int,
    count: int,
    contrast: float,
    rng: np.random.Generator,
) -> Kept | None:
    """Read so many things and then, backwards, a sample of them; None without a step."""
    back = np.unique(np.round(np.linspace(1, count, min(count, SAMPLES))).astype(np.int64))
    stories, rounds = [], rounds_of(count)
    for _ in range(rounds):
        which = rng.permutation(available)[:count]
        stories.append(np.concatenate([places(which), places(which[count - back])]))
    logs = read_rows(bench, np.array(stories))[:, count:]
    return step_back(logs, back, contrast)


def rounds_of(count: int) -> int:
    """Give how often to read so many things: few of them more often, so that noise averages out."""
    return max(min(REPEATED_BELOW // count, MOST_ROUNDS), 1)


def step_back(logs: NDArray[Any], back: NDArray[np.int64], contrast: float) -> Kept | None:
    """Find how far back reads are fast; None if there is no step by half of the contrast.

    Parameters
    ----------
    logs : ndarray, shape (rounds, n)
        Logarithms of latencies.
    back : ndarray of int64, shape (n,)
        How far back each lies, ascending from 1.
    """
    rounds = len(logs)
    slower = np.median(logs, axis=0) if rounds > 2 else logs.mean(axis=0)
    level = float(np.median(slower[: max(len(slower) // 16, 1)]))
    clipped = np.clip(slower - level, -contrast, 1.2 * contrast)
    step = stats.best_step(clipped, min(max(round(0.02 * clipped.size), 1), clipped.size // 2))
    if step.height < contrast / 2:
        return None
    low = int(back[max(step.first - 1, 0)])
    high = int(back[min(step.last, len(back) - 1)]) - 1
    return Kept(
        count=(int(back[step.index - 1]) + int(back[step.index]) - 1) // 2,
        low=low,
        high=max(low, high),
        back=back,
        slower=slower - level,
    )
