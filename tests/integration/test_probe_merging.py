"""The family `merging` on drives that are written here, so that what it should find is known."""

from __future__ import annotations

from pathlib import Path

import numpy as np
import pytest
from tests.integration.collecting_drives import FLAT, NOISE, bench_with, log_block, page_mapped
from tests.integration.collecting_drives import told as told_on

from ssdscope.findings import Absent, Detected, Finding, Reason, Undetectable
from ssdscope.probes import registry, session
from ssdscope.probes.budget import Budget
from ssdscope.probes.merging.plans import InOrder, Pairs, full
from ssdscope.probes.merging.probe import OPEN, PHASE, UNIT
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
LOUD = """
[disturbance]
noise_sigma = 0.1
spike_ratio = 0.01
spike_ns = 2_000_000
"""
MERGE = 2 * 48 * 4096
BUFFER = """
[write_buffer]
bytes = 262_144
switchable = {switchable}
power_loss_protected = {protected}
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


def answers(folder: Path, toml: str) -> dict[str, Finding]:
    return told_on(
        "merging", bench_with(folder, toml, rmw_unit_bytes=4096, alignment_phase_bytes=0)
    )


@pytest.mark.parametrize(("association", "logs"), [("one-to-one", 13), ("many-to-one", 1)])
@pytest.mark.parametrize("names", [("merging",), ("units", "merging")])
@pytest.mark.parametrize(
    ("size", "changes"),
    [
        (1_572_864, {}),
        (196_608, {"channels": 1, "pages": 48, "blocks": 2000}),
        (4_718_592, {"channels": 6, "planes": 2, "blocks": 160}),
        (9_437_184, {"channels": 6, "planes": 4, "blocks": 100}),
    ],
)
def test_units_and_log_blocks(
    tmp_path: Path,
    association: str,
    logs: int,
    names: tuple[str, ...],
    size: int,
    changes: dict[str, int],
) -> None:
    ftl = (
        f'kind = "log-block"\nmerge_unit_bytes = {size}\nlog_association = "{association}"\n'
        "log_blocks = 13"
    )
    found = told(drive(tmp_path, ftl, LOUD, **changes), *names)
    assert value(found[UNIT]) == size
    assert value(found[OPEN]) == logs
    if association == "one-to-one" or len(names) > 1:
        assert value(found[PHASE]) == 0


@pytest.mark.parametrize(
    ("unit", "phase", "merge", "channels"),
    [(16_384, 5120, 1_572_864, 4), (12_288, 3072, 1_179_648, 3)],
)
def test_units_that_do_not_begin_at_zero(
    tmp_path: Path, unit: int, phase: int, merge: int, channels: int
) -> None:
    ftl = (
        f'kind = "log-block"\nlog_blocks = 12\nmap_unit_bytes = {unit}\nphase_bytes = {phase}\n'
        f"merge_unit_bytes = {merge}"
    )
    found = told(drive(tmp_path, ftl, LOUD, channels=channels), "units", "merging")
    assert value(found[UNIT]) == merge
    assert value(found[PHASE]) == phase


def test_merge_units_begin_with_a_unit_of_one_block(tmp_path: Path) -> None:
    toml = log_block(association="many-to-one", more="[host]\nlogical_block_bytes = 4096\n")
    found = told_on("merging", bench_with(tmp_path, toml, rmw_unit_bytes=None))
    assert value(found[UNIT]) == MERGE
    assert value(found[PHASE]) == 0


@pytest.mark.parametrize(("unit", "channels"), [(8192, 4), (16_384, 4), (12_288, 3)])
def test_a_log_block_that_is_full_of_parts_is_not_taken_for_a_whole(
    tmp_path: Path, unit: int, channels: int
) -> None:
    # The RMW unit is not known, and each write takes one, however short it is.
    merge = channels * 393_216
    ftl = (
        f'kind = "log-block"\nmap_unit_bytes = {unit}\nmerge_unit_bytes = {merge}\nlog_blocks = 20'
    )
    found = told(drive(tmp_path, ftl, channels=channels), "merging")
    assert value(found[UNIT]) == merge


@pytest.mark.parametrize("allocation", ["order", "address"])
def test_a_page_mapped_drive_has_none(tmp_path: Path, allocation: str) -> None:
    ftl = f'kind = "page"\nallocation = "{allocation}"\nmap_unit_bytes = 8192'
    found = told(drive(tmp_path, ftl, LOUD), "units", "merging")
    assert isinstance(found[UNIT], Absent)
    assert isinstance(found[OPEN], Absent)


ZONES = """
[map]
kind = "zones"
zone_bytes = {zone}
resident_zones = {resident}
load_ns = {load}
write_back_ns = {write_back}
"""


@pytest.mark.parametrize(
    ("resident", "load", "write_back"), [(4, 1_400_000, 1_000_000), (1, 85_000, 2_600_000)]
)
def test_what_single_writes_load_of_the_table_is_no_merge(
    tmp_path: Path, resident: int, load: int, write_back: int
) -> None:
    zones = ZONES.format(zone=4_718_592, resident=resident, load=load, write_back=write_back)
    device = drive(tmp_path, 'kind = "page"\nmap_unit_bytes = 16384', zones + LOUD)
    found = told(device, "units", "merging")
    assert isinstance(found[UNIT], Absent)


def test_a_zone_of_the_table_is_not_taken_for_a_merge_unit(tmp_path: Path) -> None:
    zones = ZONES.format(zone=1_769_472, resident=3, load=557_300, write_back=879_200)
    ftl = 'kind = "page"\nmap_unit_bytes = 12_288\nallocation = "address"'
    found = told(drive(tmp_path, ftl, zones, channels=3), "merging")
    assert not isinstance(found[UNIT], Detected)


def test_a_merge_unit_as_large_as_a_zone_is_told_where_log_blocks_are_many(tmp_path: Path) -> None:
    zones = ZONES.format(zone=1_179_648, resident=3, load=557_300, write_back=879_200)
    ftl = (
        'kind = "log-block"\nlog_association = "many-to-one"\nlog_blocks = 24\n'
        "map_unit_bytes = 12_288\nmerge_unit_bytes = 1179648"
    )
    found = told(drive(tmp_path, ftl, zones, channels=3), "units", "merging")
    assert value(found[UNIT]) == 1_179_648


@pytest.mark.parametrize("association", ["one-to-one", "many-to-one"])
@pytest.mark.parametrize("logs", [3, 40])
def test_merges_are_not_taken_for_loads_of_the_mapping_table(
    tmp_path: Path, association: str, logs: int
) -> None:
    ftl = (
        f'kind = "log-block"\nlog_association = "{association}"\nlog_blocks = {logs}\n'
        "map_unit_bytes = 16384\nmerge_unit_bytes = 1572864"
    )
    zones = ZONES.format(zone=18_874_368, resident=2, load=1_400_000, write_back=1_000_000)
    found = told(drive(tmp_path, ftl, zones + LOUD), "units", "merging")
    assert value(found[UNIT]) in (1_572_864, None)
    assert not isinstance(found[UNIT], Absent)


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
    found = told(open_drive(drive_toml(values, []), "drive", 1), "units", "merging")
    assert not isinstance(found[UNIT], Absent)
    assert value(found[UNIT]) in (786_432, None)


def test_a_stripe_of_an_array_is_no_merge_unit(tmp_path: Path) -> None:
    """Members that are left alone for a while merge by themselves, and writes wait for that."""
    file = tmp_path / "member.toml"
    background = "[gc]\nbackground = true\nidle_ns = 20_000_000\n"
    file.write_text(
        log_block(pages=192, merge=4 * MERGE, blocks=320, more=background), encoding="utf-8"
    )
    device = open_target(f"raid0:{file},{file}?chunk=64k", seed=1).device
    assert value(told(device, "units", "merging")[UNIT]) in (8 * MERGE, None)


def test_without_an_rmw_unit_nothing_is_absent(tmp_path: Path) -> None:
    found = told(drive(tmp_path, 'kind = "page"', LOUD), "merging")
    assert isinstance(found[UNIT], Undetectable)


@pytest.mark.parametrize("logs", [3, 5, 8, 13])
@pytest.mark.parametrize("noise", ["", NOISE])
@pytest.mark.parametrize("victim", ["fifo", "lru"])
def test_one_log_block_for_each_stream(tmp_path: Path, logs: int, noise: str, victim: str) -> None:
    found = answers(tmp_path, log_block(logs=logs, more=f'log_victim = "{victim}"') + noise)
    assert value(found[UNIT]) == MERGE
    assert value(found[OPEN]) == logs


@pytest.mark.parametrize("logs", [200, 350, 420])
def test_more_log_blocks_than_single_writes_take_are_not_absent(tmp_path: Path, logs: int) -> None:
    ftl = f'kind = "log-block"\nlog_blocks = {logs}\nmerge_unit_bytes = 196608'
    many = drive(tmp_path, ftl, LOUD, channels=1, pages=48, blocks=2300)
    found = told(many, "units", "merging")
    assert value(found[UNIT]) == 196_608
    assert value(found[PHASE]) == 0
    assert isinstance(found[OPEN], Undetectable)


@pytest.mark.parametrize("logs", [3, 9])
@pytest.mark.parametrize("noise", ["", NOISE])
def test_common_log_blocks_leave_one_stream(tmp_path: Path, logs: int, noise: str) -> None:
    found = answers(tmp_path, log_block(association="many-to-one", logs=logs) + noise)
    assert value(found[OPEN]) == 1


READ = "foreign_on_ns = 400_000_000\nforeign_off_ns = 1_500_000_000\nforeign_iops = 47\n"
WRITTEN = "foreign_on_ns = 200_000_000\nforeign_off_ns = 2_400_000_000\nforeign_iops = 20\n"


@pytest.mark.parametrize(
    ("others", "answered"), [(READ, True), (WRITTEN + "foreign_write_ratio = 1.0\n", False)]
)
@pytest.mark.parametrize("logs", [8, 14])
def test_what_others_write_takes_no_log_block_of_the_count(
    tmp_path: Path, others: str, answered: bool, logs: int
) -> None:
    toml = log_block(logs=logs) + "[disturbance]\nforeign_bytes = 16_384\n" + others
    found = answers(tmp_path, toml)
    assert value(found[UNIT]) in (MERGE, None)
    assert value(found[OPEN]) in ((logs,) if answered else (logs, None))


def test_parts_of_the_table_that_are_loaded_take_no_log_block(tmp_path: Path) -> None:
    zones = ZONES.format(zone=2 * MERGE, resident=2, load=2_000_000, write_back=2_000_000)
    found = answers(tmp_path, log_block(logs=9, more=zones))
    assert value(found[OPEN]) in (9, None)


@pytest.mark.parametrize("switchable", ["true", "false"])
def test_a_buffer_is_switched_off_or_passed_by(tmp_path: Path, switchable: str) -> None:
    buffer = BUFFER.format(switchable=switchable, protected="false")
    found = answers(tmp_path, log_block(logs=5, more=buffer))
    assert value(found[UNIT]) == MERGE
    assert value(found[OPEN]) == 5


def test_a_protected_buffer_that_stays_on_hides_all(tmp_path: Path) -> None:
    buffer = BUFFER.format(switchable="false", protected="true")
    for each in answers(tmp_path, log_block(more=buffer)).values():
        assert isinstance(each, Undetectable)
        assert each.reason is Reason.PLP_NO_FLUSH_EFFECT


def test_a_flat_drive_has_none(tmp_path: Path) -> None:
    for each in answers(tmp_path, FLAT).values():
        assert not isinstance(each, Detected)


def test_a_page_mapped_drive_that_is_small(tmp_path: Path) -> None:
    found = answers(tmp_path, page_mapped())
    assert not isinstance(found[UNIT], Detected)


def test_what_was_recorded_decides_alike(tmp_path: Path) -> None:
    bench = bench_with(tmp_path, log_block(logs=5) + NOISE, rmw_unit_bytes=4096)
    first = told_on("merging", bench)
    requests = bench.requests
    again = told_on("merging", bench)
    assert [value(each) for each in again.values()] == [value(each) for each in first.values()]
    assert bench.requests == requests


def test_of_writes_in_order_the_slow_ones_are_kept_and_pairs_lie_on_the_drive(
    tmp_path: Path,
) -> None:
    bench = bench_with(tmp_path, log_block())
    of = {"unit_bytes": 4096, "phase_bytes": 0}
    with bench.allowance(2 * bench.info.capacity_bytes):
        plan = InOrder(count=3000, **of)
        whole = full(plan, bench.take(plan))
        assert whole.x.tolist() == list(range(1, 3001))
        assert np.median(whole.y[whole.x % 96 == 0]) > 2 * np.median(whole.y)
        taken = bench.take(Pairs(count=64, length=96, **of))
    assert (taken.x >= 1).all()
    assert (taken.x + taken.stratum < bench.info.capacity_bytes // 4096).all()
    assert (taken.stratum > 0).all()
