"""Engines that one family of properties asks alone, each on a typical series."""

from __future__ import annotations

import numpy as np
from scipy.stats import binom
from scripts.calibration.nulls import VALUES, WAITS, latencies
from scripts.calibration.shared import PLACE, Calibrated, visited

from ssdscope.inference.levels import APART
from ssdscope.inference.places import logs_of
from ssdscope.inference.series import Series
from ssdscope.probes.array.members import apart, members
from ssdscope.probes.buffer.locked import locked
from ssdscope.probes.caches.ending import ending
from ssdscope.probes.dies.halves import halves
from ssdscope.probes.dies.lengths import common_length, onset
from ssdscope.probes.dies.partition import partition
from ssdscope.probes.disk.held import held
from ssdscope.probes.disk.tracks import tracks
from ssdscope.probes.disk.turn import beneath, turn
from ssdscope.probes.latency.line import line
from ssdscope.probes.latency.saturation import saturation, saturations
from ssdscope.probes.region.filled import filled
from ssdscope.probes.types.kinds import kinds, moved

__all__ = ["OF_FAMILIES"]

CLASSES, RUNS, KINDS = 8, 8, 6
"""How many classes, runs that are held against each other, and kinds in order."""
TURN, SPOTS = 8.3, 64
"""How long one is, in latencies; and places that come round."""
STRETCHES, STRETCH, REACH = 24, 6, 12
"""Stretches, their length, and how far pairs are timed."""
ROUNDS, READ, ROOM = 24, 40, 12
"""Rounds of so many places that are read, and how many of them are held."""
TRACK, HEADS, SKEW, BLUR = 15.4, 4, 0.13, 0.05
"""Distances on a track, tracks of a cylinder, and by what part of a turn the next one is later;
and how far times are off, in latencies."""


def _locked(kind: str, effect: float, rng: np.random.Generator) -> float:
    """Let so many of eight runs wait at one step."""
    values = np.array([latencies(kind, VALUES // RUNS, rng) for _ in range(RUNS)])
    values[rng.random(RUNS) < effect, PLACE // RUNS] *= 10
    waiting = (values > WAITS * np.median(values, axis=1)[:, None]).sum(axis=0)
    return locked(Series.of(np.arange(waiting.size), waiting), RUNS).score


def _filled(kind: str, effect: float, rng: np.random.Generator) -> float:
    """Let so many of the values of eight runs be ten times as long, from where they all wait on."""
    values = np.array([latencies(kind, VALUES // RUNS, rng) for _ in range(RUNS)])
    behind = rng.random(values.shape) < effect
    behind[:, : PLACE // RUNS] = False
    behind[:, PLACE // RUNS] = effect > 0
    values[behind] *= 10
    places = np.tile(np.arange(values.shape[1]), RUNS)
    strata = np.repeat(range(RUNS), values.shape[1])
    return filled(Series.of(places, values, stratum=strata)).score


def _partition(kind: str, effect: float, rng: np.random.Generator) -> float:
    of = rng.integers(0, CLASSES, 64)
    one, other = np.triu_indices(of.size, 1)
    # Twice, in two orders; what waits once only did so for another reason.
    times = np.full((2, one.size), np.inf)
    for pass_ in times:
        pass_[rng.permutation(one.size)] = latencies(kind, one.size, rng)
    values = times.min(axis=0) * np.where(of[one] == of[other], 1 + effect, 1)
    found = partition(one, other, values)
    several = 1 < found.count < of.size
    return min(found.score, found.margin) if several else 0.0


def _ending(kind: str, effect: float, rng: np.random.Generator) -> float:
    """Let ten values of a stratum be longer from some place on, in pages of a tenth of it."""
    rows = VALUES // 10
    x = np.sort(rng.uniform(0, 2 * PLACE, (rows, 10)), axis=1)
    end = PLACE * (1 + rng.random((rows, 1)) / 10)
    values = latencies(kind, VALUES, rng).reshape(rows, 10) * np.where(x < end, 1, 1 + effect)
    longer = 1.0 + (values > np.median(values))
    strata = np.repeat(range(rows), 10)
    found = ending(Series.of(x, longer, stratum=strata), np.linspace(0, 2 * PLACE, 201), PLACE)
    return min(found.score, found.margin)


def _line(kind: str, effect: float, rng: np.random.Generator) -> float:
    """Let a request cost so much of what the bytes of the shortest do."""
    sizes = np.array([4, 8, 12, 16, 24, 32, 48, 64, 96, 128, 192, 256.0])
    strata = VALUES // sizes.size
    # In random order, as a plan draws it: what returns at even distances meets no size more often.
    read = rng.permuted(np.tile(sizes, (strata, 1)), axis=1).ravel()
    values = latencies(kind, read.size, rng) * (read + effect * sizes[0])
    series = Series.of(read, values, stratum=np.repeat(range(strata), sizes.size))
    return line(series)[0].score


def _saturation(kind: str, effect: float, rng: np.random.Generator) -> float:
    depths = 2.0 ** np.arange(9)
    rates = 1 + effect * depths / (depths + 8)
    times = latencies(kind, 32 * depths.size, rng).reshape(4, 8, depths.size).mean(axis=1)
    series = Series.of(np.tile(depths, 4), rates / times, stratum=np.repeat(range(4), depths.size))
    return saturation(series, 0.9).score


def _turn(kind: str, effect: float, rng: np.random.Generator) -> float:
    """Let so many reads wait until their place comes round."""
    spots = np.concatenate([rng.permutation(SPOTS) for _ in range(8)])
    times = latencies(kind, spots.size, rng)
    angles, waits = rng.uniform(0, TURN, SPOTS), rng.random(spots.size) < effect
    begun, now = np.empty(spots.size), 0.0
    for at, (pause, spot) in enumerate(zip(rng.uniform(0, 4, spots.size), spots, strict=True)):
        begun[at] = now + pause
        times[at] += waits[at] * ((angles[spot] - begun[at] - times[at]) % TURN)
        now = begun[at] + times[at]
    found = turn(Series.of(spots, times, stratum=spots, time_ns=begun), 3.0, 20.0).found
    return min(found.score, found.margin)


def _halves(kind: str, effect: float, rng: np.random.Generator) -> float:
    """Let a mark be that of the class with such a probability, else be of what took longer."""
    of = rng.integers(0, CLASSES, 2 * SPOTS)
    values = latencies(kind, of.size, rng)
    marked = np.where(rng.random(of.size) < effect, of % 2 == 1, values > np.median(values))
    found = halves(of, marked)
    return min(found.score, found.margin) if found.effect >= 1 / 2 else 0.0


def _onset(kind: str, effect: float, rng: np.random.Generator) -> float:
    """Let values of the upper half of the kinds, drawn at random, be longer."""
    kinds = rng.permuted(np.tile(np.arange(KINDS), (VALUES // KINDS // 4, 1)), axis=1).ravel()
    values = latencies(kind, kinds.size, rng) * np.where(kinds < KINDS // 2, 1, 1 + effect)
    found = onset(Series.of(kinds, values))
    return min(found.score, found.margin)


def _common_length(kind: str, effect: float, rng: np.random.Generator) -> float:
    """Let pairs of one stretch take longer."""
    apart = np.tile(np.arange(REACH), STRETCHES)
    times = np.full((2, apart.size), np.inf)
    for pass_ in times:
        pass_[rng.permutation(apart.size)] = latencies(kind, apart.size, rng)
    values = times.min(axis=0) * np.where(apart < STRETCH, 1 + effect, 1)
    strata = np.repeat(range(STRETCHES), REACH)
    found = common_length(Series.of(apart, values, stratum=strata), 4 * REACH)
    return min(found.score, found.margin)


def _held(kind: str, effect: float, rng: np.random.Generator) -> float:
    """Let so many of those that are held take a tenth of a turn; others seek, and wait for one."""
    since = np.tile(np.arange(1, READ + 1), ROUNDS)
    values = latencies(kind, since.size, rng) * rng.uniform(0.1, 0.6, since.size)
    values += rng.random(since.size)
    values[(since <= ROOM) & (rng.random(since.size) < effect)] = 0.1
    found = held(Series.of(since, values), 1 / 8)
    return min(found.score, found.margin)


def _tracks(kind: str, effect: float, rng: np.random.Generator) -> float:
    """Let so many places lie on tracks, each later by a part of a turn, and others anywhere."""
    spots = np.arange(3 * SPOTS // 2)
    track = spots // TRACK
    angles = spots / TRACK + SKEW * track + SKEW * (track // HEADS)
    angles = np.where(rng.random(spots.size) < effect, angles, rng.random(spots.size))
    visits = np.tile(np.arange(spots.size), 4)
    late = 0.02 * (latencies(kind, visits.size, rng) - 1)
    ends = TURN * (angles[visits] + late + rng.integers(0, 1000, visits.size))
    found = tracks(spots[visits].astype(float), ends, TURN)
    return min(found.score, found.margin)


def _beneath(kind: str, effect: float, rng: np.random.Generator) -> float:
    """Let so many requests wait for up to a turn, and others for several."""
    # Most noise has been taken out of durations before.
    values = 1 + (latencies(kind, VALUES // 4, rng) - 1) / 4
    turns = np.where(rng.random(values.size) < effect, 1, rng.integers(2, 6, values.size))
    found = beneath(values + rng.random(values.size) * TURN * turns, TURN, BLUR, 0.2)
    return min(found.score, found.margin)


def _no_turn(kind: str, effect: float, rng: np.random.Generator) -> float:
    """Let so many reads of a disk not wait for its turn: the null is a disk."""
    waits = np.where(rng.random(SPOTS) < effect, 0, rng.random(SPOTS) * TURN)
    slow = int((latencies(kind, SPOTS, rng) + waits >= TURN / 2).sum())
    return float(-binom.logcdf(slow, SPOTS, 1 / 2))


def _members(kind: str, effect: float, rng: np.random.Generator) -> float:
    """Let every other chunk of places, of which each is visited four times, take longer."""
    at = np.arange(VALUES // 4)
    factors = np.where(at // STRETCH % 2, 1 + effect, 1)
    found = members(at, logs_of(visited(kind, factors, 4, rng))[1])
    return found.score if found.margin >= APART else 0.0


def _apart(kind: str, effect: float, rng: np.random.Generator) -> float:
    """Let pairs on one member wait."""
    same = rng.permutation(np.tile([0.0, 1.0], VALUES // 2))
    values = latencies(kind, VALUES, rng)
    found = apart(Series.of(same, values / np.median(values) * (1 + effect * same)))
    return max(min(found.score, found.margin), 0.0)


def _kinds(kind: str, effect: float, rng: np.random.Generator) -> float:
    """Let every other place take longer, among enough to tell that as many do as do not."""
    found = kinds(visited(kind, np.tile([1, 1 + effect], VALUES // 2), 6, rng))
    return found.score if found.margin >= APART else 0.0


def _moved(kind: str, effect: float, rng: np.random.Generator) -> float:
    """Let so many of places on two levels have another one behind."""
    first = np.tile([1.0, 2.0], VALUES // 8)
    after = np.where(rng.random(first.size) < effect, rng.permutation(first), first)
    before, behind = (visited(kind, each, 4, rng) for each in (first, after))
    return moved(before, behind, 2, first.size).score


OF_FAMILIES: dict[str, Calibrated] = {
    "partition": Calibrated(_partition, "pairs of one class slower by", (partition,)),
    "halves": Calibrated(_halves, "share of marks that are a class's", (halves,)),
    "common length": Calibrated(_common_length, "pairs of a stretch slower by", (common_length,)),
    "onset": Calibrated(_onset, "the upper kinds slower by", (onset,)),
    "ending": Calibrated(_ending, "what is behind slower by", (ending,)),
    "line": Calibrated(_line, "a request costs, of its bytes", (line,)),
    "saturation": Calibrated(_saturation, "depth gains", (saturation, saturations)),
    "turn": Calibrated(_turn, "share of reads that wait for a turn", (turn,)),
    "no turn": Calibrated(_no_turn, "share of reads that do not wait", ()),
    "beneath": Calibrated(_beneath, "share that waits for up to a turn", (beneath,)),
    "tracks": Calibrated(_tracks, "share of places on tracks", (tracks,)),
    "held": Calibrated(_held, "share of what is held that is fast", (held,)),
    "locked": Calibrated(_locked, "share of runs that wait at a step", (locked,)),
    "filled": Calibrated(_filled, "share of values that wait behind an end", (filled,)),
    "members": Calibrated(_members, "every other chunk slower by", (members,)),
    "members apart": Calibrated(_apart, "pairs on one member slower by", (apart,)),
    "kinds": Calibrated(_kinds, "every other place slower by", (kinds,)),
    "moved": Calibrated(_moved, "share of places that have another level", (moved,)),
}
"""By the name of their level."""
