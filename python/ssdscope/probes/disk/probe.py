"""The family `disk`: whether it is a hard disk, how fast it turns, its seeks and its cache.

Question. Does a place come round once a turn? Reads of one place end at one angle of the spindle
then, whenever they are asked for, and reads at random places wait for half a turn on average. No
flash does that: its reads end when they are done. What the kernel says is not asked: a loop device
is called a disk, too.
Plan. 64 reads at random places. If hardly any takes as long as the fastest spindle would let half
of them wait, nothing turns, and that is all. Else 64 places near each other are read eight times
each, after pauses of random length. `disk_arm` and `disk_cache` measure the rest between turns.
Engine. `turn`: the times at which reads end, folded at each candidate. Places that turn otherwise
belong to another disk, in an array of unlike ones.
Cannot tell. Spindles outside of 3,000 to 20,000 turns a minute; disks whose read cache stays on
and holds 64 places.
Cost. Nothing is written; 64 reads where nothing turns, two minutes or three on a disk.
Source. Worthington, Ganger, Patt, Wilkes, On-line extraction of SCSI disk drive parameters, 1995.
"""

from __future__ import annotations

import math
from collections.abc import Callable, Iterator, Sequence
from dataclasses import dataclass, replace
from typing import TYPE_CHECKING

import numpy as np

from ssdscope.findings import Absent, Axis, Detected, Evidence, Exhibit, Finding, Reason, series
from ssdscope.findings.families import FAMILIES
from ssdscope.inference.series import Rival, Series
from ssdscope.probes import verdict
from ssdscope.probes.bench.discipline import base_request_bytes
from ssdscope.probes.disk import arm as disk_arm
from ssdscope.probes.disk import cache as disk_cache
from ssdscope.probes.disk.turn import Turned, turn
from ssdscope.probes.info import ProbeInfo
from ssdscope.probes.plan import Ask, Plan, Stopped

if TYPE_CHECKING:
    from ssdscope.probes.bench.ledger import Bench
    from ssdscope.targets.records import DeviceInfo

ROTATION = "rotation_ns"

SHORTEST_NS, LONGEST_NS = 3_000_000, 20_000_000
"""Of a turn: disks were sold with 3,600 to 15,000 in a minute, and some more on each side."""
PLACES, VISITS = 64, 8
"""More places than caches of disks with few segments hold."""
TURNS_OVER = 32
"""The part of the disk that they lie in: short seeks, as noise grows with what a read takes."""
PAUSES_NS = 4_000_000
"""At most: the sum of as many as there are places differs by a large part of the longest turn."""
ALIKE = 0.01
"""By so much spindles of one kind may differ."""
MINUTE_NS = 60 * 1_000_000_000
PARTS: tuple[tuple[str, tuple[str, ...], Callable[[Ask, float], Iterator[Finding]]], ...] = (
    ("full strokes", (disk_arm.FULL,), disk_arm.full_stroke),
    ("what is read again", (disk_cache.SEGMENTS, disk_cache.BYTES), disk_cache.detect),
    ("tracks", (disk_arm.TRACK,), disk_arm.next_cylinder),
)
"""What is measured between turns; one that others disturb does not end the others."""


@dataclass(frozen=True, kw_only=True)
class First(Plan):
    """Reads at random places, one after the other; `x` is where."""

    def measure(self, bench: Bench, rng: np.random.Generator) -> Series:
        """Read."""
        places = _places(bench, rng, 1)
        # Others make reads slower: none looks like flash for that.
        log = bench.read(places, base_request_bytes(bench.info), most_foreign_share=math.inf)
        return Series.of(places, log.latency_ns)


@dataclass(frozen=True, kw_only=True)
class Turns(Plan):
    """Every place once in each round, after a pause; `x` and `stratum` are the place."""

    def measure(self, bench: Bench, rng: np.random.Generator) -> Series:
        """Read."""
        places = _places(bench, rng, TURNS_OVER)
        which = np.concatenate([rng.permutation(PLACES) for _ in range(VISITS)])
        # Whatever others do, a place comes round all the same.
        log = bench.read(
            places[which],
            base_request_bytes(bench.info),
            pauses_ns=rng.integers(1, PAUSES_NS, which.size),
            most_foreign_share=math.inf,
        )
        return Series.of(places[which], log.latency_ns, stratum=which, time_ns=log.submit_ns)


def _places(bench: Bench, rng: np.random.Generator, part: int) -> np.ndarray:
    block = base_request_bytes(bench.info)
    return rng.integers(0, bench.info.capacity_bytes // part // block, PLACES) * block


def detect(ask: Ask) -> Iterator[Finding]:
    """Tell a disk by what turns, then ask for its seeks and its cache."""
    ask.progress("reads at random places", 0.0)
    first = ask.take(First())
    if _nothing_turns(first):
        yield from _no_disk(first)
        return
    ask.progress("turns of a spindle", 0.1)
    found = _rotation(ask.take(Turns()))
    names = FAMILIES["disk"] if isinstance(found, Absent) else (ROTATION,)
    yield from (replace(found, name=name) for name in names)
    if not isinstance(found, Detected):
        why = "the time of one turn is not known, and the rest is measured between"
        raise Stopped(Reason.MODEL_MISFIT, why)
    for number, (stage, names, part) in enumerate(PARTS, 1):
        ask.progress(stage, number / (len(PARTS) + 1))
        try:
            yield from part(ask, float(found.value))
        except Stopped as stop:
            for name in names:
                yield verdict.refused(name, stop.reason, stop.evidence)


def _slow(first: Series) -> int:
    """Count reads that took half the shortest turn: one in two does, if anything turns."""
    return int((first.y >= SHORTEST_NS / 2).sum())


def _nothing_turns(first: Series) -> bool:
    """Say whether too few reads took so long, for a spindle."""
    from scipy.stats import binom

    unlikely = -float(binom.logcdf(_slow(first), len(first), 1 / 2))
    return unlikely >= verdict.level_of("no turn")


def _no_disk(first: Series) -> Iterator[Finding]:
    usual_ms, wait_ms = float(np.median(first.y)) / 1e6, SHORTEST_NS / 2 / 1e6
    reason = (
        f"no hard disk: reads at random places take {usual_ms:.3g} ms, and a spindle would let "
        f"half of them wait for {wait_ms:g} ms or longer"
    )
    bound = (_slow(first) + 1) / len(first)
    for name in FAMILIES["disk"]:
        yield verdict.absent(name, bound, Evidence(), reason=reason)


def _rotation(taken: Series) -> Finding:
    """Decide on the time of a turn, and whether all places turn alike."""
    turned = turn(taken, SHORTEST_NS, LONGEST_NS)
    found = turned.found
    other = turn(taken.where(~turned.together), SHORTEST_NS, LONGEST_NS).found
    if (
        found.estimate is not None
        and other.estimate is not None
        and verdict.is_found(other, "turn")
        and abs(other.estimate / found.estimate - 1) > ALIKE
    ):
        found = found.against([Rival("another disk", 0.0, other.estimate)])
    return verdict.weighed(ROTATION, found, "turn", _shown(taken, turned))


def _shown(taken: Series, turned: Turned) -> Evidence:
    """Show that reads wait for their place."""
    there, period = turned.together, turned.found.estimate
    if period is None or not there.any():
        return Evidence()
    shown = Exhibit(
        name="turns",
        title="Reads wait until their place comes round",
        caption="Each point is a read. If its place has just gone by, it waits for a turn more.",
        x=Axis("until the place is under the head", "ns"),
        y=Axis("read latency", "ns"),
        series=(series("reads", turned.durations[there] % period, taken.y[there], "points"),),
    )
    return Evidence(exhibits=(shown,), figures={"turns_per_minute": MINUTE_NS / period})


def _plans(_: DeviceInfo) -> Sequence[Plan]:
    return First(), Turns()


PROBE = ProbeInfo(
    name="disk",
    summary="whether it is a hard disk: its spindle, arm and cache",
    weight="light",
    properties=FAMILIES["disk"],
    cost="64 reads where nothing turns; two minutes of reads on a disk",
    detect=detect,
    plans=_plans,
)
