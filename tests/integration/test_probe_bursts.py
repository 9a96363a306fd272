"""Deep bursts on drives whose buffers and regions are known."""

from __future__ import annotations

from pathlib import Path
from typing import Any

import numpy as np
import pytest
from tests.integration.small_drives import MIB, opened, probed

from ssdscope.findings import Detected, Finding, Reason, Step
from ssdscope.inference.bursts import falls
from ssdscope.inference.series import Series
from ssdscope.probes.bench.ledger import Bench
from ssdscope.probes.budget import Budget
from ssdscope.probes.buffer import probe as buffer
from ssdscope.probes.buffer.burst_plans import REQUEST_BYTES, RESTED, Deep, of_kind
from ssdscope.probes.buffer.deep import by_bursts
from ssdscope.probes.region import fills
from ssdscope.probes.region.fills import Fills, by_fills
from ssdscope.recovery.generator import draw
from ssdscope.targets import open_target
from ssdscope.targets.device import Device

PROTECTED = {"write_buffer.power_loss_protected": True, "write_buffer.switchable": False}


def by_burst(device: Device) -> Finding:
    """Decide by bursts alone."""
    bench = Bench(device, Budget.parse("default"), 3)
    with bench.allowance(Deep().writes_bytes(bench.info)):
        return by_bursts(bench).finding("write_buffer_bytes", "buffer")


@pytest.mark.parametrize(
    ("preset", "mib"), [("nvme-datacentre", 32), ("nvme-tlc", 32), ("nvme-dramless", 8)]
)
def test_buffers_of_modern_drives_are_told(preset: str, mib: int) -> None:
    found = by_burst(open_target(f"sim:{preset}").device)
    assert isinstance(found, Detected), found
    assert found.value == pytest.approx(mib * MIB, rel=0.1)
    assert found.interval is not None
    assert found.interval[0] <= mib * MIB <= found.interval[1]


@pytest.mark.parametrize("drain", ["eager", "full"])
def test_it_does_not_matter_how_it_is_written_out(tmp_path: Path, drain: str) -> None:
    keys: dict[str, Any] = {
        "nand.blocks_per_plane": 3000,
        "write_buffer.bytes": 3 * MIB,
        "write_buffer.drain": f'"{drain}"',
        **PROTECTED,
    }
    found = by_burst(opened(tmp_path, keys))
    assert isinstance(found, Detected), found
    assert found.value == pytest.approx(3 * MIB, rel=0.1)


def test_a_region_of_one_bit_is_no_buffer(tmp_path: Path) -> None:
    """Its course bends as that of a buffer, and what was written to it is read from flash."""
    keys = {
        "nand.blocks_per_plane": 3000,
        "nand.bits_per_cell": 3,
        "pslc.bytes": 12 * 344_064,
        "pslc.program_ns": 60_000,
    }
    device = opened(tmp_path, keys)
    found = by_burst(device)
    assert not isinstance(found, Detected)


def region(folder: Path, keys: dict[str, Any]) -> Finding:
    """Decide by long bursts alone."""
    many = {"nand.blocks_per_plane": 5000, "nand.bits_per_cell": 3}
    bench = Bench(opened(folder, many, keys), Budget.parse("default"), 3)
    with bench.allowance(Fills().writes_bytes(bench.info)):
        return by_fills(bench)


def test_a_region_is_told_by_long_bursts(tmp_path: Path) -> None:
    bytes_held = 500 * 344_064
    found = region(tmp_path, {"pslc.bytes": bytes_held, "pslc.program_ns": 120_000})
    assert isinstance(found, Detected), found
    assert found.value == pytest.approx(bytes_held, rel=0.1)


@pytest.mark.parametrize("share", [0.16, 0.19])
def test_a_region_above_an_eighth_of_the_drive_is_told(tmp_path: Path, share: float) -> None:
    many = {"nand.blocks_per_plane": 5000, "nand.bits_per_cell": 3, "over_provisioning_ratio": 1.0}
    bytes_held = int(share * opened(tmp_path, many).info.capacity_bytes) // 344_064 * 344_064
    keys = {"pslc.bytes": bytes_held, "pslc.program_ns": 120_000}
    found = probed("region", opened(tmp_path, many, keys), budget="full")["pslc_bytes"]
    assert isinstance(found, Detected), found
    assert found.value == pytest.approx(bytes_held, rel=0.1)


def test_one_that_is_not_emptied_is_no_region_for_certain(tmp_path: Path) -> None:
    keys = {"pslc.bytes": 500 * 344_064, "pslc.program_ns": 120_000, "pslc.fold_when_idle": False}
    assert not isinstance(region(tmp_path, keys), Detected)


def test_where_no_rate_falls_no_region_is_told(tmp_path: Path) -> None:
    found = region(tmp_path, {})
    assert found.reason is Reason.BUDGET_EXHAUSTED


def test_the_times_at_parts_of_a_burst_can_be_read_from_its_rows() -> None:
    """A twin is fitted to them."""
    bench = Bench(open_target("sim:nvme-tlc").device, Budget.parse("default"), 3)
    with bench.allowance(Deep().writes_bytes(bench.info)):
        rows = of_kind(bench.take(Deep()), RESTED)
    one = rows.where(rows.stratum == rows.stratum[0])
    total, until = one.x[-1], one.y.cumsum()
    parts = [float(until[one.x <= total / part][-1]) for part in (8, 4, 2, 1)]
    assert parts == sorted(parts)
    assert total % REQUEST_BYTES == 0
    assert falls(rows).estimate is not None


def test_what_bursts_contradict_is_not_told() -> None:
    """A buffer of 6.9 MB, of which 1.04 MB were told by single blocks."""
    bench = Bench(draw(54002, 8).open(), Budget.parse("full"), 8)
    with bench.allowance(1 << 40):
        found = list(buffer.detect(bench))
    assert [each.reason for each in found] == [Reason.MODEL_MISFIT] * 2


def test_a_slow_start_and_a_dip_are_named() -> None:
    rates = np.repeat([0.5, 2.0, 1.0, 2.0, 0.7], 30)
    shown = fills._exhibit(Series.of(np.arange(1, 151), 1 / rates))
    assert [each.word for each in shown.fitted if isinstance(each, Step)] == [
        "slow start ends", "dips", "is fast again", "full",
    ]  # fmt: skip
