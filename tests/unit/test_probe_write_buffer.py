"""The probe `write_buffer` on drives whose buffer is known, because they are written here."""

from __future__ import annotations

from pathlib import Path
from typing import Any

import pytest

from ssdscope import probes
from ssdscope.probes import Absent, Budget, Detected, Finding, Reason, Undetectable
from ssdscope.targets import open_target

DEFAULT = Budget.parse("default")
KIB = 1024

BASE: dict[str, Any] = {
    "over_provisioning_ratio": 0.15,
    "default_state": '"sequential"',
    "nand.channels": 2,
    "nand.ways": 2,
    "nand.blocks_per_plane": 300,
    "nand.pages_per_block": 64,
    "nand.page_bytes": 4096,
    "nand.read_ns": 40_000,
    "nand.program_ns": 400_000,
    "nand.erase_ns": 2_000_000,
    "channel.ns_per_byte": 5.0,
    "host.bytes_per_second": 300e6,
    "host.command_ns": 10_000,
    "ftl.kind": '"page"',
}
LOG_BLOCK = {"ftl.kind": '"log-block"', "ftl.merge_unit_bytes": 1024 * KIB, "ftl.log_blocks": 5}
NOISE = {
    "disturbance.noise_sigma": 0.1,
    "disturbance.spike_ratio": 0.01,
    "disturbance.spike_ns": 1_000_000,
}


def probed(folder: Path, seed: int = 1, **changes: dict[str, Any]) -> dict[str, Finding]:
    """Write the drive file, open it, probe it."""
    tables: dict[str, dict[str, Any]] = {"": {}}
    merged = dict(BASE)
    for part in changes.values():
        merged |= part
    for key, value in merged.items():
        table, _, name = key.rpartition(".")
        word = str(value).lower() if isinstance(value, bool) else value
        tables.setdefault(table, {})[name] = word
    lines = [f"{name} = {value}" for name, value in tables.pop("").items()]
    for table, keys in tables.items():
        lines += [f"[{table}]", *(f"{name} = {value}" for name, value in keys.items())]
    file = folder / "drive.toml"
    file.write_text("\n".join(lines), encoding="utf-8")
    device = open_target(str(file), seed=seed).device
    planned = probes.registry()["write_buffer"].planned_writes_bytes(device.info)
    found = {
        finding.name: finding for finding in probes.run(["write_buffer"], device, DEFAULT, seed)
    }
    assert set(found) == {"write_buffer_bytes", "write_buffer_unit_bytes"}
    assert all(finding.bytes_written <= planned for finding in found.values())
    return found


def buffer(kib: int, unit_kib: int, drain: str, **more: Any) -> dict[str, Any]:
    return {
        "write_buffer.bytes": kib * KIB,
        "write_buffer.unit_bytes": unit_kib * KIB,
        "write_buffer.drain": f'"{drain}"',
    } | {f"write_buffer.{name}": value for name, value in more.items()}


def assert_found(found: dict[str, Finding], kib: int, unit_kib: int) -> None:
    size, unit = found["write_buffer_bytes"], found["write_buffer_unit_bytes"]
    assert isinstance(size, Detected), size
    assert isinstance(unit, Detected), unit
    assert unit.value == unit_kib * KIB
    assert size.value == pytest.approx(kib * KIB, rel=0.05)
    assert size.interval is not None
    assert size.interval[0] <= kib * KIB <= size.interval[1]


@pytest.mark.parametrize("drain", ["eager", "full", "high-water", "idle"])
@pytest.mark.parametrize(("kib", "unit_kib"), [(128, 8), (1500, 12)])
def test_size_and_unit_are_found_however_it_drains(
    tmp_path: Path, drain: str, kib: int, unit_kib: int
) -> None:
    found = probed(tmp_path, drive=buffer(kib, unit_kib, drain))
    assert_found(found, kib, unit_kib)


@pytest.mark.parametrize("drain", ["eager", "full"])
def test_noise_spikes_and_log_blocks_do_not_matter(tmp_path: Path, drain: str) -> None:
    found = probed(tmp_path, drive=LOG_BLOCK, noise=NOISE, buffer=buffer(384, 16, drain))
    assert_found(found, 384, 16)


@pytest.mark.parametrize("drain", ["eager", "full", "high-water", "idle"])
def test_a_protected_buffer_is_found_by_throughput(tmp_path: Path, drain: str) -> None:
    """What a flush and a pause leave is discarded; the answer says so."""
    keys = buffer(512, 16, drain, power_loss_protected=True, switchable=False)
    found = probed(tmp_path, drive=keys)
    assert_found(found, 512, 16)
    assert any(
        "plp_no_flush_effect" in each for each in found["write_buffer_bytes"].evidence["cautions"]
    )


def test_a_drive_without_buffer_says_absent(tmp_path: Path) -> None:
    for finding in probed(tmp_path).values():
        assert isinstance(finding, Absent)


def test_a_buffer_that_drains_faster_than_it_fills_is_not_told(tmp_path: Path) -> None:
    fast = {"nand.program_ns": 1_000, "nand.read_ns": 1_000, "channel.ns_per_byte": 0.1}
    found = probed(tmp_path, drive=fast, buffer=buffer(256, 4, "eager"))
    for finding in found.values():
        assert isinstance(finding, Undetectable)
        assert finding.reason in (Reason.EFFECT_BELOW_NOISE, Reason.PLP_NO_FLUSH_EFFECT)


def test_the_ata_request_limit_is_a_caution(tmp_path: Path) -> None:
    found = probed(tmp_path, drive=buffer(128, 16, "idle"))
    cautions = found["write_buffer_bytes"].evidence["cautions"]
    assert any("ATA request limit" in each for each in cautions)


def test_slow_pages_behind_a_fast_region_are_no_buffer(tmp_path: Path) -> None:
    region = {
        "nand.bits_per_cell": 3,
        "pslc.bytes": 3 * 4 * 21 * 4096,
        "pslc.program_ns": 100_000,
        "over_provisioning_ratio": 0.3,
    }
    found = probed(tmp_path, drive=region, buffer=buffer(256, 8, "full"))
    assert_found(found, 256, 8)
