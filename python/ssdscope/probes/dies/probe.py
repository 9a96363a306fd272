"""Dies: how many reads a drive serves side by side, and how pages lie on what works alone.

Question
    Chips, or the dies of a chip, read at the same time; two reads on one of them follow each other.
    How many such units are there? (How pages lie on them: `placement`, `volumes`.)
Plan
    Pairs of random places, read at once (`at_once`). A first plan of a few pairs says how many
    places there must be, so that each unit has some; in the next all meet all. Pairs of a class are
    then read more often (`sorting`): if they take two times, they shared a link only.
Engine
    `partition`: places that wait for each other are a class, and the classes are counted. Fragments
    of a class, or two classes taken for one, are the rivals.
Cannot tell
    If any two reads wait, the drive takes one command at a time, has a single die, or a slow link.
    Dies that leave their drive next to nothing to do may be drives of an array.
    A read cache that stays on must have a known size. A drive with one map zone in memory is looked
    at within a zone, and that must show the units come again, or there may be more of them.
Cost
    Some 200,000 reads of a block for eight dies, 4 million for fifty. Nothing is written, but by
    the search for bits of the address (`volumes`).
Source
    PROBING.md 2.7, which fits the share 1/N of random pairs; classes give N exactly.
    Chen, Lee, Zhang (HPCA 2011) look for strides at which bandwidth dips, which presumes striping.
"""

from __future__ import annotations

import math
from typing import TYPE_CHECKING

import numpy as np

from ssdscope.findings import Axis, Evidence, Exhibit, Finding, Partition, Reason, series
from ssdscope.inference.levels import APART, LEAST_EFFECT
from ssdscope.probes.bench.discipline import cautions
from ssdscope.probes.dies import placement, volumes
from ssdscope.probes.dies.sorting import Sorted, sort
from ssdscope.probes.info import ProbeInfo
from ssdscope.probes.shared.at_once import kept_by
from ssdscope.probes.verdict import refused, weighed

if TYPE_CHECKING:
    from collections.abc import Iterator, Sequence

    from numpy.typing import NDArray

    from ssdscope.probes.plan import Ask, Plan
    from ssdscope.targets.records import DeviceInfo

DEGREE, NAME = "interleave_degree", "dies"
PLACES = "places-by-die"
"""The exhibit of places sorted by which of them wait for each other."""
PLANES_MOST = 4
"""Of a die: merge units take a block of each, one after the other."""


def detect(ask: Ask) -> Iterator[Finding]:
    """Answer how many reads are served side by side, and how pages lie."""
    kept = kept_by(ask)
    low, high = _within(ask)
    found = sort(ask, kept, low, high)
    yield _degree(ask, found, narrow=high - low < ask.info.capacity_bytes)
    ask.progress("dies", 0.4)
    if found.by_class.levels.count == 1:
        yield from placement.none(ask, NAME)
    else:
        yield from placement.answers(ask, kept, NAME)
    ask.progress("pages", 0.7)
    yield volumes.answer(ask, kept, found, NAME)


def _within(ask: Ask) -> tuple[int, int]:
    """Give where places may lie so that the drive can have at hand what two of them need."""
    zone, cached = ask.found("map_zone_bytes"), ask.found("map_cache_bytes")
    whole = ask.info.capacity_bytes
    if not isinstance(zone, (int, float)) or zone != cached or 2 * zone > whole:
        return 0, whole
    begin = int(whole / zone) // 2 * zone
    return int(begin + zone / 10), int(begin + zone - zone / 10)


def _degree(ask: Ask, found: Sorted, *, narrow: bool) -> Finding:
    """Decide how many dies there are."""
    levels = found.by_class.levels
    evidence = Evidence(
        exhibits=tuple(_exhibits(found)),
        figures={
            "levels": np.exp(levels.centres).tolist(),
            "places": found.by_class.of.size,
            "classes": found.weighed.estimate,
        },
        cautions=tuple(cautions(ask.info)),
    )
    if levels.count == 1:
        waits = float(levels.centres[0]) > max(math.log1p(LEAST_EFFECT), 2 * levels.deviation)
        if waits:
            said = evidence.saying("any two reads wait for each other")
            return refused(DEGREE, Reason.MASKED, said, probe=NAME)
        return refused(DEGREE, Reason.EFFECT_BELOW_NOISE, evidence, probe=NAME)
    if found.whole_drives:
        said = evidence.saying("they may be drives of an array that take one command at a time")
        return refused(DEGREE, Reason.MASKED, said, probe=NAME)
    if not found.enough:
        return refused(DEGREE, Reason.EFFECT_BELOW_NOISE, evidence, probe=NAME)
    if narrow and not _all_in(ask, found):
        said = evidence.saying("what the drive has at hand does not lie on all dies in turn")
        return refused(DEGREE, Reason.RANGE_TOO_SMALL, said, probe=NAME)
    return weighed(
        DEGREE,
        found.weighed,
        "partition",
        evidence,
        probe=NAME,
        value=int(found.weighed.estimate or 0),
    )


def _all_in(ask: Ask, found: Sorted) -> bool:
    """Say whether a part of the drive lies on all dies: they come again one behind all others.

    Merge units go round the planes: a few in a row may lie on a part of the dies, within which the
    pages go round as often as they like. So they are what must come again, where there are any.
    """
    unit = ask.found("merge_unit_bytes") or 0
    phase = float(ask.found("alignment_phase_bytes") or 0)
    order = np.argsort(found.places)
    along, of = found.places[order], found.of[order]
    turns = 1 + np.count_nonzero(np.diff(of))
    if turns < 2 * (found.weighed.estimate or math.inf):
        return False
    if not unit:
        return True
    units = (along + phase) // float(unit)
    return any(_comes_again(units[of == each], units) for each in np.unique(of))


def _comes_again(own: NDArray[np.float64], among: NDArray[np.float64]) -> bool:
    """Say whether a die has some merge units behind units of others alone.

    Given are the merge units of its places, and of all, in order. That none of these lies on the
    die between two that do must be no chance of how few places were drawn there.
    """
    units = np.unique(own)
    between = np.searchsorted(among, units[1:]) - np.searchsorted(among, units[:-1], "right")
    by_chance = max(between, default=0) * math.log1p(-own.size / among.size)
    return bool(units.size > PLANES_MOST or by_chance <= -APART)


def _exhibits(found: Sorted) -> Iterator[Exhibit]:
    """Show which places belong together."""
    if not found.weighed.estimate:
        return
    classes = range(int(found.weighed.estimate))
    members = tuple(tuple(map(float, found.places[found.of == one])) for one in classes)
    names = tuple(f"unit {one + 1}" for one in classes)
    yield Exhibit(
        name=PLACES,
        title="Places that wait for each other",
        caption="Reads of one unit wait for each other, and for no other; each point is a place.",
        x=Axis("place", "bytes"),
        y=Axis("unit"),
        series=(series("places", found.places, found.of + 1, "points"),),
        fitted=(Partition(names=names, members=members),),
    )


def plans(info: DeviceInfo) -> Sequence[Plan]:
    """Give the largest plans; of these only the search for bits writes."""
    return volumes.plans(info)


PROBE = ProbeInfo(
    name=NAME,
    summary="how many reads are served side by side, pages in a row on one chip, bits that choose",
    weight="standard",
    properties=(DEGREE, placement.WAY, placement.PAGES, volumes.BITS),
    cost="some 200,000 reads of a block, at 50 dies 4 million",
    detect=detect,
    plans=plans,
    needs=(
        "read_cache_bytes",
        "read_cache_unit_bytes",
        "map_zone_bytes",
        "map_cache_bytes",
        "rmw_unit_bytes",
        "alignment_phase_bytes",
        "merge_unit_bytes",
        "write_buffer_bytes",
        "pslc_bytes",
    ),
)
