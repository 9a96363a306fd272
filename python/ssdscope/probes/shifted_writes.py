"""Small writes at random places: what the fold of `rmw_unit` is taken of.

Writes of two sizes at two depths, at places drawn at random to the logical block, 64 near each
other before the next 64 elsewhere: a firmware with log blocks then merges rarely.
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING, Any

import numpy as np

from ssdscope.findings import Axis, Exhibit, Period, series
from ssdscope.probes.gaps import between_bursts
from ssdscope.seeds import stream

if TYPE_CHECKING:
    from numpy.typing import NDArray

    from ssdscope.probes.write_through import Writer
    from ssdscope.targets.records import DeviceInfo

DEPTHS = (1, 4)
"""Alone, two units on different chips may be written side by side and show nothing."""
REGION_BYTES = 256 << 10
NEIGHBOURS = 64
"""Writes into one region before the next."""
BLUR = 0.03
"""Share of a latency that does not matter: without noise a rank would show single nanoseconds."""
TURN_WRITES = 1024
"""Of one depth before the other has its turn."""
PIECE_WRITES = 256
"""Measured at once where others were seen at work: what they disturb is written in vain."""


@dataclass(frozen=True)
class Samples:
    """Writes so far: place and size in logical blocks, depth, turn, latency; shapes (n,)."""

    place: NDArray[np.int64]
    size: NDArray[np.int64]
    depth: NDArray[np.int64]
    turn: NDArray[np.int64]
    latency_ns: NDArray[Any]

    @property
    def strata(self) -> NDArray[np.int64]:
        """Number of the combination of depth and size."""
        large = self.size > self.size.min(initial=np.iinfo(np.int64).max)
        return np.asarray(np.searchsorted(DEPTHS, self.depth) * 2 + large)

    def ranks(self) -> NDArray[Any]:
        """Give ranks within strata and turns, from -1/2 to 1/2; what is within `BLUR` is alike."""
        rng = stream(self.place.size, "probes.shifted_writes.blur")
        blur = rng.normal(0, BLUR, self.place.size)
        logs = np.log(np.maximum(self.latency_ns, 1.0)) + blur
        ranks = np.empty(self.place.size)
        group = self.strata + (self.strata.max() + 1) * self.turn
        for number in np.unique(group):
            there = np.flatnonzero(group == number)
            order = np.argsort(logs[there])
            ranks[there[order]] = (np.arange(there.size) + 0.5) / there.size - 0.5
        return ranks

    def part(self, chosen: NDArray[np.bool_]) -> Samples:
        """Give some of them."""
        return Samples(
            self.place[chosen],
            self.size[chosen],
            self.depth[chosen],
            self.turn[chosen],
            self.latency_ns[chosen],
        )

    def joined(self, other: Samples) -> Samples:
        """Put others behind these."""
        later = self.turn.max(initial=-1) + 1
        return Samples(
            np.concatenate([self.place, other.place]),
            np.concatenate([self.size, other.size]),
            np.concatenate([self.depth, other.depth]),
            np.concatenate([self.turn, other.turn + later]),
            np.concatenate([self.latency_ns, other.latency_ns]),
        )


def sizes_blocks(info: DeviceInfo) -> tuple[int, int]:
    """Give both sizes of a write in logical blocks.

    Small ones straddle small units at some places only. No size is a page of its own, which is
    cheaper to write in place than elsewhere whatever the unit is.
    """
    return (3, 16) if info.logical_block_bytes <= 1024 else (2, 4)


def no_samples() -> Samples:
    """Begin with none."""
    nothing = np.empty(0, np.int64)
    return Samples(nothing, nothing, nothing, nothing, np.empty(0))


def measure(writer: Writer, count: int, look: int) -> Samples:
    """Write so often at each depth, by turns; sizes alike often, in random order."""
    bench = writer.bench
    rng = bench.rng(f"shifted writes {look}")
    block = bench.info.logical_block_bytes
    sizes = np.array(sizes_blocks(bench.info))
    region = REGION_BYTES // block
    parts = no_samples()
    for turn in range(count // TURN_WRITES * len(DEPTHS)):
        depth = DEPTHS[turn % len(DEPTHS)]
        size = rng.permuted(np.resize(sizes, TURN_WRITES))
        ends = bench.info.capacity_bytes // block - region
        begin = np.repeat(rng.integers(0, ends, TURN_WRITES // NEIGHBOURS), NEIGHBOURS)
        place = begin + rng.integers(0, region - sizes.max(), TURN_WRITES)

        def write(
            part: slice, place: Any = place, size: Any = size, depth: int = depth
        ) -> NDArray[Any]:
            return writer.latency_ns(place[part] * block, size[part] * block, iodepth=depth)

        longest = PIECE_WRITES if any(bench.foreign) else TURN_WRITES
        latency = between_bursts(bench, TURN_WRITES, write, longest=longest)
        same = np.ones(TURN_WRITES, np.int64)
        turn_samples = Samples(place, size, depth * same, 0 * same, latency)
        parts = parts.joined(turn_samples.part(~np.isnan(latency)))
    return parts


def effect(samples: Samples, unit: int, depth: int) -> float:
    """How much slower the slowest place of a unit is than the fastest, of the clearer size."""
    effects = []
    logs = np.log(np.maximum(samples.latency_ns, 1.0))
    for number in np.unique(samples.strata[samples.depth == depth]):
        there = samples.strata == number
        places = samples.place[there] % unit
        medians = np.array([np.median(logs[there][places == at]) for at in np.unique(places)])
        effects.append(float(np.expm1(np.ptp(medians))))
    return max(effects)


def held_out(halves: list[Samples], units: NDArray[Any], depth: int, most_noise: float) -> float:
    """How much slower the slowest place of one half is than its fastest, in the other half.

    Noise, of which some place always has the most, comes to nothing there, or to less than nothing.

    Parameters
    ----------
    halves
        Samples that share no data.
    units : ndarray, shape (n,)
        In blocks.
    depth
        Of the writes that count.
    most_noise
        Sizes of a write do not count at which some unit has the slower places faster by so much.

    Returns
    -------
    float
        A share, the most of all units and sizes; infinite if noise leaves none. A unit makes
        places differ for writes of each size.
    """
    sizes = np.unique(halves[0].size)
    apart = np.array([[_apart(halves, each, unit, depth) for unit in units] for each in sizes])
    telling = apart[apart.min(axis=1) > -most_noise]
    return float(telling.max()) if telling.size else np.inf


def _apart(halves: list[Samples], size: int, unit: int, depth: int) -> float:
    """Give it for a size and a unit; less than any noise makes it where a place was not written."""
    medians = []
    for half in halves:
        there = (half.size == size) & (half.depth == depth)
        logs, places = np.log(np.maximum(half.latency_ns[there], 1.0)), half.place[there] % unit
        if np.unique(places).size < unit:
            return -np.inf
        medians.append(np.array([np.median(logs[places == at]) for at in range(unit)]))
    one, other = medians
    slower = other[one.argmax()] - other[one.argmin()] + one[other.argmax()] - one[other.argmin()]
    return float(np.expm1(slower / 2))


def folded(samples: Samples, unit: int, boundary: int, block: int) -> Exhibit:
    """Show two periods of the folded latency."""
    lines = []
    for depth in DEPTHS:
        for size in np.unique(samples.size):
            there = (samples.depth == depth) & (samples.size == size)
            places = samples.place[there] % unit
            kept = samples.latency_ns[there]
            medians = [float(np.median(kept[places == at])) for at in np.unique(places)]
            x = np.concatenate([np.unique(places), np.unique(places) + unit]) * block
            name = f"{size * block} bytes at depth {depth}"
            lines.append(series(name, x, medians + medians, "steps"))
    begins = Period(period=unit * block, phase=boundary * block, word="unit begins")
    return Exhibit(
        name="write-folded",
        title="Latency of a write, folded",
        caption="A write that straddles a boundary rewrites one unit more.",
        x=Axis("offset within two units", "bytes"),
        y=Axis("median latency", "ns"),
        series=tuple(lines),
        fitted=(begins,),
    )
