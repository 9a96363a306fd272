"""The procedures of ryu2009, letter by letter, on response times whose cause is known."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import numpy as np
import pytest
from numpy.typing import NDArray

from ssdscope.probes.bench.ledger import Bench
from ssdscope.probes.budget import Budget
from ssdscope.probes.literal import allocation, placement, shift_write
from ssdscope.probes.literal.placement import Placement
from ssdscope.probes.literal.shift_write import UNITS_PER_SHIFT, Answer, Sweep
from ssdscope.targets import open_target

KIB = 1024
CHUNKS = 16
RUNS = 40
PERIODS = 16

SMALL_IN_LARGE = (16 * KIB, 4 * KIB, 2 * KIB)
"""Block, write, shift."""


def responses(
    cell: tuple[int, int, int],
    sigma: float,
    spikes: float,
    rng: np.random.Generator,
    reach: int = 1,
) -> NDArray[Any]:
    """Two passes over 16 blocks: each block that is covered in part costs a copy of the rest."""
    block, write, shift = cell
    positions = np.arange(reach * PERIODS * block // shift) * shift
    first, last = positions // block, (positions + write - 1) // block
    before, after = positions % block, (-(positions + write)) % block
    partly = np.where(first == last, (before + after) > 0, (before > 0) + 1 * (after > 0))
    plain = 100.0 + 100.0 * partly
    shape = (2, positions.size, CHUNKS)
    noise = rng.lognormal(0, sigma, shape)
    late = np.where(rng.random(shape) < spikes, 20.0, 1.0)
    return np.asarray(plain[None, :, None] * noise * late)


def printed(passes: NDArray[Any], shift: int) -> Answer:
    return shift_write.as_printed(passes, shift)


def differences(passes: NDArray[Any], shift: int) -> Answer:
    return shift_write.by_differences(passes[0], shift)


def success(
    read: Callable[[NDArray[Any], int], Answer],
    cell: tuple[int, int, int],
    sigma: float,
    spikes: float,
    reach: int = 1,
) -> float:
    """Share of runs in which a reading finds the block."""
    rng = np.random.default_rng(7)
    right = [
        read(responses(cell, sigma, spikes, rng, reach), cell[2]).size_bytes == cell[0]
        for _ in range(RUNS)
    ]
    return sum(right) / RUNS


QUIET, LOUD, LOUDEST = (0.02, 0.0), (0.1, 0.01), (0.3, 0.02)
CELLS = [
    (SMALL_IN_LARGE, QUIET, 0, 1),
    ((16 * KIB, 16 * KIB, 2 * KIB), QUIET, 1, 1),
    ((16 * KIB, 16 * KIB, 2 * KIB), LOUD, 0, 1),
    ((16 * KIB, 32 * KIB, 2 * KIB), (0.1, 0.0), 1, 1),
    ((16 * KIB, 32 * KIB, 2 * KIB), LOUDEST, 0, 1),
    ((16 * KIB, 4 * KIB, KIB // 2), QUIET, 0, 0),
    ((16 * KIB, 4 * KIB, KIB // 2), LOUD, 0, 0),
    ((12 * KIB, 4 * KIB, KIB), QUIET, 0, 0),
    ((12 * KIB, 4 * KIB, KIB), LOUD, 0, 0),
    ((1 << 20, 64 * KIB, 32 * KIB), QUIET, 0, 1),
]
"""Cell, noise, and how often the repaired reading and that by differences are right."""


@pytest.mark.parametrize(("cell", "noise", "repaired", "by_differences"), CELLS)
def test_figure_6_fails_as_printed_and_succeeds_in_part_as_repaired(
    cell: tuple[int, int, int], noise: tuple[float, float], repaired: int, by_differences: int
) -> None:
    assert success(printed, cell, *noise, reach=UNITS_PER_SHIFT) == 0
    assert success(shift_write.repaired, cell, *noise) == pytest.approx(repaired, abs=0.05)
    assert success(differences, cell, *noise) == pytest.approx(by_differences, abs=0.05)


def test_slow_positions_of_small_writes_are_no_multiples_of_the_block() -> None:
    quiet = responses(SMALL_IN_LARGE, 0, 0, np.random.default_rng(1))
    found = shift_write.repaired(quiet, 2 * KIB)
    assert found.side == "slow"
    assert found.positions[:3] == (7, 15, 23)
    assert found.size_bytes == 2 * KIB
    assert differences(quiet, 2 * KIB).size_bytes == 16 * KIB


def test_as_many_slow_as_fast_positions_give_no_answer() -> None:
    """Half the positions of a write of nearly half a block straddle two."""
    cell = (16 * KIB, 9 * KIB, KIB)
    found = shift_write.repaired(responses(cell, 0, 0, np.random.default_rng(1)), KIB)
    assert found == Answer("neither", (), None)


def test_position_0_alone_gives_0() -> None:
    once = np.ones((2, 8, 1))
    once[:, 0] = 0.5
    assert shift_write.repaired(once, 2 * KIB) == Answer("fast", (0,), 0)


def test_sums_that_are_never_reset_hide_every_block() -> None:
    """The sum grows by as much again in the second pass, and the mean is twice too large."""
    quiet = responses(SMALL_IN_LARGE, 0, 0, np.random.default_rng(1), UNITS_PER_SHIFT)
    assert printed(quiet, 2 * KIB) == Answer("neither", (), None)


@pytest.fixture
def bench() -> Bench:
    changes = (
        "nand.blocks_per_plane=32",
        "over_provisioning_ratio=1.0",
        "nand.channels=2",
        "nand.ways=1",
    )
    device = open_target("sim:mqsim-8g", state="fresh", sets=changes, seed=1).device
    return Bench(device, Budget.parse("default"), 1)


def test_shifted_writes_cost_what_they_declare(bench: Bench) -> None:
    sweep = Sweep(4 * KIB, 4 * KIB, 64 * KIB, 8)
    for as_printed, positions in ((False, 16), (True, 32)):
        before = bench.bytes_written
        planned = sweep.planned_writes_bytes(printed=as_printed)
        with bench.allowance(planned):
            times = sweep.run(bench, printed=as_printed)
        assert times.shape == (2, positions, 8)
        assert (times > 0).all()
        assert bench.bytes_written - before == planned


def test_both_orders_cost_what_they_declare(bench: Bench) -> None:
    procedure = allocation.TwoOrders(16 * KIB, 1 << 20)
    with bench.allowance(procedure.planned_writes_bytes):
        gap = procedure.run(bench)
    assert bench.bytes_written == procedure.planned_writes_bytes
    assert gap.t1_ns > 0


def test_a_gap_is_an_order() -> None:
    assert allocation.Gap(115.0, 100.0).answer == "order"
    assert allocation.Gap(101.0, 100.0).answer == "address"


PAGES = np.arange(1, 65)


def candidates(channels: int = 4) -> list[Placement]:
    return [Placement("b", unit, channels, 4096) for unit in (1, 2, 4, 8)]


@pytest.mark.parametrize("unit", [1, 2, 4, 8])
def test_corrected_equations_find_their_own_unit(unit: int) -> None:
    truth = Placement("b", unit, 4, 4096)
    times = placement.terms(truth, PAGES) @ (100_000.0, 20_000.0, 50_000.0)
    best = placement.fits(PAGES, times, candidates())[0]
    assert best.placement == truth
    assert best.residual < 1e-9
    assert best.times_ns == pytest.approx((100_000, 20_000, 50_000, 0))
    assert placement.predicted(best, PAGES) == pytest.approx(times)


def test_printed_equations_do_not_fit_what_they_describe() -> None:
    """Pages divided by bytes leave small reads without a time of their own."""
    for truth in (Placement("a", 4, 4, 4096), Placement("b", 4, 4, 4096)):
        times = placement.terms(truth, PAGES) @ (100_000.0, 20_000.0, 0.0)
        assert placement.fits(PAGES, times, [truth], printed=True)[0].residual > 0.1


def test_a_link_hides_k() -> None:
    line = 126_000 + 12.3 * 4096 * PAGES
    fits = placement.fits(PAGES, line, candidates(), link=True)
    assert max(each.residual for each in fits) < 1e-6


def test_a_line_is_k_1() -> None:
    stairs = placement.terms(candidates()[-1], PAGES) @ (100_000.0, 20_000.0, 50_000.0)
    assert placement.straight(PAGES, 126_000 + 12.3 * 4096 * PAGES)
    assert not placement.straight(PAGES, stairs)


def test_reads_of_the_placement_write_nothing(bench: Bench) -> None:
    curve = placement.ReadSizes(16 * KIB, (1, 2, 4), reads=8).run(bench)
    assert curve.shape == (3,)
    assert curve[0] < curve[2]
    assert bench.bytes_written == 0
