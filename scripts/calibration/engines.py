"""Each engine on a typical series, with an effect of a known size, or none at all.

From the evidence that it then finds come the levels, and the figures of docs/inference.md.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator

import numpy as np
from scripts.calibration.nulls import latencies

from ssdscope.inference.cells import cells
from ssdscope.inference.contrast import contrast
from ssdscope.inference.noise import over_usual
from ssdscope.inference.period import period
from ssdscope.inference.recurrence import recurrence
from ssdscope.inference.series import Series
from ssdscope.inference.step import step
from ssdscope.probes.buffer.locked import locked
from ssdscope.probes.caches.ending import ending
from ssdscope.probes.dies.partition import partition
from ssdscope.probes.disk.turn import turn
from ssdscope.probes.latency.line import line
from ssdscope.probes.latency.saturation import saturation
from ssdscope.probes.region.filled import filled
from ssdscope.seeds import stream

__all__ = ["ENGINES", "IS_ONE", "evidence"]

VALUES = 2000
"""Of a series."""
WAITS = 1.6
"""Times the usual: what noise of 15 % exceeds once in a thousand."""
PLACE, PERIOD, ROUND, CLASSES, RUNS = 1200, 12, 125, 8, 8
"""Where a step is, how long a period, after how many steps waits recur, how many classes;
and how many runs are held against each other."""
TURN, SPOTS = 8.3, 64
"""How long one is, in latencies; and places that come round."""


IS_ONE = {
    ("step", "a step"),
    ("filled", "a step"),
    ("step of rare waits", "a step"),
    ("step at a place", "drift"),
    ("recurrence", "even waits"),
}
"""No nulls of these engines: there they look for just that, or are given values without it."""


def _step(kind: str, effect: float, rng: np.random.Generator) -> float:
    values = latencies(kind, VALUES, rng)
    values[PLACE:] *= 1 + effect
    found = step(Series.of(np.arange(VALUES), values))
    return min(found.score, found.margin)


def _rare(kind: str, effect: float, rng: np.random.Generator) -> float:
    """Let so many writes wait ten times as long, behind a place."""
    values = latencies(kind, VALUES, rng)
    values[PLACE:][rng.random(VALUES - PLACE) < effect] *= 10
    times = over_usual(values, VALUES // 16)
    found = step(Series.of(np.arange(VALUES), times), above=WAITS)
    return min(found.score, found.margin)


def _at_a_place(kind: str, effect: float, rng: np.random.Generator) -> float:
    values = latencies(kind, VALUES, rng)
    values[:PLACE] *= 1 + effect
    return step(Series.of(np.arange(VALUES), values), falls=True, at=PLACE).score


def _period(kind: str, effect: float, rng: np.random.Generator) -> float:
    places = rng.integers(0, VALUES, VALUES)
    values = latencies(kind, VALUES, rng) * np.where(places % PERIOD < PERIOD // 3, 1 + effect, 1)
    return period(Series.of(places, values), np.arange(1, 65)).score


def _recurrence(kind: str, effect: float, rng: np.random.Generator) -> float:
    values = latencies(kind, VALUES, rng)
    values[rng.integers(0, ROUND) :: ROUND] *= 1 + effect
    return recurrence(Series.of(np.arange(VALUES), values), WAITS * float(np.median(values))).score


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


def _contrast(kind: str, effect: float, rng: np.random.Generator) -> float:
    pairs = VALUES // 20
    values = latencies(kind, 2 * pairs, rng).reshape(pairs, 2)
    values[:, 1] *= 1 + effect
    strata = np.repeat(np.arange(pairs), 2)
    return contrast(Series.of(np.tile([0, 1], pairs), values.ravel(), stratum=strata)).score


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


def _cells(kind: str, effect: float, rng: np.random.Generator) -> float:
    lower, apart = rng.integers(0, VALUES**2, VALUES), rng.choice([0, 1, 2, 4, 8, 16], VALUES)
    parted = lower // PERIOD != (lower + apart) // PERIOD
    values = latencies(kind, VALUES, rng) * np.where(parted, 1 + effect, 1)
    found = cells(Series.of(lower, values, stratum=apart), np.arange(1, 65))
    return min(found.score, found.margin)


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


ENGINES: dict[str, tuple[Callable[[str, float, np.random.Generator], float], str]] = {
    "step": (_step, "all values larger by"),
    "step of rare waits": (_rare, "share of values that wait"),
    "step at a place": (_at_a_place, "all values before it larger by"),
    "period": (_period, "a third of the places slower by"),
    "recurrence": (_recurrence, "every 125th slower by"),
    "locked": (_locked, "share of runs that wait at a step"),
    "filled": (_filled, "share of values that wait behind an end"),
    "contrast": (_contrast, "one condition slower by"),
    "partition": (_partition, "pairs of one class slower by"),
    "cells": (_cells, "two apart slower by"),
    "ending": (_ending, "what is behind slower by"),
    "line": (_line, "a request costs, of its bytes"),
    "saturation": (_saturation, "depth gains"),
    "turn": (_turn, "share of reads that wait for a turn"),
}
"""Every engine on a typical series, and what its effect is."""


def evidence(engine: str, kind: str, effect: float, count: int, seed: int) -> Iterator[float]:
    """Give the evidence that an engine finds in so many series: the lesser of score and margin."""
    measured, _ = ENGINES[engine]
    for number in range(count):
        yield measured(kind, effect, stream((seed, number), f"inference.calibrate {engine} {kind}"))
