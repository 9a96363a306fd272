"""The probe `open_units`: how many merge units can be written in order, in turn.

Physics. A drive with log blocks keeps one for each merge unit that is being written. As long as
every stream of writes has its own, each log block fills in order and simply takes the place of
the old data. One stream more, and a log block must be merged before its time for each write that
comes to a unit without one (flashbench -O; PROBING.md 3.4). A drive that gives only one stream a
log block of its own and all others a common one pays later, when the common ones are full.

Statistic. n merge units next to each other are written in order, in turn, in sixteenths of a
unit, the cache switched off or each write followed by a flush. Two units one after the other, and
two in turn, are compared by what they cost, after so much was written by two that common log
blocks, too, must be full (128 units); what others disturbed is left out, up to one half. More
streams are written for six rounds; beyond the limit every write waits for a merge. The median
counts, of writes behind a whole round in which others wrote nothing.

Decision. If nobody else writes and the second of two streams begins with a merge of the first one,
which began without, the answer is one. So it is if two streams cost at least 1.2 times what one
does, in both halves of the measurement, and a tenth more by ranks (0.1 %); unless the drive holds
so little of its mapping table that both need loading. Else the costs of 2, 3, 4, 6 ... 64 streams
are measured at two places each; the largest rise between neighbours (loading parts of the mapping
table costs less than a merge) must be at least what one write costs, and is then halved until n
streams fit and n + 1 do not, without the first round behind writes of others; two fresh runs of
either must agree, those that fit over nearly whole units. Streams fit that write more than a round
at less than the geometric mean of cheap and dear, as what costs most varies most.
Absent if there are no merge units.

Assumptions. The merge unit and its phase are known, exactly.
Cost. Some 500 merge units written, at most ten capacities; tens of merges per step.
Source. flashbench (bradfa fork), PROBING.md 3.4.
"""

from __future__ import annotations

from typing import TYPE_CHECKING

import numpy as np

from ssdscope.findings import (
    Absent,
    Axis,
    Detected,
    Evidence,
    Exhibit,
    Finding,
    Reason,
    Step,
    Undetectable,
    series,
)
from ssdscope.probes.bench import Stopped
from ssdscope.probes.info import ProbeInfo
from ssdscope.probes.overwriting import unit_or_base
from ssdscope.probes.page_mapped import merges_for_each
from ssdscope.probes.states import State
from ssdscope.probes.unit_streams import DEARER, Streams

if TYPE_CHECKING:
    from collections.abc import Iterator

    from ssdscope.probes.bench import Bench
    from ssdscope.targets.records import DeviceInfo

NAME = "open_units"
OPEN = "open_units"

PARTS = 16
"""Writes to a unit, at most."""
COUNTS = (2, 3, 4, 6, 8, 12, 16, 24, 32, 48, 64)
PLACES = 2
LEAST_UNITS = 12
MOST_OF_UNITS = 0.8
"""Streams need units to choose from."""
DECLARED_CAPACITIES = 10


def detect(bench: Bench) -> Iterator[Finding]:
    """Answer."""
    merge = bench.known.get("merge_unit_bytes")
    if isinstance(merge, Absent):
        if merges_for_each(bench, unit_or_base(bench)):
            detail = "it writes like a drive that merges log blocks, which was not found to"
            raise Stopped(Reason.EFFECT_BELOW_NOISE, detail)
        reason = "the drive has no merge units: what is written goes where there is room"
        yield Absent(name=OPEN, probe=NAME, bound=0.0, reason=reason)
        return
    if not isinstance(merge, Detected):
        why = merge.reason if isinstance(merge, Undetectable) else Reason.EFFECT_BELOW_NOISE
        raise Stopped(why, "the merge unit must be known first")
    streams = _streams(bench, int(float(merge.value)))
    if streams.units < LEAST_UNITS:
        raise Stopped(Reason.RANGE_TOO_SMALL, f"fewer than {LEAST_UNITS} merge units")
    yield _answer(streams)


def _streams(bench: Bench, merge_bytes: int) -> Streams:
    """Divide a merge unit in whole RMW units, as many parts as may be up to `PARTS`."""
    unit = unit_or_base(bench).size_bytes
    whole = max(merge_bytes // unit, 1)
    parts = max(each for each in range(1, PARTS + 1) if whole % each == 0)
    phase = int(bench.found("alignment_phase_bytes") or 0)
    return Streams(bench, merge_bytes, phase, merge_bytes // parts, bench.rng(NAME))


def _answer(streams: Streams) -> Finding:
    bench = streams.bench
    bench.progress("one stream and two", 0.0)
    if streams.second_waits():
        return _detected(streams, 1, streams.costs[2] / streams.costs[1])
    dearer = streams.pair_over_one()
    ratio = streams.costs[2] / streams.costs[1]
    alone = _table_holds(streams)
    if alone and dearer:
        return _detected(streams, 1, ratio)
    if alone and dearer is None:
        detail = f"two streams cost {ratio:.2f} times what one does, which may be chance"
        raise Stopped(Reason.EFFECT_BELOW_NOISE, detail)
    costs = []
    counts = [each for each in COUNTS if each <= MOST_OF_UNITS * streams.units]
    for done, count in enumerate(counts):
        bench.progress("more and more streams", 0.2 + 0.6 * done / len(counts))
        # With one too many, what is merged may cost little in some places.
        costs.append(max(streams.briefly(count) for _ in range(PLACES)))
    rises = np.diff(costs)
    at = int(np.argmax(rises))
    if rises[at] < min(costs):
        reason = Reason.EFFECT_BELOW_NOISE
        if bench.info.write_cache.control not in ("absent", "switchable"):
            reason = Reason.WRITE_ACKED_FROM_BUFFER
        raise Stopped(reason, f"{counts[-1]} streams cost no more than two")
    limit = float(np.sqrt(costs[at] * costs[at + 1]))
    cheap, dear = counts[at], counts[at + 1]
    while dear - cheap > 1:
        middle = (cheap + dear) // 2
        cheap, dear = (middle, dear) if streams.fits(middle, limit) else (cheap, middle)
    for _ in range(2):
        # Common log blocks take some rounds of any number of streams, but not nearly whole units.
        if not streams.fits(cheap, limit, PARTS) or streams.fits(dear, limit):
            detail = f"near {cheap} streams the cost is now below the limit and now above"
            raise Stopped(Reason.EFFECT_BELOW_NOISE, detail)
    return _detected(streams, cheap, costs[at + 1] / costs[at])


def _table_holds(streams: Streams) -> bool:
    """Whether two units can be written in turn without loading parts of the mapping table.

    Where they cannot, two streams are dearer than one for that alone. If it is not known how much
    is held, the first few writes tell: loading takes its time at once, merging when logs are full.
    """
    held = streams.bench.known.get("map_cache_bytes")
    if isinstance(held, Detected):
        return float(held.value) > 2 * streams.unit_bytes
    return isinstance(held, Absent) or streams.briefly(2) < DEARER * streams.costs[1]


def _detected(streams: Streams, value: int, ratio: float) -> Detected:
    counts = sorted(streams.costs)
    exhibit = Exhibit(
        name="streams",
        title="Merge units written in order, in turn",
        caption="With more streams than log blocks each write waits for a merge.",
        x=Axis("streams", log=True),
        y=Axis("mean latency", "ns", log=True),
        series=(series("writes", counts, [streams.costs[each] for each in counts], "points"),),
        fitted=(Step(at=float(value), word="open units"),),
    )
    evidence = Evidence(exhibits=(exhibit,), figures={"write_bytes": streams.part_bytes})
    return Detected(
        name=OPEN, probe=NAME, value=value, interval=None, effect=ratio - 1, evidence=evidence
    )


def declared_writes_bytes(info: DeviceInfo) -> int:
    """Of the smallest drive that has enough merge units; larger ones write a smaller share."""
    return DECLARED_CAPACITIES * info.capacity_bytes


PROBE = ProbeInfo(
    name=NAME,
    summary="merge units that can be written in order at the same time",
    weight="heavy",
    properties=(OPEN,),
    cost="up to ten capacities written on the smallest drives",
    detect=detect,
    declared_writes_bytes=declared_writes_bytes,
    state=State.FILLED,
)
