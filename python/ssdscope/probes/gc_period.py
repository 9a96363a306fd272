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
return, in two looks; then the same on another place. Both must agree, or nearly: see
`periods_agree`. Where the RMW unit is not known, the second place is written in requests eight
times as large: padding would show. Other planes work while one erases, and one unit at a time may
never meet it: on a drive that places by order, which fills as many bytes whatever the request,
larger ones are tried, of two sizes. Where units go to planes by their address after all, a period
has as many requests of either. Where they may not, and less than 70 % return, the first place must
show the same once more, behind random writes and another fill: a drive that collects blindly may
be left with few planes that have a block to spare, and then a period is what they fill.

A discarded drive is written in order as well: if these writes take 1.4 times as long in the mean as
in the median, blocks are folded (`folding`), which hides what is asked (`masked`).

Assumptions. No collection but that of what was written: others' writes shift the phase, which only
neighbouring periods share. What they disturb is left out.
Cost. The drive filled once, then at most five capacities written, or eight.
Source. kuo2009, 3.1; PROBING.md 1.5, 3.1 (interval histograms as SSDcheck's, without its bug).
"""

from __future__ import annotations

from dataclasses import replace
from functools import partial
from typing import TYPE_CHECKING

import numpy as np

from ssdscope import stats
from ssdscope.findings import Finding, Reason
from ssdscope.probes import pslc
from ssdscope.probes.bench import Stopped
from ssdscope.probes.folding import folds, writes_bytes
from ssdscope.probes.gaps import between_bursts
from ssdscope.probes.info import ProbeInfo
from ssdscope.probes.overwriting import (
    Granule,
    fill_afresh,
    unit_or_base,
    write_through,
)
from ssdscope.probes.periods_agree import AGREE, LEAST_FITS, NAME, PERIOD, Measured, judged
from ssdscope.probes.slow_periods import SHORT, period_of, train_of, uneven_parts
from ssdscope.probes.slow_writes import FINE_THRESHOLDS, THRESHOLDS, relative
from ssdscope.probes.states import State
from ssdscope.targets.records import OP_WRITE

if TYPE_CHECKING:
    from collections.abc import Iterator

    from numpy.typing import NDArray

    from ssdscope.probes.bench import Bench
    from ssdscope.targets.records import DeviceInfo

FIRST_WRITES = 2048
LOOKS = 7
MOST_CAPACITIES = 1.5
"""Written to each of two places."""
LARGER_BYTES, LARGER_CAPACITIES = (64 * 1024, 128 * 1024), 0.6
"""Requests of several RMW units, up to so much and a power of two of them; and as above."""
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
USED_SHARE = 0.2
"""Of the capacity: written at random before the drive is filled again."""
UNPADDED_TIMES = 8
"""So many times the smallest request is written to the second place where the RMW unit is unknown.
Twice as much takes twice the units where it lies across two of them; eight times hardly ever."""


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
    if not merges and index == 0 and _may_be_uneven(bench, found):
        _require_same_of_used(bench, unit, found[0])
    yield judged(bench, unit, found)


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


def _may_be_uneven(bench: Bench, found: list[Measured]) -> bool:
    """Whether some planes only may take what is written, as others have no block to spare."""
    seldom = any(each.period is not None and each.period.share < MOSTLY for each in found)
    return seldom and len(found) == len(PLACES) and bench.found("allocation") != "address"


def _require_same_of_used(bench: Bench, unit: Granule, found: Measured) -> None:
    """Refuse where a drive has another period when it was overwritten before it was filled.

    What is written goes past planes that have no block to spare. Where victims are drawn blindly
    those are most, now and then, and which of them is a matter of what was written before.
    """
    count = int(USED_SHARE * bench.info.capacity_bytes) // unit.size_bytes
    places = unit.places(count, bench.info.capacity_bytes, bench.rng(NAME))
    bench.issue(OP_WRITE, places, unit.size_bytes, most_foreign_share=OTHERS_FILL)
    fill_afresh(bench, unit, OTHERS_FILL)
    again = _at(bench, unit, PLACES[0], larger=False).period
    if found.period is None or again is None:
        raise Stopped(Reason.EFFECT_BELOW_NOISE, "it does not show again")
    if abs(again.period - found.period.period) > max(AGREE * again.period, 1):
        raise Stopped(Reason.MODEL_MISFIT, "overwritten and filled again, it has another period")


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


def declared_writes_bytes(info: DeviceInfo) -> int:
    """Both places to the end, or one in vain in all sizes; one again; and a stretch in order."""
    larger = (len(LARGER_BYTES) + 1) * LARGER_CAPACITIES
    most = MOST_CAPACITIES + max(MOST_CAPACITIES, larger) + USED_SHARE + 1 + MOST_CAPACITIES
    return int((most + 1) * info.capacity_bytes) + writes_bytes(info.capacity_bytes)


PROBE = ProbeInfo(
    name=NAME,
    summary="bytes written to one place between two collections or merges",
    weight="heavy",
    properties=(PERIOD,),
    cost="at most five capacities written, or eight",
    detect=detect,
    declared_writes_bytes=declared_writes_bytes,
    state=State.AS_FOUND,
)
