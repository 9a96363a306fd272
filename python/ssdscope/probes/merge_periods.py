"""What repeats while a drive is overwritten in order: the first write of every merge unit waits.

For every candidate B the ranks of latency at its multiples are averaged; the phase is known, so one
number per candidate remains. A candidate counts if its mean lies five standard errors above the
middle (one in three million, for up to twenty thousand candidates); the period is the smallest that
is nearly as high as the best.

Where the RMW unit is not known, each write that holds less of it, or begins aside of where one
begins, takes a whole one more of the log block, which is full too soon; so two sizes of write must
show the same period in bytes. Large ones come first, as they hold whole units, and the phase lies
in them: then the last write before a multiple is the one that waits.
"""

from __future__ import annotations

from dataclasses import dataclass, replace
from typing import TYPE_CHECKING, Any

import numpy as np

from ssdscope.findings import Absent, Detected, Reason
from ssdscope.probes import merge_runs, write_through
from ssdscope.probes.bench import Stopped
from ssdscope.probes.discipline import base_request_bytes

if TYPE_CHECKING:
    from collections.abc import Iterator

    from numpy.typing import NDArray

    from ssdscope.probes.bench import Bench

PHASE = "alignment_phase_bytes"

STREAM_SHARES = (12, 4)
"""Which part of the capacity is overwritten in order, in the first look and in the second."""
STEPS_SHARES = (24, 6)
"""The same of each size of write, where the RMW unit is not known."""
MOST_WRITES = 1 << 17
LEAST_PERIODS, ENOUGH_PERIODS = 9, 12
SURE = 5.0
"""Standard errors above the middle of ranks."""
AS_GOOD = 0.85
"""Of the height of the best candidate; that of half the period is one half."""
BETWEEN_SURE, BETWEEN_AS_SLOW = 4.0, 0.5
"""Standard errors, and share of the height, of writes between, if a part is the period."""
UNEVEN_PARTS = (2, 3)
"""Of a period: sizes of write that are tried differ by these factors."""
STEPS_BYTES = tuple(each << 10 for each in (128, 64, 96, 48, 32, 24, 16, 12, 8, 4))
"""Of writing in order, where the RMW unit is not known; of units of three pages steps of other
sizes hold now more and now less."""
STEPS_SHARE = 0.6
"""Of the capacity, that all of these may write."""
QUIET_STEPS = 3
"""Sizes of write that show nothing, after which smaller ones are not tried."""


@dataclass(frozen=True)
class Stream:
    """Latency of writes in order, an RMW unit each; shape (n,). NaN where others disturbed."""

    unit_bytes: int
    phase_bytes: int
    latency_ns: NDArray[Any]

    def known_ns(self) -> NDArray[Any]:
        """Give the latencies that nobody disturbed."""
        return np.asarray(self.latency_ns[~np.isnan(self.latency_ns)])

    def ranks(self) -> NDArray[Any]:
        """Give ranks by number of the unit on the drive, from -1/2 to 1/2; NaN where unknown."""
        ranks = np.full(self.latency_ns.size + 1, np.nan)
        known = np.flatnonzero(~np.isnan(self.latency_ns))
        order = known[np.argsort(self.latency_ns[known], kind="stable")]
        ranks[order + 1] = (np.arange(order.size) + 0.5) / order.size - 0.5
        return ranks


@dataclass(frozen=True)
class Period:
    """A candidate: units in a period, mean rank at its multiples, standard errors above 0."""

    units: int
    height: float
    sure: float


@dataclass(frozen=True)
class Repeating:
    """What a drive written in order shows.

    Attributes
    ----------
    period
        None if nothing repeats, or nothing that is of the drive.
    clear
        Whether nothing else repeats, as of the writes.
    """

    stream: Stream
    period: Period | None
    clear: bool = True

    @property
    def size_bytes(self) -> int:
        """How large the unit would be; 0 without a period."""
        return self.period.units * self.stream.unit_bytes if self.period else 0

    def part(self, parts: int) -> Repeating | None:
        """Give one of so many parts of a period; None if it is no whole number of writes."""
        if self.period is None or self.period.units % parts or self.period.units == parts:
            return None
        return replace(self, period=_of_units(self.stream.ranks(), self.period.units // parts))


def repeating(bench: Bench) -> Iterator[Repeating]:
    """Overwrite the beginning of the drive in order, and then more of it."""
    if not unit_is_known(bench):
        begun = bench.bytes_written
        for look, share in enumerate(STEPS_SHARES):
            bench.progress("units of merging", look / 4)
            found = _in_steps(bench, share, begun)
            if found is not None:
                yield found
        return
    unit = int(bench.found("rmw_unit_bytes") or base_request_bytes(bench.info))
    written = 0
    for look, share in enumerate(STREAM_SHARES):
        count = min(bench.info.capacity_bytes // share // unit, MOST_WRITES)
        if count < 3 * LEAST_PERIODS or count <= written:
            break
        bench.progress("units of merging", look / 4)
        stream = _written_in_order(bench, count, unit, int(bench.found(PHASE) or 0))
        yield Repeating(stream, period_of(stream.ranks()))
        written = count


def unit_is_known(bench: Bench) -> bool:
    """Whether it is known what a small write rewrites."""
    return isinstance(bench.known.get("rmw_unit_bytes"), Detected | Absent)


def request_bytes(bench: Bench, found: Repeating) -> int:
    """Give the size of single writes: an RMW unit, or a small request where that is not known."""
    return found.stream.unit_bytes if unit_is_known(bench) else base_request_bytes(bench.info)


def _in_steps(bench: Bench, share: int, begun: int) -> Repeating | None:
    """Write in smaller and smaller steps until two of them show the same period in bytes.

    `begun` is what had been written when this probe began.
    """
    capacity = bench.info.capacity_bytes
    last: Repeating | None = None
    sizes: set[int] = set()
    quiet = 0
    for step in STEPS_BYTES:
        if step % base_request_bytes(bench.info) or quiet == QUIET_STEPS:
            continue
        shown = max(ENOUGH_PERIODS * (last.size_bytes if last else 0), capacity // share)
        left = int(STEPS_SHARE * capacity) - (bench.bytes_written - begun)
        count = min(min(shown, left) // step, MOST_WRITES)
        if count < 3 * LEAST_PERIODS:
            break
        stream = _written_in_order(bench, count, step, 0)
        last = Repeating(stream, _period_near_multiples(stream.ranks()))
        if _cut_unevenly(last):
            last = Repeating(stream, None)
        if last.size_bytes in sizes:
            return last
        if last.period is not None:
            sizes.add(last.size_bytes)
        quiet = 0 if sizes else quiet + 1
    return None if last is None else Repeating(last.stream, None, clear=not sizes)


def _cut_unevenly(found: Repeating) -> bool:
    """Tell whether what waits is a part of the period that is no whole number of steps.

    Steps of 24, 48 and 96 KiB all begin where every third unit of 512 KiB does, and nowhere else.
    The writes that hold the other beginnings wait as well then, or those behind them.
    """
    if found.period is None:
        return False
    ranks, units = found.stream.ranks(), found.period.units
    for parts in UNEVEN_PARTS:
        begins = np.arange(1, (ranks.size - 1) * parts // units)
        between = begins[begins % parts > 0] * units / parts
        held = [ranks[each.astype(int)] for each in (np.floor(between), np.ceil(between))]
        height = max(float(np.nanmean(each)) for each in held)
        if units % parts and _also_slow(height, between.size, found.period):
            return True
    return False


def _period_near_multiples(ranks: NDArray[Any]) -> Period | None:
    """Give what repeats at multiples, or in the write before, which a unit's beginning may be in.

    Steps that are too small for that find it no later than larger ones.
    """
    before = np.concatenate([[np.nan], ranks])
    found = [period for each in (ranks, before) if (period := period_of(each)) is not None]
    return max(found, key=lambda each: each.height, default=None)


def _written_in_order(bench: Bench, count: int, unit: int, phase: int) -> Stream:
    """Overwrite the beginning of the drive; what others disturbed is not known."""
    places = np.arange(1, count + 1) * unit - phase

    def write() -> Stream:
        with write_through.writing(bench) as writer:
            return Stream(unit, phase, merge_runs.undisturbed(writer, places, unit))

    stream = merge_runs.afresh(bench, write)
    if stream is None:
        raise Stopped(Reason.INTERFERENCE, "others used the drive whenever it was written in order")
    return stream


def period_of(ranks: NDArray[Any]) -> Period | None:
    """Find the smallest distance at whose multiples writes are slow."""
    every = (_of_units(ranks, units) for units in range(2, (ranks.size - 1) // LEAST_PERIODS + 1))
    found = [each for each in every if each.sure >= SURE]
    if not found:
        return None
    best = max(each.height for each in found)
    return _whole(ranks, next(each for each in found if each.height >= AS_GOOD * best))


def _of_units(ranks: NDArray[Any], units: int) -> Period:
    """Judge one distance."""
    on = ranks[units::units]
    total, known = float(np.nansum(on)), int(np.count_nonzero(~np.isnan(on)))
    sd = 1 / np.sqrt(12)
    return Period(units, total / max(known, 1), total / sd / float(np.sqrt(on.size)))


def _whole(ranks: NDArray[Any], period: Period) -> Period:
    """Give the smallest part of a period between whose multiples writes are about as slow.

    Of several periods few writes may happen to be slow more often than those of one.
    """
    for units in range(2, period.units):
        if period.units % units:
            continue
        between = ranks[units::units][np.arange(units, ranks.size, units) % period.units > 0]
        height = float(np.nanmean(between))
        if _also_slow(height, between.size, period):
            sure = height * float(np.sqrt(12 * between.size))
            return Period(units, float(np.nanmean(ranks[units::units])), sure)
    return period


def _also_slow(height: float, count: int, period: Period) -> bool:
    """Whether writes between multiples of a period are about as slow, by their mean rank."""
    sure = height * np.sqrt(12 * count)
    return bool(sure >= BETWEEN_SURE and height >= BETWEEN_AS_SLOW * period.height)
