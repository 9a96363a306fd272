"""The probe `write_buffer`: how much a drive takes before writes wait for flash, and in what units.

Physics. A write buffer acknowledges writes until it is full; then one enters for one that has
left. Statistic. Bursts of fixed small writes, each in a management unit of its own, into the
emptied buffer; the request from which on many must wait (`stats.stalls`), at several paces,
because what leaves while the buffer is filled makes it look larger than it is (`stats.room`).
A single growing request is never used: a step at 128 KiB may be the transport's. The unit is how
long a write can be and still take no more room (`buffer_unit`); units times bytes is the size.

Decision. Detected if eight bursts per pace agree and the unit was confirmed on fresh bursts. A
drive that says that it has no write cache has none. If flushing and waiting leave something
behind, the cache is switched off and on, or its data are discarded; where neither can be done
and a flush has no effect the answer is `plp_no_flush_effect`. If no burst ever waits, flash is
as fast as the link: `effect_below_noise`; if a fifth leaves meanwhile, and it fills at two paces
only, any law of draining fits: `model_misfit`. A region of blocks with one bit per cell, and spare
space, are not emptied by a flush, so the bursts behind it would begin slow.

Assumptions. Units are multiples of the logical block that divide 96 KiB. Cost: some hundred
bursts, of a block per write mostly. Source: kuo2009, table 5; PROBING 1.6, 2.5.
"""

from __future__ import annotations

from contextlib import nullcontext
from typing import TYPE_CHECKING, Any

import numpy as np

from ssdscope import stats
from ssdscope.probes.buffer_unit import Unit, find_unit
from ssdscope.probes.bursts import FLUSHES, GREW, Bursts
from ssdscope.probes.finding import Absent, Detected, Reason, Undetectable
from ssdscope.probes.info import ProbeInfo
from ssdscope.probes.picture import Axis, Picture, series
from ssdscope.stats.stalls import SLOW

if TYPE_CHECKING:
    from collections.abc import Iterator

    from ssdscope.probes.bench import Bench
    from ssdscope.probes.finding import Finding
    from ssdscope.targets.records import DeviceInfo

SIZE, UNIT = "write_buffer_bytes", "write_buffer_unit_bytes"
PROBE_NAME = "write_buffer"

SEARCH_BURSTS, SIZE_BURSTS, FEWEST_BURSTS = 3, 10, 8
LEFT = 1.25
"""A buffer that takes so many times more once its data are forgotten had not been empty."""
SLOWER = (0.5, 2.0)
"""Think times, in times of the fastest pace."""
MOST_SLOWED = 3.0
"""A pace at which so many times more fit is too slow."""
MUCH_DRAINED, CHECKED_PACES = 0.2, 3
"""Share that leaves while the buffer is filled, which takes so many paces to be told."""
ATA_REQUEST_BYTES = 128 * 1024
"""The most that a command with a 28-bit address carries."""
USELESS_WIDTH, MOST_SLACK = 0.12, 0.04
PROFILE_POINTS = 400


def detect(bench: Bench) -> Iterator[Finding]:
    """Answer size and unit."""
    cache = bench.info.write_cache
    if cache.control == "absent":
        for name in (SIZE, UNIT):
            yield Absent(
                name=name,
                probe=PROBE_NAME,
                bound=float(bench.info.logical_block_bytes),
                reason="the drive says that it has no write cache",
            )
        return
    switched_on = cache.control == "switchable" and not cache.on
    with bench.caches(write=True) if switched_on else nullcontext():
        yield from _measure(bench)


def _measure(bench: Bench) -> Iterator[Finding]:
    evidence: dict[str, Any] = {"cautions": []}
    bursts, room = _emptied(bench, evidence)
    if room is None:
        works = evidence["flush_works"]
        reason = Reason.EFFECT_BELOW_NOISE if works else Reason.PLP_NO_FLUSH_EFFECT
        yield from _refused(reason, evidence)
        return
    if not evidence["flush_works"]:
        evidence["cautions"].append(
            "plp_no_flush_effect: a flush takes no time; size by throughput"
        )
    bench.progress("lengths of a write that take one unit", 0.6)
    fastest = float(np.median([each[0] for each in evidence["accepted_requests"]]))
    evidence["drained_share"] = 1 - room.requests / fastest
    if evidence["drained_share"] > MUCH_DRAINED and len(evidence["paces_ns"]) < CHECKED_PACES:
        # Through two paces goes a line for any way of draining, from a mark on too.
        yield from _refused(Reason.MODEL_MISFIT, evidence)
        return
    unit = find_unit(bursts, room, evidence["fast_ns"])
    evidence["units_per_write"] = unit.units_per_write
    yield _size(room, unit, evidence)
    yield _unit(bench, unit, evidence)


def _emptied(bench: Bench, evidence: dict[str, Any]) -> tuple[Bursts, stats.Room | None]:
    """Measure with flushes and pauses between bursts, and, where they leave data, with more."""
    plain = Bursts(bench)
    stall = plain.adapt(SEARCH_BURSTS)
    flushes = float(np.median(plain.flush_ns[1:]))
    fast_ns = plain.write_ns if stall is None else stall.fast_ns
    evidence |= {"flush_ns": flushes, "flush_works": flushes > FLUSHES * fast_ns}
    room = None
    if stall is not None and (evidence["flush_works"] or plain.can_forget):
        room = _room(bench, plain, stall, evidence)
    if evidence["flush_works"] or not plain.can_forget:
        evidence |= {"fast_ns": fast_ns, "idle_ns": plain.idle_ns}
        return plain, room
    thorough = Bursts(bench, thorough=True, reached=plain.reached)
    later = thorough.adapt(SEARCH_BURSTS)
    if later is None:
        return plain, room
    if stall is not None and stall.fast_ns > SLOW * later.fast_ns:
        room = None  # The plain bursts waited from their first write on.
    elif stall is not None and later.requests <= stall.requests * (1 + GREW):
        return plain, room
    emptied = _room(bench, thorough, later, evidence)
    if room is not None and emptied is not None and emptied.requests < LEFT * room.requests:
        return plain, room
    return thorough, emptied


def _room(
    bench: Bench, bursts: Bursts, stall: stats.Stall, evidence: dict[str, Any]
) -> stats.Room | None:
    """Measure what is taken in at several paces, in blocks of one burst at each pace."""
    thinks, lengths = _paces(bursts, stall)
    if len(thinks) == 1:
        return None
    rng = bench.rng("write_buffer")
    accepted = np.full((SIZE_BURSTS, len(thinks)), np.nan)
    profiles = []
    for block in range(SIZE_BURSTS):
        for pace in rng.permutation(len(thinks)):
            latencies = bursts.run(lengths[pace], 1, thinktime_ns=thinks[pace])
            alone = stats.first_stall(latencies)
            if alone is not None:
                accepted[block, pace] = alone.requests
            if not pace:
                profiles.append(latencies[0])
    whole = accepted[~np.isnan(accepted).any(axis=1)]
    paces = stall.fast_ns + np.array(thinks)
    service = bursts.service_ns(SEARCH_BURSTS) if evidence["flush_works"] else 0.0
    evidence |= {
        "emptied_by": "switching or discarding" if bursts.thorough else "flushing and waiting",
        "idle_ns": bursts.idle_ns,
        "paces_ns": paces.tolist(),
        "accepted_requests": whole.tolist(),
        "bursts_dropped": SIZE_BURSTS - len(whole),
        "fast_ns": stall.fast_ns,
        "slow_ns": stall.slow_ns,
        "service_ns": service,
        "picture": _picture(np.median(profiles, axis=0), stall),
    }
    if len(whole) < FEWEST_BURSTS:
        return None
    return stats.room(whole, paces, service, bench.seed)


def _paces(bursts: Bursts, stall: stats.Stall) -> tuple[list[int], list[int]]:
    """Choose think times at which the buffer still fills, and how many writes that takes."""

    def enough(requests: float) -> int:
        return min(round(1.4 * requests) + 32, bursts.most_writes)

    thinks, lengths = [0], [enough(stall.requests)]
    for times in SLOWER:
        think = round(times * stall.fast_ns)
        slowed = stats.first_stall(bursts.run(4 * lengths[0], 1, thinktime_ns=think))
        if slowed is not None and slowed.requests <= MOST_SLOWED * stall.requests:
            thinks.append(think)
            lengths.append(enough(slowed.requests))
    return thinks, lengths


def _picture(profile: np.ndarray, stall: stats.Stall) -> dict[str, Any]:
    """Show a burst running into the full buffer."""
    places = np.arange(0, len(profile), -(-len(profile) // PROFILE_POINTS))
    return Picture(
        title="A burst fills the write buffer",
        caption="Median over equal bursts into the emptied buffer; one write in each of its units.",
        x=Axis("write of the burst"),
        y=Axis("latency", "ns", log=True),
        series=[series("write", places, profile[places], "points")],
        marks=[(stall.requests, "full")],
    ).to_json()


def _size(room: stats.Room, unit: Unit, evidence: dict[str, Any]) -> Finding:
    if unit.bytes is None or not unit.confirmed:
        evidence["detail"] = f"it takes {room.requests:g} writes, but in what units is not certain"
        return Undetectable(
            name=SIZE, probe=PROBE_NAME, evidence=evidence, reason=Reason.EFFECT_BELOW_NOISE
        )
    low, high = (each * unit.bytes for each in room.interval)
    value = room.requests * unit.bytes
    if high - low > USELESS_WIDTH * value:
        return Undetectable(
            name=SIZE, probe=PROBE_NAME, evidence=evidence, reason=Reason.EFFECT_BELOW_NOISE
        )
    # Bursts that agree may all end early, or late, by what drains in steps: as far as others do.
    few, many = np.quantile(evidence["accepted_requests"], (0.1, 0.9))
    slack = min((many - few) / (many + few), MOST_SLACK) * value
    low, high = low - slack, high + slack
    if low <= ATA_REQUEST_BYTES <= high:
        evidence["cautions"].append(
            "equals the ATA request limit of 128 KiB: here it was found by small writes, elsewhere "
            "a single growing write shows the limit"
        )
    effect = evidence["slow_ns"] / evidence["fast_ns"] - 1
    return Detected(
        name=SIZE,
        probe=PROBE_NAME,
        evidence=evidence,
        value=value,
        interval=(low, high),
        effect=effect,
    )


def _unit(bench: Bench, unit: Unit, evidence: dict[str, Any]) -> Finding:
    block = bench.info.logical_block_bytes
    common: dict[str, Any] = {"name": UNIT, "probe": PROBE_NAME, "evidence": evidence}
    if unit.bytes is None:
        return Undetectable(reason=Reason.RANGE_TOO_SMALL, **common)
    if not unit.confirmed:
        return Undetectable(reason=Reason.EFFECT_BELOW_NOISE, **common)
    if unit.bytes == block:
        reason = "room is taken by single logical blocks"
        return Absent(bound=float(block), reason=reason, **common)
    return Detected(value=unit.bytes, interval=None, effect=1.0, **common)


def _refused(reason: Reason, evidence: dict[str, Any]) -> Iterator[Finding]:
    for name in (SIZE, UNIT):
        yield Undetectable(name=name, probe=PROBE_NAME, evidence=evidence, reason=reason)


def _declared(info: DeviceInfo) -> int:
    return info.capacity_bytes


PROBE = ProbeInfo(
    name=PROBE_NAME,
    summary="write buffer: its size, what drains meanwhile taken out, and its management unit",
    weight="standard",
    properties=(SIZE, UNIT),
    cost="some hundred bursts of small writes",
    detect=detect,
    declared_writes_bytes=_declared,
)
