"""Whether a mark parts classes in halves: all members of a class have it, or none has.

Places with the mark are (1 + d) times as many in a class as they would be by their share of all
places, and those without it (1 - d) times, or the other way round, one as likely as the other, with
one d for all classes: 1 where the mark chooses between halves of them, 0 where it does nothing. The
rival is a d on the other side of a half.
"""

from __future__ import annotations

from typing import TYPE_CHECKING

import numpy as np

from ssdscope.inference.levels import INTERVAL_DROP
from ssdscope.inference.series import Rival, Weighed, nothing

if TYPE_CHECKING:
    from numpy.typing import ArrayLike, NDArray

__all__ = ["halves"]

PARTED = np.arange(0.0, 0.99, 0.02)
"""Of which d are tried: short of 1, as a place may be in the wrong class."""


def halves(of: ArrayLike, marked: ArrayLike) -> Weighed:
    """Estimate how far a mark parts classes.

    Parameters
    ----------
    of : array_like of int, shape (n,)
        The class of each place, from 0 on.
    marked : array_like of bool, shape (n,)

    Returns
    -------
    Weighed
        The estimate is d, its interval what the likelihood allows.
    """
    classes, marks = np.asarray(of, np.int64), np.asarray(marked, bool)
    if not classes.size:
        return nothing()
    sizes = np.bincount(classes).astype(float)
    have = np.bincount(classes, marks)
    share = float(marks.mean())
    if not 0 < share < 1:
        return nothing()
    one, other = (
        have * np.log(shares) + (sizes - have) * np.log1p(-shares)
        for shares in (_shares(share, PARTED), _shares(share, -PARTED))
    )
    every = (np.logaddexp(one, other) - np.log(2)).sum(axis=1)
    best = int(np.argmax(every))
    near = PARTED[every >= every[best] - INTERVAL_DROP]
    beyond = (PARTED >= 0.5) != (PARTED[best] >= 0.5)
    rival = Rival("beyond a half", float(every[best] - every[beyond].max()))
    low, high = float(near[0]), float(near[-1])
    score = float(every[best] - every[0])
    d = float(PARTED[best])
    return Weighed(d, (low, high), score, d, high, (rival,))


def _shares(share: float, parted: NDArray[np.float64]) -> NDArray[np.float64]:
    """Give what share of a class is marked, shape (d, 1), of a share of all places."""
    marked, others = share * (1 + parted), (1 - share) * (1 - parted)
    return np.asarray(marked / (marked + others))[:, None]
