"""Figures of a run: which requests count, and how wide an interval is."""

from __future__ import annotations

import numpy as np
import pytest

from ssdscope.targets import Log, open_target
from ssdscope.targets.records import LOG_TYPES
from ssdscope.workloads import Workload
from ssdscope.workloads.figures import (
    Stretch,
    counted,
    figures_of,
    last_digit,
    measure,
    run_stretch,
)


def stretch(latency_ns: np.ndarray, depth: int = 1) -> Stretch:
    """Writes of 4 KiB, one behind the other."""
    columns = {name: np.zeros(latency_ns.size, kind) for name, kind in LOG_TYPES.items()}
    columns["op"] += 1
    columns["bytes"] += 4096
    columns["complete_ns"] = latency_ns.astype(np.int64)
    return Stretch.of(Log(columns), int(latency_ns.sum()), depth)


def width(stretches: list[Stretch]) -> float:
    """Half the interval, of the mean's logarithm."""
    figure = figures_of(stretches)["write"]
    assert figure.ci95_low_ns is not None
    assert figure.ci95_high_ns is not None
    return float(np.log(figure.ci95_high_ns / figure.ci95_low_ns)) / 2


def test_what_is_rare_is_not_ruled_out_by_bursts_that_agree() -> None:
    """A mean that is shown as 1.43 ms is known to half a hundredth at best."""
    same = [stretch(np.full(400, 1.43e6)) for _ in range(4)]
    assert width(same) == pytest.approx(0.005 / 1.43)


def test_the_last_digit_shown() -> None:
    for value, digit in ((1.0, 0.01), (999.9, 1.0), (142_640.9, 1000.0), (0.0, 0.0)):
        assert last_digit(value) == pytest.approx(digit)


def test_bursts_that_agree_by_chance_are_no_surer_than_each_of_them() -> None:
    series = 1e6 * np.random.default_rng(3).exponential(size=400)
    four = [stretch(np.roll(series, 100 * turn)) for turn in range(4)]
    assert width(four) > 0.03


def test_bursts_that_differ_are_judged_by_how_far() -> None:
    four = [stretch(np.full(400, level)) for level in (1e6, 1.1e6, 0.9e6, 1e6)]
    assert width(four) == pytest.approx(3.182 * 0.0816 / 2, rel=0.01)


def test_two_bursts_far_apart_leave_no_room_below_zero() -> None:
    figure = figures_of([stretch(np.full(3, level)) for level in (1e6, 4e6)])["write"]
    assert figure.ci95_low_ns is not None
    assert figure.ci95_high_ns is not None
    assert 0 < figure.ci95_low_ns < 1e6
    assert figure.ci95_high_ns > 4e6


def test_a_drift_reaches_to_the_side_it_goes() -> None:
    figure = figures_of([stretch(np.full(400, 1e6))], drift=-0.1)["write"]
    assert figure.ci95_low_ns == pytest.approx(0.895e6, rel=1e-4)
    assert figure.ci95_high_ns == pytest.approx(1.005e6, rel=1e-4)


def test_rounds_behind_each_other_are_one_stretch() -> None:
    rounds = [stretch(np.arange(first, first + 100.0)) for first in (1.0, 101.0)]
    whole = Stretch.joined(rounds)
    assert whole.latencies_ns("write").tolist() == [*range(1, 201)]
    assert whole.duration_ns == sum(range(1, 201))
    assert whole.bytes == 200 * 4096
    figure = figures_of([whole])["write"]
    assert (figure.requests, figure.bursts, figure.mean_ns) == (200, 1, 100.5)


def test_parts_of_a_stretch_keep_the_mean_of_every_cause() -> None:
    device = open_target("sim:mqsim-8g", seed=1).device
    plan = counted(Workload(rw="randread", iodepth=4, seed=2), 300)
    one, other = (run_stretch(device.fork(), plan.seeded(seed)) for seed in (1, 2))
    joined = figures_of([Stretch.joined([one, other])])["read"]
    assert joined.attribution_ns is not None
    assert sum(joined.attribution_ns.values()) == pytest.approx(joined.mean_ns)


def test_percentiles_need_ten_requests_beyond_them() -> None:
    figure = figures_of([stretch(np.arange(1.0, 1001.0))])["write"]
    assert figure.percentiles_ns == {"50": 500, "90": 900, "99": 990, "99.9": None, "99.99": None}


def test_the_queue_is_full_for_all_that_counts() -> None:
    """Of 64 in flight the last ones wait for fewer and fewer, the first for none."""
    device = open_target("sim:mqsim-8g", seed=1).device
    plan = Workload(rw="randread", block_bytes=65536, iodepth=64, seed=2)
    found = run_stretch(device.fork(), counted(plan, 500))
    assert found.latencies_ns("read").size == 500
    figure = measure(device, plan, 500)["read"]
    assert figure.iops is not None
    assert figure.iops * figure.mean_ns / 1e9 == pytest.approx(64, rel=0.02)
