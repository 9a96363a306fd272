"""The family `collection`: what one place fills, and a block on every plane."""

from __future__ import annotations

from pathlib import Path
from typing import Any

import pytest
from tests.integration.collecting_drives import (
    FLAT,
    NOISE,
    bench_with,
    log_block,
    page_mapped,
    told,
)

from ssdscope.findings import Absent, Detected, Finding, Reason, Undetectable
from ssdscope.probes.bench.ledger import Bench
from ssdscope.probes.collection.probe import PERIOD, RECLAIM

PAGE = 4096
USUAL = {
    "rmw_unit_bytes": PAGE,
    "merge_unit_bytes": None,
    "pslc_bytes": None,
    "map_cache_bytes": None,
}


def both(tmp_path: Path, toml: str, **known: Any) -> dict[str, Finding]:
    return of_blocks(bench_with(tmp_path, toml, **(USUAL | known)))


def of_blocks(bench: Bench) -> dict[str, Finding]:
    """Leave the idle onset out, which has tests of its own."""
    found = told("collection", bench)
    return {name: found[name] for name in (PERIOD, RECLAIM)}


def unknown(bench: Bench, *names: str) -> Bench:
    """Let the usual probes have failed for the buffer."""
    for name in names:
        reason = Reason.PLP_NO_FLUSH_EFFECT
        bench.known[name] = Undetectable(name=name, probe="test", reason=reason)
    return bench


@pytest.mark.parametrize("noise", ["", NOISE])
@pytest.mark.parametrize(
    ("keys", "blocks", "planes"),
    [
        ({"allocation": "order", "planes": 2}, 4, 4),
        ({"allocation": "address"}, 1, 2),
        ({"allocation": "order", "channels": 1, "planes": 3, "pages": 96}, 3, 3),
        ({"allocation": "address", "channels": 3, "more": "reclaim_unit_bytes = 589_824"}, 3, 3),
        ({"allocation": "order", "planes": 2, "policy": "fifo"}, 4, 4),
        ({"allocation": "address", "channels": 3, "pages": 96}, 1, 3),
    ],
)
def test_page_mapped_drives(
    tmp_path: Path, keys: dict[str, Any], blocks: int, planes: int, noise: str
) -> None:
    """By order a block on every plane is filled; by address what is collected as one."""
    found = both(tmp_path, page_mapped(**keys) + noise)
    for name, times in ((PERIOD, blocks), (RECLAIM, planes)):
        each = found[name]
        assert isinstance(each, Detected), each
        assert each.value == pytest.approx(times * keys.get("pages", 48) * PAGE, rel=0.02)
        assert each.interval is not None
        assert each.interval[0] < times * keys.get("pages", 48) * PAGE < each.interval[1]


@pytest.mark.parametrize("association", ["one-to-one", "many-to-one"])
@pytest.mark.parametrize("pages", [48, 96])
def test_log_blocks(tmp_path: Path, association: str, pages: int) -> None:
    """They fill a merge unit, and have no other unit to reclaim."""
    merge = 2 * pages * PAGE
    toml = log_block(association=association, pages=pages, merge=merge) + NOISE
    found = both(tmp_path, toml, merge_unit_bytes=merge)
    assert isinstance(found[PERIOD], Detected)
    assert found[PERIOD].value == pytest.approx(merge, rel=0.02)
    assert isinstance(found[RECLAIM], Absent)


def test_a_merge_unit_that_nothing_bears_out_leaves_it_open(tmp_path: Path) -> None:
    found = both(tmp_path, log_block(), merge_unit_bytes=4 * 48 * PAGE)
    assert isinstance(found[RECLAIM], Undetectable)


@pytest.mark.parametrize("association", ["one-to-one", "many-to-one"])
@pytest.mark.parametrize("noise", ["", NOISE])
def test_log_blocks_are_told_by_streams(tmp_path: Path, association: str, noise: str) -> None:
    """They, too, are erased once per round of writes in order, even if nothing is known of them."""
    toml = log_block(association=association) + noise
    assert isinstance(both(tmp_path, toml)[RECLAIM], Undetectable)
    bench = unknown(bench_with(tmp_path, toml), "rmw_unit_bytes", "merge_unit_bytes")
    assert isinstance(told("collection", bench)[RECLAIM], Undetectable)


BURSTS = """
foreign_iops = 40
foreign_bytes = 65_536
foreign_on_ns = 300_000_000
foreign_off_ns = 1_500_000_000
"""


def test_others_leave_enough_between_their_bursts(tmp_path: Path) -> None:
    found = both(tmp_path, page_mapped(allocation="order", planes=2) + NOISE + BURSTS)[PERIOD]
    assert isinstance(found, Detected)
    assert found.value == pytest.approx(4 * 48 * PAGE, rel=0.02)


BUFFER = """
[write_buffer]
bytes = 262_144
unit_bytes = 4096
switchable = {switchable}
power_loss_protected = {protected}
"""


@pytest.mark.parametrize("switchable", ["true", "false"])
def test_a_buffer_is_switched_off_or_flushed(tmp_path: Path, switchable: str) -> None:
    buffer = BUFFER.format(switchable=switchable, protected="false")
    found = both(tmp_path, page_mapped(planes=2) + buffer + NOISE)[PERIOD]
    assert isinstance(found, Detected)
    assert found.value == pytest.approx(4 * 48 * PAGE, rel=0.02)


def test_a_protected_buffer_takes_one_place(tmp_path: Path) -> None:
    """It is written in memory, and hardly ever reaches the flash."""
    toml = page_mapped() + BUFFER.format(switchable="false", protected="true")
    assert isinstance(both(tmp_path, toml)[PERIOD], Undetectable)


PROTECTED = BUFFER.format(switchable="false", protected="true") + 'drain = "eager"\n'
SORTING = PROTECTED.replace("262_144", "25_165_824").replace('"eager"', '"full"')
SORTING += 'order = "sequential-runs"\n'


@pytest.mark.parametrize("buffer", [PROTECTED, SORTING])
def test_a_round_of_blocks_shows_behind_a_protected_buffer(tmp_path: Path, buffer: str) -> None:
    toml = page_mapped(pages=1024, blocks=120) + buffer
    bench = bench_with(tmp_path, toml, map_cache_bytes=None)
    unknown(bench, "rmw_unit_bytes", "merge_unit_bytes", "pslc_bytes")
    found = told("collection", bench)[RECLAIM]
    assert isinstance(found, Detected), found
    assert found.value == pytest.approx(2 * 1024 * PAGE, rel=0.1)


REGION = """
[pslc]
bytes = 786_432
read_ns = 25_000
program_ns = 80_000
fold_when_idle = false
overflow = "fold"
"""


@pytest.mark.parametrize("known", [None, 786_432])
def test_a_region_is_not_taken_for_what_is_behind_it(tmp_path: Path, known: int | None) -> None:
    """Its own blocks come back sooner; that they are moved is what gives it away."""
    toml = page_mapped().replace("[channel]", "bits_per_cell = 3\n[channel]") + REGION
    for found in both(tmp_path, toml, pslc_bytes=known).values():
        assert isinstance(found, Undetectable)
        assert found.reason is Reason.MASKED


@pytest.mark.parametrize("policy", ["greedy", "random"])
def test_where_there_is_no_region_nothing_folds(tmp_path: Path, policy: str) -> None:
    """Drives that collect blindly copy where data are, and nothing where there are none."""
    found = both(tmp_path, page_mapped(policy=policy) + NOISE)[PERIOD]
    assert not (isinstance(found, Undetectable) and found.reason is Reason.MASKED)


@pytest.mark.parametrize("phase", [0, 4096, 8192, 12_288])
def test_an_unknown_unit_is_noticed_where_it_pads(tmp_path: Path, phase: int) -> None:
    """Writes of 4 KiB that each take a unit of 16 would make a period a quarter of what it is."""
    more = f"map_unit_bytes = 16_384\nphase_bytes = {phase}"
    padded = page_mapped(allocation="address", more=more)
    bench = bench_with(tmp_path, padded, pslc_bytes=None, map_cache_bytes=None)
    for found in of_blocks(bench).values():
        assert isinstance(found, Undetectable) or found.value == pytest.approx(96 * PAGE, rel=0.02)


def test_without_a_unit_a_period_is_told_where_nothing_pads(tmp_path: Path) -> None:
    plain = page_mapped(allocation="order", planes=2)
    found = told("collection", bench_with(tmp_path, plain, pslc_bytes=None))[PERIOD]
    assert isinstance(found, Detected)
    assert found.value == pytest.approx(4 * 48 * PAGE, rel=0.02)


def test_a_drive_without_collection_has_none(tmp_path: Path) -> None:
    for found in both(tmp_path, FLAT).values():
        assert isinstance(found, Undetectable)


def test_what_other_planes_hide_is_told_right_or_not_at_all(tmp_path: Path) -> None:
    """One page at a time, a plane has erased a block before its turn comes again."""
    toml = page_mapped(channels=8, blocks=60, more="placement_pages = 8")
    for found in both(tmp_path, toml + NOISE).values():
        if isinstance(found, Detected):
            assert found.value == pytest.approx(8 * 48 * PAGE, rel=0.02)


ZONES = """
[map]
kind = "zones"
zone_bytes = 1_966_080
resident_zones = 4
load_ns = 1_500_000
write_back_ns = 1_500_000
"""
ON_DEMAND = """
[map]
kind = "demand"
cache_bytes = 16_384
load_bytes = 512
"""


@pytest.mark.parametrize("allocation", ["order", "address"])
@pytest.mark.parametrize(
    ("table", "covered"), [(ZONES, 4 * 1_966_080), (ON_DEMAND, 2048 * PAGE), (ZONES, 0)]
)
def test_parts_of_a_mapping_table_are_no_rounds(
    tmp_path: Path, allocation: str, table: str, covered: int
) -> None:
    """What the table in memory covers is overwritten, or else three streams contradict one."""
    toml = page_mapped(allocation=allocation) + table + NOISE
    found = both(tmp_path, toml, map_cache_bytes=covered or None)[RECLAIM]
    if covered:
        assert isinstance(found, Detected)
    if isinstance(found, Detected):
        assert found.value == pytest.approx(2 * 48 * PAGE, rel=0.02)


def test_it_is_decided_again_without_the_drive(tmp_path: Path) -> None:
    bench = bench_with(tmp_path, page_mapped() + NOISE, **USUAL)
    before = told("collection", bench)
    written = bench.bytes_written
    again = told("collection", bench)
    assert bench.bytes_written == written
    assert [each.value for each in before.values()] == [each.value for each in again.values()]
