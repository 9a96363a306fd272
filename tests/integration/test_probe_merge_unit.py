"""The probe `merge_unit` on drives that are written here, so that what it should find is known."""

from __future__ import annotations

from pathlib import Path
from typing import Any

import numpy as np
import pytest

from ssdscope.findings import Absent, Ambiguous, Detected, Finding, Reason, Undetectable
from ssdscope.probes import merge_periods, merge_runs, merge_unit, registry, session
from ssdscope.probes.bench import Bench, Stopped
from ssdscope.probes.budget import Budget
from ssdscope.probes.discipline import WAITS_NS
from ssdscope.probes.states import State
from ssdscope.studies.recovery.generator import draw
from ssdscope.targets import Device, open_target
from ssdscope.targets.drive_writer import drive_toml, open_drive

DRIVE = """
over_provisioning_ratio = 0.25
[nand]
channels = {channels}
planes = {planes}
blocks_per_plane = {blocks}
pages_per_block = {pages}
page_bytes = 4096
read_ns = 40_000
program_ns = 400_000
erase_ns = 2_000_000
[channel]
ns_per_byte = 5
[ftl]
{ftl}
"""
PLAIN = {"channels": 4, "planes": 1, "blocks": 280, "pages": 96}
DEFAULT = Budget.parse("default")
NOISE = """
[disturbance]
noise_sigma = 0.1
spike_ratio = 0.01
spike_ns = 2_000_000
"""


def drive(folder: Path, ftl: str, more: str = "", **changes: int) -> Device:
    file = folder / "drive.toml"
    file.write_text(DRIVE.format(**PLAIN | changes, ftl=ftl) + more, encoding="utf-8")
    return open_target(str(file), seed=1).device


def told(device: Device, *names: str) -> dict[str, Finding]:
    found = session.run(names, device, DEFAULT, 1)
    chosen = [probe for name in names for probe in registry.choose(name, DEFAULT)]
    planned = sum(each.planned_writes_bytes(device.info) for each in chosen)
    assert max(each.bytes_written for each in found) <= planned
    return {each.name: each for each in found}


def value(finding: Finding) -> float | str | None:
    return finding.value if isinstance(finding, Detected) else None


@pytest.mark.parametrize("association", ["one-to-one", "many-to-one"])
@pytest.mark.parametrize(
    ("size", "changes"),
    [
        (1_572_864, {}),
        (196_608, {"channels": 1, "pages": 48, "blocks": 2000}),
        (4_718_592, {"channels": 6, "planes": 2, "blocks": 160}),
        (9_437_184, {"channels": 6, "planes": 4, "blocks": 100}),
    ],
)
def test_merge_units(tmp_path: Path, association: str, size: int, changes: dict[str, int]) -> None:
    ftl = f'kind = "log-block"\nmerge_unit_bytes = {size}\nlog_association = "{association}"'
    found = told(drive(tmp_path, ftl, NOISE, **changes), "table", "merge_unit")
    assert value(found[merge_unit.UNIT]) == size
    # Single writes that wait for merges tell where units begin, and how many a log block holds.
    assert value(found[merge_unit.RMW_UNIT]) == 4096
    assert value(found[merge_unit.PHASE]) == 0


def test_the_phase_of_units_with_a_log_block_each(tmp_path: Path) -> None:
    ftl = (
        'kind = "log-block"\nlog_blocks = 12\nmap_unit_bytes = 16384\nphase_bytes = 5120\n'
        "merge_unit_bytes = 1572864"
    )
    found = told(drive(tmp_path, ftl, NOISE), "table", "merge_unit")
    assert value(found[merge_unit.UNIT]) == 1_572_864
    assert value(found[merge_unit.RMW_UNIT]) == 16_384
    assert value(found[merge_unit.PHASE]) == 5120


def test_what_others_disturbed_is_measured_again_later(tmp_path: Path) -> None:
    device = drive(tmp_path, 'kind = "page"')
    bench = Bench(device, DEFAULT, 1)
    begun_ns = []

    def measure() -> int:
        begun_ns.append(int(bench.read([0], 4096).submit_ns[0]))
        if len(begun_ns) < 3:
            raise Stopped(Reason.INTERFERENCE)
        return len(begun_ns)

    with bench.allowance(device.info.capacity_bytes):
        bench.enter(State.FILLED)
        assert merge_runs.afresh(bench, measure) == 3
    assert np.diff(begun_ns).tolist() == np.diff([0, *WAITS_NS[:2]]).tolist()


def test_the_rmw_unit_is_where_writes_wait_for_merges(tmp_path: Path) -> None:
    ftl = (
        'kind = "log-block"\nlog_association = "many-to-one"\nlog_blocks = 40\n'
        "map_unit_bytes = 12288\nphase_bytes = 3072\nmerge_unit_bytes = 1179648"
    )
    found = told(drive(tmp_path, ftl, NOISE, channels=3), "merge_unit")
    assert value(found[merge_unit.UNIT]) == 1_179_648
    assert value(found[merge_unit.RMW_UNIT]) == 12_288
    assert value(found[merge_unit.PHASE]) == 3072


def test_merge_units_begin_with_a_unit_of_one_block(tmp_path: Path) -> None:
    ftl = 'kind = "log-block"\nlog_association = "many-to-one"\nmerge_unit_bytes = 1572864'
    blocks = "[host]\nlogical_block_bytes = 4096\n"
    found = told(drive(tmp_path, ftl, blocks), "merge_unit")
    assert isinstance(found[merge_unit.RMW_UNIT], Absent)
    assert value(found[merge_unit.PHASE]) == 0


def test_a_unit_of_several_pages_that_does_not_begin_at_zero(tmp_path: Path) -> None:
    ftl = (
        'kind = "log-block"\nmap_unit_bytes = 12288\nphase_bytes = 3072\n'
        "merge_unit_bytes = 1179648\nlog_blocks = 20"
    )
    found = told(drive(tmp_path, ftl, channels=3), "units", "merge_unit")
    assert value(found["rmw_unit_bytes"]) == 12_288
    assert value(found[merge_unit.UNIT]) == 1_179_648
    assert value(found[merge_unit.PHASE]) == 3072


@pytest.mark.parametrize(("unit", "channels"), [(8192, 4), (16_384, 4), (12_288, 3)])
def test_a_log_block_that_is_full_of_parts_is_not_taken_for_a_whole(
    tmp_path: Path, unit: int, channels: int
) -> None:
    # The RMW unit is not known, and each write takes one, however short it is.
    merge = channels * 393_216
    ftl = (
        f'kind = "log-block"\nmap_unit_bytes = {unit}\nmerge_unit_bytes = {merge}\nlog_blocks = 20'
    )
    found = told(drive(tmp_path, ftl, channels=channels), "merge_unit")
    assert value(found[merge_unit.UNIT]) == merge


@pytest.mark.parametrize("allocation", ["order", "address"])
def test_a_page_mapped_drive_has_none(tmp_path: Path, allocation: str) -> None:
    ftl = f'kind = "page"\nallocation = "{allocation}"\nmap_unit_bytes = 8192'
    found = told(drive(tmp_path, ftl, NOISE), "units", "merge_unit")
    assert isinstance(found[merge_unit.UNIT], Absent)


ZONES = """
[map]
kind = "zones"
zone_bytes = 18_874_368
resident_zones = {resident}
load_ns = 1_400_000
write_back_ns = 1_000_000
"""


def test_what_short_runs_load_of_the_mapping_table_is_no_merge(tmp_path: Path) -> None:
    device = drive(tmp_path, 'kind = "page"\nmap_unit_bytes = 16384', ZONES.format(resident=4))
    found = told(device, "table", "units", "merge_unit")
    none = found[merge_unit.UNIT]
    assert isinstance(none, Absent)
    assert none.evidence.figures["short_runs"] > merge_runs.COLLAPSES


def test_runs_that_others_disturbed_as_a_whole_do_not_count() -> None:
    nan = np.nan
    latency = np.array([[1.0, 3.0], [nan, nan], [nan, 5.0], [4.0, 2.0]])
    assert merge_unit._typical_run_ns(latency) == 3.0


@pytest.mark.parametrize(
    ("association", "key", "level"),
    [
        ("one-to-one", "disturbance.noise_sigma", 0.08367),
        ("many-to-one", "disturbance.foreign_iops", 25),
    ],
)
def test_few_log_blocks_that_are_merged_in_idle_time_are_not_absent(
    association: str, key: str, level: float
) -> None:
    """All single writes wait, but for the first few; or between reads of others all or none do."""
    values = {
        "nand.channels": 1, "nand.planes": 3, "nand.blocks_per_plane": 529,
        "nand.pages_per_block": 128, "nand.page_bytes": 2048, "nand.read_ns": 75_530,
        "nand.program_ns": 1_463_000, "nand.erase_ns": 5_247_000, "channel.ns_per_byte": 4.6,
        "ftl.kind": "log-block", "ftl.log_blocks": 5, "ftl.merge_unit_bytes": 786_432,
        "ftl.log_association": association,
        "gc.background": True, "gc.idle_ns": 9_566_000,
        "disturbance.drift_ratio": 0.2965, key: level,
        "disturbance.foreign_on_ns": 262_100_000, "disturbance.foreign_off_ns": 4_974_658_000,
    }  # fmt: skip
    found = told(open_drive(drive_toml(values, []), "drive", 1), "units", "merge_unit")
    assert not isinstance(found[merge_unit.UNIT], Absent)


@pytest.mark.always(2)
@pytest.mark.parametrize("association", ["one-to-one", "many-to-one"])
@pytest.mark.parametrize("logs", [3, 40])
def test_merges_are_not_taken_for_loads_of_the_mapping_table(
    tmp_path: Path, association: str, logs: int
) -> None:
    ftl = (
        f'kind = "log-block"\nlog_association = "{association}"\nlog_blocks = {logs}\n'
        "map_unit_bytes = 16384\nmerge_unit_bytes = 1572864"
    )
    device = drive(tmp_path, ftl, ZONES.format(resident=2) + NOISE)
    found = told(device, "table", "units", "merge_unit")
    assert not isinstance(found[merge_unit.UNIT], Absent)


@pytest.mark.parametrize(
    ("seed", "index", "unit", "units"),
    [(3310060921, 63, 32_768, 2718), (2433043255, 108, 12_288, 128)],
)
def test_runs_across_two_begin_in_a_stripe_where_aligned_ones_do(
    seed: int, index: int, unit: int, units: int
) -> None:
    """Half a zone further, or half a block, they lay on other dies, and took longer for that."""
    device = open_drive(draw(seed, index).toml(), "drawn", index)
    bench = Bench(device, Budget.parse("full"), index)
    stream = merge_periods.Stream(unit, 0, np.empty(0))
    found = merge_periods.Repeating(stream, merge_periods.Period(units, 0.5, 6.0))
    with bench.allowance(4 * bench.info.capacity_bytes):
        collapse = merge_unit._collapse(bench, found, bench.info.capacity_bytes)
    assert collapse is not None
    assert abs(collapse.contrast) < 0.05


@pytest.mark.parametrize("slower", [-0.9, 1.5])
def test_nor_is_it_absent_where_the_first_writes_far_apart_wait(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, slower: float
) -> None:
    apart = merge_runs.Apart(slower, 96, 400_000.0)
    monkeypatch.setattr(merge_runs, "far_apart", lambda *_: apart)
    ftl = 'kind = "page"\nmap_unit_bytes = 8192'
    found = told(drive(tmp_path, ftl, NOISE), "units", "merge_unit")
    assert isinstance(found[merge_unit.UNIT], Undetectable)


@pytest.mark.parametrize(
    ("candidates_kib", "expected"),
    [((8, 16, 64), Undetectable), ((8,), Detected), ((), Undetectable)],
)
def test_what_may_be_an_rmw_unit_is_no_merge_unit(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, candidates_kib: tuple[int, ...], expected: type
) -> None:
    """Runs across two take twice as long; a region of ten units was taken for log blocks."""
    stream = merge_periods.Stream(8192, 0, np.full(4096, 1e6))
    found = merge_periods.Repeating(stream, merge_periods.Period(8, 0.1, 11.0))
    monkeypatch.setattr(merge_unit, "repeating", lambda *_args: iter([found]))
    monkeypatch.setattr(merge_unit.merge_begins, "measure", lambda *_args: None)
    monkeypatch.setattr(merge_unit.merge_pairs, "measure", lambda *_args: None)
    none = np.zeros(16, bool)
    aligned, across = (merge_runs.Runs(np.full(16, each), none) for each in (33e6, 69e6))
    collapse = merge_runs.Collapse(
        65_536, aligned, across, 1e-6, merge_runs.Apart(0.0, 1024, 4_000_000.0)
    )
    monkeypatch.setattr(merge_unit, "_collapse", lambda *_args: collapse)
    bench = Bench(drive(tmp_path, 'kind = "page"'), Budget.parse("full"), 1)
    sizes = tuple(float(each * 1024) for each in candidates_kib)
    common: dict[str, Any] = {"name": "rmw_unit_bytes", "probe": "units"}
    # Of a unit that was looked for in vain every size is left.
    bench.known["rmw_unit_bytes"] = (
        Ambiguous(candidates=sizes, reason="for a test", **common)
        if sizes
        else Undetectable(reason=Reason.BUDGET_EXHAUSTED, **common)
    )
    answers = {each.name: each for each in merge_unit.detect(bench)}
    assert isinstance(answers[merge_unit.UNIT], expected)


def test_without_an_rmw_unit_nothing_is_absent(tmp_path: Path) -> None:
    found = told(drive(tmp_path, 'kind = "page"', NOISE), "merge_unit")
    assert isinstance(found[merge_unit.UNIT], Undetectable)


def test_a_protected_buffer_that_stays_on_hides_the_unit(tmp_path: Path) -> None:
    buffer = (
        "[write_buffer]\nbytes = 1_048_576\nunit_bytes = 4096\n"
        "switchable = false\npower_loss_protected = true\n"
    )
    ftl = 'kind = "log-block"\nmerge_unit_bytes = 1572864'
    for each in told(drive(tmp_path, ftl, buffer), "merge_unit").values():
        assert isinstance(each, Undetectable)
        assert each.reason is Reason.PLP_NO_FLUSH_EFFECT


@pytest.mark.parametrize(("step_kib", "unevenly"), [(24, True), (32, False)])
def test_steps_that_hold_few_beginnings_evenly_show_no_period(
    step_kib: int, unevenly: bool
) -> None:
    """Of units of 512 KiB, steps of 24 KiB begin with every third; the writes that hold the other
    beginnings wait, too."""
    first = np.arange(1, 3001) * step_kib
    holds = (first + step_kib - 1) // 512 > (first - 1) // 512
    latency = np.random.default_rng(3).normal(1e6, 1e4, first.size) + 1e6 * holds
    stream = merge_periods.Stream(step_kib << 10, 0, latency)
    found = merge_periods.Repeating(stream, merge_periods.period_of(stream.ranks()))
    assert found.size_bytes == (3 if unevenly else 1) * 512 << 10
    assert merge_periods._cut_unevenly(found) is unevenly


def test_several_units_are_not_taken_for_one_where_not_every_write_is_slow() -> None:
    found = []
    for seed in range(40):
        rng = np.random.default_rng(seed)
        ranks = rng.uniform(-0.5, 0.5, 2401)
        begins = np.arange(144, ranks.size, 144)
        ranks[begins[rng.random(begins.size) < 0.8]] = 0.5
        period = merge_periods.period_of(ranks)
        found.append(None if period is None else period.units)
    assert set(found) <= {None, 144}
    assert found.count(144) > len(found) / 2


def test_a_zone_of_the_table_is_not_taken_for_a_merge_unit(tmp_path: Path) -> None:
    zones = (
        '[map]\nkind = "zones"\nzone_bytes = 1769472\nresident_zones = 3\n'
        "load_ns = 557_300\nwrite_back_ns = 879_200\n"
    )
    ftl = 'kind = "page"\nmap_unit_bytes = 12_288\nallocation = "address"'
    found = told(drive(tmp_path, ftl, zones, channels=3), "table", "merge_unit")
    assert found["map_zone_bytes"].to_json()["value"] == 1_769_472
    assert not isinstance(found[merge_unit.UNIT], Detected)


def test_a_merge_unit_as_large_as_a_zone_is_told_where_log_blocks_are_many(tmp_path: Path) -> None:
    zones = (
        '[map]\nkind = "zones"\nzone_bytes = 1179648\nresident_zones = 3\n'
        "load_ns = 557_300\nwrite_back_ns = 879_200\n"
    )
    ftl = (
        'kind = "log-block"\nlog_association = "many-to-one"\nlog_blocks = 24\n'
        "map_unit_bytes = 12_288\nmerge_unit_bytes = 1179648"
    )
    found = told(drive(tmp_path, ftl, zones, channels=3), "table", "units", "merge_unit")
    assert found["map_zone_bytes"].to_json()["value"] == 1_179_648
    assert found[merge_unit.UNIT].to_json()["value"] == 1_179_648
