"""When a drive counts as settled, on series of rates and on a drive that collects."""

from __future__ import annotations

from dataclasses import replace
from pathlib import Path

import numpy as np
import pytest

from ssdscope.errors import UsageError
from ssdscope.targets import Device, open_target
from ssdscope.workloads import Workload
from ssdscope.workloads.figures import Stretch, measure
from ssdscope.workloads.rounds import Rounds, cost_of_rest, spare_bound, write_until_steady
from ssdscope.workloads.steady import WINDOW_ROUNDS, Steadiness, settled
from ssdscope.workloads.sustained import sustain

MIB = 1 << 20
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


def test_what_a_drive_keeps_up_holds_for_a_longer_run(drive: Device) -> None:
    """The first 400 requests of 64 KiB are eight times as fast as what comes later."""
    plan = Workload(rw="randwrite", block_bytes=64 * 1024, iodepth=8, seed=4)
    early = measure(drive.fork(), plan, 400)["write"]
    found = sustain(drive, plan)
    later = found.figures["write"]
    assert found.reached
    long = measure(drive, plan.seeded(99), 20_000)["write"].mean_ns
    assert early.mean_ns < 0.7 * long
    assert later.ci95_low_ns is not None
    assert later.ci95_high_ns is not None
    assert later.ci95_low_ns < long < later.ci95_high_ns


def test_a_figure_is_of_whole_rounds(drive: Device) -> None:
    plan = Workload(rw="randwrite", block_bytes=64 * 1024, iodepth=8, seed=4)
    found = sustain(drive, plan)
    rounds = found.steadiness
    per_round = rounds.round_bytes // plan.block_bytes - 2 * plan.iodepth
    assert found.figures["write"].requests == WINDOW_ROUNDS * per_round
    assert found.bytes_written == len(rounds.rates_bytes_per_s) * rounds.round_bytes


def test_what_is_measured_has_to_agree_with_what_was_judged(
    drive: Device, monkeypatch: pytest.MonkeyPatch
) -> None:
    """A level that holds for five rounds and then moves on is none."""
    plan = Workload(rw="randwrite", block_bytes=64 * 1024, iodepth=8, seed=4)
    measure_round = Rounds.measure
    measured: list[float] = []

    def slower_at_first(rounds: Rounds) -> Stretch:
        stretch = measure_round(rounds)
        rounds.rates[-1] *= 0.9 if len(measured) < WINDOW_ROUNDS else 1.0
        measured.append(rounds.rates[-1])
        return stretch

    monkeypatch.setattr(Rounds, "measure", slower_at_first)
    found = sustain(drive, plan)
    assert found.reached
    assert len(measured) >= 2 * WINDOW_ROUNDS
    assert found.steadiness.rates_bytes_per_s[-WINDOW_ROUNDS:] == tuple(measured[-WINDOW_ROUNDS:])


def test_rounds_fill_a_deep_queue_on_a_small_drive(drive: Device) -> None:
    plan = Workload(rw="randwrite", block_bytes=MIB, iodepth=32, seed=3)
    found = sustain(drive, plan)
    assert found.steadiness.round_bytes >= drive.info.capacity_bytes // 2
    assert found.figures["write"].iops is not None


def test_neighbours_come_to_rest_in_five_rounds(drive: Device) -> None:
    plan = Workload(rw="randwrite", block_bytes=16 * 1024, iodepth=16, seed=4)
    base = sustain(drive, plan)
    near = sustain(drive.fork(), replace(plan, iodepth=2), written_bytes=base.bytes_written)
    assert near.reached
    assert len(near.steadiness.rates_bytes_per_s) == 2 * WINDOW_ROUNDS


def test_a_small_region_counts_only_once_the_spare_area_was_written(drive: Device) -> None:
    small = drive.info.capacity_bytes // 20 // 4096 * 4096
    plan = Workload(rw="randwrite", size_bytes=small, iodepth=8, seed=3)
    found = write_until_steady(drive.fork(), plan)
    assert found.reached
    assert found.bytes_written >= spare_bound(drive.info)
    known = write_until_steady(drive, plan, spare_bytes=0)
    assert known.bytes_written < 2.2 * small


def test_what_costs_too_much_does_not_come_to_rest(drive: Device) -> None:
    plan = Workload(rw="randwrite", iodepth=8, seed=3)
    found = sustain(drive, plan, most_cost=8e7)
    assert not found.reached
    assert not found.figures
    assert 3 <= len(found.steadiness.rates_bytes_per_s) <= 20
    assert found.bytes_written < 0.5 * drive.info.capacity_bytes


@pytest.mark.parametrize("left", [0.0, -1.0])
def test_where_nothing_is_left_to_look_with_rest_costs_too_much(drive: Device, left: float) -> None:
    assert cost_of_rest(drive, Workload("randwrite", 4096, seed=1), left) == float("inf")
    assert cost_of_rest(drive, Workload("randwrite", 4096, seed=1), 1e12) < float("inf")


def test_writes_in_order_come_to_rest_at_their_own_rate(drive: Device) -> None:
    """What was written at random is gone after a pass, and nothing is left to collect."""
    overwritten = Workload(rw="randwrite", iodepth=32, requests=60_000, seed=4)
    drive.run(overwritten)
    found = sustain(drive, Workload(rw="write", block_bytes=65536, iodepth=4, seed=3))
    assert found.reached
    rates = found.steadiness.rates_bytes_per_s
    assert found.steadiness.level_bytes_per_s > 1.2 * min(rates)


def test_no_two_rounds_write_in_the_same_order(drive: Device) -> None:
    """Pages that are overwritten in the order of writing fall free together."""
    plan = Workload(rw="randwrite", iodepth=8, seed=3)
    found = write_until_steady(drive, plan)
    again = drive.run(replace(plan, requests=int(0.1 * drive.info.capacity_bytes) // 4096))
    assert again.write is not None
    assert again.write.bandwidth_bytes_per_s == pytest.approx(found.level_bytes_per_s, rel=0.03)


def test_a_drift_is_told_and_scatter_is_not() -> None:
    falling = tuple(1000.0 - 10 * index for index in range(10))
    assert Steadiness(True, falling, 1).drift == pytest.approx(2 * -50 / 930)
    scattered = (990.0, 1010.0, 1000.0, 1005.0, 995.0) * 2
    assert Steadiness(True, scattered, 1).drift == 0
    assert Steadiness(True, falling[:7], 1).drift == 0


def test_a_drive_may_not_come_to_rest(drive: Device) -> None:
    plan = Workload(rw="randwrite", block_bytes=4096, iodepth=32)
    found = write_until_steady(drive, plan, most_regions=1.5)
    assert not found.reached
    assert len(found.rates_bytes_per_s) == 15


@pytest.mark.parametrize(
    "plan",
    [
        Workload(rw="read"),
        Workload(rw="randwrite", numjobs=2),
        Workload(rw="randwrite", size_bytes=65536, block_bytes=8192),
    ],
)
def test_what_does_not_settle_a_drive_is_refused(drive: Device, plan: Workload) -> None:
    with pytest.raises(UsageError, match="to rest"):
        write_until_steady(drive, plan)
