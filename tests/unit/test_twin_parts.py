"""Parts of the fit of a twin: noise, smaller drives for settled rates, structure of findings."""

from dataclasses import replace

import numpy as np
import pytest

from ssdscope.findings import Absent, Ambiguous, Detected, Finding, Findings
from ssdscope.targets.drive_writer import drive_toml, open_drive
from ssdscope.targets.records import DeviceInfo
from ssdscope.twin import questions, settling, starts, structure
from ssdscope.twin.build import Twin
from ssdscope.twin.design import Design
from ssdscope.twin.likeness import Allowance
from ssdscope.twin.noise import noise, without_spikes
from ssdscope.workloads import Workload

INFO = DeviceInfo("file", 4 << 30, 512, "wall", True, False, False, False)


def distribution(latency: np.ndarray) -> list[dict[str, object]]:
    ordered = np.sort(latency)
    exceeded = 1 - np.arange(1, ordered.size + 1) / ordered.size
    told = {"rw": "randread", "sort": "read", "latency_ns": ordered, "exceeded": exceeded}
    return [told]


@pytest.mark.parametrize("sigma", [0.02, 0.1])
def test_noise_is_read_off_the_distribution(sigma: float) -> None:
    z = np.abs(np.random.default_rng(1).standard_normal(4000))
    latency = 100_000 * np.exp(sigma * z)
    latency[:40] += 1_000_000
    found = noise(distribution(latency))
    assert found["disturbance.noise_sigma"] == pytest.approx(sigma, rel=0.15)
    assert found["disturbance.spike_ratio"] == pytest.approx(0.01, rel=0.2)
    assert found["disturbance.spike_ns"] == pytest.approx(1_000_000, rel=0.05)


def test_spikes_are_foreseen_instead_of_met_by_chance() -> None:
    spikes = {"disturbance.spike_ratio": 0.01, "disturbance.spike_ns": 500_000}
    rest, added_ns = without_spikes({"disturbance.noise_sigma": 0.12, **spikes})
    assert rest == {"disturbance.noise_sigma": 0.12}
    assert added_ns == pytest.approx(5_000)
    assert without_spikes({}) == ({}, 0.0)


def test_a_drive_of_a_few_times_has_no_noise() -> None:
    latency = np.repeat([100_000.0, 160_000.0], 500)
    assert noise(distribution(latency)) == {}
    assert noise([]) == {}


@pytest.mark.parametrize("log_block", [False, True])
def test_a_smaller_drive_keeps_array_and_shares(log_block: bool) -> None:
    design = Design(
        8 << 30, 512, log_block=log_block, merge_unit_bytes=(1 << 20) * log_block,
        log_blocks=400, spare_ratio=0.2,
    )  # fmt: skip
    small = settling.smaller(design, 4096)
    assert small.capacity_bytes < design.capacity_bytes / 8
    before, after = (each.values() for each in (design, small))
    for key in ("nand.channels", "nand.pages_per_block", "nand.page_bytes"):
        assert before[key] == after[key]
    if log_block:
        share = small.capacity_bytes / design.capacity_bytes
        assert small.log_blocks == pytest.approx(400 * share, abs=1)
    else:
        ratios = [each["over_provisioning_ratio"] for each in (before, after)]
        assert ratios[0] == pytest.approx(ratios[1], rel=0.2)
    open_drive(drive_toml(after, []), "small", 1)


def test_units_that_were_counted_are_moved_but_stay_as_many() -> None:
    design = Design(4 << 30, 512, channels=6, ways=2)
    sure = frozenset({"interleave_degree"})
    asked = [*questions.of_reads(sure), *questions.of_writes(sure)]
    assert {each.units for question in asked for each in question(design)} == {12}
    assert {each.ways for question in asked for each in question(design)} == {1, 2, 3, 4, 6}


def test_a_run_of_pages_that_was_found_lies_in_one_block() -> None:
    run = Detected(name="placement_pages", probe="p", value=96, interval=None, effect=1.0)
    design = structure.known(Findings([run]), INFO, {}).design
    assert design.pages_per_block % 96 == 0
    assert open_drive(drive_toml(design.values(), []), "twin", 1)


def test_a_smaller_drive_has_no_more_spare_space() -> None:
    design = Design(32 << 30, 512, spare_ratio=0.035)
    small = settling.smaller(design, 4096)
    assert small.capacity_bytes < design.capacity_bytes / 8
    ratio = small.values()["over_provisioning_ratio"]
    assert ratio == pytest.approx(design.values()["over_provisioning_ratio"], rel=0.03)


def test_work_that_a_part_does_not_need_stays_with_the_whole() -> None:
    whole = Allowance(10.0)
    part = whole.part(0.5)
    part.spend(1.3)
    assert whole.left_s - part.left_s == pytest.approx(5.0)
    assert part.left_s < 4


@pytest.mark.parametrize(
    ("median", "p90", "sketch"), [(0.04, 0.14, False), (0.04, 0.16, True), (0.06, 0.14, True)]
)
def test_a_twin_beyond_the_bar_is_a_sketch(median: float, p90: float, sketch: bool) -> None:
    errors = [*[median] * 8, p90, p90]
    rows = [{"mean_ns": 1.0, "predicted_ns": 1 + error} for error in errors]
    assert Twin("", Design(1 << 30, 512), rows, 0.0).sketch == sketch


def test_a_large_drive_is_fitted_as_a_smaller_one_unless_its_size_shows() -> None:
    design = Design(80 << 30, 512, map_unit_bytes=16_384, phase_bytes=4096, channels=10)
    small = design.trimmed()
    assert small.capacity_bytes == (4 << 30) - 4096
    assert replace(small, capacity_bytes=design.capacity_bytes) == design
    for extra in ({"map__kind": "zones"}, {"read_cache__bytes": 1 << 20}):
        assert design.also(**extra).trimmed().capacity_bytes == design.capacity_bytes


def test_spare_space_is_found_from_what_is_kept_up() -> None:
    truth = Design(128 << 20, 512, queue_depth=1, spare_ratio=0.25)
    row = settling.Settled("randwrite", 4096, 16, 1.0)
    allowance = Allowance(60.0)
    mean = settling.latency_ns(truth, row, 1, allowance)
    assert mean is not None
    start = replace(truth, spare_ratio=0.07)
    found = settling.with_spare(start, replace(row, mean_ns=mean), 2, allowance)
    assert found.spare_ratio == pytest.approx(0.25, rel=0.15)
    assert 0 < allowance.left_s < 60.0
    assert settling.with_spare(start, replace(row, mean_ns=mean), 2, Allowance(0.0)) == start


def went_on(rates: list[float], **other: object) -> dict[str, object]:
    course = {"rates_bytes_per_s": rates, "bytes_written": 400 * 4096, "round_bytes": 100 * 4096}
    return {"rw": "randwrite", "block_bytes": 4096, "iodepth": 4, "course": course, **other}


def test_a_twin_is_held_to_writes_that_go_on_without_coming_to_rest() -> None:
    design = Design(128 << 20, 512, queue_depth=1).also(write_buffer__bytes=1 << 20)
    drive = open_drive(drive_toml(design.values(), []), "drive", 1)
    plan = Workload(rw="randwrite", block_bytes=4096, iodepth=4, seed=9)
    drive.run(replace(plan, requests=300))
    rate = 100 * 4096 * 1e9 / drive.run(replace(plan, requests=100, seed=10)).elapsed_ns
    (row,) = settling.written_on([went_on([2 * rate, rate, rate, rate], reached=False)])
    assert (row.before, row.requests) == (300, 100)
    for program, error in ((1.0, 0.0), (3.0, 1.0)):
        slow = design.timed({"program": program * design.times["program"]})
        twin = open_drive(drive_toml(slow.values(), []), "twin", 2)
        found = settling.latency_then_ns(twin, row, 3)
        assert np.isfinite(found)
        assert (found / row.mean_ns - 1 > error / 2) == (error > 0)


@pytest.mark.parametrize(
    "row",
    [
        went_on([3e6, 2e6, 1e6]),
        went_on([1e6, 1e6]),
        went_on([1e6] * 4, reached=True),
        went_on([1e6] * 4, rw="write"),
        went_on([1e6] * 4, course=None),
    ],
    ids=["falls", "short", "settled", "in order", "no course"],
)
def test_other_writes_say_nothing_of_what_comes_later(row: dict[str, object]) -> None:
    assert settling.written_on([row]) == []


def test_structure_is_what_was_found_and_the_rest_is_said() -> None:
    detected = {
        "rmw_unit_bytes": 16_384,
        "alignment_phase_bytes": 4096,
        "merge_unit_bytes": 1 << 20,
        "write_buffer_bytes": 100_000,
        "write_buffer_unit_bytes": 8192,
        "map_zone_bytes": 3 << 20,
        "map_cache_bytes": 12 << 20,
    }
    findings: list[Finding] = [
        Detected(name=name, probe="p", value=value, interval=None, effect=1.0)
        for name, value in detected.items()
    ]
    findings.append(Absent(name="read_ahead_bytes", probe="p", bound=0.01, reason="r"))
    findings.append(
        Ambiguous(name="read_cache_bytes", probe="p", candidates=(1 << 20, 2 << 20), reason="r")
    )
    noise: dict[str, str | int | float | bool] = {"disturbance.noise_sigma": 0.1}
    known = structure.known(Findings(findings), INFO, noise)
    values = known.design.values()
    assert values["ftl.kind"] == "log-block"
    assert values["ftl.map_unit_bytes"] == 16_384
    assert values["ftl.phase_bytes"] == 4096
    assert values["write_buffer.bytes"] == 98_304, "whole units"
    assert values["map.resident_zones"] == 4
    assert values["read_cache.bytes"] == 1 << 20, "the first of what explains it"
    assert values["disturbance.noise_sigma"] == 0.1
    assert any(text.startswith("read_cache_bytes") for text in known.not_modelled)
    assert not any(text.startswith("read_ahead_bytes") for text in known.not_modelled)


def test_arrays_take_as_long_for_a_page() -> None:
    design = Design(1 << 30, 512, channels=2, map_unit_bytes=4096)

    def alone_ns(each: Design) -> float:
        times = each.times
        return times["firmware"] + times["read"] + times["transfer"] * each.page_bytes

    others = list(starts.arrays(design))
    assert {each.page_bytes for each in others} == {2048, 4096}
    for each in others:
        whole = each.times["link"] + each.times["transfer"] / each.channels
        assert whole == pytest.approx(design.times["link"] + design.times["transfer"] / 2)
        assert alone_ns(each) == pytest.approx(alone_ns(design))
