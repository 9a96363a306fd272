"""Periods of small writes that are longer than any unit that is looked for."""

from __future__ import annotations

import numpy as np
import pytest

from ssdscope import probes
from ssdscope.probes import Ambiguous, Budget, rmw_unit
from ssdscope.probes.shifted_writes import Samples
from ssdscope.probes.unit_periods import whole_of
from ssdscope.studies.recovery.generator import draw
from ssdscope.targets.drive_writer import open_drive


def halves(period: int) -> list[Samples]:
    """Writes of four blocks, of which those are slow that straddle one boundary of a period."""
    told = []
    for seed in (1, 2):
        rng = np.random.default_rng(seed)
        place = rng.integers(0, 100_000, 8192)
        straddles = place % period > period - 4
        latency = (1e6 + 1e6 * straddles) * np.exp(0.05 * rng.standard_normal(place.size))
        kinds = np.full(place.size, 4), np.ones(place.size, int), np.arange(place.size) // 512
        told.append(Samples(place, *kinds, latency))
    return told


@pytest.mark.parametrize("period", [288, 144])
def test_a_part_of_a_period_is_told_from_all_of_it(period: int) -> None:
    assert whole_of(halves(period), 144) == period


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
