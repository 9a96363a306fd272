"""Read cache: its bytes, the unit in which it takes room, and how far it reads ahead.

Question
    Does a drive keep what was read? How many bytes, in units of what size?
Physics
    A block that is still in memory is read in the time of the link; of flash, in the time of a
    read. A cache takes room in units, and gives up the one that was used longest ago; of a unit
    only what was read is there. Use of any block of a unit keeps all of it.
Plan
    (1) A block read again, and one beside it: a mapping table knows both, a cache only the first.
    (2) Blocks anywhere, read again backwards: about so many units are kept (`memory`).
    (3) Blocks, each with a neighbour that is read a little before the block would be gone, and the
    block again as much later: it is still there if its neighbour has kept their unit.
    (4) As (2), each block in another unit. Reading ahead: `ahead`.
Engine
    `contrast` (1), `step` (2, 4), `cells` (3).
Cannot tell
    More than 100,000 units, or units above 1 MiB; caches that give up what comes to hand. A drive
    that says that it has no cache is believed: where each block has an entry of the mapping table
    of its own, the two look alike.
Cost
    Some 40,000 reads of a block, and up to ten times the units of the cache.
Source
    kuo2009, 3.3.2 and table 5; PROBING.md 1.6. Distances of reuse: Mattson et al. 1970.
"""

from __future__ import annotations

import math
from collections.abc import Iterator
from dataclasses import dataclass, replace
from typing import TYPE_CHECKING

import numpy as np

from ssdscope.findings import Ambiguous, Evidence, Finding, Reason, Undetectable
from ssdscope.inference.cells import cells
from ssdscope.inference.contrast import contrast
from ssdscope.inference.levels import HERE_AND_THERE
from ssdscope.inference.series import Series
from ssdscope.inference.step import first_step
from ssdscope.probes import verdict
from ssdscope.probes.bench.discipline import cautions
from ssdscope.probes.bench.rows import READS, read_rows
from ssdscope.probes.caches.ahead import AHEAD, detect_ahead
from ssdscope.probes.info import ProbeInfo
from ssdscope.probes.plan import Ask, Plan, Stopped
from ssdscope.probes.shared.memory import FIRST, Again, Backwards, Levels, kept_bytes
from ssdscope.units import MIB

if TYPE_CHECKING:
    from numpy.typing import NDArray

    from ssdscope.probes.bench.ledger import Bench

__all__ = ["PROBE", "Kept"]

SIZE, UNIT = "read_cache_bytes", "read_cache_unit_bytes"
LARGEST_UNIT_BYTES = MIB
AT_ONCE, PASSED, MORE_THAN_FIT = 0.1, 0.6, 1.3
"""Of the units there are: pairs of one story, and other blocks read between two looks at a pair;
and places that are read to count them again."""


@dataclass(frozen=True, kw_only=True)
class Kept(Plan):
    """Blocks that a neighbour has kept in the cache, or not.

    `x` is the lower block of each pair, `stratum` how many blocks above it the other lies, and `y`
    what the other takes at the end.

    Attributes
    ----------
    units
        That the cache holds, about.
    """

    read_cache: bool = True
    units: int

    def measure(self, bench: Bench, rng: np.random.Generator) -> Series:
        """Read blocks, others, their neighbours, others, and the blocks again."""
        block = bench.info.logical_block_bytes
        pairs = int(np.clip(AT_ONCE * self.units, 1, READS))
        stories, others = -(-READS // pairs), round(PASSED * self.units)
        doubled = 2 ** np.arange((LARGEST_UNIT_BYTES // block).bit_length())
        # Members of an array may be three.
        distances = np.concatenate([[0], doubled, 3 * doubled[:-1]])
        apart = rng.permuted(np.resize(distances, stories * pairs)).reshape(stories, pairs)
        upper = np.empty_like(apart)

        def drawn(part: slice) -> NDArray[np.int64]:
            last, count = bench.info.capacity_bytes // block, len(apart[part])
            upper[part] = rng.integers(distances.max(), last, (count, pairs))
            one, two = (rng.integers(0, last, (count, others)) for _ in range(2))
            at = upper[part]
            return np.hstack([at, one, at - apart[part], two, at]) * block

        logs = read_rows(bench, drawn(slice(None)), drawn)
        y = np.exp(logs[:, -pairs:]).round()
        return Series.of(upper - apart, y, stratum=apart)


def detect(ask: Ask) -> Iterator[Finding]:
    """Answer size, unit and reading ahead."""
    told = Evidence(cautions=tuple(cautions(ask.info)))
    if ask.info.read_cache.control == "absent":
        why = "the drive says that it has no read cache"
        for name in (SIZE, UNIT, AHEAD):
            yield verdict.absent(name, 0.0, told, reason=why)
        return
    again = ask.take(Again(read_cache=True, below_blocks=(0, 1)))
    there = contrast(again)
    told = told.noting(again_faster=(there.estimate or 1.0) - 1)
    if not verdict.is_found(there, "contrast") or (there.estimate or 0.0) <= 1:
        for name in (SIZE, UNIT, AHEAD):
            yield verdict.weighed(name, replace(there, estimate=None), "contrast", told)
        return
    levels = Levels.of(again)
    if (again.y[again.x == 0] >= levels.between).mean() > HERE_AND_THERE:
        said = told.saying("only some of what is read is kept, as by one member of an array")
        raise Stopped(Reason.MODEL_MISFIT, evidence=said)
    ask.progress("blocks read again", 0.0)
    yield from _of_units(ask, levels, told)
    ask.progress("reads in a row", 0.5)
    yield detect_ahead(ask, levels, told)


def _of_units(ask: Ask, levels: Levels, told: Evidence) -> Iterator[Finding]:
    """Count the units, roughly; find how large one is; count them again, each read once."""
    block = ask.info.logical_block_bytes
    about = first_step(levels.told_apart(ask.take(Backwards(read_cache=True, thing_bytes=block))))
    if about.estimate is None or not verdict.is_found(about, "step"):
        for name in (SIZE, UNIT):
            yield verdict.refused(name, Reason.RANGE_TOO_SMALL, told)
        return
    units = max(int(about.estimate) - 1, 1)
    pairs = levels.told_apart(ask.take(Kept(units=units)))
    found = cells(pairs, np.arange(1, LARGEST_UNIT_BYTES // block + 1))
    size = int(found.estimate or 0) * block
    unit = verdict.weighed(UNIT, found.times(block), "cells", told, value=size)
    if isinstance(unit, Ambiguous | Undetectable):
        said = told.saying("how large its units are is not known")
        yield from (unit, verdict.refused(SIZE, Reason.EFFECT_BELOW_NOISE, said))
        return
    each = Backwards(
        read_cache=True,
        thing_bytes=int(unit.value or block),
        edge_bytes=int(found.detail["begins"]) * block,
        first=math.ceil(units * MORE_THAN_FIT) + FIRST,
    )
    yield kept_bytes(SIZE, ask.take(each), levels, each.thing_bytes, "units", told)
    if unit.value == block:
        why = "every logical block takes room of its own"
        unit = verdict.absent(UNIT, 0.0, told, reason=why)
    yield unit


PROBE = ProbeInfo(
    name="caches",
    summary="the read cache: bytes, management unit, reading ahead",
    weight="light",
    properties=(SIZE, UNIT, AHEAD),
    cost="some 40,000 reads of a block; more for a large cache of small units",
    detect=detect,
)
