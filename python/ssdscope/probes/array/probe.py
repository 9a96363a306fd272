"""The family `array`: whether it is several drives, chunk by chunk, that are unlike.

Question. Do chunks in turn lie on drives of their own (`array_members`)? Whatever is measured then
is true of one of them, if it is of any.
Plan. `Visits` of blocks near each other; if places differ, more, and pairs of them read at once.
Engine. `places` says whether places differ, `members` which of them belong together, and `apart`
whether reads on two of them never wait for each other.
Cannot tell. Members that take as long to read, which look like one drive; a read cache that stays
on answers what is read twice; blocks that were never written may all take as long.
Cost. Nothing is written; 12,000 reads of a block where places are alike, 80,000 where they differ.
Source. docs/observability.md.
"""

from __future__ import annotations

from dataclasses import replace
from typing import TYPE_CHECKING

import numpy as np

from ssdscope.findings import Axis, Evidence, Exhibit, Finding, Reason, series
from ssdscope.inference.levels import LEAST_EFFECT
from ssdscope.inference.places import logs_of, places
from ssdscope.probes import verdict
from ssdscope.probes.array.members import apart, members
from ssdscope.probes.bench.discipline import base_request_bytes
from ssdscope.probes.info import ProbeInfo
from ssdscope.probes.shared.at_once import Chosen
from ssdscope.probes.shared.visits import Visits
from ssdscope.seeds import stream

if TYPE_CHECKING:
    from collections.abc import Iterator

    from ssdscope.inference.series import Series
    from ssdscope.probes.plan import Ask, Plan
    from ssdscope.targets.records import DeviceInfo

NAME, MEMBERS = "array", "array_members"
SPAN_BYTES = 1 << 24
"""What places lie in: several turns of four chunks of a mebibyte."""
CELLS, TIMES, PAIRS = 1024, 6, 1024
LONGER = 4
"""Times as often, where places may differ."""


def detect(ask: Ask) -> Iterator[Finding]:
    """Answer how many members there are."""
    yield _answer(ask)


def _answer(ask: Ask) -> Finding:
    """Visit places, and pairs of them if they differ."""
    plan = _visits(ask.info)
    differ = places(taken := ask.take(plan))
    if differ.bound > LEAST_EFFECT:
        ask.progress("places that differ", 0.3)
        differ = places(taken := ask.take(replace(plan, times=LONGER * TIMES)))
    if not verdict.is_found(differ, "places"):
        nothing = replace(differ, estimate=None)
        return verdict.weighed(MEMBERS, nothing, "places", Evidence(), probe=NAME)
    at, logs = logs_of(taken)
    step = base_request_bytes(ask.info)
    found = members(at.astype(np.int64) // step, logs)
    evidence = Evidence()
    if not (found.estimate and verdict.is_found(found, "members")):
        said = evidence.saying("places differ, but not as chunks of members in turn")
        return verdict.refused(MEMBERS, Reason.MODEL_MISFIT, said, probe=NAME)
    number, chunk = int(found.estimate), int(found.detail["chunk"]) * step
    of = at.astype(np.int64) // chunk % number
    evidence = _shown(at % (number * chunk), logs).noting(chunk_bytes=chunk)
    ask.progress("pairs of places", 0.7)
    pairs = apart(_pairs(ask, at.astype(np.int64), of))
    if not verdict.is_sure(pairs, "members apart"):
        said = evidence.saying("reads on two of them wait for each other as on one drive")
        return verdict.refused(MEMBERS, Reason.MODEL_MISFIT, said, probe=NAME)
    return verdict.weighed(MEMBERS, found, "members", evidence, probe=NAME, value=number)


def _visits(info: DeviceInfo) -> Visits:
    """Plan visits of places, from the beginning of the drive on."""
    span = min(SPAN_BYTES, info.capacity_bytes)
    return Visits(span_bytes=span, cells=min(CELLS, span // base_request_bytes(info)), times=TIMES)


def _pairs(ask: Ask, at: np.ndarray, of: np.ndarray) -> Series:
    """Read pairs, half of them on one member."""
    rng = stream(at.size, "array.pairs")
    one, other = rng.permuted(np.tile(np.arange(at.size), (2, 4)), axis=1)
    same = of[one] == of[other]
    kept = np.flatnonzero(one != other)
    kept = np.concatenate([kept[same[kept]][: PAIRS // 2], kept[~same[kept]][: PAIRS // 2]])
    chosen = Chosen(
        one=tuple(at[one[kept]].tolist()), other=tuple(at[other[kept]].tolist()), rounds=1, times=5
    )
    return replace(ask.take(chosen), x=same[kept].astype(float))


def _shown(at: np.ndarray, logs: np.ndarray) -> Evidence:
    """Show what places of a turn take."""
    order = np.argsort(at)
    return Evidence(
        exhibits=(
            Exhibit(
                name="members",
                title="Reads of chunks in turn, laid over each other",
                caption="Each point is a place: the median of its visits, over the usual of all.",
                x=Axis("place in a turn of all members", "bytes"),
                y=Axis("times the usual latency"),
                series=(series("places", at[order], np.exp(logs[order]), "points"),),
            ),
        )
    )


def plans(info: DeviceInfo) -> list[Plan]:
    """Return the largest plans."""
    return [replace(_visits(info), times=LONGER * TIMES)]


PROBE = ProbeInfo(
    name=NAME,
    summary="whether it is an array of unlike drives",
    weight="light",
    properties=(MEMBERS,),
    cost="12,000 reads of a block; 80,000 where places differ",
    detect=detect,
    plans=plans,
)
