"""Small drives for the tests of probes that look at collection, written here key by key."""

from __future__ import annotations

from pathlib import Path
from typing import Any

from ssdscope.findings import Absent, Detected, Finding
from ssdscope.probes import registry, session
from ssdscope.probes.bench.ledger import Bench
from ssdscope.probes.budget import Budget, silent
from ssdscope.targets import open_target

PAGE = """
default_state = "sequential"
over_provisioning_ratio = {spare}
[nand]
channels = {channels}
planes = {planes}
blocks_per_plane = {blocks}
pages_per_block = {pages}
page_bytes = 4096
read_ns = 30_000
program_ns = 250_000
erase_ns = 2_500_000
endurance_erases = 1_000_000
[channel]
ns_per_byte = 5
[gc]
policy = "{policy}"
low_water_ratio = 0.02
min_free_blocks = 3
[ftl]
kind = "page"
allocation = "{allocation}"
{more}
"""
LOG = """
default_state = "sequential"
over_provisioning_ratio = 0.1
[nand]
channels = 2
blocks_per_plane = {blocks}
pages_per_block = {pages}
page_bytes = 4096
read_ns = 30_000
program_ns = 250_000
erase_ns = 2_500_000
endurance_erases = 1_000_000
[channel]
ns_per_byte = 5
[ftl]
kind = "log-block"
merge_unit_bytes = {merge}
log_association = "{association}"
log_blocks = {logs}
{more}
"""
FLAT = """
default_state = "sequential"
over_provisioning_ratio = 0.25
[nand]
channels = 16
blocks_per_plane = 60
pages_per_block = 64
page_bytes = 4096
read_ns = 0
program_ns = 0
erase_ns = 0
endurance_erases = 1_000_000_000
[channel]
ns_per_byte = 0.001
[host]
logical_block_bytes = 4096
command_ns = 100_000
bytes_per_second = 300e6
[ftl]
kind = "page"
[disturbance]
noise_sigma = 0.15
spike_ratio = 0.02
spike_ns = 1_000_000
drift_ratio = 0.3
drift_period_ns = 20_000_000_000
"""
NOISE = """
[disturbance]
noise_sigma = 0.1
spike_ratio = 0.01
spike_ns = 500_000
drift_ratio = 0.2
drift_period_ns = 7_000_000_000
"""


def page_mapped(**keys: Any) -> str:
    """Write a page-mapped drive of some 50 MiB."""
    usual: dict[str, Any] = {
        "spare": 0.3,
        "channels": 2,
        "planes": 1,
        "blocks": 160,
        "pages": 48,
        "policy": "greedy",
        "allocation": "order",
        "more": "",
    }
    return PAGE.format(**(usual | keys))


def log_block(**keys: Any) -> str:
    """Write a drive with log blocks."""
    usual: dict[str, Any] = {
        "blocks": 160,
        "pages": 48,
        "merge": 2 * 48 * 4096,
        "association": "one-to-one",
        "logs": 6,
        "more": "",
    }
    return LOG.format(**(usual | keys))


def bench_with(
    tmp_path: Path, toml: str, state: str | None = None, *, seed: int = 3, **known: Any
) -> Bench:
    """Open a drive on a bench that knows some properties already; None is one that is absent."""
    file = tmp_path / "drive.toml"
    file.write_text(toml)
    bench = Bench(open_target(str(file), state=state, seed=seed).device, Budget.parse("full"), 5)
    for name, value in known.items():
        bench.known[name] = (
            Absent(name=name, probe="test", bound=0.0, reason="for a test")
            if value is None
            else Detected(name=name, probe="test", value=value, interval=None, effect=1.0)
        )
    return bench


def told(name: str, bench: Bench) -> dict[str, Finding]:
    """Run a probe; give its findings by property, and hold it to what it declared."""
    probe = registry.every()[name]
    findings = {each.name: each for each in session._of_one(probe, bench, silent)}
    assert set(findings) == set(probe.properties)
    assert bench.bytes_written <= probe.planned_writes_bytes(bench.info)
    return findings
