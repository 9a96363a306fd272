"""What is read beside another user whose few writes keep the drive busy long after."""

from __future__ import annotations

from typing import Any

import numpy as np
import pytest

from ssdscope.findings import Detected, Finding
from ssdscope.probes.bench.ledger import Bench
from ssdscope.probes.budget import Budget
from ssdscope.probes.latency import probe as latency
from ssdscope.probes.latency import queue_depth
from ssdscope.probes.plan import Stopped
from ssdscope.targets import Device
from ssdscope.targets.drive_writer import Value, drive_toml, open_drive

DRIVE: dict[str, Value] = {
    "default_state": "sequential",
    "over_provisioning_ratio": 0.15,
    "nand.channels": 1,
    "nand.pages_per_block": 128,
    "nand.page_bytes": 4096,
    "nand.blocks_per_plane": 600,
    "nand.read_ns": 68_000,
    "nand.program_ns": 900_000,
    "nand.erase_ns": 2_400_000,
    "channel.ns_per_byte": 1.2,
    "host.bytes_per_second": 300e6,
    "host.queue_depth": 32,
    "ftl.kind": "log-block",
    "ftl.merge_unit_bytes": 524_288,
    "ftl.log_blocks": 20,
    "ftl.log_association": "one-to-one",
    "disturbance.noise_sigma": 0.05,
}
WRITER: dict[str, Value] = {
    "disturbance.foreign_iops": 49,
    "disturbance.foreign_bytes": 4096,
    "disturbance.foreign_write_ratio": 0.3,
    "disturbance.foreign_on_ns": 670_000_000,
    "disturbance.foreign_off_ns": 4_600_000_000,
}


def opened(drive: dict[str, Value]) -> tuple[Bench, Device]:
    device: Device = open_drive(drive_toml(drive, []), "drive", 1)
    return Bench(device, Budget.parse("default"), 1), device


def told(drive: dict[str, Value]) -> dict[str, Finding]:
    return {each.name: each for each in latency.detect(opened(drive)[0])}


def test_merges_that_others_cause_are_no_part_of_what_reads_take() -> None:
    alone, beside = told(DRIVE), told(DRIVE | WRITER)
    for name in ("read_latency_beta_ns_per_byte", "queue_depth_knee"):
        expected, found = alone[name], beside[name]
        assert isinstance(expected, Detected), expected
        assert isinstance(found, Detected), found
        assert found.value == pytest.approx(expected.value, rel=0.08), name


@pytest.mark.parametrize("others", [{}, WRITER])
def test_depths_are_compared_on_the_drive_as_it_was_found(
    monkeypatch: pytest.MonkeyPatch, others: dict[str, Value]
) -> None:
    """What others write moves; without them nothing has to be undone, nor caches found empty."""
    bench, _ = opened(DRIVE | others)
    undone: list[int] = []
    enter = bench.enter

    def entered(state: Any) -> None:
        undone.append(bench.foreign.written_bytes)
        enter(state)

    monkeypatch.setattr(bench, "enter", entered)
    (knee,) = queue_depth.detect(bench)
    assert isinstance(knee, Detected)
    assert any(undone) == bool(others)


@pytest.mark.parametrize(("writes", "disturbs"), [(0.0, False), (1.0, True)])
def test_what_others_read_counts_by_what_reads_take(writes: float, disturbs: bool) -> None:
    """Ten large reads a second take a fiftieth of the time; of writes they would take all of it."""
    others: dict[str, Value] = {
        "disturbance.foreign_iops": 10,
        "disturbance.foreign_bytes": 65_536,
        "disturbance.foreign_write_ratio": writes,
    }
    bench, _ = opened(DRIVE | others)
    bench.known |= told(DRIVE)
    places = np.arange(2000, dtype=np.uint64) * np.uint64(4096)
    with bench.allowance(2000 * 4096):
        if disturbs:
            with pytest.raises(Stopped, match="others moved"):
                bench.write(places, 4096)
        else:
            bench.write(places, 4096)
            assert bench.foreign.read_bytes > 0
    assert bench.foreign.written_bytes > 0 or not disturbs
