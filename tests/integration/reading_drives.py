"""Drives for probes that only read: a file of keys, opened, and a probe that must not write."""

from __future__ import annotations

from collections.abc import Mapping

from ssdscope.findings import Finding
from ssdscope.probes.asking import answers
from ssdscope.probes.bench.ledger import Bench
from ssdscope.probes.budget import Budget
from ssdscope.probes.info import ProbeInfo
from ssdscope.targets import Device
from ssdscope.targets.drive_writer import Value, drive_toml, open_drive

BASE: dict[str, Value] = {
    "default_state": "sequential",
    "over_provisioning_ratio": 0.25,
    "nand.pages_per_block": 64,
    "nand.page_bytes": 4096,
    "nand.read_ns": 40_000,
    "nand.program_ns": 300_000,
    "nand.erase_ns": 1_500_000,
    "channel.ns_per_byte": 4.0,
    "host.bytes_per_second": 300e6,
    "host.command_ns": 10_000,
    "ftl.kind": "page",
}


def drive(base: Mapping[str, Value], changes: Mapping[str, Value]) -> Device:
    """Open a drive of `BASE`, more keys, and changes whose names have ``__`` for the dot."""
    keys = {name.replace("__", "."): value for name, value in changes.items()}
    return open_drive(drive_toml({**BASE, **base, **keys}, []), "drive", 1)


def told(probe: ProbeInfo, device: Device, seed: int = 1) -> dict[str, Finding]:
    """Run a probe; it answers all that it lists, and writes nothing."""
    bench = Bench(device, Budget.parse("default"), seed)
    before = device.counters()
    found = {each.name: each for each in answers(probe, bench, bench)}
    after = device.counters()
    assert before is not None
    assert after is not None
    assert after["host_bytes_written"] == before["host_bytes_written"]
    assert bench.bytes_written == 0
    assert set(found) == set(probe.properties)
    return found
