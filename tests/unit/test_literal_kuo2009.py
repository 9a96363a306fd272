"""The procedures of kuo2009, letter by letter: answers to response times, and what runs cost."""

from __future__ import annotations

import numpy as np
import pytest

from ssdscope.probes.bench.ledger import Bench
from ssdscope.probes.budget import Budget
from ssdscope.probes.literal import buffers, effective_block, effective_page, zone
from ssdscope.probes.literal.zone import STEP_BYTES, Answer
from ssdscope.probes.plan import State, Stopped
from ssdscope.targets import open_target

KIB, MIB = 1 << 10, 1 << 20
SMALL = (
    "nand.blocks_per_plane=32",
    "over_provisioning_ratio=1.0",
    "nand.channels=2",
    "nand.ways=1",
)


@pytest.fixture
def bench() -> Bench:
    device = open_target("sim:mqsim-8g", state="fresh", sets=SMALL, seed=1).device
    return Bench(device, Budget.parse("default"), 1)


def test_the_block_is_the_first_size_at_the_maximum() -> None:
    rates = [10, 20, 40, 98, 100, 99]
    assert effective_block.answer([1, 2, 4, 8, 16, 32], rates) == 8


def test_a_flat_curve_has_a_block_too() -> None:
    """There is no way to say "none"."""
    assert effective_block.answer([1, 2, 4], [100, 100, 100]) == 1


def test_growing_writes_fill_the_drive_and_stay_within_what_they_declare(bench: Bench) -> None:
    procedure = effective_block.GrowingWrites((64 * KIB, 128 * KIB))
    with bench.allowance(procedure.planned_writes_bytes(bench.info)):
        rates = procedure.run(bench)
    assert min(rates) > 0
    assert bench.bytes_written > bench.info.capacity_bytes
    with bench.allowance(0), pytest.raises(Stopped):
        procedure.run(bench)


def test_the_page_is_the_first_size_whose_shift_costs() -> None:
    pairs = [[100, 101], [100, 99], [100, 160], [100, 100]]
    assert effective_page.answer([1, 2, 3, 4], pairs, 0.25) == 3
    assert effective_page.answer([1, 2, 3, 4], pairs, 0.7) is None


def test_a_collection_at_the_wrong_moment_is_a_page() -> None:
    pairs = [[100, 100], [100, 30_000], [100, 100], [100, 160]]
    assert effective_page.answer([1, 2, 3, 4], pairs, 0.25) == 2


def test_pairs_write_with_the_buffer_off_or_read(bench: Bench) -> None:
    writing = effective_page.ShiftedPairs("writes", (KIB, 2 * KIB))
    with bench.allowance(writing.planned_writes_bytes):
        assert writing.run(bench).shape == (2, 2)
    assert bench.bytes_written == writing.planned_writes_bytes == 6 * KIB
    reading = effective_page.ShiftedPairs("reads")
    assert reading.planned_writes_bytes == 0
    with bench.allowance(0):
        assert reading.run(bench).shape == (32, 2)


def test_a_buffer_that_cannot_be_switched_off_stops_the_pairs() -> None:
    sets = (*SMALL, "write_buffer.bytes=1048576", "write_buffer.switchable=false")
    device = open_target("sim:mqsim-8g", state="fresh", sets=sets, seed=1).device
    bench = Bench(device, Budget.parse("default"), 1)
    procedure = effective_page.ShiftedPairs()
    with bench.allowance(procedure.planned_writes_bytes), pytest.raises(Stopped) as stopped:
        procedure.run(bench)
    assert stopped.value.reason == "cache_not_controllable"


SIZES = np.arange(1, 65) * KIB


def test_a_buffer_ends_where_the_line_is_left() -> None:
    times = 20.0 + SIZES / KIB
    assert buffers.answer(SIZES, times) is None
    times[SIZES > 40 * KIB] += 30
    assert buffers.answer(SIZES, times) == 40 * KIB


def test_one_late_answer_is_the_end_of_a_buffer() -> None:
    times = 20.0 + SIZES / KIB
    times[20] *= 20
    assert buffers.answer(SIZES, times) == 20 * KIB


def test_the_same_amount_is_written_that_was_declared(bench: Bench) -> None:
    procedure = buffers.GrowingWrite((64 * KIB, 256 * KIB), random_writes=8)
    with bench.allowance(procedure.planned_writes_bytes):
        times = procedure.run(bench)
    assert times[1] > times[0]
    assert bench.bytes_written == procedure.planned_writes_bytes == 320 * KIB + 16 * 4 * KIB
    with bench.allowance(0):
        assert buffers.GrowingRead((64 * KIB, 256 * KIB)).run(bench).shape == (2,)


def test_what_comes_first_falls_anywhere_or_at_a_distance(bench: Bench) -> None:
    procedure = buffers.GrowingWrite((64 * KIB,), random_writes=64)
    wide = procedure._places(bench)
    assert wide.max() > bench.info.capacity_bytes // 2
    near = buffers.GrowingWrite((64 * KIB,), 64, range_bytes=MIB)._places(bench)
    assert near.max() < MIB
    far = buffers.GrowingWrite((64 * KIB,), 4, distance_bytes=2 * MIB)._places(bench)
    assert far.tolist() == [0, 2 * MIB, 4 * MIB, 6 * MIB]


def distances(count: int = 100) -> np.ndarray:
    return np.full(count, 100.0)


def test_a_jump_for_good_is_a_zone() -> None:
    times = distances()
    times[40:] = 120
    assert zone.answer(times) == Answer("step", 40 * STEP_BYTES)
    assert zone.answer(distances()) == Answer("none", None)


def test_slow_reads_at_a_distance_are_another_zone() -> None:
    times = distances()
    times[4::4] = 400
    assert zone.answer(times) == Answer("period", 4 * STEP_BYTES)


def test_one_late_read_is_a_zone() -> None:
    times = distances()
    times[30] = 400
    assert zone.answer(times) == Answer("period", 30 * STEP_BYTES)


def test_two_places_are_read_and_nothing_is_written(bench: Bench) -> None:
    bench.enter(State.AS_FOUND)
    times = zone.TwoPlaces(8 * MIB).run(bench)
    assert times.shape == (9,)
    assert bench.requests == 18
    assert bench.bytes_written == 0
