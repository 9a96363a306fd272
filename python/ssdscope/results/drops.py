"""Where the rate of a run falls, and what it is known to fall for.

A drop is a stretch of windows whose rate lies at least `FALL` below the level before it. It ends
when the rate is back, and another may begin inside it. What made it is weighed by Little's law:
a rate is the requests in flight, divided by their latency. So a rate falls because fewer requests
were in flight, which is the workload's doing, or because each took longer; and of the latter a
drive that attributes says for what. Of a real drive only the machine and other users are known.
"""

from __future__ import annotations

import math
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field
from functools import reduce
from operator import add
from typing import Any

import numpy as np

from ssdscope.results.timeline import RATED, Series, Timeline
from ssdscope.units import format_binary, format_percent

FALL = 0.2
"""A rate that falls by a smaller share makes no drop: a reader hardly sees it in a picture."""
LEVEL = 0.75
"""The quantile of windows that is the level of a stretch: short dips do not lower it."""
SETTLING = 3
"""A stretch has a level of its own from so many windows on; before, the rate may still fall."""
SIGMAS = 5.0
"""A rate must fall by so many times what windows scatter."""
MEDIAN_OFF = 0.8261
"""Of what normal values are off the middle of their neighbours, in sigmas. Rates that jump now and
then, or fall slowly, do not move it."""
FEWEST_REQUESTS = 10
"""Of a window, on average: rates of fewer are too coarse to tell their scatter."""
FEWEST_GROUPS = 12
"""Windows are not taken together to fewer."""
MOST_WINDOWS = 600
"""Drops are looked for in so many windows at most; more are taken together first."""
TOLD = 0.1
"""A cause of a smaller share of the fall is left out."""
LEAD = 0.5
"""Of a fall, that the machine or the workload must account for to be its cause."""
FILLED = 0.5
"""Of a region, that must have filled up since before for the region to be full."""
OTHERS = 0.05
"""Of our bytes, that others must have moved more than before."""

LEDGER = {
    "gc": "waits for garbage collection",
    "folding": "waits for folding of the pSLC region",
    "merge": "waits for merges of log blocks",
    "map": "loads of the mapping table",
    "buffer": "waits for the write buffer",
    "rmw": "reads of what small writes do not replace",
    "suspend": "suspended programs and erases",
    "nand": "reading and programming the flash",
    "die_wait": "waits for dies that serve other requests",
    "channel_wait": "waits for flash channels",
    "transfer": "transfers on flash channels",
    "host_queue": "waits for a command slot or the link",
    "link": "transfers on the link",
    "firmware": "the controller's processor",
    "mechanical": "seeks and rotation",
}
"""What the drive's attribution calls a cause, in words."""
NO_CAUSE = "no known cause"
COLLECTED, FOLDED = "gc_pages_moved", "pslc_pages_folded"
COUNTED = (COLLECTED, FOLDED)
"""What of a drive's upkeep tells one cause from another."""


@dataclass(frozen=True)
class Part:
    """The requests of one flow in some windows; of the only one where there are no flows.

    Attributes
    ----------
    requests, bytes
        Served, but for flushes.
    latency_s
        Sum of all latencies.
    causes_s
        Its parts; empty where the drive does not attribute.
    """

    requests: float = 0.0
    bytes: float = 0.0
    latency_s: float = 0.0
    causes_s: Mapping[str, float] = field(default_factory=dict)

    @property
    def mean_s(self) -> float:
        """Mean latency; 0 of nothing."""
        return self.latency_s / self.requests if self.requests else 0.0

    def __add__(self, other: Part) -> Part:
        """Take two together."""
        causes = {**self.causes_s}
        for cause, each in other.causes_s.items():
            causes[cause] = causes.get(cause, 0.0) + each
        return Part(
            self.requests + other.requests,
            self.bytes + other.bytes,
            self.latency_s + other.latency_s,
            causes,
        )


@dataclass(frozen=True)
class Mix:
    """What some windows came to, together.

    Attributes
    ----------
    time_s
        How long they took.
    parts
        The requests by flow.
    counted
        What the drive did beside.
    full_s
        For how long the pSLC region took no page of the host, weighed by its parts.
    machine_s
        What the machine waited, stood still or was taken away.
    others_bytes, failed
        Moved by others; requests that failed.
    """

    time_s: float
    parts: Mapping[str, Part]
    counted: Mapping[str, float]
    full_s: float
    machine_s: float
    others_bytes: float
    failed: float

    def of(self, flow: str) -> Part:
        """Give the requests of a flow."""
        return self.parts.get(flow, Part())

    def per_second(self, amount: float) -> float:
        """Give an amount as a rate."""
        return amount / max(self.time_s, 1e-12)

    @property
    def requests(self) -> float:
        """Served, of all flows."""
        return sum(part.requests for part in self.parts.values())

    @property
    def iops(self) -> float:
        """Requests per second."""
        return self.per_second(self.requests)

    @property
    def bandwidth_bytes_per_s(self) -> float:
        """Bytes per second."""
        return self.per_second(sum(part.bytes for part in self.parts.values()))

    def __add__(self, other: Mix) -> Mix:
        """Take two together."""
        flows = {**self.parts, **other.parts}
        counted = {**self.counted, **other.counted}
        return Mix(
            time_s=self.time_s + other.time_s,
            parts={flow: self.of(flow) + other.of(flow) for flow in flows},
            counted={
                name: self.counted.get(name, 0.0) + other.counted.get(name, 0.0) for name in counted
            },
            full_s=self.full_s + other.full_s,
            machine_s=self.machine_s + other.machine_s,
            others_bytes=self.others_bytes + other.others_bytes,
            failed=self.failed + other.failed,
        )


@dataclass(eq=False)
class _Stretch:
    """Windows at a level: those of the whole run, or those of a drop.

    Attributes
    ----------
    begin, end
        The first window, and the first behind; None while it lasts.
    outer
        The stretch that it begins in, and how many windows that had then.
    rates
        Of its windows, by which it is judged; those of a fall that goes on are forgotten.
    windows
        Their places.
    """

    begin: int
    outer: tuple[_Stretch, int] | None = None
    level_before: float = math.inf
    end: int | None = None
    rates: list[float] = field(default_factory=list)
    windows: list[int] = field(default_factory=list)

    @property
    def level(self) -> float:
        """What its windows reach."""
        return float(np.quantile(self.rates, LEVEL))

    def is_left_by(self, rate: float, fall: float) -> bool:
        """Whether a rate is back at the level before: half of a fall that counts is left."""
        return self.outer is not None and rate >= (1 - fall / 2) * self.level_before


def with_drops(document: Mapping[str, Any]) -> dict[str, Any]:
    """Add to what a device gave of a run over time how much windows scatter, and the drops."""
    timeline = Timeline(document)
    scales = _scales(timeline)
    scatter = scales[0].scatter if scales else None
    return {**document, "scatter": scatter, "drops": _found(timeline, scales)}


def find_drops(timeline: Timeline) -> list[dict[str, Any]]:
    """List the drops of a run, in the order in which they begin.

    Where single windows scatter too much for a fall of `FALL` to be seen, they are looked at in
    groups, too.

    Returns
    -------
    list of dict
        ``begin_ns, end_ns`` (None: until the end of the run), ``iops_before, iops,
        bandwidth_before_bytes_per_s, bandwidth_bytes_per_s``, ``causes`` (each with its ``share``
        of the fall, or None), ``words`` and ``windows``, their places.
    """
    return _found(timeline, _scales(timeline))


def _found(timeline: Timeline, scales: Sequence[_Groups]) -> list[dict[str, Any]]:
    found: list[dict[str, Any]] = []
    # The coarsest first: of a long fall single windows that are low show only a part.
    for groups in reversed(scales):
        covered = {place for drop in found for place in drop["windows"]}
        found += [
            drop
            for drop in _drops(timeline, groups)
            if len(covered.intersection(drop["windows"])) <= len(drop["windows"]) / 2
        ]
    return sorted(found, key=lambda drop: int(drop["begin_ns"]))


def _scales(timeline: Timeline) -> list[_Groups]:
    """Group windows, and more together until a fall of `FALL` would be seen."""
    count = len(timeline)
    if count < 2:
        return []
    each = max(-(-count // MOST_WINDOWS), 1)
    scales = [_Groups.of(timeline, each)]
    while scales[-1].fall > FALL and count // (2 * each) >= FEWEST_GROUPS:
        each *= 2
        scales.append(_Groups.of(timeline, each, scales[-1].scatter / math.sqrt(2)))
    return scales


def no_drop(timeline: Timeline) -> str:
    """Say that there is no drop, and what might hide one."""
    said = f"no drop of {format_percent(FALL)} or more stands out"
    if SIGMAS * timeline.scatter <= FALL:
        return said
    return f"{said}: windows scatter by {format_percent(timeline.scatter)}"


@dataclass(frozen=True)
class _Groups:
    """Windows, so many together.

    Attributes
    ----------
    edges
        The first window of each group, and the one behind the last.
    mixes
        What each came to.
    scatter
        Of their rates, as a share.
    """

    edges: Sequence[tuple[int, int]]
    mixes: Sequence[Mix]
    scatter: float

    @classmethod
    def of(cls, timeline: Timeline, each: int, least: float = 0.0) -> _Groups:
        """Take so many windows together, which scatter so much at least."""
        count = len(timeline)
        edges = [(begin, min(begin + each, count)) for begin in range(0, count, each)]
        mixes = [_mix(timeline, range(*edge)) for edge in edges]
        logs = np.array([math.log(mix.iops) for mix in mixes if mix.requests])
        off = np.abs(np.diff(logs, 2)) / 2  # from the middle of both neighbours
        usual = float(np.median(off)) / MEDIAN_OFF if off.size else 0.0
        return cls(edges, mixes, max(usual, least))

    @property
    def fall(self) -> float:
        """The smallest share of a rate that makes a drop; infinite where none is to be seen."""
        usual = sum(mix.requests for mix in self.mixes) / len(self.mixes)
        return math.inf if usual < FEWEST_REQUESTS else max(FALL, SIGMAS * self.scatter)


def _drops(timeline: Timeline, groups: _Groups) -> list[dict[str, Any]]:
    """List the drops that groups of windows show."""
    mixes = groups.mixes
    told: dict[_Stretch, dict[str, Any]] = {}
    for stretch in _stretches([mix.iops for mix in mixes], groups.fall):
        if stretch.outer is None:
            continue
        outer, seen = stretch.outer
        before = reduce(add, (mixes[place] for place in outer.windows[:seen]))
        during = reduce(add, (mixes[place] for place in stretch.windows))
        # What waited while nothing was served is served in the window behind.
        stalled = not during.requests and stretch.end is not None
        waited = mixes[stretch.end] if stalled and stretch.end is not None else during
        causes = explain(before, during, waited)
        drop = _drop(timeline, groups.edges, stretch, before, during) | _named(causes)
        # A rate that falls on for the same reasons is one drop.
        known = told.get(outer)
        if known is not None and _keys(known) == _keys(drop):
            known["windows"] += drop["windows"]
            known |= {key: drop[key] for key in ("iops", "bandwidth_bytes_per_s")}
            told[stretch] = known
        else:
            told[stretch] = drop
    unlike = {id(drop): drop for drop in told.values()}
    return list(unlike.values())


def _stretches(rates: Sequence[float], fall: float) -> list[_Stretch]:
    """Find the stretches whose rate lies below the level before them, in order."""
    found: list[_Stretch] = []
    at = _Stretch(0)
    for place, rate in enumerate(rates):
        while at.is_left_by(rate, fall):
            at.end = place
            at = at.outer[0] if at.outer else at
        if at.rates and rate < (1 - fall) * at.level:
            if at.outer is None or len(at.rates) >= SETTLING:
                at = _Stretch(place, (at, len(at.windows)), at.level)
                found.append(at)
            else:
                at.rates.clear()  # the fall that began it goes on
        at.rates.append(rate)
        at.windows.append(place)
    return found


def _mix(timeline: Timeline, places: range) -> Mix:
    """Add up windows."""
    document = timeline.document
    parts: dict[str, Part] = {}
    for series in timeline.flows or timeline.whole:
        if series.op in RATED:
            flow = series.flow or ""
            parts[flow] = parts.get(flow, Part()) + _part(series, places)
    upkeep, machine = document.get("upkeep") or {}, document.get("machine") or {}

    def total(column: Sequence[float]) -> float:
        return float(sum(column[place] for place in places))

    time_s = float(timeline.duration_s[places].sum())
    regions = total(upkeep["pslc_parts"]) if upkeep else 0.0
    return Mix(
        time_s=time_s,
        parts=parts,
        counted={name: total(upkeep[name]) for name in COUNTED if name in upkeep},
        full_s=time_s * total(upkeep["pslc_parts_full"]) / regions if regions else 0.0,
        machine_s=sum(total(column) for column in machine.values()) / 1e9,
        others_bytes=total(document["others_bytes"]) if document.get("others_bytes") else 0.0,
        failed=total(document["failed_requests"]),
    )


def _part(series: Series, places: range) -> Part:
    """Add up windows of one series."""
    counts = series.values("requests")[places]

    def summed_s(means_ns: Sequence[float | None]) -> float:
        means = (means_ns[place] or 0.0 for place in places)
        return float(sum(mean * count for mean, count in zip(means, counts, strict=True))) / 1e9

    causes = series.columns.get("attribution_ns") or {}
    return Part(
        requests=float(counts.sum()),
        bytes=float(series.values("bytes")[places].sum()),
        latency_s=summed_s(series.columns["mean_ns"]),
        causes_s={cause: summed_s(column) for cause, column in causes.items()},
    )


def _drop(
    timeline: Timeline,
    edges: Sequence[tuple[int, int]],
    stretch: _Stretch,
    before: Mix,
    during: Mix,
) -> dict[str, Any]:
    """Write a drop as the document has it."""
    begins = timeline.document["begin_ns"]
    return {
        "begin_ns": begins[edges[stretch.begin][0]],
        "end_ns": None if stretch.end is None else begins[edges[stretch.end][0]],
        "iops_before": before.iops,
        "iops": during.iops,
        "bandwidth_before_bytes_per_s": before.bandwidth_bytes_per_s,
        "bandwidth_bytes_per_s": during.bandwidth_bytes_per_s,
        "windows": [place for each in stretch.windows for place in range(*edges[each])],
    }


def _keys(drop: Mapping[str, Any]) -> set[str]:
    return {each["cause"] for each in drop["causes"]}


def explain(before: Mix, during: Mix, waited: Mix) -> list[dict[str, Any]]:
    """Name what made a rate fall, the weightiest first; nothing if it is not known.

    Each flow is judged by itself: among several the mean latency changes with who is served.

    Parameters
    ----------
    before, during
        What the windows before came to, and those of the drop.
    waited
        The requests whose waits tell the cause: those of the drop, if any were served in it.

    Returns
    -------
    list of dict
        ``cause``; ``share`` of the fall, on a log scale, or None where it is known to have changed
        and not how much it costs; ``words``.
    """
    falls = {
        flow: before.per_second(part.requests) - during.per_second(during.of(flow).requests)
        for flow, part in before.parts.items()
    }
    whole = sum(fall for fall in falls.values() if fall > 0)
    shares: dict[str, float] = {}
    idle = []
    for flow, fall in falls.items():
        if fall <= 0:
            continue
        asked = _share_of_load(before, during, waited, flow)
        if asked >= LEAD:
            idle.append(flow)
        weight = fall / whole
        shares["load"] = shares.get("load", 0.0) + weight * asked
        for cause, share in _of_ledger(before.of(flow), waited.of(flow), during).items():
            shares[cause] = shares.get(cause, 0.0) + weight * (1 - asked) * share
    known = sorted(shares.items(), key=lambda each: -each[1])
    causes = _full_region(before, during)
    causes += [_cause(cause, share, idle) for cause, share in known if share >= TOLD]
    if not any(part.causes_s for part in waited.parts.values()):
        causes += _of_machine(before, during, 1 - shares.get("load", 0.0))
    return causes + _of_others(before, during) + _of_failures(before, during)


def _named(causes: list[dict[str, Any]]) -> dict[str, Any]:
    return {"causes": causes, "words": "; ".join(each["words"] for each in causes) or NO_CAUSE}


def _cause(cause: str, share: float, idle: Sequence[str]) -> dict[str, Any]:
    """Write a cause whose share is known; flows that asked for less are named."""
    whose = f" of {', '.join(idle)}" if any(idle) else ""
    words = LEDGER.get(cause, f"fewer requests{whose} were in flight")
    return {"cause": cause, "share": share, "words": f"{words} ({format_percent(min(share, 1.0))})"}


def _sign(cause: str, words: str) -> dict[str, Any]:
    """Write what is known to have changed, and not how much it costs."""
    return {"cause": cause, "share": None, "words": words}


def _share_of_load(before: Mix, during: Mix, waited: Mix, flow: str) -> float:
    """Give how much of a fall is one of the requests in flight: rate times latency (Little)."""
    was, now = before.of(flow), during.of(flow)
    if not now.requests:
        # Nothing was served. If what comes behind took longer, it waited; else nothing was asked.
        return 0.0 if waited.of(flow).mean_s > was.mean_s else 1.0
    fall = math.log(before.per_second(was.requests) / during.per_second(now.requests))
    longer = math.log(now.mean_s / was.mean_s) if now.mean_s and was.mean_s else 0.0
    return min(max(1 - longer / fall, 0.0), 1.0)


def _of_ledger(before: Part, waited: Part, during: Mix) -> dict[str, float]:
    """Split what requests took longer by the drive's own attribution; nothing without one."""
    longer = {
        cause: each / max(waited.requests, 1.0)
        - before.causes_s.get(cause, 0.0) / max(before.requests, 1.0)
        for cause, each in waited.causes_s.items()
    }
    whole = sum(each for each in longer.values() if each > 0)
    shares = {cause: each / whole for cause, each in longer.items() if each > 0}
    folded, moved = (during.counted.get(name, 0.0) for name in (FOLDED, COLLECTED))
    if "gc" in shares and folded > moved:
        shares["folding"] = shares.pop("gc")
    return shares


def _full_region(before: Mix, during: Mix) -> list[dict[str, Any]]:
    if during.per_second(during.full_s) - before.per_second(before.full_s) < FILLED:
        return []
    return [_sign("region_full", "the pSLC region is full")]


def _of_machine(before: Mix, during: Mix, share: float) -> list[dict[str, Any]]:
    """Say what the machine of a real drive waited more than before, if that may be the cause."""
    waited = during.per_second(during.machine_s)
    more = waited - before.per_second(before.machine_s)
    costs = more / (1 - during.iops / before.iops)
    if costs < LEAD or share < LEAD:
        return []
    words = f"the machine waited for {format_percent(min(waited, 1.0))} of the time"
    return [{"cause": "machine", "share": min(costs, 1.0), "words": words}]


def _of_others(before: Mix, during: Mix) -> list[dict[str, Any]]:
    more = during.per_second(during.others_bytes) - before.per_second(before.others_bytes)
    if more <= OTHERS * before.bandwidth_bytes_per_s:
        return []
    return [_sign("others", f"others moved {format_binary(during.others_bytes)} on the drive")]


def _of_failures(before: Mix, during: Mix) -> list[dict[str, Any]]:
    if during.per_second(during.failed) <= before.per_second(before.failed):
        return []
    return [_sign("failures", f"{during.failed:,.0f} requests failed")]
