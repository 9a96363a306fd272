"""The probe `idle_gc`: how long a drive waits before it collects or merges in idle time.

Physics. When the host has been quiet for so long, the drive begins to work for itself; what it
has begun it finishes, whoever asks meanwhile. Then writes have room, and are fast for a while.
Statistic. A trial makes work (random overwrites until they are as slow as without a pause), reads
one place a hundred times with a fixed period, keeps the drive awake by quicker reads until what was
begun has ended, and times the next writes, in the latency of one block (`idle_trials`). A period
below the onset, less what a read takes, gains nothing; any longer one gains about all that a
hundred pieces of work can: a step. How many writes show it best is chosen by trials that keep the
drive awake, and trials with long pauses. Periods from the shortest to the longest, each some six
times the last, tell between which two of them writes gain most, and what they take on either side.
The step is then bisected there on the logarithm of the period, each period being tried until a
sequential test says on which side of it the gain lies (Wald 1945). Where that ends in no step, all
is done once more, with all room used up before each trial: what one has left may be what the next
one gains.

Decision. Detected if long pauses surely gain something, fresh trials a little beyond the step gain
it too, and such a little below, of twice as many pauses, gain nothing: a gain that grows slowly is
no step, and one that takes time, as what the drive was still busy with, no idle work. Absent if
pauses of a minute surely gain less than 3 %, writes without one waited most of their time, for what
idle work would have saved, and a long stretch of them behind such a pause takes 5 % longer at most:
room for more writes than are timed would be used up in it. A write buffer that stays on is flushed,
and each timed write is. Where a flush has no effect, what was written last is read after a pause
(as long as it takes to empty all of a buffer) and without one, besides other data: if only the
former comes from flash, the buffer empties itself in idle time, which looks the same: `masked`.
Behind such a buffer nothing is absent, either.

Assumptions. A read restarts the waiting, and takes less than the onset. Cost: up to sixteen
capacities. Source: PROBING 3.1, 3.7; SSDcheck's sweep of think times.
"""

from __future__ import annotations

import math
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any

import numpy as np

from ssdscope.findings import (
    Absent,
    Axis,
    Detected,
    Evidence,
    Exhibit,
    Reason,
    Step,
    Undetectable,
    series,
)
from ssdscope.probes.bench import Stopped
from ssdscope.probes.idle_steps import LEAST_GAIN, LEAST_SCATTER, Steps
from ssdscope.probes.idle_trials import AWAKE_NS, FEWEST_WRITES, Trials
from ssdscope.probes.info import ProbeInfo
from ssdscope.probes.settling import MERGING_NS, Overwriter, Settled
from ssdscope.targets.records import OP_FLUSH

if TYPE_CHECKING:
    from collections.abc import Iterator

    from numpy.typing import NDArray

    from ssdscope.findings import Finding
    from ssdscope.probes.bench import Bench
    from ssdscope.probes.budget import Deadline
    from ssdscope.targets.records import DeviceInfo

ONSET = "idle_gc_onset_ns"
PROBE_NAME = "idle_gc"

REQUEST_BYTES = 64 * 1024
SETTLE_SHARE = 0.7
MOST_BYTES = 1 << 34
CAPACITIES, MOST_TRIED_BYTES = 24, 1 << 35
LONG_NS = (4_000_000_000, 16_000_000_000, 60_000_000_000)
"""Pauses that show whether idle time gains anything: any usual onset is shorter than the first."""
PAIRS, MOST_PAIRS, MOST_PAIRS_LONGEST = 5, 20, 60
SEPARATED, SURE_ERRORS, CLEAR_ERRORS, PROMISING_ERRORS = 0.3, 5.0, 12.0, 2.0
"""Scatter of a trial, as a share of the gain, with which longer pauses are not tried; standard
errors that the gain must have for a search to begin."""
NOTHING = 0.03
NARROW, BEYOND = 1.03, 1.06
BY_CHANCE = 1e-3
"""Of the rank test on fresh trials on both sides of the step."""
GAINED_NOTHING, GAINED = 0.4, 0.3
"""Of the full gain, at most below the step, and at least more beyond it."""
MUCH_WAITED = 0.5
"""Of the time of writes in trials without a pause: what idle work would save, if there were any."""
SUSTAINED_SHARE, SUSTAINED_NS, AS_FAST = 0.25, 1_000_000_000_000, 1.05
"""Of the capacity, and nanoseconds, written behind a pause at most: more than any spare space; and
times what writes take just behind one, up to which those in the end are as fast."""
FLUSHES = 5


@dataclass(frozen=True)
class _Gained:
    """What long pauses gained, if not surely something: at most so much of the logarithm of writes.

    And the share of the trials without a pause whose writes waited, which may be over before a
    drive has to merge; and the mean of writes behind pauses.
    """

    at_most: float = math.inf
    waited: float = 1.0
    rested_ns: float = math.inf


def detect(bench: Bench) -> Iterator[Finding]:
    """Answer the onset."""
    cache = bench.info.write_cache
    switched_off = cache.control == "switchable" and cache.on
    with bench.without_caches():
        yield _answer(bench, buffered=not switched_off and cache.control != "absent")


def _answer(bench: Bench, *, buffered: bool) -> Finding:
    common: dict[str, Any] = {"name": ONSET, "probe": PROBE_NAME}
    # Of several units some begin a merge unit, which then gets a log block for what is in order.
    least = 0 if bench.found("merge_unit_bytes") else REQUEST_BYTES
    overwriter = Overwriter(bench, bench.rng(PROBE_NAME), least)
    settled = overwriter.settle(min(int(SETTLE_SHARE * bench.info.capacity_bytes), MOST_BYTES))
    flushed = buffered and _flush_works(overwriter, settled)
    trials = Trials(overwriter, flushed=flushed)
    if buffered and not flushed and trials.empties_when_idle():
        common["evidence"] = Evidence(detail="a buffer that stays on empties in pauses, too")
        return Undetectable(reason=Reason.MASKED, **common)
    bench.progress("long pauses", 0.2)
    common["evidence"] = Evidence(
        figures={"settled": settled.slowed, "settled_ns": settled.mean_ns}
    )
    steps, gained = _steps(trials)
    if steps is not None:
        bench.progress("pauses", 0.4)
        try:
            found = _narrowed(steps, common)
        except Stopped as stop:
            if stop.reason is not Reason.EFFECT_BELOW_NOISE:
                raise
            found = Undetectable(reason=stop.reason, **common)
        if isinstance(found, Detected):
            return found
        # What one trial has left may be what the next one gains.
        trials.use_up_all()
        bench.progress("pauses, again", 0.7)
        again, _ = _steps(trials)
        return found if again is None else _narrowed(again, common)
    common["evidence"] = common["evidence"].noting(most_gained=gained.at_most)
    # Into a buffer that no flush empties writes may go as fast with and without room behind it.
    seen = gained.waited > MUCH_WAITED and (flushed or not buffered)
    if settled.slowed and seen and gained.at_most < NOTHING and _stays_fast(trials, gained, common):
        reason = "no pause makes the next writes faster"
        return Absent(bound=float(LONG_NS[-1]), reason=reason, **common)
    return Undetectable(reason=Reason.EFFECT_BELOW_NOISE, **common)


def _steps(trials: Trials) -> tuple[Steps | None, _Gained]:
    """Hold long pauses against none until they surely gain something; give a search, if so."""
    steps: Steps | None = None
    for long_ns in LONG_NS:
        found, gained = _between_bursts(trials, long_ns, trials.bench.deadline(1.0))
        if found and (steps is None or found.errors_of_one < steps.errors_of_one):
            steps = found
        if steps and steps.errors_of_one < SEPARATED:
            break
    return steps, gained


def _flush_works(overwriter: Overwriter, settled: Settled) -> bool:
    """Tell whether a flush behind writes takes about as long as one of them, or longer."""
    capacity = overwriter.bench.info.capacity_bytes
    took = []
    for _ in range(FLUSHES):
        overwriter.on_end(48, capacity)
        took.append(float(overwriter.bench.issue([OP_FLUSH], [0], [0]).latency_ns[0]))
    return float(np.median(took)) > 0.1 * settled.mean_ns


def _stays_fast(trials: Trials, gained: _Gained, common: dict[str, Any]) -> bool:
    """Tell whether writes are still as fast when any room that a pause has made must be used up.

    Trials that are short beside that room all begin with some, and show no difference.
    """
    most = (
        SUSTAINED_SHARE * trials.bench.info.capacity_bytes // trials.overwriter.granule.size_bytes
    )
    count = int(min(most, SUSTAINED_NS / gained.rested_ns))
    latency = trials.sustained(LONG_NS[-1], count)
    common["evidence"] = common["evidence"].noting(
        sustained_ns=latency.mean(), rested_ns=gained.rested_ns
    )
    return float(latency.mean()) < AS_FAST * gained.rested_ns


def _between_bursts(
    trials: Trials, long_ns: int, deadline: Deadline
) -> tuple[Steps | None, _Gained]:
    """Do as `_long` does, with shorter trials where others always disturb them."""
    while True:
        try:
            return _long(trials, long_ns, deadline)
        except Stopped as stop:
            if stop.reason is not Reason.INTERFERENCE or not trials.shorten():
                raise


def _long(trials: Trials, long_ns: int, deadline: Deadline) -> tuple[Steps | None, _Gained]:
    """Hold trials with one long pause against such without; give a search, and what they gain.

    The number of writes is the one at which the two kinds lie furthest apart, in their scatter.
    """
    most = trials.most_writes
    # All of them, too: what they meet may wait for the last few.
    counts = [FEWEST_WRITES << each for each in range(32) if FEWEST_WRITES << each < most] + [most]
    logs: dict[bool, list[NDArray[np.float64]]] = {False: [], True: []}
    waited: list[bool] = []
    rested_ns: list[float] = []
    bound = math.inf
    longest = long_ns == LONG_NS[-1]
    for pairs in range(MOST_PAIRS_LONGEST if longest else MOST_PAIRS):
        first = bool(trials.overwriter.rng.integers(2))
        for rests in (first, not first):
            trial = trials.run(long_ns, most, 1) if rests else trials.run(AWAKE_NS, most)
            sums = np.cumsum(trial.writes_ns)
            logs[rests].append(np.log([sums[each - 1] / each for each in counts]))
            if rests:
                rested_ns.append(trial.writes_ns.mean() * trial.read_ns)
            else:
                merges = trial.writes_ns.mean() * trial.read_ns > MERGING_NS
                waited.append(bool(merges or trial.waited > MUCH_WAITED))
        if pairs + 1 < PAIRS:
            continue
        awake, rested = (np.array(logs[each]) for each in (False, True))
        gain = awake.mean(axis=0) - rested.mean(axis=0)
        scatter = np.sqrt((awake.var(axis=0, ddof=1) + rested.var(axis=0, ddof=1)) / 2)
        scatter = np.maximum(scatter, LEAST_SCATTER)
        errors = scatter * math.sqrt(2 / len(awake))
        best = int(np.argmax(np.where(gain > LEAST_GAIN, gain / scatter, -np.inf)))
        enough = CLEAR_ERRORS if pairs + 1 < MOST_PAIRS else SURE_ERRORS
        if gain[best] > max(LEAST_GAIN, enough * errors[best]):
            chosen = float(awake.mean(axis=0)[best]), float(rested.mean(axis=0)[best])
            steps = Steps(trials, deadline, long_ns, counts[best], *chosen, float(scatter[best]))
            return steps, _Gained()
        # A gain of four writes shows among eight, whose sum scatters less.
        bound = float(np.max((gain + 2 * errors)[min(1, len(counts) - 1) :]))
        hopeless = not longest and float(np.max(gain / errors)) < PROMISING_ERRORS
        if bound < NOTHING or hopeless:
            break
    return None, _Gained(bound, float(np.mean(waited)), float(np.mean(rested_ns)))


def _narrowed(steps: Steps, common: dict[str, Any]) -> Finding:
    """Find the step between hardly any pause and a long one, and try again on both sides."""
    low, high = steps.bracket()
    while high > NARROW * low:
        middle = round(math.sqrt(low * high))
        if steps.gains_at(middle):
            high = middle
        else:
            low = middle
    below, beyond, by_chance = steps.around(round(low / BEYOND), round(high * BEYOND))
    served_ns = float(np.median(steps.reads_ns))
    common["evidence"] = _with_pauses(common["evidence"], steps, high).noting(
        beyond=beyond, below=below
    )
    steep = beyond > below + GAINED and by_chance < BY_CHANCE
    if low == AWAKE_NS or below > GAINED_NOTHING or not steep:
        return Undetectable(reason=Reason.EFFECT_BELOW_NOISE, **common)
    # A drive is quiet from when a read has been served, which the host sees a little later.
    value = math.sqrt(low * high) - served_ns
    interval = (low / 1.01 - 1.1 * served_ns, high * 1.01 - 0.8 * served_ns)
    effect = float(np.expm1(steps.awake - steps.rested))
    return Detected(value=value, interval=interval, effect=effect, **common)


def _with_pauses(evidence: Evidence, steps: Steps, onset: int) -> Evidence:
    tried = sorted(steps.gains)
    gains = [float(np.mean(steps.gains[each])) for each in tried]
    exhibit = Exhibit(
        name="pauses",
        title="Writes after a hundred pauses",
        caption="What pauses of one length, with a read behind each, gain the next writes.",
        x=Axis("pause", "ns", log=True),
        y=Axis("share of what long pauses gain"),
        series=(series("gained", tried, gains, "points"),),
        fitted=(Step(at=float(onset), word="onset"),),
    )
    return evidence.showing(exhibit).noting(
        trials=sum(map(len, steps.gains.values())),
        writes_timed=steps.writes,
        errors_of_one=steps.errors_of_one,
    )


def _declared(info: DeviceInfo) -> int:
    return min(CAPACITIES * info.capacity_bytes, MOST_BYTES + MOST_TRIED_BYTES)


PROBE = ProbeInfo(
    name=PROBE_NAME,
    summary="how long a drive waits before it collects or merges in idle time",
    weight="heavy",
    properties=(ONSET,),
    cost="up to 24 capacities or 48 GiB, written at random, and thousands of pauses",
    detect=detect,
    declared_writes_bytes=_declared,
)
