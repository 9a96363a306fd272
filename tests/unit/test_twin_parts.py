"""Parts of the fit of a twin: noise, smaller drives, what findings say, numbers and neighbours."""

from typing import Any

import numpy as np
import pytest

from ssdscope.findings import Absent, Ambiguous, Detected, Finding, Findings
from ssdscope.targets.drive_writer import drive_toml, open_drive
from ssdscope.targets.records import DeviceInfo
from ssdscope.twin.begin import Drawn, asked, drawn_drives, nearest
from ssdscope.twin.choices import neighbours
from ssdscope.twin.design import Design
from ssdscope.twin.fit import Fitter
from ssdscope.twin.found import found_of
from ssdscope.twin.free import at_bounds, free_of, moved, paced
from ssdscope.twin.noise import noise, without_spikes
from ssdscope.twin.rows import Row, fitted_rows, held_out_rows
from ssdscope.twin.running import Runner, opened
from ssdscope.twin.smaller import at_rest, for_bursts

INFO = DeviceInfo("file", 4 << 30, 512, "wall", True, False, False, False)
PAGE = Design(
    {
        "default_state": "sequential",
        "over_provisioning_ratio": 0.2,
        "ftl.kind": "page",
        "nand.channels": 4,
        "nand.pages_per_block": 64,
        "nand.page_bytes": 4096,
        "nand.read_ns": 60_000,
        "nand.program_ns": 400_000,
        "nand.erase_ns": 2_000_000,
        "channel.ns_per_byte": 3.0,
        "host.command_ns": 20_000,
        "host.bytes_per_second": 250e6,
        "host.logical_block_bytes": 512,
    },
    512 << 20,
)
MERGES = PAGE.having(
    {
        "ftl.kind": "log-block", "ftl.merge_unit_bytes": 1 << 20, "ftl.log_blocks": 400,
        "over_provisioning_ratio": 0.1,
    }
)  # fmt: skip


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
    row = Row("read", "randread", 4096, 1, 60, 1.0)
    calm, spiky = Runner([row], 1).logs([PAGE, PAGE.having(spikes)])
    assert np.exp(spiky[0]) - np.exp(calm[0]) == pytest.approx(5_000, rel=0.01)


def test_a_drive_of_a_few_times_has_no_noise() -> None:
    latency = np.repeat([100_000.0, 160_000.0], 500)
    assert noise(distribution(latency)) == {}
    assert noise([]) == {}


def at_rest_ns(design: Design, *, whole: bool, monkeypatch: pytest.MonkeyPatch) -> float:
    if whole:
        monkeypatch.setattr("ssdscope.twin.running.at_rest", lambda each: each)
    row = Row("rest", "randwrite", 4096, 16, 400, 1.0)
    (logs,) = Runner([row], 5).logs([design])
    monkeypatch.undo()
    return float(np.exp(logs[0]))


@pytest.mark.parametrize("spare", [0.1, 0.28])
def test_a_smaller_drive_comes_to_the_same_rest(
    spare: float, monkeypatch: pytest.MonkeyPatch
) -> None:
    design = Design({**PAGE.values, "over_provisioning_ratio": spare}, 1 << 30)
    assert at_rest(design).capacity_bytes < design.capacity_bytes / 2
    whole, small = (
        at_rest_ns(design, whole=whole, monkeypatch=monkeypatch) for whole in (True, False)
    )
    assert small == pytest.approx(whole, rel=0.06), "two runs of one drive differ by 2 %"


def test_a_smaller_drive_keeps_shares() -> None:
    design = MERGES.having({"nand.pages_per_block": 64})
    design = Design(design.values, 8 << 30)
    small = at_rest(design)
    share = small.capacity_bytes / design.capacity_bytes
    assert share < 1 / 8
    assert small.whole("ftl.log_blocks") == pytest.approx(400 * share, abs=1)
    open_drive(drive_toml(small.file(), []), "small", 1)


def test_a_drive_that_was_filled_in_order_is_run_whole_up_to_a_size() -> None:
    burst = 100 << 20
    assert for_bursts(PAGE, burst) == PAGE
    large = Design(PAGE.values, 1 << 40)
    small = for_bursts(large, burst)
    assert small.capacity_bytes < large.capacity_bytes / 100
    free = small.number("over_provisioning_ratio") * small.capacity_bytes
    assert 2 * burst <= free < 3 * burst, "what a burst can fill is kept"
    open_drive(drive_toml(small.file(), []), "small", 1)


def test_a_drive_that_was_written_over_is_made_smaller() -> None:
    large = Design({**PAGE.values, "default_state": "random"}, 64 << 30)
    small = for_bursts(large, 50 << 20)
    assert 8 * (50 << 20) <= small.capacity_bytes < large.capacity_bytes / 8
    open_drive(drive_toml(small.file(), []), "small", 1)


def test_a_drive_that_always_collects_keeps_its_last_blocks() -> None:
    design = Design({**PAGE.values, "over_provisioning_ratio": 0.03}, 16 << 30)
    small = at_rest(design)
    assert small.capacity_bytes < design.capacity_bytes / 4
    kept = small.number("gc.low_water_ratio", 0.05) * small.blocks
    spare = small.blocks - small.capacity_bytes / small.row_bytes
    assert spare < kept, "it always collects, too"
    open_drive(drive_toml(small.file(), []), "small", 1)


def detected(values: dict[str, float | str]) -> list[Finding]:
    return [
        Detected(name=name, probe="p", value=value, interval=None, effect=1.0)
        for name, value in values.items()
    ]


def test_what_was_found_is_put_into_a_design() -> None:
    findings = detected({
        "rmw_unit_bytes": 16_384,
        "alignment_phase_bytes": 4096,
        "merge_unit_bytes": 1 << 20,
        "write_buffer_bytes": 100_000,
        "write_buffer_unit_bytes": 8192,
        "map_zone_bytes": 3 << 20,
        "map_cache_bytes": 12 << 20,
        "interleave_degree": 6,
    })  # fmt: skip
    findings.append(Absent(name="read_ahead_bytes", probe="p", bound=0.01, reason="r"))
    findings.append(
        Ambiguous(name="read_cache_bytes", probe="p", candidates=(1 << 20, 2 << 20), reason="r")
    )
    found = found_of(Findings(findings), INFO, {"disturbance.noise_sigma": 0.1})
    assert not found.allows(PAGE)
    assert found.allows(MERGES)
    design = found.put_into(MERGES.having({"disturbance.drift_ratio": 0.2}))
    values = design.file()
    assert values["ftl.map_unit_bytes"] == 16_384
    assert values["ftl.phase_bytes"] == 4096
    assert values["write_buffer.bytes"] == 98_304, "whole units"
    assert values["map.resident_zones"] == 4
    assert values["read_cache.bytes"] == 1 << 20, "the first of what explains it"
    assert values["disturbance.noise_sigma"] == 0.1
    assert "disturbance.drift_ratio" not in values, "noise is the measured drive's"
    assert design.dies == 6
    assert design.capacity_bytes == INFO.capacity_bytes
    open_drive(drive_toml(values, []), "twin", 1)


def test_a_run_of_pages_that_was_found_lies_in_one_block() -> None:
    found = found_of(Findings(detected({"placement_pages": 96})), INFO, {})
    design = found.put_into(PAGE)
    assert design.whole("nand.pages_per_block") % 96 == 0
    assert open_drive(drive_toml(design.file(), []), "twin", 1)


def test_dies_that_were_counted_are_put_in_and_may_yet_be_others() -> None:
    found = found_of(Findings(detected({"interleave_degree": 12})), INFO, {})
    design = found.put_into(PAGE)
    assert design.dies == 12
    counts = {each.dies for each in neighbours(design, found)}
    assert {6, 12, 24} <= counts, "what was measured may say otherwise"


def test_more_planes_come_with_the_same_pace_of_writes_too() -> None:
    found = found_of(Findings([]), INFO, {})
    more = [each for each in neighbours(PAGE, found) if each.whole("nand.planes", 1) == 4]
    assert {each.number("nand.program_ns") for each in more} == {400_000, 1_600_000}


def test_a_drive_of_another_pace_takes_as_much_longer() -> None:
    slower = paced(PAGE, float(np.log(2)), float(np.log(3)))
    assert slower.number("nand.read_ns") == 120_000
    assert slower.number("nand.program_ns") == 1_200_000
    assert slower.number("host.bytes_per_second") == pytest.approx(125e6)
    rows = [row for row in asked() if row.sort == "read" and row.iodepth == 1]
    one, other = Runner(rows, 1).logs([PAGE, slower])
    assert other - one == pytest.approx(np.log(2), abs=0.01)


def test_neighbours_differ_and_most_can_be() -> None:
    found = found_of(Findings([]), INFO, {})
    for design in (found.put_into(PAGE), found.put_into(MERGES)):
        every = list(neighbours(design, found))
        assert all(each.values != design.values for each in every)
        can = sum(opened(each.file(), None, 1) is not None for each in every)
        assert can > 0.8 * len(every)


def test_numbers_move_together_with_what_hangs_on_them() -> None:
    by_type = {"nand.read_by_type_ns": [40_000, 80_000]}
    design = PAGE.having({"write_buffer.bytes": 40_960, "write_buffer.unit_bytes": 8192, **by_type})
    free = {each.key: each for each in free_of(design)}
    assert "write_buffer.bytes" in free
    assert "map.load_ns" not in free, "it has no such table"
    up = {free["nand.read_ns"]: np.log(2), free["write_buffer.bytes"]: np.log(1.8)}
    after = moved(design, up)
    assert after.values["nand.read_ns"] == 120_000
    assert after.values["nand.read_by_type_ns"] == [80_000, 160_000]
    assert after.values["write_buffer.bytes"] == 9 * 8192, "whole units"
    furthest = moved(design, {free["nand.read_ns"]: 30.0})
    assert at_bounds(furthest, {free["nand.read_ns"]}) == ["nand.read_ns"]
    assert at_bounds(design, set(free.values())) == []


def test_numbers_of_a_known_structure_are_recovered() -> None:
    rows = [row for row in asked() if row.sort == "read" and row.iodepth < 64]
    (logs,) = Runner(rows, 1).logs([PAGE])
    wanted = [
        Row(row.sort, row.rw, row.block_bytes, row.iodepth, row.requests, float(np.exp(each)))
        for row, each in zip(rows, logs, strict=True)
    ]
    fitter = Fitter(Runner(wanted, 1))
    start = PAGE.having({"nand.read_ns": 90_000, "channel.ns_per_byte": 2.0})
    (begun,) = fitter.tried([start])
    found = fitter.fitted(begun, 8)
    assert found.cost < begun.cost / 100
    assert found.error < 0.005


def test_drawn_drives_come_with_what_they_take() -> None:
    drawn = drawn_drives()
    assert len(drawn.designs) == len(drawn.logs) > 500
    assert drawn.logs.shape[1] == sum(row.logs().size for row in asked())
    kinds = {each.disk or each.values.get("ftl.kind") for each in drawn.designs}
    assert {True, "page", "log-block"} <= kinds


def test_the_nearest_drawn_drive_is_the_one_that_did_what_was_measured() -> None:
    drawn = drawn_drives()
    at = next(n for n, each in enumerate(drawn.designs) if each.values.get("ftl.kind") == "page")
    ends = np.cumsum([row.logs().size for row in asked()])[:-1]
    rows = [
        Row(row.sort, row.rw, row.block_bytes, row.iodepth, row.requests, 1.0,
            tuple(np.exp(part)) if part.size > 1 else (float(np.exp(part[0])),))
        for row, part in zip(asked(), np.split(drawn.logs[at], ends), strict=True)
        if np.isfinite(part).all()
    ]  # fmt: skip
    info = DeviceInfo(
        "file", drawn.designs[at].capacity_bytes, 512, "wall", True, False, False, False
    )
    first = next(nearest(drawn, rows, found_of(Findings([]), info, {}), 1))
    assert first.values["nand.program_ns"] == drawn.designs[at].values["nand.program_ns"]
    nobody = Drawn([], np.empty((0, drawn.logs.shape[1])))
    assert list(nearest(nobody, rows, found_of(Findings([]), info, {}), 1)) == []


def test_the_way_to_rest_is_held_to_by_its_first_rounds() -> None:
    course = {"round_bytes": 32 << 20, "rates_bytes_per_s": [2e8, 1e8, 5e7, 5e7, 5e7]}
    came = point("randwrite", 4096, 16, "", reached=True, course=course)
    went_on = point("randwrite", 4096, 64, "", reached=True, course=course)
    alone = point("write", 65_536, 16, "", reached=False, course=course | {"round_bytes": 1 << 30})
    performance = {"sustained": [came, went_on, alone]}
    rest, way = fitted_rows(performance)
    assert (rest.sort, way.sort) == ("rest", "long")
    assert way.burst_bytes == 128 << 20, "four rounds; the fifth is too long to be run"
    assert np.exp(way.logs()) == pytest.approx(16 * 4096 * 1e9 / np.array([2e8, 1e8, 5e7, 5e7]))
    assert [row.sort for row in held_out_rows(performance)] == ["rest"], (
        "its first round is too long"
    )


def point(rw: str, size: int, depth: int, split: str, **more: Any) -> dict[str, Any]:
    told = {"rw": rw, "block_bytes": size, "iodepth": depth, "mean_ns": 100.0, "split": split}
    return told | {"requests": 800, "bursts": 2, **more}


def test_what_is_fitted_is_not_held_out() -> None:
    course = [50.0, 60.0, 100.0, 120.0]
    points = [
        point("randread", 4096, 1, "grid"),
        point("randwrite", 4096, 1, "grid", course_ns=course),
        point("randwrite", 1 << 20, 1, "grid"),
        point("randwrite", 12_288, 3, "off-grid", course_ns=course),
        point("randread", 4096, 4, "grid", mean_ns=None),
    ]
    sustained = [
        point("randwrite", 4096, depth, "", reached=depth < 64) for depth in (1, 16, 64)
    ]  # fmt: skip
    performance = {"points": points, "sustained": sustained}
    fitted, held = fitted_rows(performance), held_out_rows(performance)
    assert [row.name for row in fitted] == [
        "read randread 4096 1", "burst randwrite 4096 1", "rest randwrite 4096 16",
    ]  # fmt: skip
    assert [row.name for row in held] == ["burst randwrite 12288 3", "rest randwrite 4096 1"]
    assert fitted[1].requests == 400, "of one burst"
    assert fitted[1].logs() == pytest.approx(np.log(course))
    assert (fitted[1].weights() ** 2).sum() == pytest.approx((fitted[0].weights() ** 2).sum())
