"""The family `region` on drives with and without blocks written with one bit per cell."""

from __future__ import annotations

from pathlib import Path
from typing import Any

import pytest
from tests.integration.small_drives import FLAT, KIB, LOG_BLOCK, NOISE, opened, probed

from ssdscope.findings import Absent, Detected, Reason, Undetectable
from ssdscope.probes.bench.ledger import Bench
from ssdscope.probes.budget import Budget
from ssdscope.probes.region import probe as family
from ssdscope.probes.session import run
from ssdscope.recovery.generator import draw
from ssdscope.targets.drive_writer import open_drive

PLANES, PAGE_BYTES = 4, 4096


def a_region(blocks: int, overflow: str, **more: Any) -> dict[str, Any]:
    """So many blocks of 21 pages on each of four planes."""
    return {
        "nand.blocks_per_plane": 700,
        "nand.bits_per_cell": 3,
        "over_provisioning_ratio": 0.3,
        "pslc.bytes": blocks * PLANES * 21 * PAGE_BYTES,
        "pslc.program_ns": 120_000,
        "pslc.overflow": f'"{overflow}"',
    } | {f"pslc.{name}": value for name, value in more.items()}


@pytest.mark.parametrize("overflow", ["fold", "direct"])
@pytest.mark.parametrize(("blocks", "noise"), [(24, {}), (40, NOISE)])
def test_the_region_is_found(
    tmp_path: Path, overflow: str, blocks: int, noise: dict[str, Any]
) -> None:
    keys = a_region(blocks, overflow)
    found = probed("region", opened(tmp_path, keys, noise))["pslc_bytes"]
    assert isinstance(found, Detected), found
    assert found.value == pytest.approx(keys["pslc.bytes"], rel=0.08)
    assert found.interval is not None
    assert found.interval[0] <= keys["pslc.bytes"] <= found.interval[1]


def test_units_that_begin_anywhere_are_filled_whole(tmp_path: Path) -> None:
    units = {"ftl.map_unit_bytes": 32 * KIB, "ftl.phase_bytes": 4 * KIB, "nand.pages_per_block": 96}
    keys = a_region(24, "direct") | {"pslc.bytes": 24 * PLANES * 32 * PAGE_BYTES}
    every = run(["units", "region"], opened(tmp_path, keys, units), Budget.parse("full"), 1)
    found = next(each for each in every if each.name == "pslc_bytes")
    assert isinstance(found, Detected), found
    assert found.value == pytest.approx(keys["pslc.bytes"], rel=0.08)


def test_a_buffer_is_no_region(tmp_path: Path) -> None:
    """As large as a region, but a flush makes it fast again."""
    buffer = {"write_buffer.bytes": 8192 * KIB, "write_buffer.switchable": False}
    found = probed("region", opened(tmp_path, buffer))["pslc_bytes"]
    assert isinstance(found, Undetectable | Absent), found


def test_a_buffer_that_can_be_switched_off_does_not_matter(tmp_path: Path) -> None:
    keys = a_region(24, "direct")
    found = probed("region", opened(tmp_path, keys, {"write_buffer.bytes": 1024 * KIB}))[
        "pslc_bytes"
    ]
    assert isinstance(found, Detected), found
    assert found.value == pytest.approx(keys["pslc.bytes"], rel=0.08)


def test_a_buffer_that_stays_on_is_passed_by_forced_writes(tmp_path: Path) -> None:
    """As large as the region, it would hide that; writes must hold whole units for this."""
    keys = a_region(24, "direct") | {"ftl.map_unit_bytes": 16 * KIB}
    buffer = {"write_buffer.bytes": 8192 * KIB, "write_buffer.switchable": False}
    device = opened(tmp_path, keys, buffer)
    found = {each.name: each for each in run(["units", "region"], device, Budget.parse("full"), 1)}
    size = found["pslc_bytes"]
    assert isinstance(size, Detected), size
    assert size.value == pytest.approx(keys["pslc.bytes"], rel=0.08)


def test_a_small_region_is_told_in_single_units(tmp_path: Path) -> None:
    keys = a_region(2, "direct") | {"ftl.map_unit_bytes": 16 * KIB}
    found = run(["units", "region"], opened(tmp_path, keys, NOISE), Budget.parse("full"), 1)
    size = next(each for each in found if each.name == "pslc_bytes")
    assert isinstance(size, Detected), size
    assert size.value == pytest.approx(keys["pslc.bytes"], rel=0.1)


def test_a_region_that_is_always_full_is_not_told(tmp_path: Path) -> None:
    keys = a_region(8, "fold", fold_when_idle=False)
    found = probed("region", opened(tmp_path, keys))["pslc_bytes"]
    assert not isinstance(found, Detected), found


@pytest.mark.parametrize("kind", [{}, LOG_BLOCK, FLAT])
@pytest.mark.parametrize("noise", [{}, NOISE])
def test_without_a_region_nothing_is_found(
    tmp_path: Path, kind: dict[str, Any], noise: dict[str, Any]
) -> None:
    """Neither spare space running out nor log blocks are taken for one."""
    found = probed("region", opened(tmp_path, kind, noise))["pslc_bytes"]
    assert not isinstance(found, Detected), found


@pytest.mark.parametrize("off_ns", [2_100_000_000, 20_000_000_000])
def test_what_others_write_in_a_pause_takes_no_room(tmp_path: Path, off_ns: int) -> None:
    """Blocks that they begin, and do not fill, are not there for the stretch behind the pause."""
    others = {
        "disturbance.foreign_iops": 50,
        "disturbance.foreign_bytes": 16_384,
        "disturbance.foreign_write_ratio": 0.5,
        "disturbance.foreign_on_ns": 400_000_000,
        "disturbance.foreign_off_ns": off_ns,
        "gc.idle_ns": 500_000_000,
    }
    keys = a_region(3, "fold") | others | {"host.logical_block_bytes": 4096}
    device = opened(tmp_path, keys, {"ftl.map_unit_bytes": 4096})
    bench = Bench(device, Budget.parse("full"), 1)
    about: dict[str, Any] = {"name": "rmw_unit_bytes", "probe": "units"}
    bench.known["rmw_unit_bytes"] = Absent(bound=4096.0, reason="for a test", **about)
    with bench.allowance(device.info.capacity_bytes):
        (found,) = family.detect(bench)
    assert isinstance(found, Detected) or off_ns < 20_000_000_000, found
    if isinstance(found, Detected):
        assert found.value == pytest.approx(keys["pslc.bytes"], rel=0.05)


def test_a_search_cut_short_shows_no_absence(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    """On a large simulated drive, unless the budget is full."""
    monkeypatch.setattr(family, "MOST_BYTES", 16 << 20)
    device = opened(tmp_path, {})
    (short,) = run(["region"], device, Budget.parse("default"), 1)
    assert isinstance(short, Undetectable), short
    assert short.reason is Reason.BUDGET_EXHAUSTED
    (whole,) = run(["region"], device, Budget.parse("full"), 1)
    assert isinstance(whole, Absent), whole


def test_a_region_that_folds_seldom_is_not_absent() -> None:
    """One of 38 MB waits one request in some twenty from then on: 16 % in the mean, and no more."""
    device = open_drive(draw(3018370720, 113).toml(), "drawn", 113)
    names = ["table", "units", "region"]
    found = {each.name: each for each in run(names, device, Budget.parse("full"), 113)}
    assert not isinstance(found["pslc_bytes"], Absent), found["pslc_bytes"]
