"""What the page says of writes: sustained or a burst, and what is behind each number."""

from __future__ import annotations

import math
from pathlib import Path
from typing import Any

import pytest
from tests.unit.made_up_runs import info
from tests.unit.test_steady import DRIVE

from ssdscope.probes.budget import Budget, silent
from ssdscope.report import survey, sustaining, writes
from ssdscope.report.survey import Effort, Point
from ssdscope.targets import Device, open_target
from ssdscope.workloads.steady import Steadiness
from ssdscope.workloads.sustained import sustain

DEFAULT = Budget.parse("default")


@pytest.fixture(scope="module")
def drive(tmp_path_factory: pytest.TempPathFactory) -> Device:
    """It fills half of its spare space within 400 writes of 64 KiB."""
    file: Path = tmp_path_factory.mktemp("drive") / "drive.toml"
    file.write_text(DRIVE)
    return open_target(str(file), state="sequential", seed=1).device


@pytest.fixture(scope="module")
def document(drive: Device) -> dict[str, Any]:
    """The performance of the drive, as the page holds it."""
    settled = sustaining.settle(drive, DEFAULT, seed=1, progress=silent)
    points = [Point("randwrite", 65536, 16), Point("randread", 65536, 16)]
    measured = survey.collect(drive, points, Effort(400), seed=1, progress=silent)
    return {
        "target": {"info": {"clock": "virtual"}},
        "performance": {
            "points": [row.to_json() | {"split": "grid"} for row in measured],
            # Of so small a drive rounds scatter, and one or the other workload finds no rest.
            "sustained": [row for row in sustaining.rows(settled) if row["reached"]],
        },
    }


def test_a_write_is_a_burst_or_sustained(document: dict[str, Any]) -> None:
    burst, read = document["performance"]["points"]
    assert (burst["sort"], burst["bursts"], burst["requests"]) == ("burst", survey.FEW_BURSTS, 800)
    assert (read["sort"], read["bursts"]) == ("read", 1)
    kept = document["performance"]["sustained"]
    assert {(each["rw"], each["iodepth"]) for each in kept} >= {("randwrite", 16), ("write", 1)}
    for each in kept:
        course = each["course"]
        assert each["sort"] == "sustained"
        assert each["duration_ns"] > 0
        assert each["p99_ns"] is None or each["requests"] >= 1000
        assert course["round_bytes"] * len(course["rates_bytes_per_s"]) >= course["bytes_written"]
    settled = next(each for each in kept if (each["block_bytes"], each["iodepth"]) == (65536, 16))
    assert settled["rw"] == "randwrite"
    assert burst["mean_ns"] < 0.8 * settled["mean_ns"]


def test_the_page_shows_both_with_what_is_behind_them(document: dict[str, Any]) -> None:
    rows = {(row.name, row.depth): row for row in writes.table(document)}
    both = rows["random write, 64 KiB", "16"]
    assert "2 times 400 in" in both.burst_of
    assert " to " in both.sustained_of
    assert both.course.startswith("<svg")
    assert "came to rest" not in writes.lead(document)
    one, *others = document["performance"]["sustained"]
    rows_then = [one | {"reached": False}, *others]
    then = document | {"performance": document["performance"] | {"sustained": rows_then}}
    assert f"{len(others)} of {len(rows_then)} came to rest" in writes.lead(then)


def test_the_drive_is_left_as_it_was(drive: Device) -> None:
    before = drive.counters()
    sustaining.settle(drive, DEFAULT, seed=1, progress=silent)
    assert drive.counters() == before


def test_what_the_budget_does_not_reach_is_said(
    drive: Device, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(sustaining, "CORE_NS_PER_S", 5e3)
    settled = sustaining.settle(drive, DEFAULT, seed=1, progress=silent)
    rows = list(sustaining.rows(settled))
    assert rows
    assert not any(row["reached"] for row in rows)
    assert all(row["mean_ns"] is None and row["remark"] for row in rows)
    assert settled.drives == {}


@pytest.mark.parametrize(
    ("rates", "said"),
    [
        ([100.0, 90, 80, 70, 60], "fell, by 50%"),
        ([60.0, 70, 80, 90, 100], "rose, by 50%"),
        ([100.0, 80, 90, 80, 100], "varied"),
        ([100.0] * 5, "too little was written"),
        ([100.0], "too slow"),
    ],
)
def test_a_rate_that_did_not_come_to_rest_is_described(rates: list[float], said: str) -> None:
    assert said in sustaining.remark(Steadiness(False, tuple(rates), 1))


def test_a_real_drive_is_written_through_only_if_asked() -> None:
    from dataclasses import replace

    wall = replace(info(), clock="wall")
    assert sustaining.chains(wall, DEFAULT) == []
    assert sustaining.chains(wall, Budget.parse("full"))
    assert sustaining.chains(replace(wall, writable=False), Budget.parse("full")) == []
    assert sustaining.chains(info(), DEFAULT)


def test_what_may_be_spent_goes_to_what_needs_least() -> None:
    needs = {0: 30.0, 1: 5.0, 2: 10.0, 3: math.inf}
    granted = sustaining.affordable(needs, 40.0)
    assert granted == {1: 10.0, 2: 20.0}
    left = {place: need for place, need in needs.items() if place not in granted}
    assert sustaining.affordable(left, 35.0) == {0: 35.0}, "the last has all that is left"
    assert sustaining.affordable(left, 25.0) == {}, "which would not do"
    both = sustaining.affordable({0: 1.0, 1: 2.0}, 30.0)
    assert both == pytest.approx({0: 17.0, 1: 30.0}), "nothing is kept, of either core"


def test_a_chain_ends_where_it_cannot_come_to_rest_within_what_it_may_cost(
    drive: Device,
) -> None:
    """What it would cost is told by the rounds so far, and not seen when it is spent."""
    plan = survey.workload_of(Point("randwrite", 65536, 16), 1)
    whole = sustain(drive.fork(), plan)
    most = 0.7 * whole.cost
    short = sustain(drive.fork(), plan, most_cost=most)
    assert not short.reached
    assert short.cost < 0.9 * most
    rounds = len(short.steadiness.rates_bytes_per_s)
    assert short.steadiness.rates_bytes_per_s == whole.steadiness.rates_bytes_per_s[:rounds]
