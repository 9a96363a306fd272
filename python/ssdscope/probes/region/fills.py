"""Large regions: long writes at depth until the rate falls, behind a short and a long rest.

A drive that was discarded has nothing to collect before it is full once. Where the rate of one long
burst falls, a region may be full. It is one if it is fast again behind a long rest, at the same
length, and not behind a short one, in which a buffer would be written out.
"""

from __future__ import annotations

from dataclasses import dataclass
from functools import partial
from typing import TYPE_CHECKING

import numpy as np

from ssdscope.findings import Axis, Evidence, Exhibit, Finding, Reason, Step, series
from ssdscope.inference.bursts import Course, back, course, falls, named
from ssdscope.inference.levels import ERASES
from ssdscope.inference.series import Series, joined
from ssdscope.probes import verdict
from ssdscope.probes.bench.discipline import in_peace
from ssdscope.probes.plan import Ask, Plan
from ssdscope.probes.region.stretches import PAUSE_NS, SHORT_PAUSE_NS
from ssdscope.targets.records import OP_DISCARD, OP_FLUSH, DeviceInfo

if TYPE_CHECKING:
    from collections.abc import Iterator

    from ssdscope.probes.bench.ledger import Bench

__all__ = ["Fills", "by_fills", "fits"]

SIZE, NAME = "pslc_bytes", "region"
REQUEST_BYTES, DEPTH = 1 << 20, 8
MOST_BYTES, SHARE = 25_000_000_000, 0.3
"""Of the first burst, and of the capacity."""
PART, ROWS = 64, 4
"""Parts of the longest burst, after each of which it is looked at; and rows of a part."""
BEHIND = 1.25
"""Times what was written until the rate fell, that a burst is long."""
AGAIN_SHARE = 0.25
"""Of that, which is written behind a short rest."""
AGAIN_NS = 150_000_000
FIRST, AGAIN, FOLDED = range(3)
"""The strata: the first burst, one behind a short rest, and one behind a long one."""
ALIKE = 0.1
"""By which share the lengths of two may differ."""


@dataclass(frozen=True, kw_only=True)
class Fills(Plan):
    """Long bursts in order, on a drive that was discarded.

    Rows have in `x` the bytes done at their ends, and in `y` the time they took.

    Attributes
    ----------
    most_bytes
        Of the first burst.
    """

    write_cache: bool = True
    most_bytes: int = MOST_BYTES

    def writes_bytes(self, info: DeviceInfo) -> int:
        """Return the most that it writes."""
        most = min(self.most_bytes, int(SHARE * info.capacity_bytes))
        return int(most * (2 * BEHIND + AGAIN_SHARE))

    def measure(self, bench: Bench, rng: np.random.Generator) -> Series:  # noqa: ARG002
        """Write until the rate falls; rest shortly and write; rest long and write as much again."""
        return in_peace(bench, partial(self._all, bench), patient=True)

    def _all(self, bench: Bench) -> Series:
        long_ns = PAUSE_NS if bench.virtual else SHORT_PAUSE_NS
        bench.issue([OP_FLUSH], [0], [0])
        bench.issue([OP_DISCARD], [0], [bench.info.capacity_bytes])
        bench.idle(long_ns)
        most = min(self.most_bytes, int(SHARE * bench.info.capacity_bytes))
        part = most // PART // (ROWS * REQUEST_BYTES) * ROWS * REQUEST_BYTES
        first = self._burst(bench, 0, part, most // part, FIRST)
        at = falls(first).estimate
        if at is None:
            return first
        parts = max(round(BEHIND * at / part), 1)
        begin = int(first.x[-1])
        bench.idle(AGAIN_NS)
        again = self._burst(bench, begin, part, max(round(AGAIN_SHARE * at / part), 2), AGAIN)
        begin += int(again.x[-1])
        bench.idle(long_ns)
        return joined([first, again, self._burst(bench, begin, part, parts, FOLDED)])

    def _burst(self, bench: Bench, begin: int, part: int, parts: int, stratum: int) -> Series:
        """Write on end, the first time until the rate has fallen for long enough."""
        rows: list[Series] = []
        count, size = part // REQUEST_BYTES, part // ROWS
        for number in range(parts):
            at = begin + number * part + np.arange(count) * REQUEST_BYTES
            log = bench.write(at.astype(np.uint64), REQUEST_BYTES, iodepth=DEPTH)
            ends = np.sort(log.complete_ns.astype(float)) - float(log.submit_ns.min())
            took = np.diff(ends[count // ROWS - 1 :: count // ROWS], prepend=0.0)
            places = number * part + (1 + np.arange(ROWS)) * float(size)
            rows.append(Series.of(places, took, stratum=np.full(ROWS, stratum)))
            bench.progress("a long burst", (number + 1) / parts)
            found = falls(joined(rows)) if stratum == FIRST else None
            if found and found.estimate and (number + 1) * part >= BEHIND * found.estimate:
                break
        return joined(rows)


def fits(info: DeviceInfo) -> bool:
    """Whether a drive takes discards, and long bursts have enough rows on it."""
    return info.discard and SHARE * info.capacity_bytes >= PART * ROWS * REQUEST_BYTES


def by_fills(ask: Ask) -> Finding:
    """Answer the size of a region that long bursts fill."""
    taken = ask.take(Fills())
    first = taken.where(taken.stratum == FIRST)
    found = falls(first)
    evidence = Evidence(
        exhibits=(_exhibit(first),),
        figures={"levels_bytes_per_s": [each.rate * 1e9 for each in course(first).levels]},
    )
    if found.estimate is None or found.effect < ERASES:
        said = evidence.saying("the rate of a long burst does not fall: a region may be larger")
        return verdict.refused(SIZE, Reason.BUDGET_EXHAUSTED, said, probe=NAME)
    again, folded = (taken.where(taken.stratum == each) for each in (AGAIN, FOLDED))
    short, long = back(again, found), back(folded, found)
    what = named(short, long)
    if what != "region of one bit":
        said = evidence.saying(f"where the rate falls is no region for certain ({what})")
        return verdict.refused(SIZE, Reason.MODEL_MISFIT, said, probe=NAME)
    places = [found.estimate, falls(folded).estimate or float(folded.x[-1])]
    evidence = evidence.noting(slows_down_at_bytes=places[0], slows_down_again_at_bytes=places[1])
    if abs(places[1] / places[0] - 1) > ALIKE:
        one, other = (f"{each / 1e9:.3g} GB" for each in places)
        why = f"the rate fell behind {one}, after a rest behind {other}, as if by what is free"
        return verdict.refused(SIZE, Reason.MODEL_MISFIT, evidence.saying(why), probe=NAME)
    return verdict.weighed(SIZE, found, "bursts", evidence, probe=NAME)


def _exhibit(first: Series) -> Exhibit:
    rates = np.diff(first.x, prepend=0.0) / np.maximum(first.y, 1.0) * 1e9
    return Exhibit(
        name="a-long-burst",
        title="A long burst on a drive that was discarded",
        caption="Rate by what was written; marks say where it falls, and where it rises again.",
        x=Axis("written since rest", "bytes"),
        y=Axis("rate", "bytes/s", log=True),
        series=(series("1 MiB at depth 8", first.x, rates, "points"),),
        fitted=tuple(_marks(course(first))),
    )


def _marks(of: Course) -> Iterator[Step]:
    """Name the bends of a course."""
    for number, bend in enumerate(of.bends):
        falling = "dips" if of.comes_again(number) else "full"
        rising = "is fast again" if number else "slow start ends"
        yield Step(at=bend.at, word=falling if bend.ratio < 1 else rising)
