"""Write buffers that can be read back: what they hold, between two bounds.

A buffer never holds more than fits (`buffer_held` counts that), and never takes fewer writes than
fit before one of them waits. What leaves while it is filled moves the two bounds apart; where
they are close, no law of draining is needed.
"""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

import numpy as np

from ssdscope import stats
from ssdscope.findings import Reason
from ssdscope.probes.buffer_exhibits import burst_profile
from ssdscope.probes.buffer_held import Counts, Full, Held
from ssdscope.probes.buffer_unit import Filled
from ssdscope.probes.bursts import FLUSHES, SPAN_BYTES, Bursts
from ssdscope.probes.notes import Notes
from ssdscope.probes.write_through import FASTEST_PROGRAM_NS
from ssdscope.stats.stalls import SLOW

if TYPE_CHECKING:
    from numpy.typing import NDArray

    from ssdscope.probes.bench import Bench

WAYS = (
    (200_000_000, False),
    (6_000_000_000, False),
    (60_000_000_000, False),
    (6_000_000_000, True),
)
"""To empty a buffer: idle time behind a flush, and whether its data are made to be forgotten."""
DEPTHS = (1, 8)
"""Writes at once: more where writes one at a time never fill it."""
ACCEPTED_BURSTS, COUNTED = 8, 30
MOST_OVER = 1.12
"""Times what is accepted, up to which more may seem to be held where not the oldest leave first."""
AGREEING, SERVED = 3, 3
MORE_SLOWLY, PROGRAMS, WAITS = 0.5, 32, 1.25
"""Times what filling takes, programs, and times what the first wait took, by which filling is
prolonged."""
ALWAYS = 0.75
"""Share of the bursts that must wait from one and the same write on."""
MANY = 1000
"""In so large a buffer few bursts tell as much as many in a small one."""
LAST_WAITS = 3
"""A quarter of the bursts of which is counted what is held end so soon behind the first wait."""
ALIKE = 0.05
"""Share by which what is held differs between bursts of which little has left."""
SLACK, UNORDERED_SLACK = 0.01, 0.04
SURE = 0.9
"""Share of what is held that surely is taken without waiting."""
RARE = 0.1
"""Share of all waits: where these are more than half of the time, they are for something else."""
APART = 0.16
"""Relative distance of the bounds, up to which the middle is told."""
PAIRS_FROM = 128
"""In a buffer of so many units the two ends of a write stand for the whole of it."""
DOUBTFUL = (1.2, 1.7)
"""Neither one unit nor two: weighed twice more."""
LONGER = (1.0, 1.05, 1.1, 1.2, 1.3, 1.5, 2.0, 3.0, 4.0, 6.0)
"""Times as long as fills the buffer are bursts that are weighed, until so many have filled it."""
SOME_FULL, FULL = 3, 4
"""Fewer of large ones, of which more are read."""
ONE_FROM, LEAST_HELD = 0.75, 0.25
"""Of what the buffer holds: of single units more is held, and of two or three not less."""


def measure(bench: Bench, notes: Notes) -> Filled | Reason | None:
    """Measure room in writes of a unit each; None where reads do not tell what is held."""
    full: Full | None = None
    for idle_ns, thorough in WAYS[1:] if bench.virtual else WAYS:
        bursts = Bursts(bench, idle_ns=idle_ns, thorough=thorough)
        held = Held.told(bursts) if bursts.can_forget or not thorough else None
        if held is None:
            continue
        full = full or _full(held)
        if full is None:
            return Reason.EFFECT_BELOW_NOISE
        bursts.depth = full.depth
        if not thorough and bursts.can_forget and not bursts.flush_works(full.spans, held.alone_ns):
            continue  # What others write may stay for good.
        if not held.left_behind(full.spans):
            return _bounds(held, full.held, notes)
    return None if full is None else Reason.PLP_NO_FLUSH_EFFECT


def _full(held: Held) -> Full | None:
    found = (held.full(depth) for depth in DEPTHS)
    return next((each for each in found if each is not None), None)


def _bounds(held: Held, count: float, notes: Notes) -> Filled | Reason:
    """Find both bounds, and how writes are weighed in units."""
    bursts = held.bursts
    latency_ns, waits = _accepted(bursts, count)
    flush_ns = float(np.median(bursts.flush_ns[2:]))
    fast_ns = float(np.median(latency_ns[:, : max(int(SURE * count), 1)]))
    notes.figures |= {
        "emptied_by": "switching or discarding" if bursts.thorough else "flushing and waiting",
        "idle_ns": bursts.idle_ns,
        "writes_at_once": bursts.depth,
        "flush_ns": flush_ns,
        "flush_works": flush_ns > FLUSHES * fast_ns,
        "fast_ns": fast_ns,
    }
    if waits is None:
        return Reason.EFFECT_BELOW_NOISE
    accepted = _agreed(waits.accepted)
    behind_ns = latency_ns[:, int(accepted) :]
    notes.figures |= {
        "slow_ns": float(behind_ns.mean()),
        "accepted_requests": waits.accepted.tolist(),
        "released_requests": waits.released.tolist(),
        "full_at": accepted,
    }
    notes.show(burst_profile(np.median(latency_ns, axis=0), accepted))
    held.leaves_ns = _leaves_ns(behind_ns, fast_ns)
    counts = held.counts(_ends(bursts, accepted, count > MANY), count)
    if counts is None:
        return Reason.EFFECT_BELOW_NOISE
    pace_ns = float(behind_ns.mean()) if counts.in_order else held.leaves_ns
    low, high = _between(counts, accepted, waits, counts.reading_ns / pace_ns)
    notes.figures |= {"held_requests": counts.spans.tolist(), "at_least": low, "at_most": high}
    usual = float(np.quantile(counts.spans, 0.75))
    too_many = usual > (1 + APART / 2) * accepted or counts.spans.max() > MOST_OVER * accepted
    nothing_left = (accepted > low or too_many) and _nothing_left(
        bursts, latency_ns, waits, fast_ns
    )
    if nothing_left:
        low = high = accepted
        # Single counts scatter where not the oldest leave first; the middle one says if more fits.
        too_many = float(np.median(counts.spans)) > (1 + APART / 2) * accepted
    if too_many or high > low * (1 + APART):
        said = f"reads find {usual:g} writes in it, and {accepted:g} end before one waits"
        notes.detail = said
        return Reason.MODEL_MISFIT
    value = (low + high) / 2
    slack = SLACK if counts.in_order or nothing_left else max(UNORDERED_SLACK, counts.error)
    interval = low * (1 - slack), high * (1 + slack)
    return Filled(value, interval, _Weighing(held, int(accepted), low).units)


def _leaves_ns(behind_ns: NDArray[Any], fast_ns: float) -> float:
    """Give how long it takes until one more has left the full buffer.

    A few long waits, as for merges, hold up what leaves; meanwhile it goes on at the other pace.
    """
    times = np.sort(behind_ns, axis=None)
    few = int(RARE * np.count_nonzero(times > SLOW * fast_ns))
    others, rare = times[: times.size - few], times[times.size - few :]
    return float(others.mean() if rare.sum() > others.sum() else times.mean())


def _between(
    counts: Counts, accepted: float, waits: stats.Waits, read: float
) -> tuple[float, float]:
    """Bound the room by what was held, and by that and what left until it was read.

    A write that waited found the buffer full: since then no more has left than may follow without
    waiting, and what left while it was read, `read`.
    """
    most = min(float(counts.spans.max()), accepted)
    if not counts.in_order:
        usual = float(counts.spans.mean())
        # Read in random order, a half of what leaves meanwhile is missed, a quarter more or less.
        free = max(waits.mean_free, float(waits.released.mean()))
        low, high = usual + read / 4, usual + 3 / 4 * read + free + 1
        return (low, high) if high < accepted else (most, accepted)
    few, many = np.quantile(counts.spans, (0.1, 0.9))
    if many - few > ALIKE * most:
        return most, accepted
    # What is held differs by so little between bursts that little leaves with the last wait.
    return most, min(accepted, most + read + float(np.quantile(waits.released, 0.75)) + 1)


def _nothing_left(
    bursts: Bursts, latency_ns: NDArray[Any], waits: stats.Waits, fast_ns: float
) -> bool:
    """Whether nothing leaves the buffer before it is full.

    It is filled before a program can end, also half as fast again; or so slowly that many programs,
    and all that the first wait was for, could end, and takes no more. At other addresses, too:
    what always waits at one is no full buffer.
    """
    accepted = round(_agreed(waits.accepted))
    alike = waits.accepted == accepted
    if alike.mean() < ALWAYS:
        return False
    # A flush that has no effect ends before any program can.
    program_ns = max(bursts.service_ns(SERVED), FASTEST_PROGRAM_NS)
    slower_ns = MORE_SLOWLY * fast_ns * accepted
    if fast_ns * accepted + slower_ns > program_ns:
        waited_ns = float(np.median(latency_ns[alike, accepted]))
        slower_ns = max(slower_ns, PROGRAMS * program_ns, WAITS * waited_ns)
    spans = round(1.25 * accepted) + 32
    elsewhere = min(accepted // 2 + 1, bursts.most_writes - spans)
    if elsewhere < 1:
        return False
    think_ns = round(slower_ns / accepted)
    at = (elsewhere * SPAN_BYTES,)
    slower = bursts.run(spans, len(latency_ns), at=at, thinktime_ns=think_ns)
    again = stats.first_waits(slower, max(int(SURE * accepted), 2))
    return again is not None and bool((again.accepted == accepted).mean() >= ALWAYS)


def _agreed(accepted: NDArray[np.int64]) -> float:
    """Give the count that most bursts agree on, else one that few exceed.

    A slow write that waited for something else makes a count too small, and one that found room
    by chance too large.
    """
    near = np.abs(accepted[:, None] - accepted) <= np.maximum(1, SLACK * accepted)
    best = max(range(accepted.size), key=lambda each: (near[each].sum(), accepted[each]))
    if near[best].sum() >= AGREEING:
        return float(np.median(accepted[near[best]]))
    return float(np.quantile(accepted, 0.75))


def _ends(bursts: Bursts, accepted: float, fewer: bool) -> NDArray[np.int64]:
    """Draw lengths of bursts: some end soon behind the first wait, others anywhere behind."""
    rng, count = bursts.bench.rng("buffer_reading"), COUNTED // (8 if fewer else 1)
    soon = accepted + rng.integers(1, LAST_WAITS + 1, count // 4)
    later = rng.uniform(accepted + 8, 1.2 * accepted + 8, count - count // 4)
    lengths = np.concatenate([soon, later]).astype(np.int64)
    return np.minimum(lengths, bursts.most_writes)


def _accepted(bursts: Bursts, count: float) -> tuple[NDArray[Any], stats.Waits | None]:
    """Count the writes of some bursts until the first that waits."""
    spans = round(1.25 * count) + 32
    least = max(int(SURE * count), 2)
    while True:
        latency_ns = bursts.run(spans, ACCEPTED_BURSTS // (3 if count > MANY else 1))
        waits = stats.first_waits(latency_ns, least)
        told = waits is not None and np.median(waits.accepted) <= SURE * latency_ns.shape[1]
        if told or latency_ns.shape[1] == bursts.most_writes or spans > 4 * count + 64:
            return latency_ns, waits
        spans = round(1.5 * spans)


class _Weighing:
    """Tells how many units a write takes, by how much of a burst of such is held."""

    def __init__(self, held: Held, spans: int, count: float) -> None:
        self._held = held
        self._spans = spans
        self._count = count
        self._block = held.bursts.block_bytes
        self._enough = 1 if count > MANY else SOME_FULL if count >= PAIRS_FROM else FULL
        # A block written twice takes one unit, unless the first has gone before the second.
        self._neighbours = False  # Whether two blocks written together were seen to take two units.
        self._pairs = count >= PAIRS_FROM and self._filled((0, 0), self._block) < DOUBTFUL[0]

    def units(self, at: int, length: int) -> float:
        """Weigh a write; NaN if what is held does not tell."""
        taken = [self._once(at % SPAN_BYTES, length)]
        if not (taken[0] < DOUBTFUL[0] or taken[0] > DOUBTFUL[1]):
            taken += [self._once(at % SPAN_BYTES, length) for _ in range(2)]
        told = [each for each in taken if not np.isnan(each)]
        return float(np.median(told)) if told else np.nan

    def _once(self, begin: int, length: int) -> float:
        if not self._pairs:
            return self._filled((begin,), length)
        taken = self._filled((begin, begin + length - self._block), self._block)
        if length == 2 * self._block and taken > DOUBTFUL[0] and not self._neighbours:
            # Written one by one, the first may have left before the second comes.
            taken = min(taken, self._filled((begin,), length))
            self._neighbours = taken > DOUBTFUL[0]
        return taken

    def _filled(self, at: tuple[int, ...], length: int) -> float:
        """Weigh by bursts that fill the buffer: of several as much as any was seen to hold."""
        most, full = 0.0, 0
        for longer in LONGER:
            spans = min(round(longer * self._spans), self._held.bursts.most_writes)
            held, waited = self._held.share(spans, self._count, at=at, length=length)
            most, full = max(most, held), full + waited
            if most >= ONE_FROM * self._count:
                return 1.0
            if full >= self._enough and most > LEAST_HELD * self._count:
                break
        return self._count / most if full and most > LEAST_HELD * self._count else np.nan
