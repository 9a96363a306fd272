"""Collecting on a drive that cannot be copied: sentinels, settling, marks; and plans."""

from dataclasses import dataclass, field, replace
from typing import Any

import pytest
from tests.unit.made_up_runs import info, latency_ns

from ssdscope.errors import DeviceError
from ssdscope.models import collecting
from ssdscope.models.collecting import SENTINEL_EVERY, SENTINEL_TIMES, Plan
from ssdscope.models.table import Runs
from ssdscope.targets.records import DirectionStats, LatencySummary, RunResult
from ssdscope.workloads import Workload
from ssdscope.workloads.grid import Stop, Vector


def quiet(_what: str, _share: float) -> None:
    pass


@dataclass
class Drive:
    """A real drive made of a formula; after some runs it becomes slower until it is settled.

    Attributes
    ----------
    slow_after
        Runs until it does.
    heals
        Whether settling helps.
    fails_at
        Run at which it breaks.
    """

    writable: bool = True
    slow_after: int = 1 << 30
    heals: bool = True
    fails_at: int = 1 << 30
    made: list[Workload] = field(default_factory=list)
    settled: int = 0
    runs: int = 0
    factor: float = 1.0

    def __post_init__(self) -> None:
        plain = replace(info(writable=self.writable), snapshot=False, clock="wall")
        self.info = replace(plain, capacity_bytes=64 << 20)

    def run(self, plan: Workload, **_options: Any) -> RunResult:
        self.made.append(plan)
        if plan.io_bytes is not None:  # filling, settling
            self.settled += plan.rw == "randwrite"
            self.factor = 1.0 if self.heals else self.factor
            return self._result(plan, 1000)
        if plan.until_ci is None:  # a sentinel
            return self._result(plan, 200_000)
        self.runs += 1
        if self.runs == self.fails_at:
            raise DeviceError("the drive is gone")
        if self.runs == self.slow_after:
            self.factor = 1.5
        ratio = 100 - plan.read_percent
        sizes = plan.write_block_bytes or 0, plan.read_block_bytes or 0
        return self._result(plan, latency_ns(Vector(ratio, plan.iodepth, *sizes)))

    def _result(self, plan: Workload, latency: float) -> RunResult:
        latency *= self.factor
        ns = round(latency)
        summary = LatencySummary(latency, 0, latency, latency, *[ns] * 7)
        stats = DirectionStats(100, 409600, 1e9, 1e9, summary, None)
        read, write = (None, stats) if plan.rw in ("write", "randwrite") else (stats, None)
        elapsed = round(100 * latency / plan.iodepth)
        return RunResult(100, elapsed, read, write, None, False, {"until_ci_reached": True})


def collected(drive: Drive, points: int = 3 * SENTINEL_EVERY, *, prepare: bool = True) -> Runs:
    runs = Runs()
    plan = Plan("sobol", points, 0, 0, 1, Stop(0.05, 10**9), prepare=prepare)
    collecting.collect(drive, plan, runs, quiet)  # type: ignore[arg-type]
    return runs


def test_a_steady_drive_is_filled_settled_and_trusted() -> None:
    drive = Drive()
    runs = collected(drive)
    assert len(runs.rows) == 3 * SENTINEL_EVERY
    assert all(each.usable for each in runs.rows)
    assert (drive.made[0].rw, drive.made[0].io_bytes) == ("write", 64 << 20)
    assert drive.settled == 1
    sentinels = sum(plan.requests is not None for plan in drive.made)
    assert sentinels == 4 * SENTINEL_TIMES


def test_a_drive_that_is_ready_is_not_prepared() -> None:
    drive = Drive()
    collected(drive, prepare=False)
    assert all(plan.io_bytes is None for plan in drive.made)


def test_runs_that_nobody_vouches_for_are_marked_and_the_drive_settled_again() -> None:
    drive = Drive(slow_after=SENTINEL_EVERY + 5)
    runs = collected(drive)
    marked = [each.state_ok for each in runs.rows]
    assert marked == [True] * SENTINEL_EVERY + [False] * SENTINEL_EVERY + [True] * SENTINEL_EVERY
    assert drive.settled == 2
    assert not any(each.usable for each in runs.rows if not each.state_ok)


def test_a_drive_that_does_not_come_back_is_held_to_what_it_is_now() -> None:
    drive = Drive(slow_after=3, heals=False)
    marked = [each.state_ok for each in collected(drive).rows]
    assert marked == [False] * SENTINEL_EVERY + [True] * 2 * SENTINEL_EVERY


def test_a_drive_that_is_only_read_needs_no_sentinel() -> None:
    drive = Drive(writable=False)
    runs = collected(drive, 20)
    assert all(each.usable for each in runs.rows)
    assert len(drive.made) == 20
    assert all(plan.rw == "read" for plan in drive.made)


def test_a_run_that_fails_says_why() -> None:
    drive = Drive(fails_at=5)
    runs = collected(drive, 20)
    assert [each.row.failure for each in runs.rows if each.row.failure] == ["the drive is gone"]
    assert len(runs.known) == 19


def test_what_was_held_back_is_kept_after_ctrl_c(monkeypatch: pytest.MonkeyPatch) -> None:
    drive, runs = Drive(), Runs()
    inner = drive.run

    def impatient(plan: Workload, **options: Any) -> RunResult:
        if drive.runs == 5:
            raise KeyboardInterrupt
        return inner(plan, **options)

    monkeypatch.setattr(drive, "run", impatient)
    plan = Plan("sobol", 40, 0, 0, 1, Stop(0.05, 10**9))
    with pytest.raises(KeyboardInterrupt):
        collecting.collect(drive, plan, runs, quiet)  # type: ignore[arg-type]
    assert len(runs.rows) == 5
    assert not any(each.state_ok for each in runs.rows)


def test_the_order_is_random_and_the_parts_are_apart() -> None:
    planned, skipped = collecting.tasks(info(), Plan("sobol", 100, 30, 10, 1))
    parts = {split: [t for t in planned if t.split == split] for split in ("train", "test")}
    assert (len(parts["train"]), len(parts["test"]), skipped) == (100, 30, 0)
    again = [task for task in planned if task.split == "repeat"]
    assert len(again) == 10
    assert {task.vector for task in again} <= {task.vector for task in parts["train"]}
    assert len({task.seed for task in planned}) == 3
    drive = Drive(writable=False)
    collected(drive, 30)
    order = [plan.iodepth for plan in drive.made]
    from ssdscope.models import designs

    assert order != [each.q_dep for each in designs.sobol(drive.info, 30, 1)]
