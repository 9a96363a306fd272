"""The sweep of the page, and the runs its model is fitted to."""

from dataclasses import replace

import numpy as np
import pytest
from tests.unit.made_up_runs import info

from ssdscope.probes.budget import Budget, silent
from ssdscope.report import modelling, order
from ssdscope.report.survey import (
    Effort,
    Pace,
    Point,
    between,
    collect,
    grid,
    off_grid,
    overview,
    planned,
)
from ssdscope.report.sustaining import Settled
from ssdscope.targets import open_target


def test_a_read_only_drive_is_only_read() -> None:
    assert {p.rw for p in grid(info(writable=False))} == {"read", "randread"}
    assert {p.rw for p in grid(info())} == {"read", "randread", "write", "randwrite"}


def test_held_out_points_are_off_the_grid_and_aligned() -> None:
    points = off_grid(info(), 40, np.random.default_rng(1))
    assert len(points) == len(set(points)) == 40
    assert not set(points) & set(grid(info()))
    assert all(p.block_bytes % 4096 == 0 for p in points)
    assert {p.rw for p in points} == {"read", "randread", "write", "randwrite"}


def test_what_tells_most_comes_first_and_is_shown_at_once() -> None:
    first = [(each.rw, each.iodepth) for each in overview(info())]
    reads = [("randread", 1), ("randread", 32), ("read", 16)]
    writes = [("randwrite", 1), ("randwrite", 32), ("write", 16)]
    assert first == reads + writes
    assert [(each.rw, each.iodepth) for each in overview(info(writable=False))] == reads
    plan = [point for point, _ in planned(info(), 40, np.random.default_rng(1))]
    assert plan[:6] == overview(info())


@pytest.mark.parametrize("share", [0.1, 0.25, 0.5])
def test_what_stays_open_is_an_even_spread_and_not_the_tail(share: float) -> None:
    """What was measured by then has its part of each pattern, of sizes and of depths."""
    points = order.evenly(grid(info()))
    done = points[: round(share * len(points))]
    assert sorted(points) == sorted(grid(info()))
    kinds = [
        *((lambda point, rw=rw: point.rw == rw) for rw in ("read", "randread", "write")),
        lambda point: point.block_bytes <= 16 << 10,
        lambda point: point.block_bytes >= 256 << 10,
        lambda point: point.iodepth <= 4,
        lambda point: point.iodepth >= 16,
    ]
    for kind in kinds:
        whole, part = (sum(map(kind, some)) for some in (points, done))
        assert part / whole == pytest.approx(share, rel=0.7)


def test_a_drive_that_lives_with_its_writes_is_read_first() -> None:
    plan = planned(replace(info(), snapshot=False), 40, np.random.default_rng(1))
    rest = [point.writes for point, _ in plan][6:]
    assert rest == sorted(rest)


def test_reads_that_take_long_leave_writes_their_part_of_the_time() -> None:
    now = 100.0
    points = [Point(rw, 4096, depth) for rw in ("read", "write") for depth in (1, 2)]
    pace = Pace(points, 40.0, lambda: now)
    assert pace.runtime_ns(points[0]) == 10e9
    now += 30
    assert pace.runtime_ns(points[1]) == 0
    assert pace.runtime_ns(points[2]) == 10e9
    now += 4
    assert pace.runtime_ns(points[3]) == 16e9, "what one leaves is for those behind it"


def test_the_plan_has_every_point_once() -> None:
    plan = planned(info(), 40, np.random.default_rng(1))
    points = [point for point, _ in plan]
    assert len(points) == len(set(points))
    assert set(points) >= {*grid(info()), *between(info())}
    held_out = {point for point, split in plan if split == "off-grid"}
    assert len(held_out) == 40
    assert not held_out & {*grid(info()), *between(info())}


def test_a_drive_of_wall_time_gets_as_many_runs_as_fit() -> None:
    wall = replace(info(), clock="wall")
    default, hour = (modelling.plan_of(wall, Budget.parse(name), 1) for name in ("30s", "1h"))
    assert (default.points + default.test) * default.stop.runtime_ns <= 0.61 * 30e9
    assert default.points < hour.points == modelling.POINTS
    assert default.stop.runtime_ns >= modelling.LEAST_RUN_S * 1e9
    assert modelling.plan_of(info(), Budget.parse("default"), 1).points == modelling.POINTS
    assert modelling.plan_of(info(), Budget.parse("30s"), 1).points == modelling.POINTS // 2


def test_a_drive_too_small_for_the_workloads_has_no_model() -> None:
    device = open_target("null:1m").device
    told: list[str] = []
    budget = Budget.parse("default")
    page = {"points": [], "sustained": []}
    found = modelling.model(
        device, "null:1m", budget, 1, lambda what, _: told.append(what), page, Settled()
    )
    assert found == []
    assert told == []


def test_writes_side_by_side_come_to_what_each_does_alone() -> None:
    device = open_target("sim:mqsim-8g", seed=1).device
    points = [Point("randwrite", size << 10, depth) for size in (4, 16) for depth in (1, 16)]
    effort = Effort(40)
    told: list[float] = []
    rows = list(collect(device, points, effort, seed=5, progress=lambda _, done: told.append(done)))
    assert [row.point for row in rows] == points
    assert told == [0.25, 0.5, 0.75, 1.0]
    for place, row in enumerate(rows):
        (alone,) = collect(device, [row.point], effort, seed=5, begin=place, progress=silent)
        assert alone == row
