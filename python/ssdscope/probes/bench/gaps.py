"""Many requests, measured in pieces so short that they fall between the bursts of others.

A drive that others use now and then is at peace most of the time, but hardly ever for as long as
a thousand slow writes take. A piece that was disturbed is measured again, shorter, after a wait;
what never succeeds is left out.
"""

from __future__ import annotations

from collections.abc import Callable
from typing import TYPE_CHECKING, Any

import numpy as np

from ssdscope.findings import Reason
from ssdscope.probes.bench.discipline import MAX_DROPPED_SHARE
from ssdscope.probes.bench.stopped import Stopped

if TYPE_CHECKING:
    from numpy.typing import NDArray

    from ssdscope.probes.bench.ledger import Bench

MOST_LOST = 0.75
"""Of a list whose order matters: the drive goes on meanwhile, and what is left tells."""
SHORTER = 4
"""How many times, of a piece after one that was disturbed."""
FIRST_WAIT_NS = 250_000_000
TRIES = 8
"""Of one piece; each waits twice as long as the one before."""


def between_bursts(
    bench: Bench,
    count: int,
    measure: Callable[[slice], NDArray[Any]],
    *,
    longest: int,
    again: bool = True,
    most_lost: float = MAX_DROPPED_SHARE,
) -> NDArray[Any]:
    """Measure pieces of a list, shorter ones while others disturb.

    Parameters
    ----------
    count
        Length of the list.
    measure
        Gives the values of a part of it.
    longest
        Most that is measured at once.
    again
        Whether to wait and repeat what was disturbed. A list whose order matters goes on at once:
        in a pause the drive might tidy up what the list was to leave behind.
    most_lost
        Share of the list that may be left out.

    Returns
    -------
    ndarray of float, shape (count,)
        NaN where others always disturbed.

    Raises
    ------
    Stopped
        If that is so of too many, or for another reason.
    """
    values = np.full(count, np.nan)
    at, size, failed = 0, longest, 0
    while at < count:
        part = slice(at, min(at + size, count))
        try:
            values[part] = measure(part)
        except Stopped as stop:
            if stop.reason is not Reason.INTERFERENCE:
                raise
            size, failed = max(size // SHORTER, 1), failed + 1
            if again:
                bench.idle(FIRST_WAIT_NS << failed - 1)
                if failed < TRIES:
                    continue
        else:
            # What is lost for good is risked more carefully.
            size = min(2 * size if again else size + 1, longest)
        at, failed = part.stop, 0
        if np.count_nonzero(np.isnan(values[:at])) > most_lost * count:
            raise Stopped(Reason.INTERFERENCE, "others used the drive nearly all the time")
    return values
