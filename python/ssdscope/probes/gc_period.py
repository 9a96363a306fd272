"""The probe `gc_period`: how many bytes written to one place cost one collection, or one merge.

Physics. A drive that is full takes a new block for every block's worth that is written, and has to
free one: by erasing one whose pages are all stale, or by merging a log block. Writing one place
again and again leaves nothing else to do, so that one write in a block's worth waits, always the
same one (kuo2009; PROBING.md 1.5). What that block is, the drive decides: a log block, a
superblock, or, where writes go round the planes in the order they come, a block on each of them.

Statistic. One RMW unit in the middle of the drive, discarded and filled in whole units before (so
that nothing around has to be copied), is written again and again, one write at a time, the cache
switched off or each write followed by a flush. Latencies over the median of their neighbours become
events at each of twelve thresholds; of each lag it is counted how often an event is followed by
another (`stats.recurrence`), against a Poisson number of returns, times the lags tried: the
permutation null in closed form, since events put in random order are just that. Of the thresholds
the one whose events return most surely decides. Where none does, as many writes are slow by
chance, those are looked for that come at one place of nearly every round (`stats.train`).

Decision. As many writes again as it takes (at most seven looks) for a lag whose returns make 30 %
of what they could with p < 1e-6, or less at smaller p (`slow_periods.SURE`); where less than 70 %
return, in two looks; then the same on another place. The period is detected if both agree within 2
%, or one write, or one is two to four times the other, after which half of what is slow returns,
and which is told then of a merge unit, or where addresses decide on the plane: of waits that noise
hides one in so many may be left, and none are added. If not, they are the candidates, unless they
are what a known merge unit looks like, seen by writes that are padded. Where the RMW unit is not
known, the second place is written in requests eight times as large: padding would show. Other
planes work while one erases, and one unit at a time may never meet it: on a drive that places by
order, which fills as many bytes whatever the request, larger ones are tried, of two sizes. Where
units go to planes by their address after all, a period has as many requests of either. Where waits
of two to four lengths take turns (p < 1e-4), each may be another plane's: the period may be as many
times as long, and both are candidates.

A discarded drive is written in order as well: if these writes take 1.4 times as long in the mean as
in the median, blocks are folded (`folding`), which hides what is asked (`masked`).

Assumptions. No collection but that of what was written: others' writes shift the phase, which only
neighbouring periods share. What they disturb is left out.
Cost. The drive filled once, then at most five capacities written.
Source. kuo2009, 3.1; PROBING.md 1.5, 3.1 (interval histograms as SSDcheck's, without its bug).
"""

from __future__ import annotations

from dataclasses import dataclass, replace
from functools import cached_property, partial
from typing import TYPE_CHECKING, Any

import numpy as np

from ssdscope import stats
from ssdscope.probes import pslc
from ssdscope.probes.bench import Stopped
from ssdscope.probes.discipline import cautions
from ssdscope.probes.finding import Ambiguous, Detected, Finding, Reason, Undetectable
from ssdscope.probes.folding import folds, writes_bytes
from ssdscope.probes.gaps import between_bursts
from ssdscope.probes.info import ProbeInfo
from ssdscope.probes.overwriting import (
    Granule,
    fill_afresh,
    unit_or_base,
    write_through,
)
from ssdscope.probes.picture import Axis, Picture, series
from ssdscope.probes.slow_periods import (
    SHORT,
    folded,
    period_of,
    taking_turns,
    train_of,
    uneven_parts,
)
from ssdscope.probes.slow_writes import FINE_THRESHOLDS, THRESHOLDS, relative
from ssdscope.probes.states import State

if TYPE_CHECKING:
    from collections.abc import Iterator

    from numpy.typing import NDArray

    from ssdscope.probes.bench import Bench
    from ssdscope.targets.records import DeviceInfo

NAME = "gc_period"
PERIOD = "gc_period_bytes"

FIRST_WRITES = 2048
LOOKS = 7
MOST_CAPACITIES = 1.5
"""Written to each of two places."""
LARGER_BYTES, LARGER_CAPACITIES = (64 * 1024, 128 * 1024), 0.6
"""Requests of several RMW units, up to so much and a power of two of them; and as above."""
LEAST_FITS = 10
"""Requests, of which a period is found in whole ones, that must make it where nothing else says
how long it is."""
SHORT_RISE = 0.3
"""Times the usual latency, that a wait in such a period adds."""
PLACES = (0.43, 0.61)
"""As shares of the capacity; not at its ends."""
PIECE, MOST_LOST = 256, 0.4
"""Writes that are judged as one, and the share of all in a look that others may disturb: a period
shows in what they leave."""
OTHERS_FILL = 1.0
"""Of the time in which the drive is filled: one place is collected alike, whatever is around it."""
MOSTLY = 0.7
"""Of the slow writes, that must return: else one look more must find the same, as several planes
may be collected in a period, unevenly, and it may not have come round often enough."""
AGREE, MOST_TIMES, OFTEN = 0.02, 4, 0.5
"""Apart at most, two places are alike; and so many times the other's, where waits are missed, and
so many of those that are slow at the other return."""
MOST_PADDED_BYTES = 128 * 1024
"""Two RMW units of the largest usual size, which a write lies across."""
UNPADDED_TIMES = 8
"""So many times the smallest request is written to the second place where the RMW unit is unknown.
Twice as much takes twice the units where it lies across two of them; eight times hardly ever."""


@dataclass(frozen=True)
class Measured:
    """One place written again and again.

    Attributes
    ----------
    period
        In writes; None if none showed.
    latencies_ns
        Of every write, shape (n,).
    size_bytes
        Of a write.
    """

    period: stats.Recurrence | None
    latencies_ns: NDArray[np.float64]
    size_bytes: int

    @cached_property
    def slow(self) -> NDArray[np.float64]:
        """Latencies over the usual ones."""
        return relative(self.latencies_ns)

    @property
    def period_bytes(self) -> float | None:
        """What is written in a period."""
        return None if self.period is None else float(self.period.period * self.size_bytes)


def detect(bench: Bench) -> Iterator[Finding]:
    """Measure on two places and answer."""
    if pslc.seen(bench) or pslc.may_be_full(bench):
        raise Stopped(Reason.MASKED, "data reach their blocks by folding, not as they are written")
    unit = unit_or_base(bench)
    merges = bench.found("merge_unit_bytes") is not None
    # What is padded to whole RMW units is not as many times as much.
    second = unit if unit.exact else _times(unit, UNPADDED_TIMES)
    if merges:
        bench.enter(State.FILLED)
    else:
        fill_afresh(bench, unit, OTHERS_FILL)
    for index, sizes in enumerate([(unit, second), *_larger(bench, unit)]):
        found = _on_both(bench, sizes, larger=index > 0)
        if found[0].period is not None:
            break
    if not merges and _folds(bench, unit, found[-1]):
        raise Stopped(Reason.MASKED, "writes in order wait as if blocks were folded")
    yield _judge(bench, unit, found)


def _times(unit: Granule, times: int) -> Granule:
    return replace(unit, size_bytes=times * unit.size_bytes)


def _larger(bench: Bench, unit: Granule) -> list[tuple[Granule, Granule]]:
    """Give larger requests for both places, which fill a drive that places by order alike."""
    if not unit.exact or bench.found("allocation") != "order" or bench.found("merge_unit_bytes"):
        return []
    several = [1 << (size // unit.size_bytes).bit_length() - 1 for size in LARGER_BYTES]
    return [(_times(unit, each), _times(unit, 3 * each // 4)) for each in several if each > 2]


def _on_both(bench: Bench, sizes: tuple[Granule, Granule], *, larger: bool) -> list[Measured]:
    """Write one place after the other; only the first if no period shows there."""
    found: list[Measured] = []
    for index, (size, place) in enumerate(zip(sizes, PLACES, strict=True)):
        bench.progress("writing one place again and again", index / len(PLACES))
        found.append(_at(bench, size, place, larger=larger))
        if found[-1].period is None:
            break
    return found


def _at(bench: Bench, unit: Granule, place: float, *, larger: bool) -> Measured:
    """Write one place until a period shows."""
    capacity = bench.info.capacity_bytes
    most = int((LARGER_CAPACITIES if larger else MOST_CAPACITIES) * capacity) // unit.size_bytes
    first = np.uint64(_within_merge(bench, unit, unit.nearest(int(place * capacity))))
    latencies = np.empty(0)
    count, before = FIRST_WRITES, 0
    period: stats.Recurrence | None = None
    for _ in range(LOOKS):
        count = min(count, most - latencies.size)
        if count <= 0:
            break
        more = _written(bench, np.full(count, first), unit.size_bytes)
        latencies = np.concatenate([latencies, more])
        slow = relative(latencies)
        period = _period(bench, slow, unit.size_bytes)
        # Several periods of the drive may be no whole number of requests each.
        if period is not None and larger and uneven_parts(slow, period.period) > 1:
            period = None
        if period is not None and (period.share >= MOSTLY or period.period == before):
            break
        count, before = latencies.size, 0 if period is None else period.period
    period = period or _train(bench, latencies, unit.size_bytes)
    return Measured(period, latencies, unit.size_bytes)


def _period(bench: Bench, slow: NDArray[np.float64], size_bytes: int) -> stats.Recurrence | None:
    """Look for slow writes that return.

    So few in turn are slow for other reasons, too, unless they fill a merge unit that is known.
    """
    merge = float(bench.found("merge_unit_bytes") or 0)
    found = period_of(slow, size_bytes, known_bytes=merge) if merge else None
    if found is not None and found.period * size_bytes == merge:
        return found
    return period_of(slow, size_bytes, shortest=LEAST_FITS)


def _train(
    bench: Bench, latencies: NDArray[np.float64], size_bytes: int
) -> stats.Recurrence | None:
    """Look for slow writes that return in step among many that are slow for other reasons.

    Pages and planes of unlike speed return so, too, though not as slow, nor as seldom; only what
    fills a log block is believed then.
    """
    slow = relative(latencies)
    merge = float(bench.found("merge_unit_bytes") or 0)
    found = train_of(slow, LEAST_FITS, FINE_THRESHOLDS) if merge else None
    if found is not None and found.period * size_bytes == merge:
        return found
    return train_of(slow, SHORT, THRESHOLDS)


def _written(bench: Bench, places: NDArray[np.uint64], size_bytes: int) -> NDArray[np.float64]:
    """Write one by one; again in pieces if others disturb more than a little of all.

    What they then disturb counts as written, and as long as usual.
    """

    def write(part: slice) -> NDArray[np.float64]:
        return write_through(bench, places[part], size_bytes)

    try:
        return write(slice(None))
    except Stopped as stop:
        if stop.reason is not Reason.INTERFERENCE:
            raise
    latency = between_bursts(
        bench, places.size, write, longest=PIECE, again=False, most_lost=MOST_LOST
    )
    return np.where(np.isnan(latency), np.nanmedian(latency), latency)


def _within_merge(bench: Bench, unit: Granule, place: int) -> int:
    """Move a place to the middle of its merge unit, at whose beginning each write may merge."""
    merge = bench.found("merge_unit_bytes")
    if merge is None:
        return place
    size = int(float(merge))
    begin = (place + unit.phase_bytes) // size * size
    return begin + size // unit.size_bytes // 2 * unit.size_bytes - unit.phase_bytes


def _folds(bench: Bench, unit: Granule, found: Measured) -> bool:
    """Say whether what is filled may be a region of one bit per cell, even if none was found."""
    if found.period is None:
        return False
    collected = float(found.period.period * found.size_bytes)
    return folds(bench, unit, collected, partial(_written, bench))


def _judge(bench: Bench, unit: Granule, found: list[Measured]) -> Finding:
    periods = [each.period for each in found if each.period is not None]
    common: dict[str, Any] = {"name": PERIOD, "probe": NAME}
    common["evidence"] = {
        "unit_bytes": unit.size_bytes,
        "periods_writes": [each.period for each in periods],
        "returning_share": [each.share for each in periods],
        "p_values": [each.p_value for each in periods],
        "writes": sum(each.latencies_ns.size for each in found),
        "cautions": cautions(bench.info),
    }
    if len(periods) < len(PLACES):
        buffered = bench.info.write_cache.control not in ("absent", "switchable")
        why = Reason.WRITE_ACKED_FROM_BUFFER if buffered else Reason.EFFECT_BELOW_NOISE
        return Undetectable(reason=why, **common)
    sizes = [each.period_bytes for each in found if each.period_bytes is not None]
    common["evidence"]["picture"] = _picture(found[0].slow, periods[0].period, unit).to_json()
    step = float(found[0].size_bytes)
    apart = abs(sizes[1] - sizes[0]) > max(AGREE * min(sizes), float(found[1].size_bytes))
    merge = float(bench.found("merge_unit_bytes") or 0)
    lesser = periods[int(np.argmin(sizes))]
    missed = lesser.share >= OFTEN and _waits_were_missed(sizes)
    # Of planes that are collected in turn each may have its own, where the order of writes decides.
    in_turn = bench.found("allocation") != "address" and found[0].size_bytes == unit.size_bytes
    lone = merge == min(sizes) if merge else not in_turn
    if apart and unit.exact and lone and missed:
        sizes, apart = [min(sizes)], False
    if apart and merge and not unit.exact and _padded_to(sizes, merge, unit):
        sizes, apart = [merge, merge], False
    if apart and not unit.exact:
        common["evidence"]["detail"] = "the RMW unit is not known, and padding would count as data"
        return Undetectable(reason=Reason.EFFECT_BELOW_NOISE, **common)
    if apart and missed:
        return Ambiguous(
            candidates=tuple(sorted(sizes)),
            reason="one place misses waits, or takes turns",
            **common,
        )
    if apart:
        common["evidence"]["detail"] = "two places have different periods"
        return Undetectable(reason=Reason.MODEL_MISFIT, **common)
    value = sum(sizes) / len(sizes)
    shallow = any(_shallow(each) for each in found)
    if (value < LEAST_FITS * step or shallow) and value != merge:
        common["evidence"]["detail"] = "so few writes in turn are slow for other reasons, too"
        return Undetectable(reason=Reason.EFFECT_BELOW_NOISE, **common)
    turns = max(taking_turns(each.slow, each.period.period) for each in found if each.period)
    if turns > 1 and value != merge:
        return Ambiguous(
            candidates=(value, turns * value),
            reason=f"waits of {turns} lengths take turns, as where planes are collected in turn",
            **common,
        )
    effect = _effect(found[0].slow, periods[0].period)
    return Detected(
        value=value, interval=(min(sizes) - step, max(sizes) + step), effect=effect, **common
    )


def _shallow(found: Measured) -> bool:
    """Tell whether a period is short, and hardly any of its writes takes longer than the others."""
    if found.period is None or found.period.period >= SHORT:
        return False
    return _effect(found.slow, found.period.period) < SHORT_RISE


def _waits_were_missed(sizes: list[float]) -> bool:
    """Tell whether of one place's waits only every other is seen at another, or one in a few."""
    times = round(max(sizes) / min(sizes))
    off = abs(max(sizes) - times * min(sizes))
    return 2 <= times <= MOST_TIMES and off <= AGREE * max(sizes)


def _padded_to(sizes: list[float], merge_bytes: float, unit: Granule) -> bool:
    """Tell whether a log block is what is filled, though two places do not show it alike.

    Writes take whole RMW units, up to the largest there are, which are not known: then the unit
    that merges have shown is so many times what was written.
    """
    times = [merge_bytes / each for each in sizes]
    most = MOST_PADDED_BYTES / unit.size_bytes
    return all(each == round(each) and 1 <= each <= most for each in times)


def _effect(slow: NDArray[np.float64], period: int) -> float:
    return float(folded(slow, period).max() - 1)


def _picture(slow: NDArray[np.float64], period: int, unit: Granule) -> Picture:
    profile = folded(slow, period)
    step = max(1, period // 500)
    kept = profile[: period // step * step].reshape(-1, step).max(axis=1)
    return Picture(
        title="One place written again and again, laid over itself at the period",
        caption=f"Of each write in {period}, the median of ten rounds, over the usual latency.",
        x=Axis("written since the period began", "bytes"),
        y=Axis("times the usual latency"),
        series=[series("writes", np.arange(kept.size) * step * unit.size_bytes, kept, "steps")],
    )


def declared_writes_bytes(info: DeviceInfo) -> int:
    """Both places to the end, or one in vain in all sizes, and a stretch in order."""
    larger = (len(LARGER_BYTES) + 1) * LARGER_CAPACITIES
    most = MOST_CAPACITIES + max(MOST_CAPACITIES, larger)
    return int((most + 1) * info.capacity_bytes) + writes_bytes(info.capacity_bytes)


PROBE = ProbeInfo(
    name=NAME,
    summary="bytes written to one place between two collections or merges",
    weight="heavy",
    properties=(PERIOD,),
    cost="at most five capacities written",
    detect=detect,
    declared_writes_bytes=declared_writes_bytes,
    state=State.AS_FOUND,
)
