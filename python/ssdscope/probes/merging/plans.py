"""Writes that show log blocks: in order, single ones far apart, and at chosen places in units.

All go to the flash as far as the drive allows it (`write_through`), one by one. Their order
matters, as each leaves log blocks behind: what others disturb is left out, and not written again.
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING, Any

import numpy as np

from ssdscope.findings import Reason
from ssdscope.inference.series import Series
from ssdscope.probes.bench import write_through
from ssdscope.probes.bench.discipline import MOST_LOST, between_bursts
from ssdscope.probes.plan import Plan, State, Stopped

if TYPE_CHECKING:
    from numpy.typing import NDArray

    from ssdscope.probes.bench.ledger import Bench
    from ssdscope.targets.records import DeviceInfo

__all__ = ["LOGS", "Begins", "InOrder", "Pairs", "Reversed", "Scattered", "full"]

PIECE, ONE_BY_ONE = 256, 1024
"""Writes that others disturb or leave alone as one; where others are about, so many one by one."""
KEPT = 4096
"""Of writes in order, the slowest, that count one by one."""
LOGS = 128
"""More than a drive has log blocks."""
WHOLE = 64
"""Parts of a candidate, at most, whose beginnings are tried."""
ROW, EVERY = 3, 3
"""Writes of a pair, as the first is written twice; and of the spans every third has one."""


@dataclass(frozen=True, kw_only=True)
class _Writes(Plan):
    """Single writes of a unit, from the filled drive on.

    Attributes
    ----------
    unit_bytes, phase_bytes
        Of what is written at once; places are counted in these.
    count
        Of writes that are measured.
    """

    state: State | None = State.FILLED
    unit_bytes: int
    phase_bytes: int
    count: int

    def writes_bytes(self, info: DeviceInfo) -> int:
        """Give the bytes of all writes."""
        return self._writes() * self.unit_bytes + write_through.writes_bytes(info)

    def _writes(self) -> int:
        return self.count

    def _last(self, bench: Bench) -> int:
        """Count the places; the first may begin before the drive does."""
        return bench.info.capacity_bytes // self.unit_bytes - 1

    def _took(self, bench: Bench, places: NDArray[np.int64]) -> NDArray[Any]:
        """Write at places; give what each takes, NaN if others disturbed it."""
        with write_through.writing(bench) as writer:
            return self._by(writer, places, MOST_LOST)[0]

    def _by(
        self, writer: write_through.Writer, places: NDArray[np.int64], most_lost: float = 1.0
    ) -> tuple[NDArray[Any], NDArray[np.int64]]:
        """Write at places; give what each takes, and what others have written until then."""
        theirs = np.zeros(places.size, np.int64)
        bench = writer.bench

        def write(part: slice) -> NDArray[Any]:
            try:
                at = places[part] * self.unit_bytes - self.phase_bytes
                return writer.latency_ns(at, self.unit_bytes)
            finally:
                theirs[part] = bench.foreign.written_bytes

        longest = 1 if places.size <= ONE_BY_ONE and any(bench.foreign) else PIECE
        took = between_bursts(
            bench, places.size, write, longest=longest, again=False, most_lost=most_lost
        )
        return took, theirs


def _series(x: NDArray[Any], took: NDArray[Any], **more: Any) -> Series:
    """Give what writes took, without those that others disturbed."""
    lost = np.isnan(took)
    return Series.of(x, np.where(lost, 1.0, took), valid=~lost, **more)


@dataclass(frozen=True, kw_only=True)
class InOrder(_Writes):
    """Overwrite the beginning of the drive in order: `x` is the place.

    Only the slowest are kept, and those that others disturbed; `full` gives all.
    """

    def measure(self, bench: Bench, rng: np.random.Generator) -> Series:  # noqa: ARG002
        """Write from the first whole unit on; the last row is what is usual."""
        took = self._took(bench, np.arange(1, self.count + 1))
        order = np.argsort(np.where(np.isnan(took), -np.inf, -took), kind="stable")
        kept = np.sort(order[: KEPT + int(np.isnan(took).sum())])
        usual = np.nanmedian(took)
        return _series(np.append(kept + 1, 0), np.append(took[kept], usual))


def full(plan: InOrder, taken: Series) -> Series:
    """Give all writes in order, those that are not slow alike."""
    y, valid = np.full(plan.count + 1, taken.y[-1]), np.ones(plan.count + 1, bool)
    at = taken.x.astype(np.int64)
    y[at], valid[at] = taken.y, taken.valid
    return Series.of(np.arange(1, plan.count + 1), y[1:], valid=valid[1:])


@dataclass(frozen=True, kw_only=True)
class Scattered(_Writes):
    """Write single units far apart, and read blocks among the latter half: `stratum` is 1 of reads.

    What a table must write back before it loads another part, reads wait for as writes do.
    """

    def measure(self, bench: Bench, rng: np.random.Generator) -> Series:
        """Write once to each of as many stretches; on average three go before a read."""
        last = self._last(bench)
        stretch = max(last // self.count, 1)
        # None begins what a power of two of units may hold.
        places = 1 + rng.permutation(last // stretch)[: self.count] * stretch + stretch // 3
        half, block = places.size // 2, bench.info.logical_block_bytes
        cuts = half + np.flatnonzero(rng.random(places.size - half) < 1 / 3)
        rows = []
        with write_through.writing(bench) as writer:
            for part in np.split(places, cuts):
                rows += [(took, 0) for took in self._by(writer, part)[0]]
                at = int(rng.integers(0, bench.info.capacity_bytes // block)) * block
                rows.append((_read_ns(bench, at), 1))
        took, read = np.array(rows, float).T
        return _series(np.arange(took.size), took, stratum=read)


def _read_ns(bench: Bench, at: int) -> float:
    """Read a block; NaN if others disturbed it."""
    try:
        return float(bench.read([at], bench.info.logical_block_bytes).latency_ns[0])
    except Stopped as stop:
        if stop.reason is Reason.INTERFERENCE:
            return np.nan
        raise


@dataclass(frozen=True, kw_only=True)
class Begins(_Writes):
    """Write single units where stretches of a length begin, or whole parts of it: `x` is where."""

    length: int

    def measure(self, bench: Bench, rng: np.random.Generator) -> Series:
        """Write at random multiples of random parts, in random order."""
        parts = np.array(self.parts())
        step = self.length // parts[rng.integers(0, parts.size, self.count)]
        places = rng.integers(1, (self._last(bench) - 1) // step) * step
        return _series(places, self._took(bench, places))

    def parts(self) -> list[int]:
        """Give how many there may be in a length."""
        return [each for each in range(1, WHOLE + 1) if self.length % each == 0]


@dataclass(frozen=True, kw_only=True)
class Pairs(_Writes):
    """Write one unit twice and another once, once all log blocks are taken.

    `x` is the lower place and `stratum` how much higher the other is; `y` what the latter takes,
    and `time_ns` what the second of the former does.

    Attributes
    ----------
    middle, reach
        The first is in the middle of a stretch, the other so far behind its end, at random. If
        nothing is to reach, both are anywhere.
    """

    length: int
    middle: int = 0
    reach: int = 0

    def _writes(self) -> int:
        return ROW * self.count + LOGS

    def measure(self, bench: Bench, rng: np.random.Generator) -> Series:
        """Write pairs around stretches of the length that had none for the longest time."""
        length, there = self.length, (self._last(bench) // self.length - 1) // EVERY
        span = np.resize(rng.permutation(there) * EVERY + 1, self.count)
        if self.reach:
            one = span * length + length // 2
            behind = rng.integers(-self.reach, self.reach, self.count, endpoint=True)
            other = (span + 1) * length + self.middle + behind
        else:
            one = span * length + rng.integers(0, length, self.count)
            apart = np.exp(rng.uniform(0, np.log(length * 3 / 2), self.count)).astype(np.int64)
            other = one + np.maximum(apart, 1) * rng.choice((-1, 1), self.count)
            other = np.clip(other, 1, self._last(bench) - 1)
            other = np.where(other == one, one - 1, other)
        # Those that come last take the log blocks first.
        before = np.resize(span[::-1][: min(LOGS, there)], LOGS) * length
        before += rng.integers(-length, 2 * length, LOGS)
        # The second waits for what the first has begun on its chips, so that the third does not.
        places = np.concatenate([before, np.column_stack([one, one, other]).ravel()])
        took = self._took(bench, np.maximum(places, 1))[LOGS:].reshape(-1, ROW)
        took[np.isnan(took).any(axis=1)] = np.nan
        return _series(
            np.minimum(one, other),
            took[:, -1],
            stratum=np.abs(one - other),
            time_ns=np.nan_to_num(took[:, 1]),
        )


@dataclass(frozen=True, kw_only=True)
class Reversed(_Writes):
    """Write to units side by side, in random order, and again in the reverse of it.

    `x` is how many came since, itself counted; `stratum` numbers the passes.
    """

    length: int
    passes: int

    def _writes(self) -> int:
        return self.passes * 2 * self.count

    def measure(self, bench: Bench, rng: np.random.Generator) -> Series:
        """Write to the same units in each pass: those that come first had none for longest."""
        first = rng.integers(1, self._last(bench) // self.length - self.count)
        units = rng.permutation(first + np.arange(self.count)) * self.length
        rows = []
        with write_through.writing(bench) as writer:
            for _ in range(self.passes):
                # Neither beginnings nor one after the other, which a drive may take for streams.
                there = rng.integers(1, self.length - 1, 2)
                places = np.concatenate([units + there[0], units[::-1] + there[1]])
                took, theirs = self._by(writer, places)
                # What others wrote since may have taken a log block.
                alone = theirs[self.count :] == theirs[self.count - 1 :: -1]
                rows.append(np.where(alone, took[self.count :], np.nan))
        depth, number = np.meshgrid(np.arange(1, self.count + 1), np.arange(self.passes))
        return _series(depth.T.ravel(), np.array(rows).T.ravel(), stratum=number.T.ravel())
