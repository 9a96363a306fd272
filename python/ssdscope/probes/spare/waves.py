"""Waves of collection: where two runs wait at the same place, before either waits for good.

A drive that was filled in order has planes that run out of room together. They collect at the same
time, and not again until each has used what that gave back. So the first collections are a few
waits far apart, too few to tell from another user. But they depend on what was written alone: a
second run, that writes other addresses in another way, waits where the first did.
"""

from __future__ import annotations

import math
from typing import TYPE_CHECKING

import numpy as np

from ssdscope.inference.noise import first_of_each, over_usual

if TYPE_CHECKING:
    from numpy.typing import NDArray

    from ssdscope.inference.series import Series

__all__ = ["first_in_both"]

NEIGHBOURS = 256
"""Rows whose median is what is usual there."""
TURNS = 199
"""Ways in which one run is turned against the other, which say how many waits meet by chance."""
CHANCE = 0.05
"""That as many meet so: what a 95 % interval leaves out."""


def first_in_both(one: Series, other: Series, begin: float, end: float) -> float | None:
    """Find the first place at which two runs wait, unless as many waits meet by chance.

    Parameters
    ----------
    one, other
        Times by what was written before; `x` ascending.
    begin, end
        Between which to look.
    """
    runs = [each.where((each.x >= begin) & (each.x < end)) for each in (one, other)]
    if min(len(each) for each in runs) < 2:
        return None
    near = max(float(np.median(np.diff(each.x))) for each in runs)
    first, second = (_waits(each) - begin for each in runs)
    if not (first.size and second.size):
        return None
    apart = first[:, None] - second
    met = (np.abs(apart) <= near).any(axis=1)
    turns = np.arange(1, TURNS + 1)[:, None, None] * (end - begin) / (TURNS + 1)
    turned = np.abs((apart - turns + near) % (end - begin) - near) <= near
    as_many = np.count_nonzero(turned.any(axis=2).sum(axis=1) >= met.sum())
    if not met.any() or (1 + as_many) / (1 + TURNS) > CHANCE:
        return None
    return float(begin + first[met][0])


def _waits(run: Series) -> NDArray[np.float64]:
    """Return where rows take longer than any of so many would by the scatter of the others."""
    logs = np.log(over_usual(run.y, NEIGHBOURS))
    spread = float(np.median(np.abs(logs))) / 0.6745
    long = logs > math.sqrt(2 * math.log(logs.size)) * max(spread, np.finfo(float).tiny)
    return np.asarray(run.x[first_of_each(long)])
