"""When a drive counts as settled, on series of rates and on a drive that collects."""

from __future__ import annotations

from pathlib import Path

import numpy as np
import pytest

from ssdscope.errors import UsageError
from ssdscope.targets import Device, open_target
from ssdscope.workloads import Workload
from ssdscope.workloads.steady import settled, write_until_steady

DRIVE = """
over_provisioning_ratio = 0.4
[nand]
channels = 1
blocks_per_plane = 512
pages_per_block = 64
page_bytes = 4096
read_ns = 30_000
program_ns = 250_000
erase_ns = 1_500_000
endurance_erases = 1_000_000
[channel]
ns_per_byte = 5
[ftl]
kind = "page"
"""


@pytest.fixture
def drive(tmp_path: Path) -> Device:
    """Some two programs per page once it has settled."""
    file = tmp_path / "drive.toml"
    file.write_text(DRIVE)
    return open_target(str(file), state="sequential", seed=1).device


def rounds_until_settled(rates: list[float]) -> int | None:
    return next((n for n in range(1, len(rates) + 1) if settled(rates[:n])), None)


def test_a_level_counts_only_after_twice_the_region() -> None:
    """Before free blocks run out a drive is as steady as can be, at a rate that does not last."""
    assert rounds_until_settled([700.0] * 30) == 20


def test_an_undershoot_is_not_taken_for_the_level() -> None:
    fast, dip, level = [1000.0] * 12, [486.0, 440.0, 420.0, 430.0, 470.0] * 2, [625.0] * 20
    assert rounds_until_settled(fast + dip + level) == len(fast + dip) + 5


@pytest.mark.parametrize(("loss", "rounds"), [(0.018, 20), (0.022, None)])
def test_a_slope_is_no_level(loss: float, rounds: int | None) -> None:
    """Straight decline by `loss` of the mean over every five rounds."""
    rates = 1000 * np.exp(-loss / 4 * np.arange(40))
    assert rounds_until_settled(rates.tolist()) == rounds


@pytest.mark.parametrize(("span", "rounds"), [(0.049, 20), (0.052, None)])
def test_scatter_is_no_level(span: float, rounds: int | None) -> None:
    rates = 1000 * (1 + span * np.tile([0, 0.5, -0.5, 0.5, 0], 8))
    assert rounds_until_settled(rates.tolist()) == rounds


def test_a_drive_comes_to_rest_where_it_stays(drive: Device) -> None:
    plan = Workload(rw="randwrite", block_bytes=4096, iodepth=32, seed=3)
    found = write_until_steady(drive, plan)
    assert found.reached
    assert found.bytes_written >= 1.99 * drive.info.capacity_bytes
    assert found.rates_bytes_per_s[0] > 2 * found.level_bytes_per_s
    later = drive.run(plan.seeded(99))
    rate = drive.info.capacity_bytes / later.elapsed_ns * 1e9
    assert rate == pytest.approx(found.level_bytes_per_s, rel=0.03)


def test_a_drive_may_not_come_to_rest(drive: Device) -> None:
    plan = Workload(rw="randwrite", block_bytes=4096, iodepth=32)
    found = write_until_steady(drive, plan, most_regions=1.5)
    assert not found.reached
    assert len(found.rates_bytes_per_s) == 15


@pytest.mark.parametrize(
    "plan",
    [
        Workload(rw="write"),
        Workload(rw="randrw"),
        Workload(rw="randwrite", numjobs=2),
        Workload(rw="randwrite", size_bytes=65536, block_bytes=8192),
    ],
)
def test_what_does_not_settle_a_drive_is_refused(drive: Device, plan: Workload) -> None:
    with pytest.raises(UsageError, match="to rest"):
        write_until_steady(drive, plan)
