"""The probe `gc_period`: the unit that one place fills, by every way of mapping."""

from __future__ import annotations

from dataclasses import replace
from pathlib import Path
from typing import Any

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

from ssdscope import stats
from ssdscope.findings import Ambiguous, Detected, Evidence, Reason, Undetectable
from ssdscope.probes import gc_period, periods_agree, slow_periods
from ssdscope.probes.overwriting import Granule
from ssdscope.probes.slow_periods import SHORT, taking_turns, train_of, uneven_parts
from ssdscope.probes.slow_writes import THRESHOLDS
from ssdscope.studies.recovery.generator import draw

PAGE = 4096


def period_of(tmp_path: Path, toml: str, **known: Any) -> Any:
    known = {"rmw_unit_bytes": PAGE, "pslc_bytes": None} | known
    return told("gc_period", bench_with(tmp_path, toml, **known))[gc_period.PERIOD]


@pytest.mark.parametrize("noise", ["", NOISE])
@pytest.mark.parametrize(
    ("keys", "blocks"),
    [
        ({"allocation": "order", "planes": 2}, 4),
        ({"allocation": "address"}, 1),
        ({"allocation": "order", "channels": 1, "planes": 3, "pages": 96}, 3),
        ({"allocation": "address", "channels": 3, "more": "reclaim_unit_bytes = 589_824"}, 3),
        ({"allocation": "order", "planes": 2, "policy": "fifo"}, 4),
    ],
)
def test_page_mapped_drives(tmp_path: Path, keys: dict[str, Any], blocks: int, noise: str) -> None:
    """By order a block on every plane is filled; by address what is collected as one."""
    found = period_of(tmp_path, page_mapped(**keys) + noise)
    assert isinstance(found, Detected)
    assert found.value == blocks * keys.get("pages", 48) * PAGE
    assert found.interval is not None
    assert found.interval[0] < found.value < found.interval[1]


@pytest.mark.parametrize("association", ["one-to-one", "many-to-one"])
@pytest.mark.parametrize("pages", [48, 64, 96])
def test_log_blocks(tmp_path: Path, association: str, pages: int) -> None:
    merge = 2 * pages * PAGE
    toml = log_block(association=association, pages=pages, merge=merge) + NOISE
    found = period_of(tmp_path, toml, merge_unit_bytes=merge)
    assert isinstance(found, Detected)
    assert found.value == merge


BURSTS = """
foreign_iops = 40
foreign_bytes = 65_536
foreign_on_ns = 300_000_000
foreign_off_ns = 1_500_000_000
"""


def test_others_leave_enough_between_their_bursts(tmp_path: Path) -> None:
    """Neither filling the drive nor the writes that tell a period fit between two."""
    found = period_of(tmp_path, page_mapped(allocation="order", planes=2) + NOISE + BURSTS)
    assert isinstance(found, Detected)
    assert found.value == 4 * 48 * PAGE


BUFFER = """
[write_buffer]
bytes = 262_144
switchable = {switchable}
power_loss_protected = {protected}
"""


@pytest.mark.parametrize("switchable", ["true", "false"])
def test_a_buffer_is_switched_off_or_flushed(tmp_path: Path, switchable: str) -> None:
    buffer = BUFFER.format(switchable=switchable, protected="false")
    found = period_of(tmp_path, page_mapped(planes=2) + buffer + NOISE)
    assert isinstance(found, Detected)
    assert found.value == 4 * 48 * PAGE


def test_a_protected_buffer_takes_it_all(tmp_path: Path) -> None:
    found = period_of(tmp_path, page_mapped() + BUFFER.format(switchable="false", protected="true"))
    assert isinstance(found, Undetectable)
    assert found.reason is Reason.WRITE_ACKED_FROM_BUFFER


REGION = """
[pslc]
bytes = 786_432
read_ns = 25_000
program_ns = 80_000
fold_when_idle = false
overflow = "fold"
"""


def test_a_region_is_not_taken_for_what_is_behind_it(tmp_path: Path) -> None:
    """Its own blocks come back sooner; that they are moved is what gives it away."""
    toml = page_mapped().replace("[channel]", "bits_per_cell = 3\n[channel]") + REGION
    bench = bench_with(tmp_path, toml, rmw_unit_bytes=PAGE)
    found = told("gc_period", bench)[gc_period.PERIOD]
    assert isinstance(found, Undetectable)
    assert found.reason is Reason.MASKED


@pytest.mark.parametrize("phase", [0, 4096, 8192, 12_288])
def test_an_unknown_unit_is_noticed_where_it_pads(tmp_path: Path, phase: int) -> None:
    """Writes of 4 KiB that each take a unit of 16 would make the period a quarter of what it is.

    Some twice as long take two units each, and seem not to be padded more than those.
    """
    more = f"map_unit_bytes = 16_384\nphase_bytes = {phase}"
    padded = page_mapped(allocation="address", more=more)
    found = told("gc_period", bench_with(tmp_path, padded, pslc_bytes=None))[gc_period.PERIOD]
    assert isinstance(found, Undetectable)


def test_without_a_unit_a_period_is_told_where_nothing_pads(tmp_path: Path) -> None:
    plain = page_mapped(allocation="order", planes=2)
    found = told("gc_period", bench_with(tmp_path, plain, pslc_bytes=None))[gc_period.PERIOD]
    assert isinstance(found, Detected)
    assert found.value == 4 * 48 * PAGE


def test_a_merge_unit_tells_what_pads(tmp_path: Path) -> None:
    """Writes of 4 KiB that each take a unit of 16 fill a log block with a quarter of its size."""
    merge = 2 * 48 * PAGE
    toml = log_block(merge=merge, more="map_unit_bytes = 16_384")
    bench = bench_with(tmp_path, toml + NOISE, pslc_bytes=None, merge_unit_bytes=merge)
    found = told("gc_period", bench)[gc_period.PERIOD]
    assert isinstance(found, Detected), found
    assert found.value == merge


@pytest.mark.parametrize(
    ("sizes", "missed"),
    [([1.0, 2.0], True), ([3.01, 1.0], True), ([2.0, 3.0], False), ([1.0, 5.0], False)],
)
def test_waits_that_one_of_two_places_misses(sizes: list[float], missed: bool) -> None:
    assert periods_agree.waits_were_missed(sizes) is missed


@pytest.mark.parametrize(("apart", "period", "parts"), [(13.5, 27, 2), (6.75, 27, 4), (27, 27, 1)])
def test_waits_that_part_a_period_unevenly(apart: float, period: int, parts: int) -> None:
    slow = np.random.default_rng(1).normal(1, 0.05, 1000)
    slow[(np.arange(5, 990, apart)).astype(int)] = 2.5
    assert uneven_parts(slow, period) == parts


@pytest.mark.parametrize(
    ("sizes", "fill"),
    [([0.125, 0.5], True), ([0.125, 0.4], False), ([1 / 64, 0.5], False)],
)
def test_log_blocks_that_are_filled_with_padded_writes(sizes: list[float], fill: bool) -> None:
    unit, merge = Granule(PAGE, 0, exact=False), 48.0 * PAGE
    assert periods_agree.padded_to([each * merge for each in sizes], merge, unit) is fill


def test_a_merge_unit_tells_periods_of_few_writes(tmp_path: Path) -> None:
    """Of eight units, log blocks of eight writes; without a merge unit so few say nothing."""
    merge = 2 * 48 * PAGE
    toml = log_block(merge=merge, more=f"map_unit_bytes = {merge // 8}") + NOISE
    found = period_of(tmp_path, toml, rmw_unit_bytes=merge // 8, merge_unit_bytes=merge)
    assert isinstance(found, Detected), found
    assert found.value == merge


def test_a_drive_without_collection_has_no_period(tmp_path: Path) -> None:
    found = told("gc_period", bench_with(tmp_path, FLAT))[gc_period.PERIOD]
    assert isinstance(found, Undetectable)


def test_larger_requests_show_what_other_planes_hide(tmp_path: Path) -> None:
    """One page at a time, a plane has erased a block before its turn comes again."""
    toml = page_mapped(allocation="order", channels=8, blocks=60, more="placement_pages = 8")
    assert isinstance(period_of(tmp_path, toml + NOISE), Undetectable)
    found = period_of(tmp_path, toml + NOISE, allocation="order")
    assert isinstance(found, Detected)
    assert found.value == pytest.approx(8 * 48 * PAGE, rel=0.02)


@pytest.mark.parametrize("turns", [1, 2, 3, 4])
def test_waits_that_take_turns(turns: int) -> None:
    """Of planes that are collected in turn each waits as long as its own victims take."""
    rng = np.random.default_rng(3)
    slow = rng.lognormal(0.0, 0.1, 4096)
    waits = np.arange(28, slow.size, 64)
    slow[waits] = np.array([450.0, 130.0, 260.0, 60.0])[np.arange(waits.size) % turns]
    slow[waits] *= rng.lognormal(0.0, 0.2, waits.size)
    assert taking_turns(slow, 64) == turns


@pytest.mark.parametrize("known", [False, True])
def test_waits_of_unlike_length_return_after_a_merge_unit_if_it_is_known(known: bool) -> None:
    """Above the least of three in turn only two are left, which return after three units, too."""
    rng = np.random.default_rng(7)
    slow = rng.lognormal(0.0, 0.1, 2048)
    spikes = rng.random(slow.size) < 0.007
    slow[spikes] *= 1.6
    waits = np.arange(16, slow.size, 48)
    slow[waits] = np.array([3.9, 2.6, 4.1])[np.arange(waits.size) % 3]
    found = slow_periods.period_of(slow, 8192, known_bytes=48 * 8192 * known)
    assert found is not None
    assert found.period == (48 if known else 144)


def test_planes_that_are_collected_half_a_period_apart_leave_it_open(tmp_path: Path) -> None:
    """Two blocks of 768 KiB, each of which waits on its own, exactly after half of both."""
    toml = draw(628_278_615, 0).toml()
    found = period_of(tmp_path, toml, rmw_unit_bytes=12_288, alignment_phase_bytes=4096)
    assert isinstance(found, Ambiguous)
    assert found.candidates == (786_432, 1_572_864)


def test_what_returns_for_half_of_all_waits_must_do_so_in_twice_as_many_writes(
    tmp_path: Path,
) -> None:
    """Four planes are collected in 768 writes, two and two together, 297 and 471 apart."""
    toml = draw(95_389_691, 63).toml()
    found = period_of(tmp_path, toml, rmw_unit_bytes=4096, allocation="order")
    assert isinstance(found, Detected)
    assert found.value == 768 * 4096


def test_what_few_planes_fill_that_have_a_block_to_spare_is_no_period(tmp_path: Path) -> None:
    """Victims are drawn blindly. One plane of 18 waits every 234 writes, until it fills up, too."""
    toml = draw(3_786_344_460, 46).toml()
    found = period_of(tmp_path, toml, rmw_unit_bytes=16_384, seed=46)
    assert isinstance(found, Undetectable)
    assert "again" in (found.evidence.detail or "")


def test_larger_requests_whose_units_go_by_address_are_no_longer_periods(tmp_path: Path) -> None:
    """Four units of a request fill four blocks, three fill three, as often as one would fill one.

    One at a time shows nothing here, and reads show an order, as they may.
    """
    toml = draw(2_357_922_838, 80).toml()
    found = period_of(tmp_path, toml, rmw_unit_bytes=16_384, allocation="order")
    assert isinstance(found, Undetectable)
    assert found.reason is Reason.MODEL_MISFIT
    assert found.evidence.figures["periods_writes"] == (144, 144)


def test_a_region_whose_size_is_not_known_is_filled_as_well(tmp_path: Path) -> None:
    """What others write made its size unsure; writes return as often as it is full."""
    bench = bench_with(tmp_path, page_mapped(allocation="address"), rmw_unit_bytes=PAGE)
    seen = {"flushed_over_rested": 2.8, "paused_over_rested": 1.0, "buffer_bytes": 0.0}
    why = Reason.INTERFERENCE
    bench.known["pslc_bytes"] = Undetectable(
        name="pslc_bytes", probe="pslc", reason=why, evidence=Evidence(figures=seen)
    )
    found = told("gc_period", bench)[gc_period.PERIOD]
    assert isinstance(found, Undetectable)
    assert found.reason is Reason.MASKED


def test_what_may_be_a_region_that_is_always_full_is_filled_as_well(tmp_path: Path) -> None:
    bench = bench_with(tmp_path, page_mapped(allocation="address"), rmw_unit_bytes=PAGE)
    full: dict[str, Any] = {"paused_over_rested": 1.5, "buffer_bytes": 0.0}
    bench.known["pslc_bytes"] = Undetectable(
        name="pslc_bytes", probe="pslc", reason=Reason.MASKED, evidence=Evidence(figures=full)
    )
    found = told("gc_period", bench)[gc_period.PERIOD]
    assert isinstance(found, Undetectable)
    assert found.reason is Reason.MASKED


def test_where_a_drive_merges_log_blocks_are_full(tmp_path: Path) -> None:
    merge = 2 * 48 * PAGE
    known = {"rmw_unit_bytes": PAGE, "merge_unit_bytes": merge}
    bench = bench_with(tmp_path, log_block(merge=merge), **known)
    bench.known["pslc_bytes"] = Undetectable(
        name="pslc_bytes",
        probe="pslc",
        reason=Reason.MASKED,
        evidence=Evidence(figures={"buffer_bytes": 0.0}),
    )
    found = told("gc_period", bench)[gc_period.PERIOD]
    assert isinstance(found, Detected), found
    assert found.value == merge


def test_a_short_period_must_be_of_waits_that_most_rounds_show(tmp_path: Path) -> None:
    """Of ten writes, in which hardly one takes longer than the others: planes of unlike speed."""
    slow = np.random.default_rng(5).lognormal(0.0, 0.1, 4000)
    slow[7::10] *= 1.05
    found = periods_agree.Measured(stats.Recurrence(10, 0.6, 1e-14), slow, PAGE)
    bench = bench_with(tmp_path, page_mapped(), rmw_unit_bytes=PAGE)
    unit = Granule(PAGE, 0, exact=True)
    assert isinstance(periods_agree.judged(bench, unit, [found, found]), Undetectable)
    slow[7::10] *= 2.0
    found = replace(found, latencies_ns=slow)
    assert isinstance(periods_agree.judged(bench, unit, [found, found]), Detected)


@pytest.mark.parametrize("seed", range(3))
def test_what_returns_every_few_writes_makes_no_train_of_several_rounds(seed: int) -> None:
    """Of waits every eight writes two in three show; after any forty most return, too."""
    rng = np.random.default_rng(seed)
    slow = np.ones(20_000)
    waits = slow[3::8]
    waits[rng.random(waits.size) < 0.65] = 1.85
    assert train_of(slow, SHORT, THRESHOLDS) is None
    slow[5::160] = 4.0
    found = train_of(slow, SHORT, THRESHOLDS)
    assert found is not None
    assert found.period == 160
