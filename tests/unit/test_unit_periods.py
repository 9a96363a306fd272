"""Periods of small writes that are longer than any unit that is looked for."""

from __future__ import annotations

import numpy as np
import pytest

from ssdscope import probes
from ssdscope.probes import Ambiguous, Budget, Undetectable, rmw_unit
from ssdscope.probes.shifted_writes import Samples
from ssdscope.probes.unit_periods import alike, answer_of, whole_of
from ssdscope.studies.recovery.generator import draw
from ssdscope.targets.drive_writer import open_drive


def halves(period: int, begins: tuple[int, int] = (0, 0)) -> list[Samples]:
    """Writes of four blocks, of which those are slow that straddle one boundary of a period."""
    told = []
    for seed, begin in enumerate(begins):
        rng = np.random.default_rng(seed)
        place = rng.integers(0, 100_000, 8192)
        straddles = (place - begin) % period > period - 4
        latency = (1e6 + 1e6 * straddles) * np.exp(0.05 * rng.standard_normal(place.size))
        kinds = np.full(place.size, 4), np.ones(place.size, int), np.arange(place.size) // 512
        told.append(Samples(place, *kinds, latency))
    return told


@pytest.mark.parametrize("period", [288, 144])
def test_a_part_of_a_period_is_told_from_all_of_it(period: int) -> None:
    assert whole_of(halves(period), 144) == period


@pytest.mark.parametrize(("begins", "same"), [((6, 6), True), ((6, 7), False)])
def test_halves_are_alike_where_units_begin_at_one_place(
    begins: tuple[int, int], same: bool
) -> None:
    both = halves(16, begins)
    answers = [answer_of(half, np.array([12, 16, 24])) for half in both]
    assert alike(both, answers) is same


@pytest.mark.calibration
def test_a_unit_that_explains_little_is_not_absent() -> None:
    """Both halves show 1 % of the variance, of a unit of 64 KiB that begins at the same place."""
    device = open_drive(draw(1470267960, 43).toml(), "drawn", 43)
    found = {each.name: each for each in probes.run(["rmw_unit"], device, Budget.parse("full"), 43)}
    assert isinstance(found[rmw_unit.UNIT], Undetectable)


@pytest.mark.calibration
def test_units_need_not_lie_in_a_part_of_what_repeats() -> None:
    """Three units of 48 KiB repeat, of which half is the largest candidate that shows it."""
    device = open_drive(draw(3629088426, 128).toml(), "drawn", 128)
    found = {
        each.name: each for each in probes.run(["rmw_unit"], device, Budget.parse("full"), 128)
    }
    unit = found[rmw_unit.UNIT]
    assert isinstance(unit, Ambiguous)
    assert 49_152 in unit.candidates
    assert max(float(each) for each in unit.candidates) <= 128 << 10
