"""Engines that several families of properties ask, each on a typical series."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any

import numpy as np
from scripts.calibration.nulls import VALUES, WAITS, latencies

from ssdscope.inference.bursts import falls
from ssdscope.inference.cells import cells
from ssdscope.inference.contrast import contrast, signed
from ssdscope.inference.noise import over_usual
from ssdscope.inference.period import multiples, period, scan
from ssdscope.inference.places import halves_of, places
from ssdscope.inference.recurrence import in_step, recurrence
from ssdscope.inference.series import Series
from ssdscope.inference.step import first_step, step, steps

if TYPE_CHECKING:
    from numpy.typing import NDArray

__all__ = ["SHARED", "Calibrated", "visited"]

PLACE, PERIOD, ROUND, BURSTS = 1200, 12, 125, 8
"""Where a step is, how long a period, after how many steps waits recur, and how many bursts."""
SIZES, LENGTHS = (3, 5), np.arange(6, 61, 6)
"""Of writes that touch one unit or two, and of the units that are tried."""


@dataclass(frozen=True)
class Calibrated:
    """How an engine is tried.

    Attributes
    ----------
    measured
        Gives the evidence in one series with a null, and an effect of a size, drawn at random.
    effect
        What the size of an effect is.
    engines
        The functions whose evidence the level is for.
    """

    measured: Callable[[str, float, np.random.Generator], float]
    effect: str
    engines: tuple[Callable[..., Any], ...]


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


def _bursts(kind: str, effect: float, rng: np.random.Generator) -> float:
    """Let a byte take so much longer from a place on, in each of eight bursts."""
    values = np.array([latencies(kind, VALUES // BURSTS, rng) for _ in range(BURSTS)])
    values[:, PLACE // BURSTS :] *= 1 + effect
    places = np.tile(np.arange(1, values.shape[1] + 1), BURSTS)
    strata = np.repeat(range(BURSTS), values.shape[1])
    found = falls(Series.of(places, values.ravel(), stratum=strata))
    return min(found.score, found.margin)


def _contrast(kind: str, effect: float, rng: np.random.Generator) -> float:
    pairs = VALUES // 20
    values = latencies(kind, 2 * pairs, rng).reshape(pairs, 2)
    values[:, 1] *= 1 + effect
    strata = np.repeat(np.arange(pairs), 2)
    return contrast(Series.of(np.tile([0, 1], pairs), values.ravel(), stratum=strata)).score


def _cells(kind: str, effect: float, rng: np.random.Generator) -> float:
    lower, apart = rng.integers(0, VALUES**2, VALUES), rng.choice([0, 1, 2, 4, 8, 16], VALUES)
    parted = lower // PERIOD != (lower + apart) // PERIOD
    values = latencies(kind, VALUES, rng) * np.where(parted, 1 + effect, 1)
    found = cells(Series.of(lower, values, stratum=apart), np.arange(1, 65))
    return min(found.score, found.margin)


def visited(
    kind: str, factors: NDArray[np.float64], visits: int, rng: np.random.Generator
) -> Series:
    """Visit places that take so many times as long, in another order each time."""
    orders = np.array([rng.permutation(factors.size) for _ in range(visits)])
    values = latencies(kind, orders.size, rng).reshape(orders.shape) * factors[orders]
    return halves_of(np.arange(factors.size), orders, values)


def _places(kind: str, effect: float, rng: np.random.Generator) -> float:
    """Let every other place take longer, of which each is visited four times."""
    factors = np.tile([1, 1 + effect], VALUES // 8)
    return places(visited(kind, factors, 4, rng)).score


def _in_step(kind: str, effect: float, rng: np.random.Generator) -> float:
    values = latencies(kind, VALUES, rng)
    values[rng.integers(0, ROUND) :: ROUND] *= 1 + effect
    found = in_step(Series.of(np.arange(VALUES), values), WAITS * float(np.median(values)))
    return min(found.score, found.margin)


def _multiples(kind: str, effect: float, rng: np.random.Generator) -> float:
    places = rng.integers(0, VALUES, VALUES)
    values = latencies(kind, VALUES, rng) * np.where(places % PERIOD == 0, 1 + effect, 1)
    found = multiples(Series.of(places, values), np.arange(2, 65))
    return min(found.score, found.margin)


def _touched(length: int) -> np.ndarray:
    """How many units a write of either size touches, by the place in a unit at which it begins."""
    return np.asarray(-(-(np.arange(length) + np.array(SIZES)[:, None]) // length))


def _scan(kind: str, effect: float, rng: np.random.Generator) -> float:
    """Let a write of either size take longer by so much for the second unit that it touches."""
    places, large = rng.integers(0, VALUES**2, VALUES), rng.integers(0, 2, VALUES)
    second = _touched(PERIOD)[large, places % PERIOD] - 1
    series = Series.of(places, latencies(kind, VALUES, rng) * (1 + effect * second), stratum=large)
    found = scan(series, LENGTHS, _touched)
    return min(found.score, found.margin)


def _signed(kind: str, effect: float, rng: np.random.Generator) -> float:
    values = latencies(kind, VALUES // 10, rng).reshape(-1, 2)
    found = signed(np.log(values[:, 1] * (1 + effect) / values[:, 0]))
    return found.score


SHARED: dict[str, Calibrated] = {
    "step": Calibrated(_step, "all values larger by", (step, first_step, steps)),
    "step of rare waits": Calibrated(_rare, "share of values that wait", (step,)),
    "step at a place": Calibrated(_at_a_place, "all values before it larger by", (step,)),
    "period": Calibrated(_period, "a third of the places slower by", (period,)),
    "scan": Calibrated(_scan, "a second unit slower by", (scan,)),
    "multiples": Calibrated(_multiples, "every 12th place slower by", (multiples,)),
    "recurrence": Calibrated(_recurrence, "every 125th slower by", (recurrence,)),
    "in step": Calibrated(_in_step, "every 125th slower by", (in_step,)),
    "bursts": Calibrated(_bursts, "bytes behind a bend slower by", (falls,)),
    "contrast": Calibrated(_contrast, "one condition slower by", (contrast,)),
    "signed": Calibrated(_signed, "one condition slower by", (signed,)),
    "cells": Calibrated(_cells, "two apart slower by", (cells,)),
    "places": Calibrated(_places, "every other place slower by", (places,)),
}
"""By the name of their level."""
