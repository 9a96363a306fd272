"""The probe `reclaim_unit`: how much a page-mapped drive fills side by side.

Physics. A stream of writes goes round the planes, so that a block on every one of them fills at the
same time. Data that are overwritten in units of so much, aligned to it, leave whole blocks
stale, and nothing has to be copied (PROBING.md 3.3); smaller units share their blocks. Each such
round of blocks costs a round of erases, and so a write in order has to wait once per unit,
whatever addresses it goes to.

Statistic. Everything is discarded and filled in whole units. Then a window is overwritten in
order, round after round: all of the drive, or as much as the mapping table in memory covers, so
that no part of the table is loaded or written back. The period after which slow writes return is
found as in `gc_period`. It is exact where the throughput of units overwritten in random order,
which PROBING.md 3.3 bisects, is blurred: nobody knows where in the address space a drive began
a block, so that even units of the right size lie on two.

Decision. Three streams in turn, each a quarter of that period at a time, must show the same period,
or that of `gc_period`, within 2 %, and cost no more per byte. A log block, a zone of the mapping
table or a page of it belongs to addresses: three streams reach the end of one three times as late;
log blocks that are shared are merged with three times as many data. More streams are taken behind a
buffer that may sort them, so many that it cannot (`rounds`). The streams go round a smaller window,
as a new round may show, and, but for single RMW units, in requests twice as large, as padding would
show, and what depends on the place in a request. Larger requests, and several at once, are tried
where one RMW unit at a time shows nothing: then writes go on while one plane erases. Waits that are
evenly apart, but for whole requests, part a period. Since one place fills what is collected as one,
of which a round is a multiple, a period that is no multiple of what `gc_period` found gives way to
that. What is less than the smallest block on every die that was found, or on many where only
several writes at once show it, is a stripe, and no answer, nor is what makes a write wait for less
than a part of an erase; nor is a period of several writes at once where one at a time, of whatever
size, had others, nor, if nothing else bears it out, a part of what a pass showed more clearly. A
buffer that hides what writes take, or stays on and takes them in units that are not certain, may
cut longer requests within RMW units, which are then written twice: only single units tell there,
unless both were found to use up as much space. Absent on drives with merge units, if
`gc_period` found the same where it was asked.

Assumptions. The drive is known not to merge log blocks, or hides it behind a buffer, or many
streams show that it does not (`many_streams`); where it may as well merge, the merges of shared log
blocks would look alike. Nor is there a region of one bit per cell, nor what may be one that is
always full: of one that was overlooked it is the blocks that are seen. Without the RMW unit 128 KiB
are written at a time.
Cost. The drive filled once, then at most twelve capacities written, and 64 GiB.
Source. PROBING.md 3.3; kuo2009, 3.1.
"""

from __future__ import annotations

import math
from typing import TYPE_CHECKING, Any

import numpy as np

from ssdscope.findings import (
    Absent,
    Axis,
    Detected,
    Evidence,
    Exhibit,
    Finding,
    Reason,
    Recurrence,
    Undetectable,
    series,
)
from ssdscope.probes import many_streams, pslc
from ssdscope.probes.bench import Stopped
from ssdscope.probes.info import ProbeInfo
from ssdscope.probes.overwriting import FILL_BYTES, Granule, fill_afresh, may_be_cut, unit_or_base
from ssdscope.probes.rounds import WARM_SHARE, Rounds, Written, power_of_two
from ssdscope.probes.slow_periods import LEAST_BLOCK_BYTES, folded, uneven_parts
from ssdscope.probes.states import State

if TYPE_CHECKING:
    from collections.abc import Iterator

    from ssdscope.probes.bench import Bench
    from ssdscope.targets.records import DeviceInfo

NAME = "reclaim_unit"
RECLAIM = "reclaim_unit_bytes"

LARGER_BYTES = (32 * 1024, 128 * 1024, 256 * 1024, 512 * 1024)
"""Requests of several RMW units: up to so much, and a power of two of them."""
UNKNOWN_BYTES = (128 * 1024, 512 * 1024)
"""Written as one where the RMW unit is not known."""
FEW = 4
"""Requests at once; many wait for each other in patterns of their own."""
MOST_CAPACITIES, MOST_BYTES = 12, 1 << 36
"""In all of them."""
LEAST_FITS = 10
"""Requests that a period must hold: it is found in whole ones."""
FINE_FITS = 24
"""Larger requests in the second pass must still fit so often, or it is the same, where whole RMW
units are written, which have no padding to show."""
MANY_DIES = 32
"""That there may be, where their number is not known."""
AGREE, DEARER, LONGER = 0.02, 1.3, 1.5
LEAST_WAIT_NS = 300_000
"""Of an erase, which takes a millisecond at least: what other planes' work leaves to be seen."""
OFTEN, OFTEN_ALONE = 0.25, 0.4
"""Of what is slow, how much must return in either pass, also where `gc_period` did not find the
same: where planes went out of step, they wait in turn, and a part of a round, or several, return as
well, though less often."""


def detect(bench: Bench) -> Iterator[Finding]:
    """Answer."""
    merge = bench.found("merge_unit_bytes")
    if merge is not None:
        period = bench.known.get("gc_period_bytes")
        same = isinstance(period, Detected) and _agree(float(period.value), float(merge), 0.0)
        if (period is not None and not same) or pslc.seen(bench):
            raise Stopped(Reason.MASKED, "nothing bears out that the drive merges log blocks")
        reason = "the drive merges log blocks, and has no other unit to reclaim"
        yield Absent(name=RECLAIM, probe=NAME, bound=0.0, reason=reason)
        return
    many_streams.require_no_hidden_merges(bench)
    if pslc.seen(bench) or pslc.may_be_full(bench):
        raise Stopped(Reason.MASKED, "data may reach their blocks by folding, not as written")
    known = unit_or_base(bench)
    unit = known if known.exact else Granule(UNKNOWN_BYTES[0], 0, False)
    within = bench.found("gc_period_bytes") if unit.exact else None
    # All planes begin a block together, as found.
    bench.enter(State.AS_FOUND)
    fill_afresh(bench, unit)
    rounds = Rounds(bench, unit, _passes_bytes(bench.info))
    rounds.warm_up()
    attempts = _attempts(bench, unit)
    for done, (depth, size) in enumerate(attempts):
        bench.progress("overwriting in order", done / len(attempts))
        found = _attempt(rounds, size, depth, None if within is None else float(within))
        if found is not None:
            yield found
            return
    evidence = Evidence(figures=_passes(rounds.periods))
    below = Reason.EFFECT_BELOW_NOISE
    yield Undetectable(name=RECLAIM, probe=NAME, reason=below, evidence=evidence)


def _attempts(bench: Bench, unit: Granule) -> list[tuple[int, int]]:
    """Give requests at once, and bytes of each, in the order in which they are tried."""
    if not unit.exact:
        return [(depth, size) for size in UNKNOWN_BYTES for depth in (1, FEW)]
    if may_be_cut(bench) and bench.found("over_provisioning_ratio") is None:
        return [(1, unit.size_bytes), (FEW, unit.size_bytes)]
    larger = [power_of_two(size // unit.size_bytes) * unit.size_bytes for size in LARGER_BYTES]
    sizes = dict.fromkeys([unit.size_bytes, *larger])
    return [*((1, size) for size in sizes), (FEW, unit.size_bytes)]


def _attempt(rounds: Rounds, size: int, depth: int, within: float | None) -> Detected | None:
    """Write in order and in streams, and give the period that both show."""
    single = rounds.unit.exact and size == rounds.unit.size_bytes
    one = rounds.written(size, depth, None)
    if one is None:
        return None
    often = _often(one.period_bytes, within)
    period = one.period_bytes if one.share >= often else None
    if within is not None and (period is None or not _is_multiple(period, within)):
        period = within
    if period is None or period < _least_fits(rounds, within) * size:
        return None
    if period < _least_bytes(rounds.bench, may_be_stripe=depth > 1 and within is None):
        return None
    alone = _alone_bytes(rounds)
    if within is None and alone and not any(_agree(each, period, float(size)) for each in alone):
        return None
    if within is None and _part_of_clearer(rounds, period, one.share):
        return None
    again = [size if single else 2 * size]
    if rounds.unit.exact and not single and period < FINE_FITS * again[0]:
        again.append(size)
    for other in again:
        three = rounds.written(other, depth, period)
        if three is None:
            continue
        found = _same(three, one, period, within, float(size if single else 0))
        if found is not None and three.wait_ns(found) >= LEAST_WAIT_NS:
            parts = math.gcd(_parts(one, found), _parts(three, found))
            return _detected(found, parts, size, three, rounds.periods)
    return None


def _parts(shown: Written, period: float) -> int:
    """Say how many rounds a period is, which need not be whole numbers of requests."""
    return uneven_parts(shown.slow, round(period / shown.size_bytes))


def _same(
    three: Written, one: Written, period: float, within: float | None, step: float
) -> float | None:
    """Give the period of three streams if it is also that of one, or of one place."""
    if three.period_bytes is None or three.ns_per_byte > DEARER * one.ns_per_byte:
        return None
    borne_out = [each for each in (period, within) if each is not None]
    agreed = [each for each in borne_out if _agree(three.period_bytes, each, step)]
    if not agreed or (three.share < _often(agreed[0], within) and within not in agreed):
        return None
    return agreed[0]


def _least_bytes(bench: Bench, *, may_be_stripe: bool) -> float:
    """Give what the smallest blocks would hold of all dies that were found; less is a stripe.

    Writes at once wait for each other once a stripe, which may be as long if dies were not found.
    """
    dies = bench.found("interleave_degree") or (MANY_DIES if may_be_stripe else 1)
    return float(dies) * LEAST_BLOCK_BYTES


def _least_fits(rounds: Rounds, within: float | None) -> float:
    """Give how many requests a period must hold.

    Where requests may cut units, padding must show as another period of requests twice as large.
    """
    return LEAST_FITS if rounds.unit.exact or within is not None else 1 / AGREE


def _often(period: float | None, within: float | None) -> float:
    """Say how much of what is slow must return after a period: more, if nothing else has it."""
    if period is None or within is None or not _agree(period, within, 0.0):
        return OFTEN_ALONE
    return OFTEN


def _alone_bytes(rounds: Rounds) -> list[float]:
    """Give the periods that writes of any size had when none of them waited for another."""
    return [
        each["period_bytes"]
        for each in rounds.periods
        if (each["depth"], each["streams"]) == (1, 1) and each["period_bytes"] is not None
    ]


def _part_of_clearer(rounds: Rounds, period: float, share: float) -> bool:
    """Tell whether some pass showed several such periods as one, of which more returned.

    Where planes went out of step, they wait in turn: what one of them waits is a part of a round.
    """
    return any(
        each["period_bytes"] > LONGER * period and each["returning_share"] > share
        for each in rounds.periods
        if each["period_bytes"] is not None
    )


def _agree(size: float, other: float, step: float) -> bool:
    return abs(size - other) <= max(AGREE * other, step)


def _is_multiple(size: float, within: float) -> bool:
    """Say whether a size is whole periods of one place."""
    times = size / within
    return bool(times > 1 - AGREE and abs(times - round(times)) <= AGREE * times)


def _detected(
    found: float, parts: int, step: float, shown: Written, periods: list[dict[str, Any]]
) -> Detected:
    size, period = shown.size_bytes, round(found / shown.size_bytes)
    value = found / parts
    margin = max(AGREE * value, step / parts)
    rounds, each = folded(shown.slow, period), max(1, period // 500)
    kept = rounds[: period // each * each].reshape(-1, each).max(axis=1)
    exhibit = Exhibit(
        name="in-streams-folded",
        title="Overwrites in order, in three streams, laid over themselves at the period",
        caption=f"Of each write in {period}, the median of ten rounds, over the usual one.",
        x=Axis("written since the period began", "bytes"),
        y=Axis("times the usual latency"),
        series=(series("writes", np.arange(kept.size) * each * size, kept, "steps"),),
        fitted=(Recurrence(every=value, share=shown.share, word="again"),),
    )
    return Detected(
        name=RECLAIM,
        probe=NAME,
        value=value,
        interval=(value - margin, value + margin),
        effect=float(rounds.max() - 1),
        evidence=Evidence(exhibits=(exhibit,), figures=_passes(periods)),
    )


def _passes(periods: list[dict[str, Any]]) -> dict[str, list[Any]]:
    """Give what each pass was, and what it showed, a list for each key."""
    keys = periods[0] if periods else ()
    return {f"pass_{key}": [each[key] for each in periods] for key in keys}


def declared_writes_bytes(info: DeviceInfo) -> int:
    """Rule out merges, fill the drive, use up what is spare in whole rounds, make the passes."""
    before = int((1 + 2 * WARM_SHARE) * info.capacity_bytes) + 4 * FILL_BYTES
    return many_streams.declared_writes_bytes(info) + before + _passes_bytes(info)


def _passes_bytes(info: DeviceInfo) -> int:
    return min(MOST_CAPACITIES * info.capacity_bytes, MOST_BYTES)


PROBE = ProbeInfo(
    name=NAME,
    summary="what a page-mapped drive fills side by side, and frees as one if it is stale as one",
    weight="heavy",
    properties=(RECLAIM,),
    cost="a capacity or two, then at most twelve, or 64 GiB; nine if merges are not ruled out",
    detect=detect,
    declared_writes_bytes=declared_writes_bytes,
    state=State.AS_FOUND,
)
