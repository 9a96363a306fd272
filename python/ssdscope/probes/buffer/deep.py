"""Deep write buffers: what a burst brings until its rate bends, and what of it is in memory then.

A buffer that writes out as it fills has taken more than it holds when its rate bends: it holds
between what was written less all that the flash can have taken meanwhile, and all of it. How much
of that is in memory, reads tell: what was written last comes in the time of the link, what has left
in that of flash. So a region of one bit per cell, spare space or a link that gets slower are
no buffers: what was written to these is read from flash, however late it was written.
"""

from __future__ import annotations

import math
from dataclasses import replace
from typing import TYPE_CHECKING, NamedTuple

import numpy as np

from ssdscope.findings import Axis, Detected, Evidence, Exhibit, Finding, Step, series
from ssdscope.inference.bursts import back, falls, named
from ssdscope.inference.levels import LEAST_EFFECT
from ssdscope.inference.series import Rival, Series, Weighed, nothing
from ssdscope.probes import verdict
from ssdscope.probes.buffer.burst_plans import (
    AGAIN,
    FIRST,
    READS,
    RESTED,
    SINGLE,
    Deep,
    held,
    of_kind,
    within_bend,
)

if TYPE_CHECKING:
    from ssdscope.probes.plan import Ask

__all__ = ["Burst", "by_bursts"]


ALIKE = 1.7
"""Times as long, at most, a block is read from memory as it is written to it, or the other way."""
YOUNG = 0.6
"""Of the least that it may hold: what is younger is in memory."""


class Burst(NamedTuple):
    """What bursts say of a buffer.

    Attributes
    ----------
    held
        What it holds, in bytes; no estimate if that is not sure.
    said
        Why it is not, or what the bend is.
    exhibit
        The course.
    """

    held: Weighed
    said: str
    exhibit: Exhibit

    def finding(self, name: str, probe: str) -> Finding:
        """Decide what to say of the size."""
        evidence = Evidence(exhibits=(self.exhibit,), detail=self.said)
        return verdict.weighed(name, self.held, "bursts", evidence, probe=probe)

    def contradicts(self, size: Detected) -> bool:
        """Whether bursts surely say another size, however roughly."""
        if self.held.estimate is None or not verdict.is_sure(self.held, "bursts"):
            return False
        (low, high), (least, most) = (
            each.interval or (0.0, math.inf) for each in (self.held, size)
        )
        return high < least or most < low


def by_bursts(ask: Ask) -> Burst:
    """Say what bursts from rest on say of a write buffer."""
    taken = ask.take(Deep())
    rested = of_kind(taken, RESTED)
    if not len(rested):
        rested = of_kind(taken, FIRST)
    found = falls(rested)
    shown = _exhibit(rested, found)
    if found.estimate is None or found.interval is None or not len(of_kind(taken, READS)):
        return Burst(
            replace(found, estimate=None), "the rate of bursts from rest never bends", shown
        )
    least, most = within_bend(found, found.interval[0]), found.interval[1]
    short = named(back(of_kind(taken, AGAIN), found))
    there = held(taken) if _like_memory(taken, least) else nothing()
    if there.estimate is None or there.interval is None:
        nobody = replace(found, estimate=None)
        if short != "buffer":
            said = "its rate bends, but what was full then is not surely back after a short rest"
            return Burst(nobody, said, shown)
        return Burst(nobody, "what is in memory reads like what is not", shown)
    low, high = max(there.interval[0], least), min(there.interval[1], most)
    left = there.score if there.interval[0] <= most else 0.0
    size, about = there.estimate, within_bend(found, found.estimate)
    short_by = about - there.interval[0]
    if short_by > LEAST_EFFECT * about:
        # What writes out long runs is short of one when it is looked at, and holds as much more.
        low, high = least, min(max(high, about + short_by), most)
        size = 2 * low * high / (low + high)
    size = min(max(size, low), high)
    rivals = [
        Rival("what leaves it here and there", there.score),
        Rival("what was left in it", left),
    ]
    held_bytes = replace(there, estimate=size, interval=(low, high), score=found.score)
    return Burst(replace(held_bytes, effect=found.effect).against(rivals), short, shown)


def _like_memory(taken: Series, least: float) -> bool:
    """Whether what was just written is read as fast as a block is written to memory.

    Cells of one bit are read sooner than others, too, but written more slowly.
    """
    reads = of_kind(taken, READS)
    near = np.median(reads.y[reads.x < YOUNG * least])
    written = np.median(of_kind(taken, SINGLE).y)
    return bool(abs(np.log(near / written)) < np.log(ALIKE))


def _exhibit(rested: Series, found: Weighed) -> Exhibit:
    places = np.unique(rested.x)
    took = np.array([float(np.median(rested.y[rested.x == each])) for each in places])
    seen = took > 0
    rates = np.diff(places, prepend=0.0)[seen] / took[seen] * 1e9
    return Exhibit(
        name="burst-from-rest",
        title="A deep burst from rest",
        caption="Rate, median over equal bursts. Where it bends something is full: a buffer then "
        "holds what flash has not taken meanwhile.",
        x=Axis("written since rest", "bytes"),
        y=Axis("rate", "bytes/s", log=True),
        series=(series("128 KiB at depth 32", places[seen], rates, "points"),),
        fitted=() if found.estimate is None else (Step(at=found.estimate, word="full"),),
    )
