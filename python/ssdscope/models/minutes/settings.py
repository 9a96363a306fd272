"""What a model is told of a minute, as columns of finite numbers.

All is known of the minute's requests; how the drive does with them is to be predicted.

``paper``
    The eight characteristics of huang2011. A trace has no queue depth of its own: here it is
    the rate times the latency that was measured in the minute before.
``arrivals``
    Everything that the requests tell, nothing that was ever measured after the training.
``online``
    The same, corrected by how far off the minute before was.

What the drive did in the minute before could be features as well (``previous_latency_ns`` and
its like). With a hundred minutes to learn from they were worth less than the correction, and
misled some models: latency follows what is asked, and what else there is to learn from the past
is by how much the model is off at present, which is one number.
"""

from collections.abc import Sequence
from typing import Any

import numpy as np
import numpy.typing as npt

from ssdscope.workloads.windows import FEATURES, GROUPS, Table

Array = npt.NDArray[Any]
MEASURED = (*GROUPS["history"], *GROUPS["concurrency"])
PAPER = (
    "wr_ratio", "q_dep", "wr_size", "rd_size", "wr_rand", "rd_rand", "wr_stride", "rd_stride",
)  # fmt: skip
ARRIVALS = tuple(name for name in FEATURES if name not in MEASURED)
SHARES = ("_ratio", "_share", "_rand", "_4k", "_16k", "_64k", "_128k", "_up", "_after_write")
"""Names of shares end so; all other features enter by their logarithm."""
STEADY = 1e-9
"""A column that varies less than this part of its size says nothing."""
CLOCK = 0.95
"""A column whose ranks correlate with the order of time by as much only tells the time."""


class Encoder:
    """Turns features into columns, by what the minutes that are learnt from look like.

    What cannot be said of a minute (the size of writes where there are none) takes the median of
    those where it can. Features that say nothing there, or always the same, are left out, and so
    are clocks: what only grows (the bytes ever written) says when a minute was, not what it was
    like, and is beyond all that was seen in every minute to come. For the same reason a feature is
    held to the range that was learnt from: a line that was fitted there means nothing outside.

    Parameters
    ----------
    names
        Features, of which those of use are kept.
    table
        The minutes to learn from.
    """

    def __init__(self, names: Sequence[str], table: Table) -> None:
        self._medians: dict[str, float] = {}
        self._ranges: dict[str, tuple[float, float]] = {}
        for name in names:
            column = _scaled(name, table[name])
            known = column[np.isfinite(column)]
            varies = (
                np.ptp(known) > STEADY * np.abs(known).max(initial=1.0) if len(known) else False
            )
            if varies and not _is_clock(known):
                self._medians[name] = float(np.median(known))
                self._ranges[name] = float(known.min()), float(known.max())

    @property
    def names(self) -> tuple[str, ...]:
        """The features that are kept."""
        return tuple(self._medians)

    def columns(self, table: Table) -> Array:
        """Encode minutes; shape (n, features), at least one of them."""
        if not self._medians:
            return np.zeros((len(next(iter(table.values()))), 1))
        found = []
        for name, median in self._medians.items():
            column = _scaled(name, table[name])
            whole = np.where(np.isfinite(column), column, median)
            found.append(np.clip(whole, *self._ranges[name]))
        return np.column_stack(found)


def _scaled(name: str, column: Array) -> Array:
    """Take logarithms of what is no share; strides go either way, and 0 stays 0."""
    if name.endswith(SHARES):
        return column
    scaled: Array = np.sign(column) * np.log1p(np.abs(column))
    return scaled


def _varies(column: Array) -> bool:
    return bool(np.ptp(column) > STEADY * max(1.0, float(np.abs(column).max())))


def _is_clock(column: Array) -> bool:
    """Tell whether a column that varies grows, or falls, all the time."""
    ranks = np.argsort(np.argsort(column, kind="stable"), kind="stable")
    return bool(abs(np.corrcoef(ranks, np.arange(len(ranks)))[0, 1]) > CLOCK)
