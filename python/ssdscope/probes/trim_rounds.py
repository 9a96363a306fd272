"""The probe `trim_rounds`: what discards gain random writes, where one capacity does not show it.

Physics. As for `trim`: what was discarded need not be copied. On drives that share log blocks, or
collect in the order of writing, a few long waits make most of the mean, and what is freed helps
only when its turn comes: half a capacity may hold none of either.

Statistic. Rounds: the drive is overwritten everywhere until it has settled; then half a capacity is
written to its first half. That again, but with the half discarded in between. Both begin alike,
as writes to one half alone gain something without a discard: log blocks, and blocks to be
collected, hold less and less of the other. All writes of all rounds so far make one ratio of means,
with a drift that reads between the writes show divided out, as in `trim`.

Decision. After each round: detected if the ratio is above 1.03 by three and a half standard errors,
as there are several looks; given up where it surely is not. Never absent: `trim` says so where
little scatters. Assumptions. As there. It asks nothing where `trim` had an answer.

Cost. At most four capacities in each of six rounds: heavy. Source. PROBING 3.7.
"""

from __future__ import annotations

from dataclasses import replace
from typing import TYPE_CHECKING, Any

import numpy as np

from ssdscope.findings import Detected, Finding, Reason, Undetectable
from ssdscope.probes.bench import Stopped
from ssdscope.probes.discipline import in_peace
from ssdscope.probes.info import ProbeInfo
from ssdscope.probes.settling import Overwriter
from ssdscope.probes.trim import (
    EFFECT,
    LEAST_MEASURED,
    NOTHING,
    PART,
    REQUEST_BYTES,
    compared,
    discard_first,
    measured,
    shows,
)
from ssdscope.targets.records import OP_WRITE

if TYPE_CHECKING:
    from collections.abc import Iterator

    from numpy.typing import NDArray

    from ssdscope.probes.bench import Bench
    from ssdscope.targets.records import DeviceInfo

PROBE_NAME = "trim_rounds"

ROUNDS = 6
SETTLE_SHARE, MEASURED_SHARE = 1.0, 0.5
"""Of the capacity: written everywhere before each half of a round, and measured in it."""
MOST_BYTES = 1 << 33
"""Of each of those, and"""
MOST_MEASURED, MOST_MEASURED_NS = 1 << 16, 600_000_000_000
"""writes before or after; where each merges, a few hundred tell."""
FILL_BYTES = 1 << 20
SURE_ERRORS = 3.5
WORTH_ROUNDS = (Reason.EFFECT_BELOW_NOISE, Reason.BUDGET_EXHAUSTED, Reason.INTERFERENCE)
"""Of `trim` for having no answer."""
OFTEN = 1.5
"""Times what is measured, that may be written: what others disturb is measured again."""

Latencies = list[tuple["NDArray[Any]", "NDArray[Any]"]]


def detect(bench: Bench) -> Iterator[Finding]:
    """Answer the effect; what was answered before is left at that."""
    earlier = bench.known.get(EFFECT)
    if earlier is not None and earlier.reason not in WORTH_ROUNDS:
        yield replace(earlier, probe=PROBE_NAME)
        return
    if not bench.info.writable:
        raise Stopped(Reason.NOT_WRITABLE)
    if not bench.info.discard:
        raise Stopped(Reason.NOT_SUPPORTED, "it takes no discards")
    with bench.without_caches(read=False):
        yield _answer(bench)


def _answer(bench: Bench) -> Finding:
    overwriter = Overwriter(bench, bench.rng(PROBE_NAME), REQUEST_BYTES, REQUEST_BYTES)
    capacity, size = bench.info.capacity_bytes, overwriter.granule.size_bytes
    half = capacity // 2 // size * size
    most = min(int(SETTLE_SHARE * capacity), MOST_BYTES)
    before: Latencies = []
    after: Latencies = []
    for number in range(1, ROUNDS + 1):
        settled = overwriter.settle(most, turned_over=True)
        count = _count(capacity, size, settled.mean_ns)
        if count < LEAST_MEASURED:
            raise Stopped(Reason.RANGE_TOO_SMALL)
        before.append(measured(overwriter, half, count))
        overwriter.settle(most, turned_over=True)
        discard_first(bench, half)
        after.append(measured(overwriter, half, count))
        bench.progress("rounds", number / ROUNDS)
        seen = compared(_joined(before), _joined(after), number, SURE_ERRORS)
        common: dict[str, Any] = {"name": EFFECT, "probe": PROBE_NAME}
        common["evidence"] = seen.evidence.noting(settled=settled.slowed, rounds=number)
        if shows(seen):
            return Detected(
                value=seen.ratio, interval=seen.interval, effect=seen.ratio - 1, **common
            )
        if number == ROUNDS or seen.interval[1] < NOTHING:
            break
        _fill(bench, half)
    return Undetectable(reason=Reason.EFFECT_BELOW_NOISE, **common)


def _count(capacity: int, size: int, mean_ns: float) -> int:
    """Count the writes before, and after, that a round measures."""
    most = min(int(MEASURED_SHARE * capacity), MOST_BYTES) // size
    usual = max(MOST_MEASURED_NS / mean_ns, LEAST_MEASURED)
    return int(min(most, MOST_MEASURED, usual)) // PART * PART


def _joined(rounds: Latencies) -> tuple[NDArray[Any], NDArray[Any]]:
    writes, reads = zip(*rounds, strict=True)
    return np.concatenate(writes), np.concatenate(reads)


def _fill(bench: Bench, half: int) -> None:
    """Write in order what was discarded."""
    places = np.arange(0, half // FILL_BYTES, dtype=np.uint64) * np.uint64(FILL_BYTES)
    in_peace(bench, lambda: bench.issue(OP_WRITE, places, FILL_BYTES))


def _declared(info: DeviceInfo) -> int:
    """All rounds, in which what others disturb is measured again."""
    share = 2 * SETTLE_SHARE + MEASURED_SHARE + 2 * OFTEN * MEASURED_SHARE
    return int(ROUNDS * share * info.capacity_bytes)


PROBE = ProbeInfo(
    name=PROBE_NAME,
    summary="the same in rounds, where one capacity does not show it",
    weight="heavy",
    properties=(EFFECT,),
    cost="at most 24 capacities, written at random, if `trim` had no answer",
    detect=detect,
    declared_writes_bytes=_declared,
)
