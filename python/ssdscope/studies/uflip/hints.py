"""What uFLIP advises whoever designs for flash drives, asked of one target.

The advice was drawn from eleven drives of 2008, so each piece of it is a question to any other,
with the number that answers it. All here are functions of measured points.
"""

from collections.abc import Callable, Iterator, Mapping

import numpy as np

from ssdscope.studies.judging import MAGNITUDE, SIMILAR_WITHIN, claim
from ssdscope.studies.record import Claim
from ssdscope.studies.uflip.bench import Point, Points
from ssdscope.studies.uflip.benchmarks import (
    BURST_PAUSE_NS,
    IO_BYTES,
    MIB,
    PATTERNS,
    series_patterns,
)
from ssdscope.studies.uflip.phases import Phases

MORE = 1.1
"""What costs a tenth more costs more."""
TWICE = 2.0
"""What costs twice as much a byte is dear."""
FAR_MORE, _ = MAGNITUDE
"""The least that is an order of magnitude."""
FOCUSED_BYTES = 8 * MIB
"""In the middle of the 4 to 16 MB that random writes are advised to keep to."""
FEW, MANY = 4.0, 256.0

Line = Mapping[float, Point]
Running = Mapping[str, float]
"""Mean response time of each pattern in its running phase, in ns."""


def of_phases(phases: Mapping[str, Phases]) -> Iterator[Claim]:
    """Ask whether reads are in their running phase from the start."""
    reads = {name: phases[name].startup for name in ("SR", "RR") if name in phases}
    yield claim(
        "reads have no start-up phase",
        "none",
        _listed(reads, "{:g}") + " requests",
        "",
        holds=not any(reads.values()),
    )


def of_granularity(points: Points, _running: Running) -> Iterator[Claim]:
    """Ask what small requests waste, and what requests above 32 KB gain."""
    small = {name: _per_byte(each, min(each)) for name, each in _known(points, IO_BYTES)}
    if small:
        smallest = min(min(each) for _, each in _known(points, IO_BYTES))
        yield claim(
            f"a byte is dear in small requests: of {smallest:g} bytes, beside 32 KB",
            "dearer, of reads too",
            _listed(small) + " times",
            "",
            holds=min(small.values()) >= TWICE,
        )
    beyond = {
        name: 1 / _per_byte(each, max(each))
        for name, each in _known(points, IO_BYTES)
        if name != "RW"
    }
    if beyond:
        yield claim(
            "requests of 32 KB are large enough: a byte, beside the largest requests",
            "little dearer",
            _listed(beyond) + " times",
            "",
            holds=max(beyond.values()) <= SIMILAR_WITHIN,
        )


def of_alignment(points: Points, _running: Running) -> Iterator[Claim]:
    """Ask what requests cost that are not aligned."""
    name = "RW" if "RW" in points else "RR"
    each = points.get(name, {})
    shifted = {shift: point for shift, point in each.items() if 0 < shift < IO_BYTES}
    if not shifted or 0.0 not in each:
        return
    worst = max(shifted, key=lambda shift: shifted[shift].mean_ns)
    cost = shifted[worst].mean_ns / each[0.0].mean_ns
    told = "writes" if name == "RW" else "reads"
    yield claim(
        f"random {told} that are not aligned cost more",
        "more",
        f"up to {cost:.3g} times, shifted by {worst:g} bytes",
        "",
        holds=cost >= MORE and shifted[worst].low_ns > each[0.0].high_ns,
    )


def of_locality(points: Points, _running: Running) -> Iterator[Claim]:
    """Ask what random writes cost in a small area, and over the whole drive."""
    random, ordered = points.get("RW", {}), points.get("SW", {})
    if not random or not ordered:
        return
    beside = ordered[max(ordered)].mean_ns
    if FOCUSED_BYTES in random:
        yield _ratio(
            "random writes within 8 MB, beside sequential ones",
            "nearly as much",
            random[FOCUSED_BYTES].mean_ns / beside,
            lambda ratio: ratio <= SIMILAR_WITHIN,
        )
    yield _ratio(
        "random writes over the whole drive, beside sequential ones",
        "far more",
        random[max(random)].mean_ns / beside,
        lambda ratio: ratio >= FAR_MORE,
    )


def of_partitioning(points: Points, _running: Running) -> Iterator[Claim]:
    """Ask over how many partitions sequential writes may go."""
    each = points.get("SW", {})
    if not {1.0, FEW, MANY} <= each.keys():
        return
    alone = each[1.0].mean_ns
    yield _ratio(
        "sequential writes over 4 partitions in turn, beside one",
        "about as much, up to 4 to 8 partitions",
        each[FEW].mean_ns / alone,
        lambda ratio: ratio <= SIMILAR_WITHIN,
    )
    yield _ratio(
        "sequential writes over 256 partitions in turn, beside one",
        "much more: they are like random ones",
        each[MANY].mean_ns / alone,
        lambda ratio: ratio > SIMILAR_WITHIN,
    )


def of_order(points: Points, _running: Running) -> Iterator[Claim]:
    """Ask what it costs to write backwards, and with gaps."""
    each = points.get("SW", {})
    if not {-1.0, 1.0} <= each.keys():
        return
    forwards = each[1.0].mean_ns
    yield _ratio(
        "writing backwards, beside forwards",
        "more",
        each[-1.0].mean_ns / forwards,
        lambda ratio: ratio >= MORE,
    )
    widest = max(each)
    yield _ratio(
        f"writing every {widest:g}th request of a sequence, beside all of them",
        "much more",
        each[widest].mean_ns / forwards,
        lambda ratio: ratio > SIMILAR_WITHIN,
    )


def of_parallelism(points: Points, _running: Running) -> Iterator[Claim]:
    """Ask whether requests side by side are served faster than one after the other."""
    gains = {
        name: max(each) * each[1.0].mean_ns / each[max(each)].mean_ns
        for name, each in _known(points, 1.0)
    }
    if gains:
        yield claim(
            "requests side by side, beside one after the other: requests a second",
            "no more",
            _listed(gains) + " times",
            "",
            holds=max(gains.values()) <= SIMILAR_WITHIN,
        )


def of_mix(points: Points, running: Running) -> Iterator[Claim]:
    """Ask whether a mix costs more than its parts."""
    typical = {
        series: float(np.median([_beside_parts(series, ratio, each, running) for ratio in each]))
        for series, each in points.items()
    }
    if typical:
        yield claim(
            "two patterns mixed, beside their parts one by one",
            "about as much",
            _listed(typical) + " times",
            "",
            holds=max(typical.values()) <= SIMILAR_WITHIN,
        )


def of_pause(points: Points, _running: Running) -> Iterator[Claim]:
    """Ask what pauses do for random writes, and whether they save time."""
    random, ordered = points.get("RW", {}), points.get("SW", {})
    if 0.0 in random and 0.0 in ordered:
        longest = random[max(random)].mean_ns
        before, beside = longest / random[0.0].mean_ns, longest / ordered[0.0].mean_ns
        yield claim(
            "random writes after long pauses",
            "as before, or as sequential ones where the drive collects meanwhile",
            f"{before:.3g} times as before, {beside:.3g} times sequential ones",
            "",
            holds=1 / SIMILAR_WITHIN <= before <= SIMILAR_WITHIN or beside <= SIMILAR_WITHIN,
        )
    saved = {
        name: min((each[pause].mean_ns + pause) / each[0.0].mean_ns for pause in each if pause)
        for name, each in _known(points, 0.0)
        if len(each) > 1
    }
    yield from _no_saving("pauses between requests save no time", saved)


def of_bursts(points: Points, running: Running) -> Iterator[Claim]:
    """Ask whether bursts with pauses between them save time, and what short ones cost."""
    saved = {
        name: min(
            (point.mean_ns + BURST_PAUSE_NS / burst) / running[name]
            for burst, point in each.items()
        )
        for name, each in points.items()
    }
    yield from _no_saving("pauses between bursts save no time", saved)
    each = points.get("RW", {})
    if len(each) > 1:
        yield _ratio(
            f"random writes in bursts of {min(each):g}, beside bursts of {max(each):g}",
            "as much, or less where the drive collects meanwhile",
            each[min(each)].mean_ns / each[max(each)].mean_ns,
            lambda ratio: ratio <= MORE,
        )


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


def _no_saving(what: str, took: Mapping[str, float]) -> Iterator[Claim]:
    if took:
        yield claim(
            f"{what}: with them, beside without, at best",
            "no less",
            _listed(took) + " times",
            "",
            holds=min(took.values()) >= 1 / MORE,
        )


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


def _ratio(what: str, paper: str, ratio: float, holds: Callable[[float], bool]) -> Claim:
    return claim(what, paper, f"{ratio:.3g} times", "", holds=holds(ratio))


def _listed(values: Mapping[str, float], form: str = "{:.3g}") -> str:
    return ", ".join(f"{name} {form.format(value)}" for name, value in values.items())
