"""Lengths of writes that tell a unit from what it may consist of, and from rows of units."""

from __future__ import annotations

import math
from typing import TYPE_CHECKING

import numpy as np
import pytest

from ssdscope.inference.levels import APART
from ssdscope.inference.series import Series, Weighed
from ssdscope.probes.units import rivals as unit_rivals
from ssdscope.seeds import stream
from ssdscope.targets.records import DeviceInfo

if TYPE_CHECKING:
    from collections.abc import Callable

BLOCK, PAGE = 512, 8
PROGRAM, READ = 1_000_000.0, 60_000.0
ROUNDS = 2000


DRIVE = DeviceInfo(
    kind="simulated", capacity_bytes=1 << 30, logical_block_bytes=BLOCK, clock="virtual",
    writable=True, discard=True, attribution=False, snapshot=True,
)  # fmt: skip


def took_ns(unit: int, together: int) -> Callable[[int], float]:
    """Give what a write takes: units are written in turn beyond those that are together."""

    def of(length: int) -> float:
        touched = -(-length // unit)
        lacking = touched * unit - length
        return PROGRAM * -(-touched // together) + READ * -(-lacking // PAGE)

    return of


def weighed(unit: int, together: int, candidate: int) -> tuple[Weighed, Weighed]:
    """Decide on lengths around all parts of a candidate, where depth tells nothing."""
    rng = stream(unit * together, "made up")
    parts = unit_rivals.parts_blocks(DRIVE, candidate)
    lengths = sorted({1, *(end + more for end in (*parts, candidate) for more in (-1, 0, 1))})
    x = np.tile(lengths, ROUNDS)
    of = took_ns(unit, together)
    y = np.array([of(length) for length in lengths * ROUNDS])
    y *= np.exp(0.15 * np.abs(rng.standard_normal(x.size)))
    taken = [Series.of(x, y, stratum=np.repeat(np.arange(ROUNDS), len(lengths)))]
    # Four at once take four times as long.
    kinds = np.arange(400) % 4
    random = Series.of(
        rng.integers(0, 10_000, 400), np.where(kinds > 1, 4, 1) * PROGRAM, stratum=kinds
    )
    found = Weighed(float(candidate), None, 100.0, 1.0, math.inf, (), {"begin": 0.0})
    return unit_rivals._weighed(DRIVE, random, found, taken)


@pytest.mark.parametrize("unit", [16, 48, 128])
def test_a_unit_is_told_from_its_parts(unit: int) -> None:
    found, rivals = weighed(unit, 1, unit)
    assert found.estimate == unit
    assert rivals.margin >= APART


@pytest.mark.parametrize(("unit", "together"), [(8, 2), (16, 4), (8, 6)])
def test_units_side_by_side_are_not_taken_for_one(unit: int, together: int) -> None:
    found, _ = weighed(unit, together, unit * together)
    assert found.estimate == unit
    assert found.detail["begin"] == 0
