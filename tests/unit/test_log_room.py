"""What common log blocks take, from the pattern of the waits alone."""

from __future__ import annotations

from unittest.mock import Mock

import numpy as np
import pytest

from ssdscope.probes import Reason, log_room
from ssdscope.probes.bench import Stopped
from ssdscope.probes.log_room import USUAL
from ssdscope.probes.overwriting import Granule

IN_MERGE, BLOCKS = 64, 12


def latencies(wait: float, every: int, begin: int = IN_MERGE * BLOCKS) -> np.ndarray:
    """Noisy writes with spikes, of which those that begin a log block wait once all are full."""
    rng = np.random.default_rng(3)
    times = np.exp(0.1 * np.abs(rng.standard_normal(IN_MERGE * 40)))
    times[rng.random(times.size) < 0.02] += 1.5
    times[begin - USUAL :: every] *= wait
    return times


@pytest.mark.parametrize("wait", [2.5, 30.0, 2000.0])
def test_writes_that_begin_a_log_block_wait(wait: float) -> None:
    room = log_room._judged(latencies(wait, IN_MERGE), 1.0, IN_MERGE)
    assert room is not None
    assert not room.each
    assert room.writes == IN_MERGE * BLOCKS


def test_what_is_slow_by_chance_before_fills_no_log_blocks() -> None:
    """At the same place of every other log block, and as slow as the slowest few of all writes."""
    times = latencies(10.0, IN_MERGE)[: IN_MERGE * (BLOCKS + 7)]
    times[IN_MERGE * (BLOCKS - 4) - USUAL : IN_MERGE * BLOCKS - USUAL : 2 * IN_MERGE] = 4.0
    room = log_room._judged(times, 1.0, IN_MERGE)
    assert room is not None
    assert room.writes == IN_MERGE * BLOCKS


def test_so_they_do_where_a_log_block_holds_few() -> None:
    rng, few, blocks = np.random.default_rng(5), 8, 37
    times = np.exp(0.1 * rng.standard_normal(few * 136))
    waits = slice(few * blocks - USUAL, None, few)
    times[waits] *= 75 * np.exp(0.2 * rng.standard_normal(times[waits].size))
    room = log_room._judged(times, 1.0, few)
    assert room is not None
    assert room.writes == few * blocks


def test_or_all_log_blocks_are_merged_at_once() -> None:
    room = log_room._judged(latencies(2000.0, IN_MERGE * BLOCKS), 1.0, IN_MERGE)
    assert room is not None
    assert room.writes == IN_MERGE * BLOCKS


@pytest.mark.parametrize("every", [IN_MERGE - 5, IN_MERGE + 7])
def test_waits_of_another_period_are_none_for_log_blocks(every: int) -> None:
    assert log_room._judged(latencies(3.0, every), 1.0, IN_MERGE) is None


def test_nor_are_they_among_many_that_wait_as_each_unit_has_a_log_block_of_its_own() -> None:
    times = latencies(30.0, IN_MERGE)
    times[(np.random.default_rng(8).random(times.size) < 0.4) & (times < 5)] *= 10
    assert log_room._judged(times, 1.0, IN_MERGE) is None


def test_nor_are_waits_where_no_log_block_is_full() -> None:
    off = latencies(3.0, IN_MERGE, begin=IN_MERGE * BLOCKS + IN_MERGE // 2)
    assert log_room._judged(off, 1.0, IN_MERGE) is None


def test_writes_of_others_make_the_count_void() -> None:
    """They fill log blocks sooner; one later place of theirs may look like a full one."""
    others = latencies(2000.0, IN_MERGE, begin=IN_MERGE * BLOCKS + IN_MERGE // 2)
    moved = 24 * IN_MERGE
    others[moved - USUAL :] = latencies(2000.0, IN_MERGE, begin=moved)[moved - USUAL :]
    with pytest.raises(Stopped) as stop:
        log_room._judged(others, 1.0, IN_MERGE)
    assert stop.value.reason is Reason.INTERFERENCE


@pytest.mark.parametrize("short", [0, 20])
def test_others_may_have_filled_part_of_the_first_log_block(short: int) -> None:
    """Then nobody else writes, and waits follow each other by whole log blocks."""
    begun = latencies(2000.0, IN_MERGE, begin=IN_MERGE * BLOCKS - short)
    room = log_room._judged(begun, 1.0, IN_MERGE, shared=True)
    assert room is not None
    assert room.writes == IN_MERGE * BLOCKS
    assert (room.others > 0) == (short > 0)
    rng = np.random.default_rng(4)
    scattered = latencies(1.0, IN_MERGE)
    scattered[rng.integers(IN_MERGE * BLOCKS, scattered.size, 12)] *= 2000.0
    assert log_room._of_wholes(scattered, 1.0, IN_MERGE) is None


def test_waits_in_step_that_are_not_very_long_are_the_first_ones() -> None:
    """Few merge units in a log block take less long to merge than the units of most."""
    begun = latencies(40.0, IN_MERGE, begin=IN_MERGE * BLOCKS - 20)
    most = 30 * IN_MERGE
    begun[most:] = np.where(begun[most:] > 10.0, 120.0, begun[most:])
    room = log_room._of_wholes(begun, 1.0, IN_MERGE)
    assert room is not None
    assert room.writes == IN_MERGE * BLOCKS
    by_chance = latencies(2000.0, IN_MERGE)
    by_chance[[100, 217, 301, 555]] = 10.0
    room = log_room._of_wholes(by_chance, 1.0, IN_MERGE)
    assert room is not None
    assert room.writes == IN_MERGE * BLOCKS
    unclear = latencies(2000.0, IN_MERGE)
    unclear[[100, 164, 228, 292, 333]] = 10.0
    assert log_room._of_wholes(unclear, 1.0, IN_MERGE) is None


def test_slow_writes_by_chance_before_the_first_wait_are_none() -> None:
    waits = latencies(2000.0, IN_MERGE)
    waits[IN_MERGE * (BLOCKS - 2) - USUAL] = 3.0
    room = log_room._judged(waits, 1.0, IN_MERGE)
    assert room is not None
    assert room.writes == IN_MERGE * BLOCKS


def test_unless_waits_come_a_little_sooner_one_after_the_other() -> None:
    """As where others write now and then: by how much says how many their writes were."""
    sooner = latencies(2000.0, IN_MERGE - 3, begin=IN_MERGE * BLOCKS - 15)
    room = log_room._judged(sooner, 1.0, IN_MERGE, shared=True)
    assert room is not None
    assert room.writes == pytest.approx(IN_MERGE * BLOCKS, rel=0.04)
    assert room.others == pytest.approx(3 / (IN_MERGE - 3))
    far_sooner = latencies(2000.0, IN_MERGE - 20, begin=IN_MERGE * BLOCKS)
    assert log_room._shared(far_sooner, 1.0, IN_MERGE) is None


@pytest.mark.parametrize("unit_bytes", [1 << 20, 3 << 18])
def test_nothing_is_said_of_merge_units_that_do_not_hold_several_units(unit_bytes: int) -> None:
    bench = Mock(**{"info.capacity_bytes": 1 << 30, "found.return_value": None})
    assert log_room.log_room(bench, Granule(unit_bytes, 0, exact=True), 1 << 20) is None
    bench.write.assert_not_called()
