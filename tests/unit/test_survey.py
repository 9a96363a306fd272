"""The sweep of the page, and the runs its model is fitted to."""

import numpy as np
from tests.unit.made_up_runs import info

from ssdscope.probes.budget import Budget, silent
from ssdscope.report import modelling
from ssdscope.report.survey import (
    SEEDS_APART,
    Effort,
    Point,
    between,
    collect,
    grid,
    off_grid,
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


def test_the_plan_has_every_point_once_and_reads_first() -> None:
    plan = planned(info(), 40, np.random.default_rng(1))
    points = [point for point, _ in plan]
    assert len(points) == len(set(points))
    assert set(points) >= {*grid(info()), *between(info())}
    assert [point.writes for point in points] == sorted(point.writes for point in points)
    held_out = {point for point, split in plan if split == "off-grid"}
    assert len(held_out) == 40
    assert not held_out & {*grid(info()), *between(info())}


def test_a_drive_of_wall_time_gets_as_many_runs_as_fit() -> None:
    from dataclasses import replace

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
    effort = Effort(40, 0)
    told: list[float] = []
    rows = list(collect(device, points, effort, seed=5, progress=lambda _, done: told.append(done)))
    assert [row.point for row in rows] == points
    assert told == [0.25, 0.5, 0.75, 1.0]
    for place, row in enumerate(rows):
        seed = 5 + place * SEEDS_APART
        (alone,) = collect(device, [row.point], effort, seed=seed, progress=silent)
        assert alone == row
