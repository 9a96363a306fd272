"""Runs of whole merge units, aligned and across two."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any
from unittest.mock import Mock

import numpy as np
import pytest

from ssdscope.probes import merge_periods, merge_runs, merge_unit
from ssdscope.probes.bench import Bench
from ssdscope.probes.budget import Budget
from ssdscope.probes.merge_runs import Collapse, Layout, Runs
from ssdscope.studies.recovery.generator import draw
from ssdscope.targets.drive_writer import open_drive

if TYPE_CHECKING:
    from numpy.typing import NDArray


def test_runs_that_wait_for_merges_now_and_then_are_longer_by_their_sum() -> None:
    rng = np.random.default_rng(1)
    aligned, across = rng.normal(240, 15, 16), rng.normal(240, 15, 35)
    assert merge_runs.by_chance(across, aligned) > 0.05
    across[::2] *= rng.integers(2, 5, 18)
    assert merge_runs.by_chance(across, aligned) <= merge_runs.BY_CHANCE


def both(aligned_ns: NDArray[Any], across_ns: NDArray[Any], p_value: float, size: int) -> Collapse:
    """Give what runs took, of which every other one crosses an odd multiple of their size."""
    odd = np.arange(aligned_ns.size) % 2 == 1
    apart = merge_runs.Apart(0.0, 1024, 4_000_000.0)
    return Collapse(size, Runs(aligned_ns, odd), Runs(across_ns, odd), p_value, apart)


@pytest.mark.parametrize(("odd_dearer", "even_dearer"), [(0.8, 0.8), (1.2, 0.0), (0.2, 1.2)])
def test_halves_of_merge_units_are_told_from_whole_ones(
    odd_dearer: float, even_dearer: float
) -> None:
    """Every other boundary of halves costs nothing."""
    rng = np.random.default_rng(4)
    aligned, across = rng.normal(200e6, 15e6, (2, 16))
    dearer = np.where(np.arange(16) % 2 == 1, odd_dearer, even_dearer)
    collapse = both(aligned, across * (1 + dearer), 1e-6, 65_536)
    assert collapse.sure
    assert collapse.halves is (odd_dearer != even_dearer)


def test_runs_across_two_zones_are_not_suspected_of_merges() -> None:
    stream = merge_periods.Stream(8192, 0, np.full(100, 500_000.0))
    found = merge_periods.Repeating(stream, merge_periods.Period(1280, 0.5, 6.0))
    times = np.full(24, 240_000_000.0)
    collapse = both(times, times + 3_500_000, 0.006, found.size_bytes)
    for zone, suspected in ((10_485_760, False), (4_194_304, True), (None, True)):
        bench = Mock(spec=Bench)
        bench.found.return_value = zone
        assert merge_unit._suspect(bench, found, collapse) is suspected


def test_blocks_that_are_opened_meanwhile_make_no_collapse() -> None:
    """Runs of a quarter of a superblock may wait for erases: 29 %, once 256 KiB for no unit."""
    rng = np.random.default_rng(1)
    aligned, across = rng.normal(5e6, 0.5e6, (2, 64))
    across[::6] *= 3
    collapse = both(aligned, across, merge_runs.by_chance(across, aligned), 262_144)
    assert collapse.contrast > 0.2
    assert collapse.p_value <= merge_runs.BY_CHANCE
    assert not collapse.sure


def test_looks_at_a_drive_that_returns_to_a_state_are_not_the_same_again() -> None:
    drawn = draw(856441233, 96)
    bench = Bench(open_drive(drawn.toml(), "drawn", 96), Budget.parse("full"), 96)
    layout = Layout(262_144, 65_536, 0, 0)
    with bench.allowance(3 * bench.info.capacity_bytes):
        first, second = (merge_runs.run_times(bench, layout, 24, look).ns for look in range(2))
    assert np.mean(first == second) < 0.1
