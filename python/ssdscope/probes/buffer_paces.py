"""Write buffers that cannot be read back: how much they take in, by the writes that wait.

The write from which on many must wait is counted at several paces, because what leaves while the
buffer is filled makes it look larger than it is (`stats.room`). If a fifth leaves meanwhile, and
it fills at two paces only, any law of draining fits, and nothing is told.
"""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

import numpy as np

from ssdscope import stats
from ssdscope.findings import Reason
from ssdscope.probes.buffer_exhibits import TAKEN_IN, burst_profile, taken_in
from ssdscope.probes.buffer_unit import Filled
from ssdscope.probes.bursts import FLUSHES, GREW, SPAN_BYTES, Bursts
from ssdscope.probes.notes import Notes
from ssdscope.stats.stalls import SLOW

if TYPE_CHECKING:
    from ssdscope.probes.bench import Bench

SEARCH_BURSTS, SIZE_BURSTS, FEWEST_BURSTS = 3, 10, 8
LEFT = 1.25
"""A buffer that takes so many times more once its data are forgotten had not been empty."""
SLOWER = (0.5, 2.0)
"""Think times, in times of the fastest pace."""
MOST_SLOWED = 3.0
"""A pace at which so many times more fit is too slow."""
MUCH_DRAINED, CHECKED_PACES = 0.2, 3
"""Share that leaves while the buffer is filled, which takes so many paces to be told."""
MOST_SLACK = 0.04
MANY_WRITES = 1000
"""A stall of so many writes is sharp enough in a single burst."""
PAIRS_FROM = 128
"""In a buffer of so many units the two ends of a write stand for the whole of it."""
BURSTS = 3
DOUBTFUL = (1.2, 1.8)
"""Neither one unit nor two: weighed twice more."""


def measure(bench: Bench, notes: Notes) -> Filled | Reason:
    """Measure room in writes of a unit each, or say why it cannot be told."""
    bursts, room = _emptied(bench, notes)
    if room is None:
        works = notes.figures["flush_works"]
        return Reason.EFFECT_BELOW_NOISE if works else Reason.PLP_NO_FLUSH_EFFECT
    figures = notes.figures
    accepted = np.column_stack([each.y for each in notes.exhibit(TAKEN_IN).series])
    fastest = float(np.median(accepted[:, 0]))
    figures["drained_share"] = 1 - room.requests / fastest
    if figures["drained_share"] > MUCH_DRAINED and len(figures["paces_ns"]) < CHECKED_PACES:
        # Through two paces goes a line for any way of draining, from a mark on too.
        notes.detail = "much leaves it while it is filled, and two paces do not tell how much"
        return Reason.MODEL_MISFIT
    # Bursts that agree may all end early, or late, by what drains in steps: as far as others do.
    few, many = np.quantile(accepted, (0.1, 0.9))
    slack = min((many - few) / (many + few), MOST_SLACK) * room.requests
    low, high = room.interval
    weighing = Weighing(bursts, room, figures["fast_ns"])
    return Filled(room.requests, (low - slack, high + slack), weighing.units)


def _emptied(bench: Bench, notes: Notes) -> tuple[Bursts, stats.Room | None]:
    """Measure with flushes and pauses between bursts, and, where they leave data, with more."""
    plain = Bursts(bench)
    stall = plain.adapt(SEARCH_BURSTS)
    flushes = float(np.median(plain.flush_ns[1:]))
    fast_ns = plain.write_ns if stall is None else stall.fast_ns
    notes.figures |= {"flush_ns": flushes, "flush_works": flushes > FLUSHES * fast_ns}
    room = None
    if stall is not None and (notes.figures["flush_works"] or plain.can_forget):
        room = _room(bench, plain, stall, notes)
    if notes.figures["flush_works"] or not plain.can_forget:
        notes.figures |= {"fast_ns": fast_ns, "idle_ns": plain.idle_ns}
        return plain, room
    thorough = Bursts(bench, thorough=True, reached=plain.reached)
    later = thorough.adapt(SEARCH_BURSTS)
    if later is None:
        return plain, room
    if stall is not None and stall.fast_ns > SLOW * later.fast_ns:
        room = None  # The plain bursts waited from their first write on.
    elif stall is not None and later.requests <= stall.requests * (1 + GREW):
        return plain, room
    emptied = _room(bench, thorough, later, notes)
    if room is not None and emptied is not None and emptied.requests < LEFT * room.requests:
        return plain, room
    return thorough, emptied


def _room(bench: Bench, bursts: Bursts, stall: stats.Stall, notes: Notes) -> stats.Room | None:
    """Measure what is taken in at several paces, in blocks of one burst at each pace."""
    thinks, lengths = _paces(bursts, stall)
    if len(thinks) == 1:
        return None
    rng = bench.rng("write_buffer")
    accepted = np.full((SIZE_BURSTS, len(thinks)), np.nan)
    profiles = []
    for block in range(SIZE_BURSTS):
        for pace in rng.permutation(len(thinks)):
            latencies = bursts.run(lengths[pace], 1, thinktime_ns=thinks[pace])
            alone = stats.first_stall(latencies)
            if alone is not None:
                accepted[block, pace] = alone.requests
            if not pace:
                profiles.append(latencies[0])
    whole = accepted[~np.isnan(accepted).any(axis=1)]
    paces = stall.fast_ns + np.array(thinks)
    service = bursts.service_ns(SEARCH_BURSTS) if notes.figures["flush_works"] else 0.0
    notes.figures |= {
        "emptied_by": "switching or discarding" if bursts.thorough else "flushing and waiting",
        "idle_ns": bursts.idle_ns,
        "paces_ns": paces.tolist(),
        "bursts_dropped": SIZE_BURSTS - len(whole),
        "fast_ns": stall.fast_ns,
        "slow_ns": stall.slow_ns,
        "service_ns": service,
        "full_at": stall.requests,
    }
    notes.show(burst_profile(np.median(profiles, axis=0), stall.requests))
    notes.show(taken_in(whole, paces))
    if len(whole) < FEWEST_BURSTS:
        return None
    return stats.room(whole, paces, service, bench.seed)


def _paces(bursts: Bursts, stall: stats.Stall) -> tuple[list[int], list[int]]:
    """Choose think times at which the buffer still fills, and how many writes that takes."""

    def enough(requests: float) -> int:
        return min(round(1.4 * requests) + 32, bursts.most_writes)

    thinks, lengths = [0], [enough(stall.requests)]
    for times in SLOWER:
        think = round(times * stall.fast_ns)
        slowed = stats.first_stall(bursts.run(4 * lengths[0], 1, thinktime_ns=think))
        if slowed is not None and slowed.requests <= MOST_SLOWED * stall.requests:
            thinks.append(think)
            lengths.append(enough(slowed.requests))
    return thinks, lengths


class Weighing:
    """Tells how many units writes of some length at some place take.

    A control burst at the same pace, of which each write surely takes one unit, says how many
    fit; what leaves the buffer meanwhile leaves both alike.
    """

    def __init__(self, bursts: Bursts, room: stats.Room, fast_ns: float) -> None:
        self.bursts = bursts
        self.block = bursts.block_bytes
        self.fast_ns = fast_ns
        self.writes = min(round(2 * room.requests) + 24, bursts.most_writes)
        self.count = 1 if room.requests > MANY_WRITES else BURSTS
        self.pairs = room.requests >= PAIRS_FROM
        self._control: stats.Stall | None = None

    def units(self, at: int, length: int) -> float:
        """Weigh a write; NaN if its bursts never stall."""
        taken = [self._once(at % SPAN_BYTES, length)]
        if DOUBTFUL[0] < taken[0] < DOUBTFUL[1]:
            taken += [self._once(at % SPAN_BYTES, length) for _ in range(2)]
        return float(np.median(taken))

    def _once(self, begin: int, length: int) -> float:
        return self._pair(begin, length) if self.pairs else self._whole(begin, length)

    def _pair(self, begin: int, length: int) -> float:
        if self._control is None:
            self._control = self._stall(at=(begin, begin))
        both = self._stall(at=(begin, begin + length - self.block))
        return _ratio(self._control, both)

    def _whole(self, begin: int, length: int) -> float:
        written = self._stall(at=(begin,), length=length)
        if written is None:
            return np.nan
        think = max(0, round(written.fast_ns - self.fast_ns))
        return _ratio(self._stall(at=(begin,), thinktime_ns=think), written)

    def _stall(self, **how: Any) -> stats.Stall | None:
        found = stats.first_stall(self.bursts.run(self.writes, self.count, **how))
        if found is None:
            found = stats.first_stall(self.bursts.run(2 * self.writes, BURSTS, **how))
        return found


def _ratio(control: stats.Stall | None, measured: stats.Stall | None) -> float:
    if control is None or measured is None:
        return np.nan
    return control.requests / measured.requests
