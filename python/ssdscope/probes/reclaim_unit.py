"""The probe `reclaim_unit`: how much a page-mapped drive fills side by side.

Physics. A stream of writes goes round the planes, so that a block on every one of them fills at the
same time. Data that are overwritten in units of so much, aligned to it, leave whole blocks
stale, and nothing has to be copied (PROBING.md 3.3); smaller units share their blocks. Each such
round of blocks costs a round of erases, and so a write in order has to wait once per unit.

Statistic. Everything is discarded and filled in whole units, then overwritten in order, one RMW
unit at a time, with several at once, and with two in a request, the cache switched off if the drive
allows it, until two periods agree. The period after which slow writes return is found as in
`gc_period`. It is exact where the throughput of units
overwritten in random order, which PROBING.md 3.3 bisects, is blurred: nobody knows where in the
address space a drive began a block, so that even units of the right size lie on two.

Decision. Two of the measurements, the finding of `gc_period` counting as one, must agree within
2 %, one of them of few requests at once (many wait for each other in patterns of their own). Since
one place fills what is collected as one, of which a round is a multiple, candidates that are no
multiple of that finding are dropped. Absent on drives with merge units.

Assumptions. That the drive merges nothing must be known, or seen from stretches in random order
(`page_mapped`); a region of one bit per cell hides the rounds behind its own, and a mapping table
that is loaded and written entry by entry has rounds of its own. Without the RMW unit
128 KiB are written at a time.
Cost. The drive filled once, then at most seven capacities written.
Source. PROBING.md 3.3; kuo2009, 3.1.
"""

from __future__ import annotations

from dataclasses import replace
from typing import TYPE_CHECKING, Any

import numpy as np

from ssdscope.probes.bench import Stopped
from ssdscope.probes.finding import Absent, Detected, Finding, Reason, Undetectable
from ssdscope.probes.info import ProbeInfo
from ssdscope.probes.overwriting import (
    Granule,
    fill_afresh,
    latencies_ns,
    unit_or_base,
    write_through,
)
from ssdscope.probes.page_mapped import (
    SHUFFLED_SHARE,
    WRITES,
    merges_for_each,
    shuffles_freely,
)
from ssdscope.probes.picture import Axis, Picture, series
from ssdscope.probes.slow_writes import FITS, period_of, relative
from ssdscope.probes.states import State

if TYPE_CHECKING:
    from collections.abc import Iterator

    from numpy.typing import NDArray

    from ssdscope.probes.bench import Bench
    from ssdscope.targets.records import DeviceInfo

NAME = "reclaim_unit"
RECLAIM = "reclaim_unit_bytes"

PASSES = ((1, 1), (4, 1), (16, 1), (8, 1), (2, 1), (32, 1), (1, 2))
"""Requests at once, and RMW units in a request."""
MOST_REQUESTS = 200_000
PASS_SHARE = 0.95
"""Of the capacity, written in order in each pass."""
FIRST, FEW = "1 of 1", 4
ROUNDS = (0.45, 1.5)
UNKNOWN_BYTES = 128 * 1024
"""Written as one where the RMW unit is not known."""
AGREE = 0.02


def detect(bench: Bench) -> Iterator[Finding]:
    """Answer."""
    if bench.found("merge_unit_bytes") is not None:
        reason = "the drive merges log blocks, and has no other unit to reclaim"
        yield Absent(name=RECLAIM, probe=NAME, bound=0.0, reason=reason)
        return
    _require_unfolded(bench)
    _require_table_apart(bench)
    known = unit_or_base(bench)
    unit = known if known.exact else Granule(UNKNOWN_BYTES, 0, False)
    if _merges(bench, known):
        raise Stopped(Reason.EFFECT_BELOW_NOISE, "it writes like a drive that merges log blocks")
    within = bench.found("gc_period_bytes")
    found: dict[str, float] = {}
    shown: tuple[NDArray[np.float64], Granule] | None = None
    # All planes begin a block together, as found.
    bench.enter(State.AS_FOUND)
    fill_afresh(bench, unit)
    for done, (depth, units) in enumerate(PASSES):
        bench.progress("overwriting in order", done / len(PASSES))
        request = replace(unit, size_bytes=units * unit.size_bytes)
        slow = _in_order(bench, request, depth)
        period = period_of(slow, request.size_bytes, alone=depth == 1)
        if period is None or not _is_multiple(period.period * request.size_bytes, within):
            continue
        found[f"{depth} of {units}"] = float(period.period * request.size_bytes)
        shown = (slow, request) if shown is None else shown
        agreed = _agreed(found, within, unit)
        if agreed is not None and shown is not None:
            yield _detected(agreed, found, *shown)
            return
    evidence = {"periods_by_pass": found}
    below = Reason.EFFECT_BELOW_NOISE
    yield Undetectable(name=RECLAIM, probe=NAME, reason=below, evidence=evidence)


def _require_unfolded(bench: Bench) -> None:
    """Stop unless folding cannot be what is seen; `gc_knee` tells no spare space where it is."""
    region, period = bench.known.get("pslc_bytes"), bench.known.get("gc_period_bytes")
    folds = isinstance(period, Undetectable) and period.reason is Reason.MASKED
    others = (period, bench.known.get("over_provisioning_ratio"))
    flat = isinstance(region, Absent) or any(isinstance(each, Detected) for each in others)
    if folds or isinstance(region, Detected) or not flat:
        raise Stopped(Reason.MASKED, "a region of one bit per cell is not ruled out")


def _require_table_apart(bench: Bench) -> None:
    """Stop where single entries of the mapping table are loaded: changed ones go back to flash.

    Their pages fill blocks among the data, and return in periods of their own.
    """
    zone = bench.found("map_zone_bytes")
    if zone is not None and zone == bench.found("rmw_unit_bytes"):
        raise Stopped(Reason.MASKED, "parts of the mapping table are written among the data")


def _merges(bench: Bench, unit: Granule) -> bool:
    """Say whether it may be merges of log blocks that are seen, though no merge unit was found."""
    absent = isinstance(bench.known.get("merge_unit_bytes"), Absent)
    if unit.exact and merges_for_each(bench, unit):
        return True
    if not absent and not unit.exact and bench.found("over_provisioning_ratio") is None:
        # Then log blocks that writes in order merge, too, were not ruled out either.
        return True
    return not absent and not shuffles_freely(bench, unit)


def _in_order(bench: Bench, unit: Granule, depth: int) -> NDArray[np.float64]:
    """Overwrite the drive in order; latencies over the usual ones."""
    capacity = bench.info.capacity_bytes
    first = unit.nearest(unit.phase_bytes)
    count = min(int(PASS_SHARE * capacity) // unit.size_bytes, MOST_REQUESTS)
    places = (first + np.arange(count) * unit.size_bytes).astype(np.uint64)
    if depth == 1:
        return relative(write_through(bench, places, unit.size_bytes))
    # A cache that stays on is soon full, and then as slow as what is behind it.
    with bench.without_caches(read=False):
        return relative(latencies_ns(bench.write(places, unit.size_bytes, iodepth=depth)))


def _is_multiple(size: float, within: float | str | None) -> bool:
    """Say whether a size is whole periods of one place, if those are known."""
    if within is None:
        return True
    times = size / float(within)
    return bool(times > 1 - AGREE and abs(times - round(times)) <= AGREE * times)


def _agreed(found: dict[str, float], within: float | str | None, unit: Granule) -> float | None:
    """Give the mean of two sizes that agree; None if none do.

    One of them is of few requests at once, as many wait for each other in patterns of their own.
    What one write at a time has to wait for is a round, or two if erases hide; without it, or what
    one place fills, nothing tells a round from a stripe.
    """
    first = found.get(FIRST)
    if first is None and within is None:
        return None
    votes = [(size, int(name.split()[0]) <= FEW) for name, size in found.items()]
    votes += [] if within is None else [(float(within), True)]
    for index, (one, few) in enumerate(votes):
        for other, also_few in votes[index + 1 :]:
            near = abs(one - other) <= max(AGREE * one, unit.size_bytes)
            as_alone = first is None or ROUNDS[0] * first < one < ROUNDS[1] * first
            if near and (few or also_few) and as_alone:
                return (one + other) / 2
    return None


def _detected(
    value: float, found: dict[str, float], slow: NDArray[np.float64], unit: Granule
) -> Detected:
    period = max(round(value / unit.size_bytes), 1)
    rounds = max(min(slow.size // period, FITS), 1)
    folded = np.median(slow[-rounds * period :].reshape(-1, period), axis=0)
    step = max(1, period // 500)
    kept = folded[: period // step * step].reshape(-1, step).max(axis=1)
    picture = Picture(
        title="Overwrites in order, laid over themselves at the period",
        caption=f"Of each write in {period}, the median of {rounds} rounds, over the usual one.",
        x=Axis("written since the period began", "bytes"),
        y=Axis("times the usual latency"),
        series=[series("writes", np.arange(kept.size) * step * unit.size_bytes, kept, "steps")],
    )
    evidence: dict[str, Any] = {
        "unit_bytes": unit.size_bytes,
        "periods_by_pass": found,
        "picture": picture.to_json(),
    }
    margin = max(AGREE * value, unit.size_bytes)
    return Detected(
        name=RECLAIM,
        probe=NAME,
        value=value,
        interval=(value - margin, value + margin),
        effect=float(folded.max() - 1),
        evidence=evidence,
    )


def declared_writes_bytes(info: DeviceInfo) -> int:
    """Fill the drive, and write it once in order in each pass."""
    passes = len(PASSES) * PASS_SHARE + 2 + 8 * SHUFFLED_SHARE
    return int(passes * info.capacity_bytes) + 2 * WRITES * (1 << 16)


PROBE = ProbeInfo(
    name=NAME,
    summary="what a page-mapped drive fills side by side, and frees as one if it is stale as one",
    weight="heavy",
    properties=(RECLAIM,),
    cost="at most seven capacities written",
    detect=detect,
    declared_writes_bytes=declared_writes_bytes,
    state=State.AS_FOUND,
)
