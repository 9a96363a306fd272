"""Order: whether pages go to dies by the order in which they are written, or by their address.

`InTurns` writes places in turns: neighbours long after each other, and what is written in a row
anywhere. `contrast` holds blocks that are read at once, in a row and neighbours, against some at
random, from which they differ in nothing else. Of those in a row an order shows by two, or by more
that were written a prime number of requests apart: more of them are a trace at most, as planes of a
die that are in step answer one command. Of many dies a pair shows little: if those in a row and
those apart do alike, what counts is what it makes of such a pair. An address is told where no order
left a trace. docs/probes.md has what it cannot tell; Ryu (2009, section 2) compares rows after two
orders of writing, whose faults are in PROBING 1.2.
"""

from __future__ import annotations

from dataclasses import replace
from typing import TYPE_CHECKING, TypeAlias

import numpy as np

from ssdscope.findings import Axis, Contrast, Detected, Evidence, Exhibit, Finding, Reason, series
from ssdscope.inference.contrast import contrast
from ssdscope.inference.levels import APART, INTERVAL_DROP, LEAST_EFFECT
from ssdscope.inference.series import Rival, Series, Weighed
from ssdscope.probes import verdict
from ssdscope.probes.bench.discipline import cautions
from ssdscope.probes.info import ProbeInfo
from ssdscope.probes.order.plans import (
    ALONE,
    APART_IN_TIME,
    IN_A_ROW,
    NEIGHBOURS,
    RANDOM,
    InTurns,
    sized,
)
from ssdscope.probes.plan import Ask, Plan, Stopped
from ssdscope.probes.verdict import refused, weighed

if TYPE_CHECKING:
    from collections.abc import Iterator, Mapping, Sequence

    from ssdscope.targets.records import DeviceInfo

NAME, PROPERTY = "order", "allocation"
Contrasts: TypeAlias = "Mapping[tuple[int, int], Weighed]"

KINDS = {
    (IN_A_ROW, 0): "two in a row",
    (IN_A_ROW, 1): "more in a row",
    (APART_IN_TIME, 0): "two apart in time",
    (APART_IN_TIME, 1): "more apart in time",
    (NEIGHBOURS, 0): "two neighbours",
    (NEIGHBOURS, 1): "more neighbours",
}
"""What is held against blocks at random, by its `x`, and whether its strata are odd."""
LEAST_PLACES, ROUNDS = 128, 3
"""Fewer make no more rows than can be told from chance."""


def detect(ask: Ask) -> Iterator[Finding]:
    """Answer "order" or "address"."""
    if not ask.info.writable:
        raise Stopped(Reason.NOT_WRITABLE)
    plan = sized(ask)
    if plan.together * plan.groups < LEAST_PLACES:
        raise Stopped(Reason.RANGE_TOO_SMALL)
    rounds = ROUNDS if ask.heavy else ask.info.capacity_bytes // plan.writes_bytes(ask.info)
    taken = Series.of([], [])
    for number in range(min(rounds, ROUNDS)):
        ask.progress("order of writing", number / ROUNDS)
        again = ask.take(replace(plan, number=number))
        # What is read in another round is of strata of its own.
        taken = taken.then(replace(again, stratum=again.stratum + number * 2 * ALONE))
        compared = contrasts(taken)
        found = judged(compared, cautions(ask.info), float(ask.found("interleave_degree") or 1))
        # A score grows with what is taken: one that comes to no half of its level is given up.
        hoped = ROUNDS / (number + 1) * max(each.score for each in compared.values())
        answered = isinstance(found, Detected) or found.reason is Reason.LINK_BOUND
        if answered or hoped < verdict.level_of("contrast") / 2:
            break
    yield found


def contrasts(taken: Series) -> Contrasts:
    """Hold each kind against those at random."""
    return {key: _contrast(taken, *key) for key in KINDS}


def judged(told: Contrasts, notes: Sequence[str] = (), dies: float = 1.0) -> Finding:
    """Decide which of the two words it is, if any, of a drive with so many dies."""
    two, many, apart = told[IN_A_ROW, 0], told[IN_A_ROW, 1], told[APART_IN_TIME, 0]
    order = _surest(two, apart, told[APART_IN_TIME, 1], _both(two, apart, dies))
    address = _surest(told[NEIGHBOURS, 0], told[NEIGHBOURS, 1])
    evidence = _evidence(told, notes)
    unseen = not verdict.is_found(order, "contrast") or order.effect < LEAST_EFFECT
    if unseen and all(each.bound <= LEAST_EFFECT for each in told.values()):
        said = evidence.saying("reads at once take as long wherever, and whenever written")
        return refused(PROPERTY, Reason.LINK_BOUND, said, probe=NAME)
    found, word = replace(order, bound=np.inf), "order"
    if not verdict.is_found(order, "contrast"):
        trace = max(each.score for (kind, _), each in told.items() if kind != NEIGHBOURS)
        if verdict.is_found(many, "contrast") and many.score >= address.score:
            said = evidence.saying("planes of a die that are in step may be what shows")
            return refused(PROPERTY, Reason.MASKED, said, probe=NAME)
        # Half as much of an order must not hide in the data, and no trace of one be seen.
        hides = max(two.bound, many.bound) > address.effect / 2
        margin = APART + INTERVAL_DROP - trace
        rival = Rival("an order of writing", 0.0 if hides else margin)
        found, word = replace(address, bound=np.inf).against([rival]), "address"
    return weighed(PROPERTY, found, "contrast", evidence, probe=NAME, value=word)


def _surest(*found: Weighed) -> Weighed:
    """Give what is surest of what anyone would notice; what is surest if nobody would."""
    return max(found, key=lambda each: (each.effect >= LEAST_EFFECT, each.score))


def _both(one: Weighed, other: Weighed, dies: float) -> Weighed:
    """Give what both bear out, if they do: pairs that never meet, of which one in `dies` would."""
    weaker = min(one, other, key=lambda each: each.score)
    faster = all(each.estimate is not None and each.estimate < 1 for each in (one, other))
    return replace(weaker, effect=dies * weaker.effect if faster else 0.0)


def _contrast(taken: Series, kind: int, odd: int) -> Weighed:
    """Hold one kind against those at random; a rival is that each takes another time alone."""
    chosen = taken.where(np.isin(taken.x, (RANDOM, kind)) & (taken.stratum % 2 == odd))
    is_alone = chosen.stratum % (2 * ALONE) >= ALONE
    at_once, alone = (
        contrast(each.with_x(each.x == kind))
        for each in (chosen.where(~is_alone), chosen.where(is_alone))
    )
    margin = APART + verdict.level_of("contrast") - alone.score
    rivals = [Rival("what a read takes alone", margin)] if alone.effect >= LEAST_EFFECT else []
    return at_once.against(rivals)


def _evidence(told: Contrasts, notes: Sequence[str]) -> Evidence:
    """Show what reads at once take, over those at random."""
    fitted = tuple(
        Contrast(
            one=KINDS[key],
            other="at random",
            one_at=each.estimate,
            other_at=1.0,
            ratio=each.estimate,
            low=each.interval[0],
            high=each.interval[1],
        )
        for key, each in told.items()
        if each.estimate is not None and each.interval is not None
    )
    ratios = [each.ratio for each in fitted]
    exhibit = Exhibit(
        name="at-once-over-random",
        title="Reads at once, over those of blocks at random",
        caption="Those in a row were written one after the other, and neighbours were not.",
        x=Axis(", ".join(each.one for each in fitted) or "what is read"),
        y=Axis("ratio of latencies"),
        series=(
            series(
                "ratios",
                1 + np.arange(len(fitted)),
                ratios,
                "points",
                low=[each.low or 0.0 for each in fitted],
                high=[each.high or 0.0 for each in fitted],
            ),
        ),
        fitted=fitted,
    )
    figures = {"compared": [each.one for each in fitted], "time_ratio": ratios}
    return Evidence(exhibits=(exhibit,), figures=figures, cautions=tuple(notes))


def _plans(info: DeviceInfo) -> Sequence[Plan]:
    return (InTurns(times=0, pushing=info.capacity_bytes),)


def _more(info: DeviceInfo) -> Sequence[Plan]:
    return [InTurns(times=0, pushing=info.capacity_bytes, number=each) for each in range(1, ROUNDS)]


PROBE = ProbeInfo(
    name=NAME,
    summary="whether data lie by the order of writing or by address",
    weight="standard",
    properties=(PROPERTY,),
    cost="a quarter of the capacity written, or up to one; with a full budget three",
    detect=detect,
    plans=_plans,
    more=_more,
    needs=(
        "rmw_unit_bytes",
        "alignment_phase_bytes",
        "interleave_degree",
        "read_cache_bytes",
        "read_cache_unit_bytes",
        "write_buffer_bytes",
        "pslc_bytes",
        "merge_unit_bytes",
        "map_zone_bytes",
        "map_cache_bytes",
    ),
)
