"""What the thesis draws of a drive's inside, on small drives, and on others that are built not so.

The claims on made-up figures are in `tests/unit/test_kuo2009_claims.py`; here a key of the drive
file is what turns them.
"""

from collections.abc import Sequence
from pathlib import Path

import pytest

from ssdscope.studies import Claim, FigureResult, Verdict
from ssdscope.studies.kuo2009 import access, chips, effective, merging, startup
from ssdscope.studies.kuo2009.bench import Drives
from ssdscope.studies.kuo2009.page import ONE_CHIP, claims_18, straddling
from ssdscope.studies.kuo2009.sheet import Binder
from ssdscope.studies.kuo2009.timeline import watch

IN_TURN = "scheduler.way_interleave=false"


@pytest.fixture(scope="module")
def drives() -> Drives:
    return Drives(seed=1)


def differing(rows: Sequence[Claim]) -> list[int]:
    return [place for place, row in enumerate(rows) if row.verdict == Verdict.DIFFERS]


def test_merges_cost_what_the_thesis_says(drives: Drives) -> None:
    rows = merging.claims({kind: merging.merged(drives, kind) for kind in merging.UPDATES})
    assert differing(rows) == []
    assert [row.ours for row in rows[1:7]] == [4, 2, 2, 1, 0, 1]


def test_a_log_block_for_all_data_blocks_merges_otherwise(drives: Drives) -> None:
    """FAST's random log block, where the updates out of order go, is not merged with one block."""
    many = ("ftl.log_association=many-to-one", "ftl.log_blocks=2")
    merges = {kind: merging.merged(drives, kind, *many) for kind in merging.UPDATES}
    assert differing(merging.claims(merges)) == [0, 1, 2]


def test_two_channels_work_side_by_side(drives: Drives, tmp_path: Path) -> None:
    made = chips.figure_6(drives, Binder(tmp_path))
    assert differing(made.rows) == []
    one_channel = chips.figure_6(
        drives, Binder(tmp_path), "nand.channels=1", "ftl.merge_unit_bytes=128k"
    )
    assert differing(one_channel.rows) == [0, 1]


def test_a_chip_uses_a_fifth_of_its_channel_and_four_use_most(
    drives: Drives, tmp_path: Path
) -> None:
    made = chips.figure_7(drives, Binder(tmp_path))
    assert differing(made.rows) == []
    # Table 1: 2,112 bytes at 25 ns on the channel, 200 us in the chip.
    assert made.rows[0].ours == pytest.approx(100 * 52.8 / 252.8, abs=0.01)
    assert float(str(made.rows[1].ours).split(" %")[0]) == pytest.approx(83, abs=1)
    assert differing(chips.figure_7(drives, Binder(tmp_path), IN_TURN).rows) == [1, 2]
    slow = chips.figure_7(drives, Binder(tmp_path), "nand.program_ns=800000")
    assert differing(slow.rows)[:2] == [0, 1]


def test_striping_uses_every_channel(drives: Drives) -> None:
    sets = chips.chips(2, 1, 2 * chips.PAGE)
    plain = chips.spread(drives, sets)
    assert differing(chips.claims_8(chips.spread(drives, (*sets, chips.STRIPED)), plain)) == []
    assert differing(chips.claims_8(plain, plain)) == [0, 1, 2, 3]


def test_an_effective_block_is_erased_in_the_time_of_one(drives: Drives) -> None:
    found = effective.erased(drives)
    assert differing(effective.claims_12(found) + effective.claims_13(found)) == []
    assert found.blocks == 8
    half = effective.erased(drives, "ftl.merge_unit_bytes=512k")
    assert differing(effective.claims_12(half)) == [0, 2]
    in_turn = effective.erased(drives, IN_TURN)
    assert in_turn.together_ms == pytest.approx(4 * effective.ERASE_MS, rel=0.05)
    assert differing(effective.claims_13(in_turn)) == [0, 1]


def test_an_effective_page_is_a_physical_page_of_each_channel(
    drives: Drives, tmp_path: Path
) -> None:
    assert differing(effective.figure_16(drives, Binder(tmp_path)).rows) == []
    single = effective.programmed(drives, chips.chips(2, 2), chips.PAGE)
    assert differing(effective.claims_16(single, single[0].pages, 1.0)) == [0, 1, 3]


def test_a_drive_that_was_switched_on_loads_one_table(drives: Drives) -> None:
    assert differing(startup.claims(startup.started(drives))) == []
    whole = startup.started(drives, "map.kind=ram")
    assert differing(startup.claims(whole)) == [0, 1, 2]


def test_the_time_of_a_straddling_write_is_that_of_its_chips(drives: Drives) -> None:
    assert differing(claims_18(straddling(drives))) == [3]
    assert differing(claims_18(straddling(drives, *ONE_CHIP))) == []


def test_switches_are_those_of_the_drives(drives: Drives) -> None:
    told = {row[0]: row for row in access.by_kind(seed=1)}
    assert told["sim:kuo-samsung-slc"][2:5] == ("yes", "yes", "yes")
    assert told["sim:kuo-mtron-slc"][2] == "no: always on"
    assert told["a regular file"][1:4] == ("file", "unknown", "unknown")
    assert {row[1] for row in told.values()} >= {"simulated", "file", "raid0", "null"}
    assert differing(access.claims(access.tried(drives))) == []
    # The Transcend has neither cache, and the Intel lets its buffer be switched off.
    other = access.tried(drives, "transcend-slc", fixed="intel-mlc")
    assert differing(access.claims(other)) == [0, 1, 3]


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


def test_pictures_are_written(drives: Drives, tmp_path: Path) -> None:
    makers = (merging.figure_5, chips.figure_8, effective.figure_12, startup.figure_23)
    for maker in makers:
        made: FigureResult = maker(drives, Binder(tmp_path))
        assert made.image is not None
        assert made.image.with_suffix(".png").stat().st_size > 5_000
