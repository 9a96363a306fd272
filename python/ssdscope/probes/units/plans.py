"""Writes that show where units begin and end: at random places, and of any length from one place.

All go to the flash as far as the drive allows it (`write_through`), in regions of which each is
left for the next soon: a firmware with log blocks then merges rarely, and a mapping table that is
not all in memory is seldom asked.
"""

from __future__ import annotations

from dataclasses import dataclass, replace
from typing import TYPE_CHECKING, Any

import numpy as np

from ssdscope.inference.series import Series, joined
from ssdscope.probes.bench import write_through
from ssdscope.probes.bench.discipline import between_bursts
from ssdscope.probes.plan import Plan, State

if TYPE_CHECKING:
    from collections.abc import Sequence

    from numpy.typing import NDArray

    from ssdscope.probes.bench.ledger import Bench
    from ssdscope.targets.records import DeviceInfo

__all__ = [
    "DEPTHS",
    "FAR",
    "KINDS",
    "LOOKS",
    "PAGE_STEPS",
    "SMALL_BLOCK_BYTES",
    "Lengths",
    "Shifted",
    "all_looks",
    "lengths_blocks",
    "lengths_plan",
    "shifted_plans",
    "sizes_blocks",
]

KIB = 1024
PAGE_STEPS = ((2 * KIB, 128 * KIB), (4 * KIB, 512 * KIB))
"""Units are whole pages of flash: multiples of so much, up to so much."""
DEPTHS = (1, 4)
"""Alone, two units on different chips may be written side by side and show nothing."""
KINDS = 2 * len(DEPTHS)
"""Sizes at every depth: each a stratum."""
TURNS, LOOKS = 32, 3
"""Of random writes in the first look; and looks, of which each doubles what there is."""
ROUNDS = (512, 4096)
"""Of writes from a beginning on, in the first look and in the second."""
SHARES = (2 * LOOKS, 6, 3)
"""Parts of the capacity that may be written: in a look at random places, and in both others."""
FAR = 1 << 16
"""Added to strata of another look."""
SMALL_BLOCK_BYTES = 1024
REGION_BYTES, NEIGHBOURS = 256 * KIB, 64
"""Where so many writes go before the next region."""
TURN_WRITES = 4 * NEIGHBOURS
"""At one depth before the other, and measured at once: what others disturb is written again."""
AGAIN = 1.5
"""Times what is asked for, that may be written for that reason."""


def lengths_blocks(info: DeviceInfo) -> NDArray[np.int64]:
    """Give the units that are looked for, in logical blocks."""
    block = info.logical_block_bytes
    every = np.concatenate([np.arange(step, most + 1, step) for step, most in PAGE_STEPS])
    return np.unique(every[(every % block == 0) & (every > block)] // block)


def sizes_blocks(info: DeviceInfo) -> tuple[int, int]:
    """Give both sizes of a shifted write: small ones straddle small units at few places only."""
    return (3, 16) if info.logical_block_bytes <= SMALL_BLOCK_BYTES else (2, 4)


@dataclass(frozen=True, kw_only=True)
class Shifted(Plan):
    """Write two sizes at two depths, at places drawn at random to the logical block.

    `x` is the place in blocks, `stratum` twice the number of the depth, one more for the larger.
    """

    state: State | None = State.FILLED
    turns: int

    def writes_bytes(self, info: DeviceInfo) -> int:
        """Give the bytes of all turns, with what others disturb."""
        blocks = sum(sizes_blocks(info)) * TURN_WRITES // 2 * self.turns
        return int(AGAIN * blocks) * info.logical_block_bytes + write_through.writes_bytes(info)

    def measure(self, bench: Bench, rng: np.random.Generator) -> Series:
        """Write by turns at either depth."""
        block = bench.info.logical_block_bytes
        sizes, region = np.array(sizes_blocks(bench.info)), REGION_BYTES // block
        ends = bench.info.capacity_bytes // block - region
        rows = []
        with write_through.writing(bench) as writer:
            for turn in range(self.turns):
                number = turn % len(DEPTHS)
                large = rng.integers(0, 2, TURN_WRITES)
                begin = np.repeat(rng.integers(0, ends, TURN_WRITES // NEIGHBOURS), NEIGHBOURS)
                place = begin + rng.integers(0, region - sizes.max(), TURN_WRITES)

                def write(
                    part: slice,
                    at: Any = place,
                    size: Any = sizes[large],
                    depth: int = DEPTHS[number],
                ) -> NDArray[Any]:
                    return writer.latency_ns(at[part] * block, size[part] * block, iodepth=depth)

                took = between_bursts(bench, TURN_WRITES, write, longest=TURN_WRITES)
                rows.append(np.stack([place, took, 2 * number + large, ~np.isnan(took)]))
        x, y, stratum, valid = np.concatenate(rows, axis=1)
        return Series.of(x, np.nan_to_num(y, nan=1.0), stratum=stratum, valid=valid)


def _begins(
    bench: Bench, rng: np.random.Generator, period: int, count: int, room: int
) -> NDArray[np.int64]:
    """Draw multiples of a period, in blocks, near each other; `room` blocks lie on either side."""
    block = bench.info.logical_block_bytes
    last = bench.info.capacity_bytes // block // period - 1 - -(-room // period)
    near = min(max(REGION_BYTES // block // period, DEPTHS[-1]), last)
    first = int(rng.integers(-(-room // period), max(last - near, -(-room // period)) + 1))
    return np.asarray((first + rng.integers(0, near, count)) * period)


@dataclass(frozen=True, kw_only=True)
class Lengths(Plan):
    """Write every length once from a beginning of a period, one write after the other.

    `x` is the length in blocks, `stratum` the number of the beginning.
    """

    state: State | None = State.FILLED
    period: int
    begin: int
    lengths: tuple[int, ...]
    rounds: int

    def writes_bytes(self, info: DeviceInfo) -> int:
        """Give the bytes of all writes, with what others disturb."""
        blocks = int(AGAIN * self.rounds * sum(self.lengths))
        return blocks * info.logical_block_bytes + write_through.writes_bytes(info)

    def measure(self, bench: Bench, rng: np.random.Generator) -> Series:
        """Write all lengths, in random order within a round, each at a place of its own."""
        block, count = bench.info.logical_block_bytes, len(self.lengths)
        order = rng.permuted(np.tile(np.arange(count), (self.rounds, 1)), axis=1)
        sizes = np.array(self.lengths)[order].ravel()
        room = max(self.lengths) + self.period
        places = np.concatenate(
            [
                _begins(bench, rng, self.period, min(NEIGHBOURS, sizes.size - first), room)
                for first in range(0, sizes.size, NEIGHBOURS)
            ]
        )
        places = places + self.begin
        with write_through.writing(bench) as writer:

            def write(part: slice) -> NDArray[Any]:
                return writer.latency_ns(places[part] * block, sizes[part] * block)

            took = between_bursts(bench, sizes.size, write, longest=TURN_WRITES)
        rounds = np.repeat(np.arange(self.rounds), count)
        valid = ~np.isnan(took)
        return Series.of(sizes, np.nan_to_num(took, nan=1.0), stratum=rounds, valid=valid)


def shifted_plans(info: DeviceInfo) -> list[Shifted]:
    """Give the looks at random places, as far as a drive has room for them."""
    fits = _fitting(info, [Shifted(turns=each) for each in (1, 2)], 1 / SHARES[0])
    turns = [TURNS, *(TURNS << look for look in range(LOOKS - 1))]
    return [Shifted(turns=min(each, fits), number=at) for at, each in enumerate(turns) if fits > 1]


def lengths_plan(
    info: DeviceInfo, unit: int, begin: int, lengths: Sequence[int], look: int, spared: int = 0
) -> Lengths:
    """Write rounds of lengths, as many as a drive has room for, and looks that were spared."""
    plan = Lengths(period=unit, begin=begin, lengths=tuple(lengths), rounds=1, number=look)
    share = 1 / SHARES[1 + look] + spared / SHARES[0]
    most = _fitting(info, [plan, replace(plan, rounds=2)], share)
    return replace(plan, rounds=max(min(ROUNDS[look], most), 1))


def _fitting(info: DeviceInfo, once_and_twice: Sequence[Plan], share: float) -> int:
    """Say how often a plan can be run as a part of the capacity, beside what it writes anyway."""
    once, twice = (each.writes_bytes(info) for each in once_and_twice)
    return int(info.capacity_bytes * share - once) // max(twice - once, 1) + 1


def all_looks(parts: Sequence[Series]) -> Series:
    """Put looks one behind the other; ranks are within one."""
    every = enumerate(parts)
    return joined(replace(part, stratum=part.stratum + look * FAR) for look, part in every)
