"""What a spindle does to requests: they end when their place comes round, and wait up to a turn.

Requests for one place end at one angle of the spindle, whenever they were made. So the times at
which they end are folded at each candidate: round the circle they lie together (von Mises' law), or
anywhere. Some places may turn with another spindle, as in an array of disks.

What is late is late by a share of how long it took. That share is fitted, so that of each request
it is known how long it took without noise: what comes before the wait, and a wait of up to a turn.
"""

from __future__ import annotations

import math
from dataclasses import dataclass
from typing import TYPE_CHECKING

import numpy as np

from ssdscope.inference.levels import INTERVAL_DROP, NORMAL
from ssdscope.inference.series import Rival, Series, Weighed, nothing

if TYPE_CHECKING:
    from collections.abc import Iterator

    from numpy.typing import NDArray

__all__ = ["Turned", "beneath", "turn"]

PARTS = 5
"""Of a turn, the first that is not looked for."""
FINER = 4
"""Candidates for each that the length of the series could tell from its neighbours."""
SPREADS = (0.01, 0.03, 0.1)
"""By how much ends are late, as shares of what requests take in the middle: noise of 2 to 15 %. As
they are times, a half of a turn, which fits as well, has twice as wide an angle."""
SHARES = (0.25, 0.5, 1.0)
"""Of the places, that turn together."""
AT_ONCE = 256
TO_ANGLE = 2 * math.pi
ROUNDS = 4
"""Of the fit: what is left out, and how long requests lasted, hang on it."""
MOST_LATE = 4
"""Times as long as it lasts a request takes at most."""
SPIKED = 6.0
"""Times the usual deviation: what is further off was disturbed."""
OTHERS = 0.05
"""Requests that met something else: another user, an arm that had not moved."""
CLOSEST = 1 / 20
"""Of a turn: two arms that differ by less are not told apart."""
PLACES, FEW = 1024, 48
"""Candidates for what lies beneath, and for each of two of them."""
WEIGHTS = (1 / 3, 0.5, 2 / 3)
"""Of the one of two: arrays of two and of three."""


@dataclass(frozen=True)
class Turned:
    """What requests say of a spindle.

    Attributes
    ----------
    found
        The time of a turn. Its effect is half a turn over what requests take in the middle.
    durations : ndarray, shape (n,)
        How long each request took without noise; not a number where a place turns otherwise.
    blur
        By how much these are off.
    """

    found: Weighed
    durations: NDArray[np.float64]
    blur: float

    @property
    def together(self) -> NDArray[np.bool_]:
        """Which requests are for places that turn so; shape (n,)."""
        return ~np.isnan(self.durations)


def turn(series: Series, shortest: float, longest: float) -> Turned:
    """Find the time of a turn.

    Parameters
    ----------
    series
        `time_ns` when each request was made, `y` how long it took, `stratum` its place. Each place
        several times, at times that have nothing to do with it.
    shortest, longest
        Of a turn.
    """
    places = np.unique(series.stratum, return_inverse=True)[1]
    none = np.full(len(series), math.nan)
    if len(series) < 2 or 2 * (places.max() + 1) > len(series):
        return Turned(nothing(), none, math.inf)
    folds = _Folds(series.time_ns + series.y, places, float(np.median(series.y)))
    rates, gained = folds.scanned(1 / longest, 1 / shortest)
    # Where one part of a turn fits, the turn does: the candidates may have come nearer to the part.
    parts = float(rates[np.argmax(gained)]) / np.arange(1, PARTS)
    tried = [folds.nearest(float(each)) for each in parts if each * longest >= 1]
    rate, best = max(tried, key=lambda each: each[1])
    score = best - math.log(rates.size)
    margin = best - folds.nearest(2 * rate)[1]
    together = folds.together(rate)[places]
    if not together.any():
        return Turned(nothing(), none, math.inf)
    period, error, durations, blur = _refined(series, places, rate, together)
    effect = period / 2 / float(np.median(series.y))
    found = Weighed(
        period,
        (period - NORMAL * error, period + NORMAL * error),
        max(score, 0.0),
        effect,
        # Nothing turns if the data speak against every candidate.
        0.0 if score <= -math.log(rates.size) else effect,
        (Rival("half a turn", margin, period / 2),),
        {"share": float(together.mean())},
    )
    return Turned(found, durations, blur)


class _Folds:
    """Ends of requests by place, to be folded at any rate of turns."""

    def __init__(self, ends: NDArray[np.float64], places: NDArray[np.int64], usual: float) -> None:
        order = np.argsort(places, kind="stable")
        self._ends = (ends - ends.min())[order]
        self._counts = np.bincount(places)
        self._begins = np.concatenate([[0], np.cumsum(self._counts)[:-1]])
        self._step = 1 / (FINER * float(np.ptp(ends)))
        self._late = [share * usual for share in SPREADS]

    def scanned(self, low: float, high: float) -> tuple[NDArray[np.float64], NDArray[np.float64]]:
        """Give rates, and by how much the data speak for each."""
        rates = np.arange(low, high, self._step)
        parts = np.array_split(rates, max(rates.size // AT_ONCE, 1))
        return rates, np.concatenate([self._gained(part) for part in parts])

    def nearest(self, rate: float) -> tuple[float, float]:
        """Give the best rate around one, and by how much the data speak for it."""
        near = rate + self._step * np.linspace(-1, 1, AT_ONCE + 1)
        gained = self._gained(near)
        return float(near[np.argmax(gained)]), float(gained.max())

    def together(self, rate: float) -> NDArray[np.bool_]:
        """Say which places turn so, by the spread that fits best."""
        ratios = [each[:, 0] for each in self._each(np.array([rate]))]
        return np.asarray(max(ratios, key=lambda each: float(np.maximum(each, 0).sum())) > 0)

    def _gained(self, rates: NDArray[np.float64]) -> NDArray[np.float64]:
        best = np.full(rates.size, -np.inf)
        for ratios in self._each(rates):
            for share in SHARES:
                rest = math.log(1 - share) if share < 1 else -math.inf
                best = np.maximum(best, np.logaddexp(math.log(share) + ratios, rest).sum(axis=0))
        return best

    def _each(self, rates: NDArray[np.float64]) -> Iterator[NDArray[np.float64]]:
        """Give the log likelihood ratio of each place for each spread: one angle against any."""
        from scipy.special import i0e

        angles = np.exp(1j * TO_ANGLE * np.outer(self._ends, rates))
        lengths = np.abs(np.add.reduceat(angles, self._begins, axis=0))
        for late in self._late:
            narrow = 1 / (TO_ANGLE * late * rates) ** 2
            # The angle may be any beforehand: the likelihood is averaged over the circle.
            each = np.log(i0e(narrow * lengths)) + narrow * lengths
            yield each - self._counts[:, None] * (np.log(i0e(narrow)) + narrow)


def _refined(
    series: Series, places: NDArray[np.int64], rate: float, together: NDArray[np.bool_]
) -> tuple[float, float, NDArray[np.float64], float]:
    """Fit ends to whole turns behind the angle of each place, and a share, that drifts, of delay.

    Delays grow with how long a request takes, so that relative errors are made small.
    """
    took, place = series.y[together], np.unique(places[together], return_inverse=True)[1]
    begun = series.time_ns[together] - float(series.time_ns.min())
    ends = begun + took
    whole = np.exp(1j * TO_ANGLE * rate * ends)
    sums = np.bincount(place, whole.real) + 1j * np.bincount(place, whole.imag)
    turns = np.round(ends * rate - np.angle(sums)[place] / TO_ANGLE)
    kept, lasted = np.ones(ends.size, np.bool_), took
    for _ in range(ROUNDS):
        late = np.column_stack([lasted, lasted * ends / float(ends.max())])
        columns = np.column_stack([turns / rate, late])
        weights = np.where(kept, 1 / lasted**2, 0.0)
        total = np.maximum(np.bincount(place, weights), np.finfo(float).tiny)
        *means, middle = (np.bincount(place, weights * each) / total for each in (*columns.T, ends))
        inside = (columns - np.column_stack(means)[place]) / lasted[:, None]
        used, left = inside[kept], (ends - middle[place]) / lasted
        solution = np.linalg.lstsq(used, left[kept], rcond=None)[0]
        off = left - inside @ solution
        kept = np.abs(off) <= SPIKED * float(np.median(np.abs(off[kept])))
        period = float(solution[0]) / rate
        angle = (middle - np.column_stack(means) @ solution)[place]
        turned = np.round((ends - late @ solution[1:] - angle) / period) * period
        # From now on without the noise, which would count as a reason of itself.
        lasted = np.maximum(turned + angle - begun, took / MOST_LATE)
    free = max(int(kept.sum()) - int(place.max()) - 1 - solution.size, 1)
    deviation = math.sqrt(float(off[kept] @ off[kept]) / free)
    error = deviation * math.sqrt(float(np.linalg.pinv(used.T @ used)[0, 0])) / rate
    durations = np.full(len(series), math.nan)
    durations[together] = lasted
    visits = ends.size / (int(place.max()) + 1)
    return period, error, durations, deviation * float(np.median(took)) / math.sqrt(visits)


def beneath(durations: NDArray[np.float64], period: float, blur: float, alike: float) -> Weighed:
    """Find what comes before waits of up to a turn.

    Parameters
    ----------
    durations
        Of requests, without noise (`Turned`); what is not a number is left out.
    period
        Of a turn.
    blur
        By how much durations are off.
    alike
        By what share two arms may differ that count as one.

    Returns
    -------
    Weighed
        The score says by how much one such time explains them better than none. The rival is that
        there are two. `detail` has ``others``, the share of requests that fit neither.
    """
    from scipy.special import ndtr

    values = np.sort(durations[~np.isnan(durations)])
    if values.size < 2 * len(WEIGHTS):
        return nothing()
    wide = float(values[-1]) + period

    def dense(starts: NDArray[np.float64]) -> NDArray[np.float64]:
        behind = values[None, :] - starts[:, None]
        return np.asarray((ndtr(behind / blur) - ndtr((behind - period) / blur)) / period)

    def likely(densities: NDArray[np.float64]) -> NDArray[np.float64]:
        return np.asarray(np.log((1 - OTHERS) * densities + OTHERS / wide).sum(axis=-1))

    first, last = max(float(values[0]) - period, 0.0), float(np.median(values))
    starts = np.linspace(first, last, PLACES)
    gained = likely(dense(starts))
    inside = starts[gained >= gained.max() - INTERVAL_DROP]
    best = float(inside.mean())
    few = np.linspace(first, float(values[-1]), FEW)
    each = dense(few)
    one, other = np.triu_indices(FEW, 1)
    apart = few[other] - few[one] > max(alike * best, CLOSEST * period)
    pairs = [
        float(likely(weight * each[one[apart]] + (1 - weight) * each[other[apart]]).max())
        for weight in WEIGHTS
        if apart.any()
    ]
    rivals = (Rival("two arms", float(gained.max()) - max(pairs)),) if pairs else ()
    outside = (values < best) | (values > best + period)
    effect = best / float(np.median(values))
    score = float(gained.max()) + values.size * math.log(wide)
    ends = float(inside[0]), float(inside[-1])
    return Weighed(best, ends, score, effect, effect, rivals, {"others": float(outside.mean())})
