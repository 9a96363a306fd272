"""Gains on a simulated drive: streams begin where they say, and only what differs is a gain."""

import math
import re
from dataclasses import replace
from typing import Any

import pytest
from tests.small_drives import MERGING, PAGES

from ssdscope.advise import Ground, advise
from ssdscope.advise.gains import misses
from ssdscope.advise.ground import NoGainError
from ssdscope.advise.streams import (
    load,
    random_reads,
    random_writes,
    sequential_reads,
    sequential_writes,
    settled_writes,
)
from ssdscope.advise.twinned import of_twin
from ssdscope.errors import UsageError
from ssdscope.findings import Detected, Findings
from ssdscope.targets import Device, open_target
from ssdscope.targets.drive_writer import open_drive
from ssdscope.workloads import Workload

KIB, MIB = 1 << 10, 1 << 20


@pytest.fixture(scope="module")
def merging() -> Ground:
    return Ground(open_drive(MERGING, "merging", 1))


def detected(name: str, value: float) -> Detected:
    return Detected(name=name, probe="p", value=value, interval=None, effect=1.0)


def test_a_stream_that_may_begin_anywhere_is_run_in_every_part_of_the_unit() -> None:
    anywhere = random_writes(MIB, grain_bytes=4 * KIB, unit_bytes=16 * KIB)
    assert anywhere.places() == [0, 4 * KIB, 8 * KIB, 12 * KIB]
    aligned = random_writes(MIB, starts_bytes=512, grain_bytes=16 * KIB, unit_bytes=16 * KIB)
    assert aligned.places() == [512]


def test_units_that_are_met_gain_and_what_is_the_same_does_not(merging: Ground) -> None:
    missed = random_writes(256 * KIB, starts_bytes=128 * KIB)
    met = random_writes(256 * KIB)
    gain = merging.gain(missed, met)
    assert not gain.none
    assert gain.low > 1.3
    assert gain.before_ns_per_byte / gain.after_ns_per_byte == pytest.approx(gain.ratio, rel=0.05)
    same = merging.gain(met, random_writes(256 * KIB, starts_bytes=4 * MIB))
    assert same.none


def test_a_gain_that_another_likely_drive_does_not_have_is_not_sure(merging: Ground) -> None:
    before, after = random_writes(256 * KIB, starts_bytes=128 * KIB), random_writes(256 * KIB)
    other = Ground(open_drive(PAGES, "pages", 1))
    both = Ground(open_drive(MERGING, "merging", 1), others=[other])
    alone, gain = merging.gain(before, after), both.gain(before, after)
    assert alone.sure
    theirs = other.gain(before, after).ratio
    assert theirs < 1.02, "it has no units that could be met"
    assert gain.low == pytest.approx(theirs, rel=0.02)
    assert (gain.ratio, gain.high) == (alone.ratio, alone.high)
    assert not gain.sure or gain.low < alone.low


def test_a_gain_repeats_and_leaves_the_drive_as_it_was(merging: Ground) -> None:
    before, after = sequential_reads(4 * KIB), sequential_reads(64 * KIB)
    now = merging.device.now_ns()
    again = Ground(open_drive(MERGING, "merging", 1))
    assert merging.gain(before, after) == again.gain(before, after)
    assert merging.device.now_ns() == now


def test_what_the_drive_cannot_show_is_no_gain(merging: Ground) -> None:
    with pytest.raises(NoGainError, match="too small"):
        merging.ns_per_byte([random_reads(1 << 40, 1)])
    with pytest.raises(NoGainError, match="too long"):
        merging.ns_per_byte([load(1 << 40)])
    reads_only = Ground(merging.device, writes=False)
    with pytest.raises(NoGainError, match="has no writes"):
        reads_only.ns_per_byte([random_writes(4096)])
    with pytest.raises(UsageError, match="simulated drive"):
        Ground(open_target("null:").device)


def test_a_setting_without_effect_gets_no_command(merging: Ground) -> None:
    # Pages larger than InnoDB's, claimed of a drive whose pages are of 4 KiB: Btrfs nodes of 32 KiB
    # would cost it more.
    wrong = Findings([detected("rmw_unit_bytes", 32 * KIB)])
    (node,) = advise(wrong, "sim:x", ["btrfs"], ground=merging)
    assert (node.outcome, node.command) == ("no effect", None)
    assert [value for value, _ in node.sweep] == ["16k", "32k", "64k"]


def test_the_twin_decides_where_the_formula_is_far_from_the_best(merging: Ground) -> None:
    wrong = Findings(
        [
            detected("read_latency_alpha_ns", 1000),
            detected("read_latency_beta_ns_per_byte", 10),
        ]
    )
    (read_ahead, *_) = advise(wrong, "sim:x", ["linux"], ground=merging)
    costs = dict(read_ahead.sweep)
    chosen = read_ahead.value or read_ahead.default
    assert chosen is not None
    assert costs["8"] > 1.03 * min(costs.values())
    assert costs[chosen] <= 1.03 * min(costs.values())
    assert "faster still" in read_ahead.because


@pytest.mark.parametrize(("rw", "writes"), [("randread", False), ("randwrite", True)])
def test_a_twin_of_a_drive_that_was_only_read_states_no_gain_of_writes(
    rw: str, *, writes: bool
) -> None:
    ground = of_twin({"toml": MERGING, "held_out": [{"rw": rw}]})
    assert isinstance(ground, Ground)
    assert ground.writes is writes


def test_a_twin_that_misses_writes_alone_is_a_sketch_of_those() -> None:
    held_out = [{"rw": "randread", "mean_ns": 100.0, "predicted_ns": 101.0}] * 20
    held_out += [{"rw": "randwrite", "mean_ns": 100.0, "predicted_ns": 120.0}]
    ground = of_twin({"toml": MERGING, "sketch": False, "held_out": held_out})
    assert isinstance(ground, Ground)
    assert ground.sketched == {"write"}


def test_a_sketch_does_not_overrule_a_formula() -> None:
    held_out = [
        {"rw": rw, "mean_ns": 100.0, "predicted_ns": predicted}
        for rw, predicted in (("randread", 150.0), ("read", 105.0), ("randwrite", 120.0))
    ]
    ground = of_twin({"toml": MERGING, "sketch": True, "held_out": held_out})
    assert isinstance(ground, Ground)
    assert ground.sketched == {"read", "write"}
    with pytest.raises(NoGainError, match="misses writes by 20%"):
        ground.ns_per_byte([random_writes(4096)])
    wrong = Findings(
        [
            detected("read_latency_alpha_ns", 1000),
            detected("read_latency_beta_ns_per_byte", 10),
        ]
    )
    (read_ahead, *_) = advise(wrong, "sim:x", ["linux"], ground=ground)
    assert "faster still" not in read_ahead.because
    assert read_ahead.gain is not None
    assert read_ahead.gain.of == "sketch of a twin"


def test_a_few_workloads_that_a_twin_misses_by_far_do_not_widen_all_intervals() -> None:
    def held(*errors: float) -> list[dict[str, Any]]:
        return [
            {"rw": "randwrite", "sort": "burst", "mean_ns": 1e5, "predicted_ns": 1e5 * (1 + each)}
            for each in errors
        ]

    near = misses(held(0.0, 0.01, 0.02, 0.01, 0.0, 0.02, 0.01, 0.02, 0.01)).of_ratio("randwrite")
    one_far = misses(held(0.0, 0.01, 0.02, 0.01, 0.0, 0.02, 0.01, 0.02, 3.0)).of_ratio("randwrite")
    far = misses(held(0.0, 0.3, 0.6, 0.1, 0.4, 0.2, 0.5, 0.7, 3.0)).of_ratio("randwrite")
    assert 0.01 < near <= one_far < 0.2 < far
    assert misses(held(0.5, 0.5, 0.5)).of_ratio("randwrite") == 0, "a common factor is no error"
    # Too few of one pattern: those of its direction count, and reads say nothing of writes.
    assert misses(held(0.0, 0.1, 0.2)).of_ratio("write") > 0
    assert misses(held(0.0, 0.1, 0.2)).of_ratio("read") == 0


TWINS = {
    "slower programs": {"program_ns = ": 2.0},
    "slower reads": {"read_ns = ": 1.6},
    "slower channels": {"ns_per_byte = ": 2.0},
}
"""By what twins are made wrong: each takes so many times as long in one respect."""


@pytest.mark.parametrize("name", list(TWINS))
def test_an_interval_on_a_wrong_twin_holds_what_the_drive_itself_gains(
    merging: Ground, name: str
) -> None:
    wrong = MERGING
    for key, times in TWINS[name].items():
        wrong = re.sub(
            rf"(?m)^{key}([\d._]+)",
            lambda found, times=times: f"{found[0].split('=')[0]}= {_scaled(found[1], times)}",
            wrong,
        )
    assert wrong != MERGING
    twin = of_twin({"toml": wrong, "held_out": _held_out(open_drive(wrong, "twin", 1))}, seed=3)
    assert isinstance(twin, Ground)
    twin, missed = replace(twin, far={}), 0
    for before, after in (
        (sequential_reads(4 * KIB), sequential_reads(64 * KIB)),
        (random_writes(256 * KIB, starts_bytes=128 * KIB), random_writes(256 * KIB)),
        (random_writes(64 * KIB), random_writes(256 * KIB)),
    ):
        said, true = twin.gain(before, after), merging.gain(before, after)
        missed += abs(math.log(said.ratio / true.ratio)) > math.log1p(said.scatter)
        assert said.low <= true.ratio <= said.high, (name, said.in_words(), true.ratio)
        assert said.high / said.low < 10, "an interval that holds anything says nothing"
    assert missed, "the scatter of runs alone would have been enough"


def _scaled(number: str, times: float) -> str:
    value = float(number.replace("_", "")) * times
    return f"{value:g}" if "." in number else str(int(value))


def _held_out(twin: Device) -> list[dict[str, Any]]:
    """Hold a twin to a few workloads, as its report tells it."""
    points = [
        (rw, size * KIB, depth)
        for rw in ("read", "randread", "write", "randwrite")
        for size, depth in ((4, 1), (16, 1), (64, 1), (256, 1), (8, 4), (32, 4))
    ]
    drive = open_drive(MERGING, "merging", 1)
    told = []
    for rw, size, depth in points:
        plan = Workload(rw, size, iodepth=depth, requests=400, seed=5)
        means = []
        for each in (drive, twin):
            done = each.fork().run(plan)
            means.append((done.write or done.read).latency_ns.mean)
        sort = "burst" if "write" in rw else "read"
        told.append({"rw": rw, "sort": sort, "mean_ns": means[0], "predicted_ns": means[1]})
    return told


def test_gains_are_measured_on_a_drive_that_was_written_all_over_too() -> None:
    ground = of_twin({"toml": MERGING, "held_out": []})
    assert isinstance(ground, Ground)
    used = ground.in_use()
    assert used is not None
    assert (ground.state, used.state) == ("as found", "in use")
    assert used.in_use() is None
    assert ground.in_use() is used
    worn = of_twin({"toml": MERGING.replace('"sequential"', '"random"'), "held_out": []})
    assert isinstance(worn, Ground)
    assert (worn.state, worn.in_use()) == ("in use", None)
    stream = sequential_writes(4 * KIB, durable=True)
    fresh, old = (each.gain(stream, sequential_writes(64 * KIB)) for each in (ground, used))
    assert (fresh.state, old.state) == ("as found", "in use")


def test_a_report_without_a_twin_says_so() -> None:
    assert of_twin(None) == "no twin"
    assert of_twin({"reason": "too slow"}) == "no twin"
    opened = of_twin({"toml": "[nand]\nchanels = 4\n"})
    assert isinstance(opened, str)
    assert "cannot be opened" in opened


def test_spare_area_is_measured_by_writes_that_came_to_rest() -> None:
    small = Ground(open_drive(PAGES, "pages", 1))
    gain = small.gain(settled_writes(1), settled_writes(0.8))
    assert gain.low > 1.2
    assert "80.0% of the drive" in gain.after
