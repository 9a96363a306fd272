"""Small drives that probes are tried on: a drive file from keys, opened, and one probe run."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

from ssdscope.findings import Finding
from ssdscope.probes import registry, session
from ssdscope.probes.budget import Budget
from ssdscope.targets import Device, open_target

if TYPE_CHECKING:
    from pathlib import Path

KIB, MIB = 1024, 1024 * 1024

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
LOG_BLOCK = {"ftl.kind": '"log-block"', "ftl.merge_unit_bytes": MIB, "ftl.log_blocks": 5}
NOISE = {
    "disturbance.noise_sigma": 0.1,
    "disturbance.spike_ratio": 0.01,
    "disturbance.spike_ns": 1_000_000,
}
FLAT = {
    "nand.read_ns": 0,
    "nand.program_ns": 0,
    "nand.erase_ns": 0,
    "channel.ns_per_byte": 0.001,
}


def opened(folder: Path, *parts: dict[str, Any], seed: int = 1) -> Device:
    """Write the drive file with the keys of `BASE` and of the parts, and open it."""
    tables: dict[str, dict[str, Any]] = {"": {}}
    merged = dict(BASE)
    for part in parts:
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
    return open_target(str(file), seed=seed).device


def probed(
    probe: str, device: Device, seed: int = 1, budget: str = "default"
) -> dict[str, Finding]:
    """Run a probe; every property is answered, and no more is written than was declared."""
    info = registry.every()[probe]
    planned = info.planned_writes_bytes(device.info, full=Budget.parse(budget).heavy)
    found = {each.name: each for each in session.run([probe], device, Budget.parse(budget), seed)}
    assert set(found) == set(info.properties)
    assert all(finding.bytes_written <= planned for finding in found.values())
    return found
