"""The property `idle_gc_onset_ns`: how long a drive waits before it collects or merges by itself.

When the host has been quiet for so long the drive works for itself, and finishes what it has begun.
Then the next writes have room, and are fast for a while. `Pauses` from a millisecond to a minute
say whether there is a `step` over the length of the pause, and bisection where it is; all trials
together decide. Its rivals are drift, a return, and a gain that grows over pauses of more than
twice the length. A protected buffer that empties itself in pauses makes writes fast, too, until it
is full: `LeftAlone` says whether it loses in pauses what it keeps otherwise; if so, or if that is
not clear, only those writes count that come behind what it holds. Where no pause gains anything the
longest is held against the shortest, in two looks that share the error, and `GoneOn` says whether
there was room for more than was timed. Reads restart the waiting, and take less.
Cannot tell: onsets below a millisecond or above a minute, and what a protected buffer hides because
it holds more than idle time makes room for. Source: PROBING.md 3.1, 3.7; SSDcheck's sweep.
"""

from __future__ import annotations

import math
from dataclasses import replace
from typing import TYPE_CHECKING, Any, TypeVar

import numpy as np

from ssdscope.findings import Axis, Evidence, Exhibit, Finding, Reason, Step, series
from ssdscope.inference.contrast import contrast
from ssdscope.inference.levels import LEAST_EFFECT
from ssdscope.inference.series import Series, Weighed
from ssdscope.probes import verdict
from ssdscope.probes.bench.discipline import base_request_bytes
from ssdscope.probes.collection.pauses import (
    CLOSE,
    SERVED,
    WAITED,
    GoneOn,
    LeftAlone,
    Pauses,
    Rests,
    gain,
    growth,
    settled,
)
from ssdscope.probes.collection.trials import AWAKE_NS, LONGEST_NS, Waits

if TYPE_CHECKING:
    from ssdscope.probes.plan import Ask, Plan
    from ssdscope.targets.records import DeviceInfo

__all__ = ["ONSET", "found_onset", "plans"]

Trying = TypeVar("Trying", bound=Rests)

ONSET = "idle_gc_onset_ns"
PERIODS, MOST_TRIALS = 10, 64
"""How many pauses there are from the shortest to the longest; and trials around a step, at most."""
WRONG = 0.05, 0.3
"""Of trials that tell wrongly, the least and the most that bisection counts with."""
LOOKS = (8, 0.2), (16, 0.8)
"""Pairs of the longest pause and the shortest, until it is said that neither gains anything; and
the share of the error that is allowed in all."""
SCANNED, FINER = 12, 8
"""Of the capacity, written at most for either."""
REQUEST_BYTES = 64 * 1024
"""Overwritten as one, of drives that do not merge, or whose RMW unit is not known."""
BUFFERED = 16
"""Of which part of the capacity a buffer may hold as much, where it is not known."""
MUCH_WAITED = 0.5
"""Of the time of writes without a pause: what idle work would save, if there were any."""
BEYOND = 0.25
"""Of the logarithm of what a step lies in, how much further finer steps reach on either side."""
ALIKE = 0.25
"""How much longer a read may take at most that still comes from the same place: memory or flash."""
OFF = 1.01
"""Times what a pause may be longer or shorter by than it was asked for."""


def found_onset(ask: Ask, name: str) -> Finding:
    """Answer for the family `name`."""
    periods_ns = _periods(AWAKE_NS, LONGEST_NS, PERIODS)
    scan = _sized(ask, Pauses(size_bytes=0, periods_ns=periods_ns, settles=True, share=SCANNED))
    hidden = False
    if ask.info.write_cache.control not in ("absent", "switchable"):
        ask.progress("what a buffer keeps", 0.0)
        kept, held_bytes = _emptied(ask)
        hidden = len(kept) > len(Waits._fields)
        scan = _next(scan, kept, held_bytes=held_bytes)
    ask.progress("pauses", 0.2)
    taken = ask.take(scan)
    found = gain(taken)
    evidence = Evidence(figures={"request_bytes": scan.size_bytes})
    if found.interval is None or not verdict.is_found(found, "step", times=0.5):
        return _none(ask, scan, taken, evidence, name, hidden=hidden)
    look = int(found.detail["stratum"]), found.detail["middle"]
    finer = _next(scan, taken, look=look, share=FINER, rounds=MOST_TRIALS)
    for number in (1, 2, 3):
        low, high = _bracket(found)
        ends = round(low * (low / high) ** BEYOND), round(high * (high / low) ** BEYOND)
        wrong = _wrong(taken.where(taken.stratum == look[0]), found)
        plan = replace(finer, number=number, periods_ns=ends, wrong=wrong)
        taken = taken.then(ask.take(plan))
        found = gain(taken, look)
        low, high = _bracket(found)
        rivals = [growth(taken, look[0])]
        if high <= CLOSE * low and verdict.is_sure(found.against(rivals), "step"):
            break
    return _told(taken, found, look[0], evidence, name)


def _wrong(rows: Series, found: Weighed) -> float:
    """Return the share of trials on the wrong side of a step, not less than a few."""
    wrong = (rows.y <= found.detail["middle"]) != (rows.x >= (found.estimate or 0.0))
    return round(float(np.clip((wrong.sum() + 1) / (len(rows) + 2), *WRONG)), 2)


def _bracket(found: Weighed) -> tuple[float, float]:
    return found.interval or (AWAKE_NS, LONGEST_NS)


def _told(taken: Series, found: Weighed, stratum: int, evidence: Evidence, name: str) -> Finding:
    """Decide on the step."""
    low, high = _bracket(found)
    served_ns = float(np.median(taken.y[taken.stratum == SERVED]))
    # A drive is quiet from when a read has been served, which the host sees a little later.
    value = math.sqrt(low * high) - served_ns
    interval = (low / OFF - served_ns, high * OFF - served_ns)
    evidence = evidence.showing(_exhibit(taken.where(taken.stratum == stratum), value)).noting(
        trials=int((taken.stratum == SERVED).sum()), **found.detail
    )
    if low <= AWAKE_NS:
        said = evidence.saying("the drive may be at work already where it should be kept awake")
        return verdict.refused(ONSET, Reason.EFFECT_BELOW_NOISE, said, probe=name)
    found = found.against([growth(taken, stratum)])
    return verdict.weighed(
        ONSET, found, "step", evidence, probe=name, value=value, interval=interval
    )


def _none(
    ask: Ask, scan: Pauses, taken: Series, evidence: Evidence, name: str, *, hidden: bool
) -> Finding:
    """Say that no pause gains anything, if that is sure."""
    if scan.held_bytes:
        said = evidence.saying("what pauses gain is over when a buffer that they empty is full")
        return verdict.refused(ONSET, Reason.MASKED, said, probe=name)
    evidence = evidence.noting(waited=(waited := _waited(taken)))
    # Into a buffer that no flush empties writes may go as fast with and without room behind it.
    if hidden or not (scan.within_bytes or waited > MUCH_WAITED):
        return verdict.refused(ONSET, Reason.EFFECT_BELOW_NOISE, evidence, probe=name)
    ends = _next(scan, taken, periods_ns=(AWAKE_NS, LONGEST_NS), enough=None, share=FINER)
    held = Series.of([], [])
    for number, (rounds, share) in enumerate(LOOKS):
        more = ask.take(replace(ends, rounds=rounds, number=number))
        held = held.then(more.where(more.stratum == more.stratum.max()))
        numbers = np.arange(len(held)) // 2
        found = contrast(Series.of(held.x == AWAKE_NS, held.y, stratum=numbers), share=share)
        if found.bound <= LEAST_EFFECT:
            break
    evidence = evidence.noting(most_gained=found.bound)
    if found.bound > LEAST_EFFECT:
        return verdict.refused(ONSET, Reason.EFFECT_BELOW_NOISE, evidence, probe=name)
    rested = float(np.mean(held.y[held.x == LONGEST_NS]))
    gone_on = _sized(ask, GoneOn(size_bytes=0, pause_ns=LONGEST_NS, share=1))
    on = ask.take(_next(gone_on, taken))
    if float(on.y.mean()) > (1 + 2 * LEAST_EFFECT) * rested:
        said = evidence.saying("a pause may have made room for more than was written behind it")
        return verdict.refused(ONSET, Reason.EFFECT_BELOW_NOISE, said, probe=name)
    why = "no pause makes the next writes faster"
    return verdict.absent(ONSET, float(LONGEST_NS), evidence, probe=name, reason=why)


def _waited(taken: Series) -> float:
    """Give the share of their time that writes wait without a pause."""
    return float(np.median(taken.y[(taken.stratum == WAITED) & (taken.x == AWAKE_NS)]))


def _emptied(ask: Ask) -> tuple[Series, int]:
    """Say how much of a buffer that hides writes only pauses empty; give the series, too.

    Nothing if it surely keeps, or loses, in pauses what it does otherwise.
    """
    held = int(ask.about("write_buffer_bytes") or ask.info.capacity_bytes / BUFFERED)
    unit = int(ask.about("write_buffer_unit_bytes") or base_request_bytes(ask.info))
    alone = LeftAlone(size_bytes=0, held_bytes=held, unit_bytes=unit, settles=True)
    taken = ask.take(_sized(ask, alone))
    kept = taken.where(taken.stratum >= 0)
    alike = contrast(kept).bound <= ALIKE
    return taken, held if len(kept) and not alike else 0


def _next(plan: Trying, taken: Series, **changes: Any) -> Trying:
    """Let a plan go on with the drive as another has left it."""
    return replace(plan, state=None, settles=False, waits=settled(taken), **changes)


def _sized(ask: Ask, plan: Trying) -> Trying:
    """Let a plan write RMW units, of which several are one on drives that do not merge."""
    base = base_request_bytes(ask.info)
    unit = int(ask.size("rmw_unit_bytes", unknown=max(base, REQUEST_BYTES)) or base)
    merge = int(float(ask.found("merge_unit_bytes") or 0))
    # Of several units some begin a merge unit, which then gets a log block for what is in order.
    several = 1 if merge else -(-REQUEST_BYTES // unit)
    phase = int(ask.found("alignment_phase_bytes") or 0) % max(merge, unit)
    return replace(plan, size_bytes=several * unit, phase_bytes=phase, within_bytes=merge)


def _periods(first: float, last: float, count: int) -> tuple[int, ...]:
    return tuple(np.geomspace(first, last, count).round().astype(int).tolist())


def _exhibit(rows: Series, onset_ns: float) -> Exhibit:
    """Show the means of trials over their pauses."""
    tried = np.unique(rows.x)
    means = [float(rows.y[rows.x == each].mean()) for each in tried]
    return Exhibit(
        name="pauses",
        title="Writes after pauses",
        caption="What the next writes take, behind reads with pauses of one length between them.",
        x=Axis("pause", "ns", log=True),
        y=Axis("time, in that of a read"),
        series=(series("writes", tried, means, "points"),),
        fitted=(Step(at=onset_ns, word="onset"),),
    )


def plans(info: DeviceInfo) -> list[Plan]:
    """Give the largest plans."""
    size = base_request_bytes(info)
    scan = Pauses(periods_ns=(AWAKE_NS, LONGEST_NS), size_bytes=size, settles=True, share=SCANNED)
    finer = [
        replace(scan, state=None, settles=False, number=each, share=FINER) for each in (1, 2, 3)
    ]
    alone = LeftAlone(held_bytes=0, unit_bytes=size, size_bytes=size, settles=True)
    return [alone, scan, *finer, GoneOn(state=None, pause_ns=LONGEST_NS, size_bytes=size, share=1)]
