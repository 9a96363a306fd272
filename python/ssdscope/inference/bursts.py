"""Courses of bursts: at which rates a drive takes what is written from rest on, and where it bends.

A memory that takes writes faster than what is behind it shows as a level: the rate holds until it
is full, and is that of the next memory from there on. So the logarithm of the time that a byte
takes is parted in levels, as many as the data speak for (optimal partitioning; Jackson and others
2005), each bend against no bend and against drift. Isolated spikes are left out by a running
median, and several bursts alike count by the median of each place, which nobody else is in step
with.

What a level is does not show in one course. It shows by which rest it is back after: a buffer after
as long as it takes to write out, a region of one bit per cell after it was folded, spare space
never, and what comes back while writes go on is a dip, as of heat or of another user.
"""

from __future__ import annotations

import math
from dataclasses import dataclass
from itertools import pairwise
from typing import TYPE_CHECKING

import numpy as np

from ssdscope.inference.levels import APART, FOUND, INTERVAL_DROP, NOTICED, SPLIT_LEAST
from ssdscope.inference.series import Rival, Series, Weighed, nothing

if TYPE_CHECKING:
    from collections.abc import Iterator

    from numpy.typing import NDArray

__all__ = ["Bend", "Course", "Level", "back", "course", "falls", "named"]

ROWS = 512
"""Of a course, at most: of more several are joined."""
QUICKEST = 64.0
"""Times as fast as usual a row counts at most."""
WIDTH = 5
"""Rows of a running median: what disturbs two in a row does not move it."""
LEAST_SPREAD = 0.01
"""Of the logarithm of a time: a simulated drive may have none."""
PENALTY = 3.0
"""Times the logarithm of the rows, that a further bend must gain to be tried."""
PIECES = 16
"""Of a level, whose sums say how much neighbours are alike."""
WHOLE = 0.5
"""Of a level, of which as much is back if any is."""


@dataclass(frozen=True)
class Level:
    """A stretch of one rate.

    Attributes
    ----------
    begin, end
        Bytes written before, since rest.
    rate
        Bytes per nanosecond.
    """

    begin: float
    end: float
    rate: float


@dataclass(frozen=True)
class Bend:
    """Where one level ends and the next begins.

    Attributes
    ----------
    at, interval
        Bytes written since rest, and what it may be at 95 %.
    ratio
        The rate behind it over that before.
    score, margin
        The evidence against none, and against a drift.
    """

    at: float
    interval: tuple[float, float]
    ratio: float
    score: float
    margin: float


@dataclass(frozen=True)
class Course:
    """The levels of a course, and the bends between them; none of either if there are no rows.

    Attributes
    ----------
    doubtful
        The bend with the most evidence that was not taken for one.
    """

    levels: tuple[Level, ...] = ()
    bends: tuple[Bend, ...] = ()
    doubtful: Bend | None = None

    def comes_again(self, number: int) -> bool:
        """Whether the rate before a bend is there again while writes go on: then that was a dip."""
        before = self.levels[number].rate / (1 + NOTICED)
        return any(each.rate >= before for each in self.levels[number + 1 :])


@dataclass(frozen=True)
class _Rows:
    """Rows of a course: where they end in bytes, and the logarithm of what a byte took in each."""

    ends: NDArray[np.float64]
    times: NDArray[np.float64]
    logs: NDArray[np.float64]

    @classmethod
    def of(cls, series: Series) -> _Rows:
        kept = series.kept()
        runs = [_joined(kept.where(kept.stratum == each)) for each in np.unique(kept.stratum)]
        if not runs:
            return cls(*(np.empty(0) for _ in range(3)))
        count = min(ends.size for ends, _ in runs)
        ends = np.median([each[:count] for each, _ in runs], axis=0)
        times = np.median([each[:count] for _, each in runs], axis=0)
        # Several may end at once, in no time.
        least = float(np.median(times[times > 0])) / QUICKEST if times.any() else 1.0
        logs = np.log(np.maximum(times, least) / np.diff(ends, prepend=0.0))
        return cls(ends, times, _steady(logs))


def _joined(run: Series) -> tuple[NDArray[np.float64], NDArray[np.float64]]:
    """Join rows in which nothing was written to the next, and such as are too many."""
    order = np.argsort(run.x, kind="stable")
    ends, times = run.x[order], run.y[order]
    last = np.append(np.diff(ends) > 0, True)
    size = -(-int(last.sum()) // ROWS)
    at = np.flatnonzero(last)[size - 1 :: size]
    until = np.cumsum(times)[at]
    return ends[at], np.diff(until, prepend=0.0)


def _steady(logs: NDArray[np.float64]) -> NDArray[np.float64]:
    if logs.size < WIDTH:
        return logs
    padded = np.pad(logs, WIDTH // 2, mode="edge")
    return np.asarray(np.median(np.lib.stride_tricks.sliding_window_view(padded, WIDTH), axis=1))


def course(series: Series) -> Course:
    """Part a course in levels.

    Parameters
    ----------
    series
        `x` bytes written since rest at the end of each row, `y` how long the row took, in ns; the
        stratum is the burst. Rows of several bursts end at the same places.

    Returns
    -------
    Course
        The bends are those that beat nothing and drift, and change the rate by what a host notices.
    """
    rows = _Rows.of(series)
    if rows.ends.size < 2 * SPLIT_LEAST:
        return Course()
    cuts, doubtful = _parted(rows.logs), None
    while cuts:
        bends = [_bend(rows, cuts, number) for number in range(len(cuts))]
        weakest = min(range(len(cuts)), key=lambda each: _strength(bends[each]))
        if _strength(bends[weakest]) >= 0:
            break
        if doubtful is None or bends[weakest].score > doubtful.score:
            doubtful = bends[weakest]
        del cuts[weakest]
    found = tuple(_bend(rows, cuts, number) for number in range(len(cuts)))
    levels = tuple(_levels(rows, cuts))
    return Course(levels, found, doubtful)


def _strength(bend: Bend) -> float:
    """Return what a bend has more than it must have, in evidence; less than 0 if it is none."""
    if abs(math.log(bend.ratio)) < math.log1p(NOTICED):
        return -math.inf
    return min(bend.score - FOUND["bursts"], bend.margin - APART)


def _parted(logs: NDArray[np.float64]) -> list[int]:
    """Return the first rows of all levels but the first, by least squares with a price for each."""
    count = logs.size
    spread = float(np.median(np.abs(np.diff(logs)))) / 0.6745 / 2**0.5
    price = 2 * PENALTY * math.log(count) * max(spread, LEAST_SPREAD) ** 2
    sums, squares = (np.concatenate([[0.0], np.cumsum(logs**power)]) for power in (1, 2))
    best, begun = np.full(count + 1, np.inf), np.zeros(count + 1, int)
    best[0] = -price
    for end in range(SPLIT_LEAST, count + 1):
        begins = np.arange(end - SPLIT_LEAST + 1)
        sizes = end - begins
        costs = squares[end] - squares[begins] - (sums[end] - sums[begins]) ** 2 / sizes
        every = best[begins] + costs + price
        begun[end] = int(np.argmin(every))
        best[end] = every[begun[end]]
    cuts: list[int] = []
    at = int(begun[count])
    while at > 0:
        cuts.append(at)
        at = int(begun[at])
    return cuts[::-1]


def _levels(rows: _Rows, cuts: list[int]) -> Iterator[Level]:
    until = np.concatenate([[0.0], np.cumsum(rows.times)])
    places = np.concatenate([[0.0], rows.ends])
    for begin, end in pairwise([0, *cuts, rows.ends.size]):
        rate = (places[end] - places[begin]) / (until[end] - until[begin])
        yield Level(float(places[begin]), float(places[end]), float(rate))


def _bend(rows: _Rows, cuts: list[int], number: int) -> Bend:
    """Weigh one bend by the levels on both sides of it."""
    begin, end = [0, *cuts][number], [*cuts, rows.ends.size][number + 1]
    logs, at = rows.logs[begin:end], cuts[number] - begin
    least = logs.size * LEAST_SPREAD**2
    splits = np.arange(SPLIT_LEAST, logs.size - SPLIT_LEAST + 1)
    residues = _split(logs, splits) + least
    off = np.concatenate([logs[:at] - logs[:at].mean(), logs[at:] - logs[at:].mean()])
    weight = logs.size / 2 / _alike(off)
    best = float(residues[at - SPLIT_LEAST])
    score = weight * math.log((_residue(logs) + least) / best)
    line = np.polyfit(np.arange(logs.size), logs, 1)
    drift = float(((logs - np.polyval(line, np.arange(logs.size))) ** 2).sum()) + least
    near = splits[weight * np.log(residues / best) <= INTERVAL_DROP]
    places = np.concatenate([[0.0], rows.ends])
    low, high = (float(places[begin + each]) for each in (near.min() - 1, near.max() + 1))
    ratio = math.exp(float(logs[:at].mean() - logs[at:].mean()))
    return Bend(
        float(places[begin + at]), (low, high), ratio, score, weight * math.log(drift / best)
    )


def _residue(logs: NDArray[np.float64]) -> float:
    return float(((logs - logs.mean()) ** 2).sum())


def _split(logs: NDArray[np.float64], at: NDArray[np.int64]) -> NDArray[np.float64]:
    """Return what two levels leave, for each place between them."""
    even = logs - logs.mean()
    before, whole = np.cumsum(even)[at - 1], float((even**2).sum())
    return np.maximum(whole - before**2 * (1 / at + 1 / (logs.size - at)), 0.0)


def _alike(off: NDArray[np.float64]) -> float:
    """Say how many times more sums of neighbours scatter than if each were by itself; at least 1.

    What the running median joins counts as so many, too.
    """
    length = max(off.size // PIECES, 1)
    count = off.size // length
    sums = off[: count * length].reshape(count, length).sum(axis=1)
    own = float((off**2).mean())
    if own <= LEAST_SPREAD**2 or length < 2:
        return WIDTH / 2
    return max(float((sums**2).mean()) / (length * own), WIDTH / 2)


def falls(series: Series) -> Weighed:
    """Find where the rate falls for the first time, and does not come back while writes go on.

    Returns
    -------
    Weighed
        The estimate is in bytes since rest; the effect, how much longer a byte takes behind it. The
        rival is a drift. `detail` has ``fast`` and ``slow``, the rates on both sides in bytes per
        ns, ``begin`` and ``until``, where the one begins and the other ends.
    """
    found = course(series)
    fallen = [each for each, bend in enumerate(found.bends) if bend.ratio < 1]
    lasting = [each for each in fallen if not found.comes_again(each)]
    if not lasting:
        near = found.doubtful
        return nothing(math.inf if near is None else max(1 / near.ratio - 1, 0.0))
    number = lasting[0]
    bend, before, behind = found.bends[number], found.levels[number], found.levels[number + 1]
    effect = 1 / bend.ratio - 1
    detail = {"fast": before.rate, "slow": behind.rate, "until": behind.end, "begin": before.begin}
    drift = Rival("drift", bend.margin)
    return Weighed(bend.at, bend.interval, bend.score, effect, effect, (drift,), detail)


def back(series: Series, found: Weighed) -> Weighed:
    """Say whether what ended at a bend is back, by bursts behind another rest.

    Parameters
    ----------
    series
        As of `course`, of bursts behind that rest.
    found
        What `falls` has found behind a rest from which all of it is there.

    Returns
    -------
    Weighed
        The estimate is the share of it that is back; the score, by how much the data speak for the
        fast rate up to there rather than for the slow one, and less than 0 if it is the other way.
    """
    rows = _Rows.of(series)
    if found.estimate is None or not rows.ends.size:
        return nothing()
    fast, slow = (-math.log(found.detail[each]) for each in ("fast", "slow"))
    within = rows.logs[rows.ends <= max(WHOLE * found.estimate, rows.ends[0])]
    spread = max(float(np.median(np.abs(np.diff(rows.logs)))), LEAST_SPREAD, (slow - fast) / 8)
    said = ((within - slow) ** 2 - (within - fast) ** 2) / (2 * spread**2)
    score = float(np.clip(said, -4, 4).sum())
    middle = (fast + slow) / 2
    slowed = np.flatnonzero(rows.logs > middle)
    share = float(rows.ends[slowed[0]] / found.estimate) if slowed.size else 1.0
    return Weighed(min(share, 1.0), None, score, 1.0, 1.0)


def named(short: Weighed, folded: Weighed | None = None) -> str:
    """Name what a level was, by whether it is back after a short rest, and after it was folded.

    A rest is short that lets a buffer write out what it holds, and no region be folded.
    """
    if short.score >= APART:
        return "buffer"
    if folded is None or abs(folded.score) < APART or short.score > -APART:
        return "cannot be told"
    return "region of one bit" if folded.score > 0 else "spare space"
