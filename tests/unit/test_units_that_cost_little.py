"""A unit that hardly costs anything is not told, and not called absent either."""

from dataclasses import replace
from typing import Any

import numpy as np
import pytest
from tests.unit import made_up_runs

from ssdscope.findings import Absent, Finding, Undetectable
from ssdscope.inference.series import Series
from ssdscope.probes.units import probe as units
from ssdscope.probes.units.plans import KINDS, sizes_blocks

UNIT_BLOCKS = 40


class Writes:
    """Answers writes at random places, of which those across a boundary take longer."""

    def __init__(self, longer: float) -> None:
        self.info = replace(made_up_runs.info(), logical_block_bytes=4096, capacity_bytes=1 << 32)
        self.longer, self.rng = longer, np.random.default_rng(1)

    def take(self, _plan: Any) -> Series:
        place = self.rng.integers(0, 1 << 20, 20_000)
        kind = self.rng.integers(0, KINDS, place.size)
        size = np.array(sizes_blocks(self.info))[kind % 2]
        across = place // UNIT_BLOCKS != (place + size - 1) // UNIT_BLOCKS
        scatter = np.exp(0.01 * self.rng.standard_normal(place.size))
        return Series.of(place, 1e6 * (1 + self.longer * across) * scatter, stratum=kind)

    def progress(self, _stage: str, _share: float) -> None:
        return None


def unit_of(longer: float) -> Finding:
    return next(units._by_single_writes(Writes(longer)))  # type: ignore[arg-type]


@pytest.mark.parametrize(("longer", "kind"), [(0.0, Absent), (0.02, Undetectable)])
def test_what_is_surely_there_is_not_absent(longer: float, kind: type[Finding]) -> None:
    assert isinstance(unit_of(longer), kind)
