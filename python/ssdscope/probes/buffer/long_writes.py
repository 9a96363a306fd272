"""Small write buffers behind slow commands: long writes fill what single blocks do not.

Where a unit drains sooner than a command brings the next, single blocks never fill a buffer; a long
write brings many units at once. As long as no program can have ended nothing has left, and it waits
from the very block on that finds no room. One that begins within a unit takes one more: by where it
begins the unit is seen, too.
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING

import numpy as np

from ssdscope.inference.contrast import contrast
from ssdscope.inference.series import Series, Weighed
from ssdscope.probes.bench.filling import Bursts
from ssdscope.probes.buffer.plans import MORE, RUNS, SOME, WIDEST, Buffered

if TYPE_CHECKING:
    from ssdscope.probes.bench.ledger import Bench
    from ssdscope.probes.plan import Ask

__all__ = ["Long", "by_long_writes", "lengths_of_units"]

SPACING = 3 * WIDEST // 2
"""A multiple of all units up to half of the widest."""
LEAST, MOST = 8 * 1024, 1 << 20
"""Bytes of a write."""
LEAST_PLACES = 4
FITS, WAITS, LENGTH, FLUSHED = range(4)
"""Kinds of rows."""


def lengths_of_units(block: int) -> list[int]:
    """Give 1 and 3 times powers of two blocks, in bytes."""
    return sorted(block * n << power for power in range(12) for n in (1, 3))


@dataclass(frozen=True, kw_only=True)
class Long(Buffered):
    """The longest writes that do not wait, and such as are a block longer, from several beginnings.

    `stratum` is the beginning in bytes, the last a unit behind the first; `x` the kind of row, `y`
    what it took to write, the length, or what it takes to flush. From the last the same is written
    by two requests, lest it is a request that has a most.
    """

    def taken(self, bench: Bench, rng: np.random.Generator) -> Series:
        """Double the length until it waits, bisect, and begin ever later."""
        bursts = Bursts(bench, SPACING)
        block = bench.info.logical_block_bytes

        def took(length: int, begin: int = 0, first: int = 0) -> float:
            at = int(rng.choice(bursts.places)) + begin
            return bursts.together_ns(at, [first, length - first] if first else [length])

        def usual(length: int, begin: int = 0) -> float:
            return float(np.median([took(length, begin) for _ in range(SOME)]))

        flushed = min(bursts.flushed_ns(1)[0] for _ in range(RUNS))
        fits, took_ns = max(LEAST, block), usual(max(LEAST, block))
        while (longer := usual(2 * fits)) <= 2 * MORE * took_ns:
            fits, took_ns = 2 * fits, longer
            if took_ns > flushed or fits >= MOST:
                return Series.of([], [])
        each_ns, full, waits = took_ns / fits, fits, 2 * fits
        while waits - full > block:
            middle = (full + waits) // 2 // block * block
            slow = usual(middle) > MORE * middle * each_ns
            full, waits = (full, middle) if slow else (middle, waits)
        rows: list[tuple[float, float, float]] = [(0, FLUSHED, flushed)]
        for begin in [0, *lengths_of_units(block)]:
            whole = not begin or usual(full, begin) <= MORE * full * each_ns
            length = full if whole else full - begin
            if length < LEAST:
                break
            rows.append((begin, LENGTH, length))
            first = length // 2 // begin * begin if begin and whole else 0
            for _ in range(RUNS):
                rows += [(begin, FITS, took(length, begin, first))]
                rows += [(begin, WAITS, took(length + block, begin, first))]
            if begin and whole:
                break
        stratum, x, y = np.array(rows).T
        return Series.of(x, y, stratum=stratum)


def by_long_writes(ask: Ask) -> tuple[Weighed, int] | None:
    """Give the size in units, and the unit; None if no long write shows them."""
    if ask.info.capacity_bytes < LEAST_PLACES * SPACING:
        return None
    rows = ask.take(Long())
    if not len(rows):
        return None
    begins = np.unique(rows.stratum).tolist()
    lengths = [rows.y[(rows.x == LENGTH) & (rows.stratum == begin)][0] for begin in begins]
    size, unit = int(lengths[0]), int(begins[-1])
    # From within a unit as much less fits, and behind it as much again.
    expected = [size - begin for begin in begins[:-1]] + [size]
    certain = [_jump(rows.where(rows.stratum == begin)) for begin in begins]
    flushed = float(rows.y[rows.x == FLUSHED][0])
    in_time = float(np.median(rows.y[(rows.x == FITS) & (rows.stratum == 0)])) < flushed
    whole = unit > 0 and size % unit == 0 and size > unit
    if not (whole and in_time and lengths == expected and all(certain)):
        return None
    found = contrast(_of_both(rows))
    count = float(size // unit)
    return Weighed(count, (count, count), found.score, found.effect, found.bound), unit


def _of_both(rows: Series) -> Series:
    """Hold what waits against what fits."""
    both = rows.where(rows.x <= WAITS)
    order = np.arange(len(both))
    return Series.of(both.x == WAITS, both.y, stratum=order // 2)


def _jump(rows: Series) -> bool:
    """Say whether a block more surely waits."""
    found = contrast(_of_both(rows))
    return found.interval is not None and found.interval[0] > MORE
