"""The probe `reclaim_unit`: a block on every plane, whatever is collected as one."""

from __future__ import annotations

from dataclasses import replace
from pathlib import Path
from typing import Any
from unittest.mock import Mock

import numpy as np
import pytest
from tests.integration.collecting_drives import (
    FLAT,
    NOISE,
    bench_with,
    log_block,
    page_mapped,
    told,
)

from ssdscope.findings import Absent, Detected, Evidence, Finding, Reason, Undetectable
from ssdscope.probes import many_streams, reclaim_unit
from ssdscope.probes.overwriting import HIDDEN, Granule
from ssdscope.studies.recovery.generator import draw

PAGE = 4096


def found_on(tmp_path: Path, toml: str, **known: Any) -> Finding:
    usual = {
        "rmw_unit_bytes": PAGE,
        "merge_unit_bytes": None,
        "pslc_bytes": None,
        "map_cache_bytes": None,
    }
    return told("reclaim_unit", bench_with(tmp_path, toml, **(usual | known)))[reclaim_unit.RECLAIM]


@pytest.mark.parametrize("noise", ["", NOISE])
@pytest.mark.parametrize(
    ("keys", "planes"),
    [
        ({"allocation": "address"}, 2),
        ({"allocation": "order", "planes": 2}, 4),
        ({"allocation": "address", "channels": 3, "pages": 96}, 3),
        ({"allocation": "address", "policy": "fifo"}, 2),
        ({"allocation": "address", "channels": 4, "more": "reclaim_unit_bytes = 393_216"}, 4),
    ],
)
def test_a_block_on_every_plane(
    tmp_path: Path, keys: dict[str, Any], planes: int, noise: str
) -> None:
    found = found_on(tmp_path, page_mapped(**keys) + noise)
    assert isinstance(found, Detected)
    assert found.value == pytest.approx(planes * keys.get("pages", 48) * PAGE, rel=0.02)
    assert found.interval is not None
    assert found.interval[0] < found.value < found.interval[1]


def test_it_is_a_multiple_of_what_one_place_fills(tmp_path: Path) -> None:
    """A finding of `gc_period` that contradicts what is seen leaves no answer."""
    one_block = 48 * PAGE
    found = found_on(tmp_path, page_mapped(allocation="address"), gc_period_bytes=one_block)
    assert isinstance(found, Detected)
    assert found.value == 2 * one_block
    odd = found_on(tmp_path, page_mapped(allocation="address"), gc_period_bytes=1.4 * one_block)
    assert isinstance(odd, Undetectable)


def test_less_than_a_block_on_every_die_is_a_stripe(tmp_path: Path) -> None:
    few, many = (
        found_on(tmp_path, page_mapped(allocation="address"), interleave_degree=dies)
        for dies in (2, 8)
    )
    assert isinstance(few, Detected)
    assert isinstance(many, Undetectable)


def test_log_blocks_have_none(tmp_path: Path) -> None:
    merge = 2 * 48 * PAGE
    assert isinstance(found_on(tmp_path, log_block(), merge_unit_bytes=merge), Absent)
    for contradiction in ({"gc_period_bytes": 1.4 * merge}, {"pslc_bytes": 1 << 20}):
        found = found_on(tmp_path, log_block(), merge_unit_bytes=merge, **contradiction)
        assert isinstance(found, Undetectable)


def test_a_merge_unit_that_may_have_been_overlooked_leaves_it_open(tmp_path: Path) -> None:
    known = {"rmw_unit_bytes": PAGE, "pslc_bytes": None, "map_cache_bytes": None}
    for reason, way in ((Reason.EFFECT_BELOW_NOISE, Undetectable), (HIDDEN[0], Detected)):
        bench = bench_with(tmp_path, page_mapped(allocation="address"), **known)
        merge = Undetectable(name="merge_unit_bytes", probe="test", reason=reason)
        bench.known[merge.name] = merge
        found = told("reclaim_unit", bench)[reclaim_unit.RECLAIM]
        assert isinstance(found, way)


@pytest.mark.parametrize("association", ["one-to-one", "many-to-one"])
@pytest.mark.parametrize("rmw_unit", [None, PAGE, 2 * PAGE])
def test_log_blocks_are_told_by_streams(
    tmp_path: Path, association: str, rmw_unit: int | None
) -> None:
    """They, too, are erased once per round of writes in order, even if nothing is known of them."""
    known = (
        {} if rmw_unit is None else {"rmw_unit_bytes": rmw_unit, "gc_period_bytes": 2 * 48 * PAGE}
    )
    bench = bench_with(tmp_path, log_block(association=association) + NOISE, **known)
    assert isinstance(told("reclaim_unit", bench)[reclaim_unit.RECLAIM], Undetectable)


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
    one_place = 48 * PAGE * (2 if allocation == "order" else 1)
    known = {"map_cache_bytes": covered or None, "gc_period_bytes": one_place}
    found = found_on(tmp_path, page_mapped(allocation=allocation) + table + NOISE, **known)
    if covered:
        assert isinstance(found, Detected)
    if isinstance(found, Detected):
        assert found.value == pytest.approx(2 * 48 * PAGE, rel=0.02)


@pytest.mark.parametrize("full", [False, True])
def test_a_region_masks_it_even_one_that_may_always_be_full(tmp_path: Path, full: bool) -> None:
    bench = bench_with(tmp_path, page_mapped(), merge_unit_bytes=None, pslc_bytes=1 << 20)
    if full:
        never = {"paused_over_rested": 1.5}
        why = Reason.MASKED
        hidden = Undetectable(
            name="pslc_bytes", probe="pslc", reason=why, evidence=Evidence(figures=never)
        )
        bench.known["pslc_bytes"] = hidden
    refused = told("reclaim_unit", bench)[reclaim_unit.RECLAIM]
    assert isinstance(refused, Undetectable)
    assert refused.reason is Reason.MASKED


def test_larger_requests_show_what_other_planes_hide(tmp_path: Path) -> None:
    """One page at a time, a plane has erased a block before its turn comes again."""
    toml = page_mapped(channels=8, blocks=60, more="placement_pages = 8")
    found = found_on(tmp_path, toml + NOISE)
    assert isinstance(found, Detected)
    assert found.value == pytest.approx(8 * 48 * PAGE, rel=0.02)


@pytest.mark.parametrize("probe", ["reclaim_unit", "open_units", "spare"])
def test_log_blocks_that_were_overlooked_are_noticed(tmp_path: Path, probe: str) -> None:
    """Even where a merge unit was said to be absent."""
    known = {"rmw_unit_bytes": PAGE, "merge_unit_bytes": None, "pslc_bytes": None}
    for finding in told(probe, bench_with(tmp_path, log_block() + NOISE, **known)).values():
        assert isinstance(finding, Undetectable)


def test_a_drive_without_collection_has_none(tmp_path: Path) -> None:
    assert isinstance(found_on(tmp_path, FLAT), Undetectable)


def test_on_a_large_drive_the_passes_do_not_grow_with_it(tmp_path: Path) -> None:
    info = replace(bench_with(tmp_path, page_mapped()).info, capacity_bytes=32 << 30)
    larger = replace(info, capacity_bytes=64 << 30)
    # Beside those that may have to show before that nothing is merged.
    first, second = (
        reclaim_unit.declared_writes_bytes(each) - many_streams.declared_writes_bytes(each)
        for each in (info, larger)
    )
    assert second - first == pytest.approx(2.2 * (32 << 30))
    assert first < 4.5 * info.capacity_bytes


@pytest.mark.parametrize(
    ("share", "within", "told_bytes"),
    [(0.3, 1 << 22, 1 << 22), (0.3, 3 << 22, 3 << 22), (0.6, 1 << 22, 3 << 22), (0.3, None, None)],
)
def test_several_rounds_are_one_only_if_they_return_often(
    tmp_path: Path,
    monkeypatch: pytest.MonkeyPatch,
    share: float,
    within: float | None,
    told_bytes: float | None,
) -> None:
    """Planes that went out of step return after several rounds, too, though less often."""
    bench = bench_with(tmp_path, page_mapped(), rmw_unit_bytes=PAGE)
    rounds = reclaim_unit.Rounds(bench, Granule(PAGE, 0, True), 1 << 40)

    def written(size: int, _depth: int, about: float | None) -> reclaim_unit.Written:
        period, often = (3 << 22, share) if about in (None, 3 << 22) else (1 << 22, 0.9)
        slow = np.where(np.arange(100_000) % 1024 == 0, 1000.0, 1.0)
        return reclaim_unit.Written(period, often, slow, size, 1.0)

    monkeypatch.setattr(rounds, "written", written)
    found = reclaim_unit._attempt(rounds, PAGE, 1, within)
    assert (None if found is None else found.value) == told_bytes


@pytest.mark.parametrize(("wait_ns", "told"), [(100_000, False), (900_000, True)])
def test_what_costs_less_than_an_erase_is_a_stripe(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, wait_ns: float, *, told: bool
) -> None:
    bench = bench_with(tmp_path, page_mapped(), rmw_unit_bytes=PAGE)
    rounds = reclaim_unit.Rounds(bench, Granule(PAGE, 0, True), 1 << 40)

    def written(size: int, _depth: int, _about: float | None) -> reclaim_unit.Written:
        slow = np.where(np.arange(4800) % 48 == 0, 1 + wait_ns / (1000 * size), 1.0)
        return reclaim_unit.Written(48.0 * size, 0.9, slow, size, 1000.0)

    monkeypatch.setattr(rounds, "written", written)
    assert (reclaim_unit._attempt(rounds, PAGE, 1, None) is not None) is told


def test_what_only_several_at_once_show_is_a_stripe(tmp_path: Path) -> None:
    bench = bench_with(tmp_path, page_mapped(), rmw_unit_bytes=PAGE)
    alone = {"request_bytes": 8 * PAGE, "depth": 1, "streams": 1, "period_bytes": 6e6}
    together = {"request_bytes": PAGE, "depth": 4, "streams": 1, "period_bytes": 5e5}
    rounds = reclaim_unit.Rounds(bench, Granule(PAGE, 0, True), 1 << 40, [alone, together])
    assert reclaim_unit._alone_bytes(rounds) == [6e6]


@pytest.mark.parametrize(("dies", "alone", "several"), [(None, 1, 32), (8, 8, 8)])
def test_of_dies_that_were_not_found_there_may_be_many(
    tmp_path: Path, dies: int | None, alone: int, several: int
) -> None:
    """A stripe of 64 KiB was told, as long as the smallest block of a single die."""
    known = {} if dies is None else {"interleave_degree": dies}
    bench = bench_with(tmp_path, page_mapped(), **known)
    assert reclaim_unit._least_bytes(bench, may_be_stripe=False) == alone << 16
    assert reclaim_unit._least_bytes(bench, may_be_stripe=True) == several << 16


@pytest.mark.parametrize("probe", ["reclaim_unit", "spare"])
def test_a_buffer_that_cuts_units_leaves_it_open(tmp_path: Path, probe: str) -> None:
    """It lets go at once of what has come, and one unit in eight is written in two parts.

    Single units need no cutting. They fill 48 MiB, and use up 39.7 % of the capacity: an eighth
    more than it takes in longer requests.
    """
    known = {"alignment_phase_bytes": 0, "map_cache_bytes": None}
    bench = bench_with(tmp_path, draw(1_915_137_126, 27).toml(), **known)
    for name, why in {
        "merge_unit_bytes": Reason.PLP_NO_FLUSH_EFFECT,
        "write_buffer_bytes": Reason.PLP_NO_FLUSH_EFFECT,
        "pslc_bytes": Reason.MASKED,
    }.items():
        bench.known[name] = Undetectable(name=name, probe="test", reason=why)
    bench.known["rmw_unit_bytes"] = Detected(
        name="rmw_unit_bytes",
        probe="test",
        value=32_768,
        interval=None,
        effect=1.0,
        evidence=Evidence(figures={"by": "reads"}),
    )
    for found in told(probe, bench).values():
        assert isinstance(found, Undetectable), found


def test_so_does_one_that_takes_them_in_parts_that_are_not_certain(tmp_path: Path) -> None:
    """It holds some 19 blocks, of four or so in an RMW unit, and long requests run through it."""
    known = {"rmw_unit_bytes": 16_384, "alignment_phase_bytes": 0, "allocation": "order"}
    bench = bench_with(tmp_path, draw(95_389_691, 33).toml(), **known, pslc_bytes=None)
    for name in ("write_buffer_bytes", "write_buffer_unit_bytes"):
        why = Reason.EFFECT_BELOW_NOISE
        bench.known[name] = Undetectable(name=name, probe="test", reason=why)
    sizes = {size for _, size in reclaim_unit._attempts(bench, Granule(16_384, 0, True))}
    assert sizes == {16_384}
    found = told("spare", bench)["over_provisioning_ratio"]
    assert isinstance(found, Undetectable) or found.value == pytest.approx(0.2537, rel=0.1), found


@pytest.mark.parametrize(("share", "told"), [(0.93, True), (0.3, False)])
def test_a_part_of_what_returned_more_clearly_is_no_round(share: float, told: bool) -> None:
    """Planes out of step wait in turn, once in a third of a round each."""
    periods = [
        {"period_bytes": None, "returning_share": 0.0},
        {"period_bytes": 14_155_776.0, "returning_share": share},
        {"period_bytes": 4_718_592.0, "returning_share": 0.43},
    ]
    rounds = Mock(periods=periods)
    assert reclaim_unit._part_of_clearer(rounds, 4_718_592.0, 0.43) is told
