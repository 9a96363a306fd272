"""What uFLIP advises whoever designs for flash drives, asked of one target.

The advice was drawn from eleven drives of 2008, so each piece of it is a question to any other,
with the number that answers it, and `paper.toml` says which numbers follow it. All here are
functions of measured points; of what was not measured nothing is read.
"""

from collections.abc import Iterator, Mapping

import numpy as np

from ssdscope.studies.judging import SIMILAR_WITHIN
from ssdscope.studies.record import Reading
from ssdscope.studies.uflip.bench import Point, Points
from ssdscope.studies.uflip.benchmarks import (
    BURST_PAUSE_NS,
    IO_BYTES,
    MIB,
    PATTERNS,
    series_patterns,
)
from ssdscope.studies.uflip.phases import Phases

FOCUSED_BYTES = 8 * MIB
"""In the middle of the 4 to 16 MB that random writes are advised to keep to."""
FEW, MANY = 4.0, 256.0

Line = Mapping[float, Point]
Readings = dict[str, Reading]
Running = Mapping[str, float]
"""Mean response time of each pattern in its running phase, in ns."""


def of_phases(phases: Mapping[str, Phases]) -> Readings:
    """Ask whether reads are in their running phase from the start."""
    reads = {name: float(phases[name].startup) for name in ("SR", "RR") if name in phases}
    return {"reads start": Reading(_listed(reads, "{:g}") + " requests", list(reads.values()))}


def of_granularity(points: Points, _running: Running) -> Readings:
    """Ask what small requests waste, and what requests above 32 KB gain."""
    known = dict(_known(points, IO_BYTES))
    small = {name: _per_byte(each, min(each)) for name, each in known.items()}
    beyond = {n: 1 / _per_byte(each, max(each)) for n, each in known.items() if n != "RW"}
    return {**_times("small requests", small), **_times("large requests", beyond)}


def of_alignment(points: Points, _running: Running) -> Readings:
    """Ask what requests cost that are not aligned."""
    name = "RW" if "RW" in points else "RR"
    each = points.get(name, {})
    shifted = {shift: point for shift, point in each.items() if 0 < shift < IO_BYTES}
    if not shifted or 0.0 not in each:
        return {}
    worst = max(shifted, key=lambda shift: shifted[shift].mean_ns)
    cost = shifted[worst].mean_ns / each[0.0].mean_ns
    is_sure = shifted[worst].low_ns > each[0.0].high_ns
    said = f"up to {cost:.3g} times, shifted by {worst:g} bytes"
    case = "writes" if name == "RW" else "reads"
    return {f"not aligned: {case}": Reading(said, cost if is_sure else min(cost, 1.0))}


def of_locality(points: Points, _running: Running) -> Readings:
    """Ask what random writes cost in a small area, and over the whole drive."""
    random, ordered = points.get("RW", {}), points.get("SW", {})
    if not random or not ordered:
        return {}
    beside = ordered[max(ordered)].mean_ns
    areas = {"small area": FOCUSED_BYTES, "whole drive": max(random)}
    return {
        name: _ratio(random[area].mean_ns / beside)
        for name, area in areas.items()
        if area in random
    }


def of_partitioning(points: Points, _running: Running) -> Readings:
    """Ask over how many partitions sequential writes may go."""
    each = points.get("SW", {})
    if not {1.0, FEW, MANY} <= each.keys():
        return {}
    counts = {"few partitions": FEW, "many partitions": MANY}
    return {name: _ratio(each[at].mean_ns / each[1.0].mean_ns) for name, at in counts.items()}


def of_order(points: Points, _running: Running) -> Readings:
    """Ask what it costs to write backwards, and with gaps."""
    each = points.get("SW", {})
    if not {-1.0, 1.0} <= each.keys():
        return {}
    steps = {"backwards": -1.0, "with gaps": max(each)}
    return {name: _ratio(each[at].mean_ns / each[1.0].mean_ns) for name, at in steps.items()}


def of_parallelism(points: Points, _running: Running) -> Readings:
    """Ask whether requests side by side are served faster than one after the other."""
    gains = {
        name: max(each) * each[1.0].mean_ns / each[max(each)].mean_ns
        for name, each in _known(points, 1.0)
    }
    return _times("side by side", gains)


def of_mix(points: Points, running: Running) -> Readings:
    """Ask whether a mix costs more than its parts."""
    typical = {
        series: float(np.median([_beside_parts(series, ratio, each, running) for ratio in each]))
        for series, each in points.items()
    }
    return _times("mixed", typical)


def of_pause(points: Points, _running: Running) -> Readings:
    """Ask what pauses do for random writes, and whether they save time."""
    random, ordered = points.get("RW", {}), points.get("SW", {})
    saved = {
        name: min((each[pause].mean_ns + pause) / each[0.0].mean_ns for pause in each if pause)
        for name, each in _known(points, 0.0)
        if len(each) > 1
    }
    found = _times("pauses save", saved)
    if 0.0 in random and 0.0 in ordered:
        longest = random[max(random)].mean_ns
        before, beside = longest / random[0.0].mean_ns, longest / ordered[0.0].mean_ns
        said = f"{before:.3g} times as before, {beside:.3g} times sequential ones"
        like = 1 / SIMILAR_WITHIN <= before <= SIMILAR_WITHIN or beside <= SIMILAR_WITHIN
        found["after pauses"] = Reading(said, like)
    return found


def of_bursts(points: Points, running: Running) -> Readings:
    """Ask whether bursts with pauses between them save time, and what short ones cost."""
    saved = {
        name: min(
            (point.mean_ns + BURST_PAUSE_NS / burst) / running[name]
            for burst, point in each.items()
        )
        for name, each in points.items()
    }
    found = _times("bursts save", saved)
    each = points.get("RW", {})
    if len(each) > 1:
        found["short bursts"] = _ratio(each[min(each)].mean_ns / each[max(each)].mean_ns)
    return found


HINTS = {
    "granularity": of_granularity,
    "alignment": of_alignment,
    "locality": of_locality,
    "partitioning": of_partitioning,
    "order": of_order,
    "parallelism": of_parallelism,
    "mix": of_mix,
    "pause": of_pause,
    "bursts": of_bursts,
}
"""By micro-benchmark."""


def _beside_parts(series: str, ratio: float, each: Line, running: Running) -> float:
    first, second = (running[name] for name in series_patterns(series))
    return float(each[ratio].mean_ns * (ratio + 1) / (ratio * first + second))


def _known(points: Points, value: float) -> Iterator[tuple[str, Line]]:
    """Give the patterns that have a point at a value."""
    for name in PATTERNS:
        if value in points.get(name, {}):
            yield name, points[name]


def _per_byte(each: Line, size: float) -> float:
    """Give what a byte costs at a size, beside 32 KB."""
    return float(each[size].mean_ns / size / (each[IO_BYTES].mean_ns / IO_BYTES))


def _ratio(ratio: float) -> Reading:
    return Reading(f"{ratio:.3g} times", ratio)


def _times(name: str, ratios: Mapping[str, float]) -> Readings:
    """Read several ratios, which all have to follow the advice."""
    if not ratios:
        return {}
    return {name: Reading(_listed(ratios) + " times", list(ratios.values()))}


def _listed(values: Mapping[str, float], form: str = "{:.3g}") -> str:
    return ", ".join(f"{name} {form.format(value)}" for name, value in values.items())
