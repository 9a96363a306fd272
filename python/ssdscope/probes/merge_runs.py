"""Runs of whole merge units, aligned and across two, and writes far apart that fill log blocks.

A log block is merged when its place is needed, so that what a run leaves behind is paid by a later
one: with a log block for each unit, only after as many others. Single writes far apart go ahead
until they wait for merges; as many runs as there were of them do not count.
"""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any, TypeVar

import numpy as np

from ssdscope.findings import Axis, Contrast, Exhibit, Reason, series
from ssdscope.probes import write_through
from ssdscope.probes.bench import Stopped
from ssdscope.probes.discipline import WAITS_NS
from ssdscope.probes.gaps import between_bursts
from ssdscope.probes.notes import Notes
from ssdscope.probes.states import State
from ssdscope.seeds import stream

if TYPE_CHECKING:
    from numpy.typing import NDArray

    from ssdscope.probes.bench import Bench
    from ssdscope.probes.write_through import Writer
    from ssdscope.targets.records import DeviceInfo

RUN_BYTES = 256 << 10
PIECE_WRITES, MOST_LOST = 256, 0.4
"""Writes that are judged as one, and the share of a list that others may disturb."""
APART_BYTES, SLOTS, BATCH = 4 << 20, (64, 1024), 16
"""Distance of single writes, the fewest and the most of them, and how many are judged at once."""
MERGES = 2.0
"""How many times longer such a write must take than the first ones, to have waited for a merge."""
MOST_LOGS = 64
"""More runs than that are not written before they count: common log blocks take many writes."""
MOST_MORE = 64
"""Single writes ahead of runs, as many as chance will have it."""
RUNS, COUNTING = 24, 16
"""Runs of a kind, and how many of them count at least."""
COLLAPSES, COPIES, BY_CHANCE, SHUFFLES = 0.1, 0.5, 0.001, 9999
"""How much longer runs take that are not in order; and across two units, whose other halves are
copied, which is as much as a run writes: superblocks that are opened meanwhile made a quarter."""
LEAST_OF_KIND, OTHER_HALF, ALIKE = 4, 0.35, 0.01
"""Of runs across odd and across even multiples: so many of each at least, and of what the dearer
cost more, and how improbable by chance, so little that the others cross nothing."""
LOADS = 4.0
"""Writes far apart, each of which loads a part of the table: a run across two loads one more."""

T = TypeVar("T")


@dataclass(frozen=True)
class Apart:
    """How much slower than the first single writes far apart became, and after how many.

    Attributes
    ----------
    first_ns
        What one of the first took: with all that it needs of a mapping table.
    """

    slower: float
    writes: int
    first_ns: float

    @property
    def logs(self) -> int:
        """How many log blocks there may be, each for a unit of its own."""
        return min(self.writes, MOST_LOGS) if self.slower > MERGES - 1 else 0


@dataclass(frozen=True)
class Runs:
    """Times of runs of a kind, and which of them begin near odd multiples of their size."""

    ns: NDArray[Any]
    odd: NDArray[np.bool_]

    def followed_by(self, more: Runs) -> Runs:
        """Give both in one."""
        return Runs(np.concatenate([self.ns, more.ns]), np.concatenate([self.odd, more.odd]))


@dataclass(frozen=True)
class Collapse:
    """Times of whole units, aligned and across two, and the probability that chance orders them."""

    size_bytes: int
    aligned: Runs
    across: Runs
    p_value: float
    apart: Apart

    @property
    def aligned_ns(self) -> NDArray[Any]:
        """What they take that are no more than one unit."""
        return self.aligned.ns

    @property
    def across_ns(self) -> NDArray[Any]:
        """What they take that are half of one unit, and half of the next."""
        return self.across.ns

    @property
    def halves(self) -> bool:
        """Whether only every other boundary costs anything: these are halves of units."""
        from scipy.stats import mannwhitneyu

        odd, even = self.across_ns[self.across.odd], self.across_ns[~self.across.odd]
        if min(odd.size, even.size) < LEAST_OF_KIND:
            return False
        less, more = sorted(float(each.mean() - self.aligned_ns.mean()) for each in (odd, even))
        return bool(less < OTHER_HALF * more and mannwhitneyu(odd, even).pvalue < ALIKE)

    @property
    def contrast(self) -> float:
        """How much longer it takes to write across two, in the mean: merges come in turns."""
        return float(self.across_ns.mean() / self.aligned_ns.mean() - 1)

    @property
    def sure(self) -> bool:
        """Whether that is so, as by copies and not by chance."""
        return self.contrast >= COPIES and self.p_value <= BY_CHANCE

    @property
    def merges(self) -> bool:
        """Whether no mapping table explains it, even if it is loaded in parts of that size."""
        longer_ns = float(self.across_ns.mean() - self.aligned_ns.mean())
        return self.apart.logs > 0 or longer_ns > LOADS * self.apart.first_ns

    def note(self, notes: Notes) -> None:
        """Note all of it."""
        notes.figures |= {
            "period_bytes": self.size_bytes,
            "contrast": self.contrast,
            "p_value": self.p_value,
        }
        notes.show(self._exhibit())

    def _exhibit(self) -> Exhibit:
        aligned, across = self.aligned_ns, self.across_ns
        return Exhibit(
            name="aligned-and-across",
            title="Units written aligned, and across two",
            caption="Time of a run of one unit's bytes; across two, both have to be merged.",
            x=Axis("run"),
            y=Axis("time of a run", "ns"),
            series=(
                series("across", np.arange(1, across.size + 1), across, "points"),
                series("aligned", np.arange(1, aligned.size + 1), aligned, "points"),
            ),
            fitted=(
                Contrast(
                    one="across",
                    other="aligned",
                    one_at=float(across.mean()),
                    other_at=float(aligned.mean()),
                    ratio=1 + self.contrast,
                    p_value=self.p_value,
                ),
            ),
        )


@dataclass(frozen=True)
class Layout:
    """Runs of so many bytes, in RMW units, at multiples of their size plus a shift.

    Attributes
    ----------
    before
        Runs that do not count.
    """

    size_bytes: int
    unit_bytes: int
    shift_bytes: int
    before: int

    @property
    def runs(self) -> int:
        """How many are wanted."""
        return max(RUNS, self.before + COUNTING)

    def slots(self, info: DeviceInfo) -> int:
        """How many there are room for."""
        return (info.capacity_bytes // self.size_bytes - 2) // 2


def by_chance(across_ns: NDArray[Any], aligned_ns: NDArray[Any]) -> float:
    """Give the probability that the former are greater by chance, by ranks or by their sum.

    Ranks are blind to outliers; where few runs wait, but for long, the sum shows it.
    """
    from scipy.stats import mannwhitneyu

    ranks = float(mannwhitneyu(across_ns, aligned_ns, alternative="greater").pvalue)
    both = np.concatenate([across_ns, aligned_ns])
    rng = stream(0, "probes.merge_runs.shuffles")
    shuffled = rng.permuted(np.tile(both, (SHUFFLES, 1)), axis=1)
    sums = shuffled[:, : across_ns.size].sum(axis=1)
    greater = 1 + int((sums >= across_ns.sum()).sum())
    return min(1.0, 2 * min(ranks, greater / (1 + SHUFFLES)))


def undisturbed(
    writer: Writer,
    places: NDArray[Any],
    size: int,
    most_lost: float = MOST_LOST,
    longest: int = PIECE_WRITES,
) -> NDArray[Any]:
    """Write a list whose order matters; latencies, NaN where others disturbed."""

    def write(part: slice) -> NDArray[Any]:
        return writer.latency_ns(places[part], size)

    return between_bursts(
        writer.bench,
        places.size,
        write,
        longest=longest,
        again=False,
        most_lost=most_lost,
    )


def alone(writer: Writer, places: NDArray[Any], size: int, most_lost: float) -> NDArray[Any]:
    """Write what may wait for a merge each time: one by one, if others are about."""
    longest = 1 if any(writer.bench.foreign) else PIECE_WRITES
    return undisturbed(writer, places, size, most_lost, longest)


def renew(bench: Bench) -> None:
    """Return to the filled drive, where that costs nothing."""
    bench.renew(State.FILLED)


def afresh(bench: Bench, measure: Callable[[], T]) -> T | None:
    """Measure from the filled drive on; again after a longer wait if others disturbed that.

    A drive that returns to a state may return to the same visit of others, too: so waiting comes
    after that. None if others always disturb.
    """
    for wait_ns in (0, *WAITS_NS):
        renew(bench)
        bench.idle(wait_ns)
        try:
            return measure()
        except Stopped as stop:
            if stop.reason is not Reason.INTERFERENCE:
                raise
    return None


def run_times(bench: Bench, layout: Layout, runs: int, look: int) -> Runs:
    """Time runs of a size at random multiples of it, less those that only fill log blocks.

    No two are neighbours: the rest of a unit that one began would go to the same log block. So the
    multiples are odd in one half of the drive, and even in the other.
    """
    size, unit, slots = layout.size_bytes, layout.unit_bytes, layout.slots(bench.info)
    rng = bench.rng(f"runs of merge units {size} {look}")
    slot = rng.permutation(slots)[:runs]
    odd = slot < slots // 2
    begins = (2 * slot + np.where(odd, 1, 2)) * size + layout.shift_bytes
    step = unit * _largest_divisor(size // unit, max(RUN_BYTES // unit, 1))
    places = begins[:, None] + np.arange(0, size, step)[None, :]
    far_apart(bench, unit, layout.shift_bytes)
    # A drive that returns to a state opens blocks at the same run each time, of one kind only.
    more = rng.integers(1, 2 * slots, 1 + rng.integers(MOST_MORE)) * size + layout.shift_bytes
    times = np.empty(runs)
    with write_through.writing(bench) as writer:
        undisturbed(writer, more, unit, most_lost=1.0)
        for run in range(runs):
            latency = undisturbed(writer, places[run], step, most_lost=1.0)
            times[run] = np.nan if np.isnan(latency).mean() > 0.5 else np.nanmean(latency)
    counts = np.arange(runs) >= max(runs // 3, min(layout.before, runs - COUNTING))
    counts &= ~np.isnan(times)
    return Runs(times[counts] * places.shape[1], odd[counts])


def far_apart(bench: Bench, unit: int, shift: int) -> Apart:
    """Write single RMW units far apart on the filled drive until they are slow.

    A log block for each data block is soon merged for the next one; shared ones take them all.

    Raises
    ------
    Stopped
        If others always disturb that.
    """
    rng = bench.rng("merge units apart")
    slots = min(max(bench.info.capacity_bytes // APART_BYTES, SLOTS[0]), SLOTS[1])
    distance = bench.info.capacity_bytes // slots // unit * unit
    places = rng.permutation(slots - 2) * distance + distance + unit + shift
    places = places[places + unit <= bench.info.capacity_bytes]

    def write() -> Apart:
        with write_through.writing(bench) as writer:
            first = last = float(np.nanmedian(alone(writer, places[:BATCH], unit, MOST_LOST)))
            end = BATCH
            while end + BATCH <= places.size and last <= MERGES * first:
                batch = alone(writer, places[end : end + BATCH], unit, most_lost=1.0)
                end += BATCH
                if not np.isnan(batch).all():
                    last = float(np.nanmedian(batch))
        return Apart(last / first - 1, end, first)

    apart = afresh(bench, write)
    if apart is None:
        raise Stopped(Reason.INTERFERENCE, "others used the drive nearly all the time")
    return apart


def _largest_divisor(number: int, most: int) -> int:
    return next(each for each in range(min(number, most), 0, -1) if number % each == 0)
