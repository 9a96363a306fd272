"""Drives for probes that ask where data lie: chips, blocks and firmware are given."""

from __future__ import annotations

from pathlib import Path

from ssdscope.findings import Absent
from ssdscope.probes.budget import Budget
from ssdscope.targets import Device, open_target

DRIVE = """
over_provisioning_ratio = {spare}
[nand]
channels = {channels}
planes = {planes}
blocks_per_plane = {blocks}
pages_per_block = 64
page_bytes = 4096
{more}read_ns = 50_000
program_ns = 400_000
erase_ns = 2_000_000
[channel]
ns_per_byte = 2
[host]
bytes_per_second = 2e9
command_ns = 1000
queue_depth = {depth}
[ftl]
{ftl}
[disturbance]
noise_sigma = 0.05
spike_ratio = 0.005
spike_ns = 500_000
"""
PLAIN = {"channels": 4, "planes": 1, "blocks": 400, "depth": 64, "more": "", "spare": "0.25"}
DEFAULT = Budget.parse("default")
PAGE_MAPPED = Absent(name="merge_unit_bytes", probe="test", bound=0, reason="page-mapped")


def drive(folder: Path, ftl: str, **changes: int | str) -> Device:
    file = folder / "drive.toml"
    file.write_text(DRIVE.format(**PLAIN | changes, ftl=ftl), encoding="utf-8")
    return open_target(str(file), seed=1).device
