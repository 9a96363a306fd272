"""The family `types`: how many types of pages lie on a word line.

Question. How many pages share their cells, so that they take unlike times to read (`page_types`)?
Physics. Three pages of a cell of three bits are told apart by one, two or four voltages. Types come
in turn as a block is filled, as many of each.
Plan. `Pages`: blocks of a stretch that was filled in order, in the middle of the drive, which no
region of one bit holds; of a large drive, a stretch that the plan writes, with as much around it as
a region and a buffer take. Where they lie on levels, the stretch is written again in pieces in
random order. If places keep their levels all the same, blocks beside each other on unlike levels
are read at once.
Engine. `kinds`: levels of equal shares. `moved`: they go by the order of writing. If they do not,
a unit may lie on one die with a page of each type: then neighbours wait for each other, by
`contrast` with what they take alone, which members of an array never do.
Cannot tell. Types that take as long to read; a read cache that stays on; on a large drive a region
of one bit that is not known hides that there is more than one type.
Cost. 50,000 reads of a block; 200,000 and up to a quarter of the drive written where they differ.
Source. docs/observability.md.
"""

from __future__ import annotations

import math
from dataclasses import replace
from typing import TYPE_CHECKING

import numpy as np

from ssdscope.findings import Axis, Evidence, Exhibit, Finding, Reason, series
from ssdscope.inference.contrast import contrast
from ssdscope.inference.levels import LEAST_EFFECT, NOTICED
from ssdscope.inference.places import logs_of, places
from ssdscope.inference.series import Series
from ssdscope.probes import verdict
from ssdscope.probes.bench.discipline import base_request_bytes
from ssdscope.probes.info import ProbeInfo
from ssdscope.probes.plan import Ask, Plan, State
from ssdscope.probes.shared.at_once import Chosen
from ssdscope.probes.shared.visits import Visits
from ssdscope.probes.types.kinds import beside, kinds, moved
from ssdscope.probes.types.plans import LONGEST_PIECE, Pages

if TYPE_CHECKING:
    from collections.abc import Iterator

    from ssdscope.targets.records import DeviceInfo

NAME, TYPES = "types", "page_types"
SPAN_BYTES, CELLS, TIMES = 1 << 26, 4096, 6
"""Of a stretch: many turns of types over all planes; and places that tell shares apart."""
LONGER = 4
"""Times as often, where places differ on no levels that are told apart."""
FILLED_BYTES = 1 << 34
"""Of capacity: what larger drives hold is not all written for it."""
BEGIN = 0.55
"""Of the capacity: what was written first may have stayed in a region of one bit, and what was
written last is there; no region takes as much as half of what a drive exports."""
REGION = 8
"""Part of the capacity that is written where the region is not known; larger ones are rare."""
BESIDE, PAIRS = 256, 128
"""Steps of blocks one beside the other, and pairs of them."""


def detect(ask: Ask) -> Iterator[Finding]:
    """Answer how many types there are."""
    yield _answer(ask)


def _answer(ask: Ask) -> Finding:
    """Read what was filled in order, and again behind another order."""
    plan = _plan(ask.info, _around(ask))
    taken = ask.take(plan)
    found = kinds(taken)
    unclear = found.bound > LEAST_EFFECT or verdict.is_found(places(taken), "places")
    if found.estimate is None and unclear:
        plan = replace(plan, times=LONGER * TIMES)
        found = kinds(taken := ask.take(plan))
    evidence = _shown(taken)
    if found.estimate is None or not verdict.is_found(found, "kinds"):
        known = plan.state is State.FILLED or ask.size("pslc_bytes", unknown=math.inf) < math.inf
        if not known:
            said = evidence.saying("a region of one bit per cell is not ruled out")
            return verdict.refused(TYPES, Reason.MASKED, said, probe=NAME)
        return verdict.weighed(TYPES, replace(found, estimate=None), "kinds", evidence, probe=NAME)
    number = int(found.estimate)
    if verdict.is_sure(found, "kinds"):
        ask.progress("another order of writing", 0.5)
        other = replace(plan, state=None, written="in pieces", around_bytes=_around(ask))
        pieces = plan.span_bytes // base_request_bytes(ask.info) * 2 // LONGEST_PIECE
        goes = moved(taken, ask.take(other), number, pieces)
        evidence = evidence.noting(same_type_again=goes.estimate)
        if not verdict.is_found(goes, "moved") and not _neighbours_wait(ask, plan, number):
            said = evidence.saying("what differs belongs to addresses, as members of an array do")
            return verdict.refused(TYPES, Reason.MASKED, said, probe=NAME)
    return verdict.weighed(TYPES, found, "kinds", evidence, probe=NAME, value=number)


def _plan(info: DeviceInfo, around_bytes: int = 0) -> Pages:
    """Plan the first look."""
    span = min(SPAN_BYTES, info.capacity_bytes // REGION)
    filled = info.capacity_bytes <= FILLED_BYTES
    return Pages(
        state=State.FILLED if filled else State.AS_FOUND,
        first_bytes=int(BEGIN * info.capacity_bytes),
        span_bytes=span,
        cells=min(CELLS, span // base_request_bytes(info)),
        times=TIMES,
        written="" if filled else "in order",
        around_bytes=0 if filled else around_bytes,
    )


def _around(ask: Ask) -> int:
    """Return what a region of one bit and a buffer may take."""
    most = _most_around(ask.info)
    unknown = most if ask.info.capacity_bytes <= FILLED_BYTES else 0
    region = ask.about("pslc_bytes") or ask.size("pslc_bytes", unknown=unknown)
    return int(min(region + (ask.about("write_buffer_bytes") or 0.0), most))


def _most_around(info: DeviceInfo) -> int:
    return min(info.capacity_bytes // REGION, FILLED_BYTES)


def _neighbours_wait(ask: Ask, plan: Pages, number: int) -> bool:
    """Say whether blocks beside each other on unlike levels wait for each other as on one die."""
    step = base_request_bytes(ask.info)
    near = Visits(
        state=None,
        first_bytes=plan.first_bytes,
        span_bytes=BESIDE * step,
        cells=BESIDE,
        times=LONGER * TIMES,
    )
    pairs = beside(ask.take(near), number)[:, :PAIRS].astype(int)
    if not pairs.size:
        return False
    one, other = (tuple(each) for each in pairs.tolist())
    waits = ask.take(Chosen(state=None, one=one, other=other, rounds=2, times=5)).y
    alone = np.repeat([1.0, 0.0], waits.size)
    both = Series.of(
        alone, np.append(waits, np.ones(waits.size)), stratum=np.tile(np.arange(waits.size), 2)
    )
    found = contrast(both)
    longer = found.interval is not None and found.interval[0] >= 1 + NOTICED
    return longer and verdict.is_found(found, "contrast")


def _shown(taken: Series) -> Evidence:
    """Show how many places take how long."""
    logs = np.sort(logs_of(taken)[1])
    share = (np.arange(logs.size) + 1) / logs.size
    return Evidence(
        exhibits=(
            Exhibit(
                name="types",
                title="Pages by what they take to read",
                caption="Places of a stretch that was filled in order, the fastest first.",
                x=Axis("share of the places"),
                y=Axis("times the usual latency"),
                series=(series("places", share, np.exp(logs), "points"),),
            ),
        )
    )


def plans(info: DeviceInfo) -> list[Plan]:
    """Return the largest plans."""
    most = _most_around(info)
    first = replace(_plan(info, most), times=LONGER * TIMES)
    return [first, replace(first, state=None, written="in pieces", around_bytes=most)]


PROBE = ProbeInfo(
    name=NAME,
    summary="how many types of pages lie on a word line",
    weight="standard",
    properties=(TYPES,),
    cost="50,000 reads of a block; up to half of the drive written where they differ",
    detect=detect,
    plans=plans,
    needs=("pslc_bytes", "write_buffer_bytes"),
)
