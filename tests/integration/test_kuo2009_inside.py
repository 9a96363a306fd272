"""What the thesis draws of a drive's inside, on small drives, and on others that are built not so.

Made-up figures are in `tests/unit/test_kuo2009_claims.py`; here a key of the drive file turns rows.
"""

from collections.abc import Mapping

import pytest

from ssdscope.probes.budget import silent
from ssdscope.studies import Verdict
from ssdscope.studies.kuo2009 import (
    PAPER,
    access,
    buffer,
    chips,
    effective,
    mapping,
    merging,
    page,
    zone,
)
from ssdscope.studies.kuo2009.bench import Drives
from ssdscope.studies.kuo2009.timeline import watch
from ssdscope.studies.record import Reading

IN_TURN = "scheduler.way_interleave=false"
TRANSCEND, SAMSUNG = "transcend-slc", "samsung-slc"


@pytest.fixture(scope="module")
def drives() -> Drives:
    return Drives(seed=1)


def differing(readings: Mapping[str, Reading]) -> set[str]:
    return {row.name for row in PAPER.claims(readings) if row.verdict == Verdict.DIFFERS}


def changed(name: str, *sets: str) -> Drives:
    return Drives(seed=1, settings={name: sets})


def test_a_chip_of_other_times_is_not_that_of_table_1(drives: Drives) -> None:
    assert not differing(chips.figure_1(drives, silent).readings)
    other = changed(TRANSCEND, "nand.read_ns=25000", "nand.program_ns=220000",
                    "nand.erase_ns=2000000", "channel.ns_per_byte=20")  # fmt: skip
    turned = differing(chips.figure_1(other, silent).readings)
    assert {each for each in turned if each.startswith("table 1: ")} == {
        "table 1: read a page, us",
        "table 1: program a page, us",
        "table 1: erase a block, ms",
        "table 1: move a byte, ns",
    }


def test_merges_cost_what_the_thesis_says(drives: Drives) -> None:
    assert not differing(merging.figure_5(drives, silent).readings)
    # FAST's random log block, where updates out of order go, is not merged with one block.
    many = ("ftl.log_association=many-to-one", "ftl.log_blocks=2")
    turned = differing(merging.figure_5(drives, silent, *many).readings)
    assert {"merges, kinds", "full merge, copied", "full merge, erased"} <= turned


def test_scatter_costs_more_with_many_to_one(drives: Drives) -> None:
    found = mapping.figure_4(drives, silent).readings
    assert differing(found) == {"many-to-one, table 3"}
    one = [mapping.scattered(drives, blocks, *mapping.ONE) for blocks in (1, 16)]
    assert {"many-to-one, scatter", "many-to-one, rate"} == differing(mapping.spread_out(one))


def test_channels_work_side_by_side(drives: Drives) -> None:
    assert not differing(chips.figure_6(drives, silent).readings)
    one_channel = ("nand.channels=1", "ftl.merge_unit_bytes=128k", "nand.ways=1")
    turned = differing(chips.figure_6(drives, silent, *one_channel).readings)
    assert {"channels, writes", "channels overlap", "channels, rate"} <= turned


def test_a_chip_uses_a_fifth_of_its_channel_and_four_use_most(drives: Drives) -> None:
    found = chips.figure_7(drives, silent).readings
    assert not differing(found)
    # Table 1: 2,112 bytes at 25 ns on the channel, 200 us in the chip.
    assert found["one chip"].ours == pytest.approx(100 * 52.8 / 252.8, abs=0.01)
    in_turn = differing(chips.figure_7(drives, silent, IN_TURN).readings)
    assert in_turn == {"interleaving, use", "interleaving, rate", "interleaving, reads"}
    slow = differing(chips.figure_7(drives, silent, "nand.program_ns=800000").readings)
    assert "one chip" in slow


def test_striping_uses_every_channel(drives: Drives) -> None:
    sets = chips.chips(2, 1, 2 * chips.PAGE)
    plain = chips.spread(drives, sets)
    assert not differing(chips.striping(chips.spread(drives, (*sets, chips.STRIPED)), plain))
    assert len(differing(chips.striping(plain, plain))) == 5


def test_an_effective_block_is_erased_in_the_time_of_one(drives: Drives) -> None:
    found = effective.erased(drives)
    assert not differing(effective.erased_by_merge(found) | effective.erase_times(found))
    assert found.blocks == 8
    half = effective.erased(drives, "ftl.merge_unit_bytes=512k")
    assert differing(effective.erased_by_merge(half)) == {"merge, blocks", "effective block"}
    in_turn = effective.erased(drives, IN_TURN)
    assert in_turn.together_ms == pytest.approx(4 * 1.5, rel=0.05)
    assert differing(effective.erase_times(in_turn)) == {"erase, time", "erase, side by side"}


def test_a_block_larger_than_the_product_is_seen() -> None:
    eight = changed(SAMSUNG, "nand.channels=8", "nand.planes=1")
    assert effective.over_the_largest(eight, SAMSUNG) == pytest.approx(1)
    assert effective.over_the_largest(Drives(seed=1), SAMSUNG) == pytest.approx(2)


def test_an_effective_page_is_a_physical_page_of_each_channel(drives: Drives) -> None:
    found = effective.figure_16(drives, silent).readings
    assert differing(found) == {"effective page, read"}
    single = effective.programmed(drives, chips.chips(2, 2), chips.PAGE)
    turned = differing(effective.in_step(single, 1.0, 1))
    assert turned == {"chips in step", "effective page, written", "effective page, read"}
    one_by_one = effective.figure_16(changed(TRANSCEND, "scheduler.multi_plane=false"), silent)
    assert "two planes" not in differing(one_by_one.readings), "the figure sets its own"


def test_a_drive_that_was_switched_on_loads_one_table(drives: Drives) -> None:
    assert not differing(zone.at_start(zone.started(drives)))
    whole = zone.started(drives, "map.kind=ram")
    assert len(differing(zone.at_start(whole))) == 3


def test_the_time_of_a_cut_write_is_that_of_its_chips(drives: Drives) -> None:
    assert differing(page.figure_18(drives, silent).readings) == {"sectors 3 to 10, time"}
    # One chip, and reads as slow as its programs.
    slow = ("nand.channels=1", "nand.ways=1", "nand.pages_per_block=512", "nand.read_ns=200000")
    assert not differing(page.figure_18(changed(TRANSCEND, *slow), silent).readings)


def test_a_buffer_hides_flash_and_one_that_does_not_is_seen(drives: Drives) -> None:
    assert not differing(buffer.figure_20(drives, silent).readings)
    small = changed(SAMSUNG, "write_buffer.bytes=16384")
    turned = differing(buffer.figure_20(small, silent).readings)
    assert {"buffer, acknowledged", "buffer, written later", "buffer, hides flash"} <= turned


def test_reading_ahead_serves_reads_in_order_and_pushes_hot_data_out(drives: Drives) -> None:
    assert differing(buffer.read_ahead(drives, silent).readings) == {"read ahead, more read"}
    small = changed(SAMSUNG, "read_cache.bytes=131072")
    assert buffer._hot(small, "read_cache.read_ahead_bytes=0") < 0.95


def test_switches_are_those_of_the_drives(drives: Drives) -> None:
    told = {row[0]: row for row in access.by_kind(seed=1)}
    assert told["sim:kuo-samsung-slc"][2:5] == ("yes", "yes", "yes")
    assert told["sim:kuo-mtron-slc"][2] == "no: always on"
    assert told["a regular file"][1:4] == ("file", "unknown", "unknown")
    assert {row[1] for row in told.values()} >= {"simulated", "file", "raid0", "null"}
    usual = {"flash, RAM", "flush, left"}
    assert differing(access.tried(drives)) == usual
    # The Transcend has neither cache, and the Intel lets its buffer be switched off.
    other = access.tried(drives, "transcend-slc", fixed="intel-mlc")
    turned = differing(other)
    assert turned == usual | {"write cache off", "read cache off", "buffer fixed"}
    lying = dict.fromkeys(("samsung-slc", "intel-mlc"), ("disturbance.flush=ignored",))
    left = access.tried(Drives(seed=1, settings=lying))
    assert "flush, left" not in differing(left)


def test_a_timeline_is_what_the_counters_say(drives: Drives) -> None:
    device = drives.fork(chips.DRIVE, *chips.chips(1, 2), *chips.BUFFER)
    before = (device.counters() or {})["die_busy_ns"]
    timeline = watch(device, lambda _: None, 100, 1000)
    assert not timeline.dies.any()
    seen = chips.watched(drives, chips.chips(1, 2), 2)
    for die in seen.dies:
        assert seen.busy_ns(die) == pytest.approx(252_800, abs=2 * chips.STEP_NS)
        ((begin, end),) = seen.spans(die)
        assert end - begin == seen.busy_ns(die)
    assert (device.counters() or {})["die_busy_ns"] == before
