"""Part of `disk`: its read cache, which is a few segments that hold a run of sectors each.

Plan. Segments: as many places as the largest cache has, and then what lies behind each, backwards,
or the places themselves where nothing is read ahead. Those read last are still held; the first that
is not says how many are. Bytes: rows of random length are
read, and then their first place again, when reading ahead has ended; and the other way round, one
place, and later one at a random distance behind it. Of a segment the rows have what reading ahead
leaves; both together are all of it.
Engine. `held` for the number of segments, which the disks of an array have together; `step` for
both lengths.
Cannot tell. More than 40 segments, segments above 8 MiB; the bytes of arrays.
"""

from __future__ import annotations

import math
from dataclasses import dataclass, replace
from itertools import chain
from typing import TYPE_CHECKING

import numpy as np

from ssdscope.findings import Absent, Axis, Evidence, Exhibit, Finding, Reason, series
from ssdscope.inference.levels import LEAST_EFFECT
from ssdscope.inference.series import Series, Weighed
from ssdscope.inference.step import step
from ssdscope.probes import verdict
from ssdscope.probes.bench.discipline import base_request_bytes
from ssdscope.probes.disk.held import held
from ssdscope.probes.plan import Ask, Plan
from ssdscope.units import KIB, MIB

if TYPE_CHECKING:
    from collections.abc import Iterator, Sequence

    from ssdscope.probes.bench.ledger import Bench

BYTES, SEGMENTS = "disk_cache_bytes", "disk_cache_segments"

MOST, ROUNDS = 40, 24
"""Segments that can be told, and how often: each round says it all, others may disturb some."""
HELD_SHARE = 1 / 8
"""Of a turn: what is held takes less, and of what is not one in eight at most."""
ROWS, LEAST_BYTES, LONGEST_BYTES, PIECE_BYTES = 256, 4096, 8 * MIB, 64 * KIB
"""Rows of either kind, their lengths, and their requests."""
SETTLED_TURNS = 8
"""After which reading ahead has ended: several tracks."""


@dataclass(frozen=True, kw_only=True)
class Again(Plan):
    """Places, and the same backwards; `x` is how many were read since, `stratum` the round.

    Attributes
    ----------
    behind
        Whether what lies behind each is asked for: reading ahead may displace what was read.
    """

    turn_ns: int
    behind: bool
    read_cache: bool = True

    def measure(self, bench: Bench, rng: np.random.Generator) -> Series:
        """Read."""
        block = base_request_bytes(bench.info)
        last = bench.info.capacity_bytes // block - 1
        places = rng.integers(0, last, (ROUNDS, MOST)) * block
        again = places[:, ::-1] + (block if self.behind else 0)
        both = np.concatenate([places, again], axis=1)
        pauses = np.full(both.shape, round(HELD_SHARE * self.turn_ns) if self.behind else 0)
        log = bench.read(both.ravel(), block, pauses_ns=pauses.ravel())
        latency = log.latency_ns.reshape(both.shape)[:, MOST:]
        since = np.tile(np.arange(1, MOST + 1), ROUNDS)
        return Series.of(since, latency.ravel(), stratum=np.repeat(np.arange(ROUNDS), MOST))


@dataclass(frozen=True, kw_only=True)
class Rows(Plan):
    """Rows, and one place at their beginning, or behind their end; `x` is how far that is.

    Attributes
    ----------
    behind
        Whether one place is read alone, and one behind it is asked for.
    """

    turn_ns: int
    behind: bool
    read_cache: bool = True

    def measure(self, bench: Bench, rng: np.random.Generator) -> Series:
        """Read; what others came across is not valid."""
        block = bench.info.logical_block_bytes
        logs = rng.uniform(math.log(LEAST_BYTES), math.log(LONGEST_BYTES), ROWS)
        lengths = np.sort(np.exp(logs) // block).astype(np.int64) * block
        begins = rng.integers(0, (bench.info.capacity_bytes - 2 * LONGEST_BYTES) // block, ROWS)
        took, alone = np.empty(ROWS), np.empty(ROWS, np.bool_)
        # The place is to be at any angle then.
        rests = rng.integers(SETTLED_TURNS * self.turn_ns, (SETTLED_TURNS + 1) * self.turn_ns, ROWS)
        for at in rng.permutation(ROWS):
            before = bench.foreign
            place = int(begins[at]) * block, int(lengths[at]), block
            took[at] = self._one(bench, *place, int(rests[at]))
            alone[at] = bench.foreign == before
        return Series.of(lengths, took, valid=alone)

    def _one(self, bench: Bench, begin: int, length: int, block: int, rest_ns: int) -> float:
        """Read a row and one place; give how long that took."""
        row = block if self.behind else length
        starts = np.arange(begin, begin + row, PIECE_BYTES)
        sizes = np.minimum(begin + row - starts, PIECE_BYTES)
        last = begin + length if self.behind else begin
        pauses = np.append(np.zeros(starts.size, np.int64), rest_ns)
        log = bench.read(
            np.append(starts, last),
            np.append(sizes, block),
            pauses_ns=pauses,
            most_foreign_share=math.inf,
        )
        return float(log.latency_ns[-1])


def detect(ask: Ask, turn_ns: float) -> Iterator[Finding]:
    """Answer both properties."""
    most_ns = HELD_SHARE * turn_ns
    for behind in (True, False):
        again = ask.take(Again(turn_ns=round(turn_ns), behind=behind))
        found = held(again, most_ns)
        if verdict.is_found(found, "held"):
            break
    segments = verdict.weighed(SEGMENTS, found, "held", _shown_again(again, most_ns, found))
    if isinstance(segments, Absent):
        for name in (SEGMENTS, BYTES):
            yield replace(segments, name=name, reason="what was read is not held")
        return
    yield segments
    if segments.value is None or found.detail["caches"] > 1:
        said = Evidence(detail="the segments of one disk are not known")
        yield verdict.refused(BYTES, Reason.MODEL_MISFIT, said)
        return
    rows, after = (ask.take(Rows(turn_ns=round(turn_ns), behind=each)) for each in (False, True))
    yield _bytes(float(segments.value), rows, after)


def _bytes(segments: float, rows: Series, behind: Series) -> Finding:
    """Put together what a segment holds of a row, and what lies behind it."""
    parts = [step(each) for each in (rows, behind)]
    evidence = _shown_rows(rows, behind, parts)
    found = (each for each in parts if verdict.is_found(each, "step"))
    seen = [each for each in found if each.effect > LEAST_EFFECT]
    if not seen or any(each.margin <= 0 for each in seen):
        return verdict.refused(BYTES, Reason.EFFECT_BELOW_NOISE, evidence)
    ends = np.array([each.interval for each in seen], float)
    # What is fast by chance lies on one side only: the middles are no better than the ends.
    total, apart = float(ends.mean(axis=1).sum()), float(np.hypot.reduce(np.ptp(ends, axis=1)))
    told = segments * (total - apart), segments * (total + apart)
    effect = min(each.effect for each in seen)
    return verdict.detected(BYTES, segments * total, told, effect, evidence)


def _shown_again(again: Series, most_ns: float, found: Weighed) -> Evidence:
    """Show which share of the places was held, by how many were read since."""
    ranks = np.arange(1, MOST + 1)
    shares = [float((again.y[again.x == rank] < most_ns).mean()) for rank in ranks]
    shown = Exhibit(
        name="read-again",
        title="Places read again, the last first",
        caption="Of each place the share of reads that came from the cache.",
        x=Axis("places read since, itself included"),
        y=Axis("share from the cache"),
        series=(series("held", ranks, shares, "steps"),),
        fitted=verdict.marked(found, "the last that is held"),
    )
    return Evidence(exhibits=(shown,))


def _shown_rows(rows: Series, behind: Series, parts: Sequence[Weighed]) -> Evidence:
    """Show reads of the beginning of a row, and of what lies behind one place."""
    words = ("a row is still held to its beginning", "read ahead so far")
    fits = [
        verdict.marked(each, word)
        for each, word in zip(parts, words, strict=True)
        if verdict.is_found(each, "step")
    ]
    shown = Exhibit(
        name="rows-held",
        title="What a segment holds",
        caption="Each point is a read, once behind a row that begins there, once behind one read.",
        x=Axis("distance", "bytes", log=True),
        y=Axis("read latency", "ns", log=True),
        series=(
            series("its first place", rows.x, rows.y, "points"),
            series("a place behind it", behind.x, behind.y, "points"),
        ),
        fitted=tuple(chain(*fits)),
    )
    return Evidence(exhibits=(shown,))
