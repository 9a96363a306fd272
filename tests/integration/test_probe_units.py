"""The probe `units` on drives that are written here, so that what it should find is known."""

from __future__ import annotations

from pathlib import Path

import pytest

from ssdscope.findings import Absent, Detected, Finding, Period, Reason, Undetectable
from ssdscope.probes import registry, session
from ssdscope.probes.bench.ledger import Bench
from ssdscope.probes.budget import Budget
from ssdscope.probes.units import probe as units
from ssdscope.recovery.generator import draw
from ssdscope.targets import Device, open_target
from ssdscope.targets.drive_writer import open_drive

DRIVE = """
over_provisioning_ratio = 0.25
[nand]
channels = {channels}
ways = {ways}
planes = {planes}
blocks_per_plane = {blocks}
pages_per_block = 96
page_bytes = {page}
read_ns = 40_000
program_ns = {program}
erase_ns = 2_000_000
[channel]
ns_per_byte = 5
[host]
logical_block_bytes = {block}
queue_depth = {depth}
[ftl]
{ftl}
"""
PLAIN = {
    "channels": 4,
    "ways": 1,
    "planes": 1,
    "blocks": 280,
    "page": 4096,
    "program": 400_000,
    "block": 512,
    "depth": 32,
}

REFUSED = pytest.mark.xfail(reason="refused: a rival is too close", strict=True)
WRONG = pytest.mark.xfail(reason="half of the unit is told, as pages are forced", strict=True)


def drive(folder: Path, ftl: str, more: str = "", **changes: int) -> Device:
    file = folder / "drive.toml"
    file.write_text(DRIVE.format(**PLAIN | changes, ftl=ftl) + more, encoding="utf-8")
    return open_target(str(file), seed=1).device


def told(device: Device) -> dict[str, Finding]:
    # As in `all`, it is known before whether the drive takes several commands.
    ran = session.run(["latency", "units"], device, Budget.parse("default"), 1)
    found = [each for each in ran if each.probe == units.NAME]
    planned = session.planned_writes_bytes(
        registry.choose("units", Budget.parse("default")), device.info
    )
    assert max(each.bytes_written for each in found) <= planned
    return {each.name: each for each in found}


def values(device: Device) -> list[float | str | None]:
    found = told(device)
    both = (found[units.UNIT], found[units.PHASE])
    return [each.value if isinstance(each, Detected) else None for each in both]


@pytest.mark.always(3)
@pytest.mark.parametrize(
    ("unit", "phase", "changes", "more"),
    [
        (4096, 0, {}, 'allocation = "order"'),
        (16_384, 4096, {}, 'allocation = "address"'),
        (12_288, 1536, {"channels": 3}, 'allocation = "order"'),
        pytest.param(
            49_152,
            12_288,
            {"channels": 6, "block": 4096, "blocks": 190},
            'allocation = "order"',
            marks=REFUSED,
        ),
        (4096, 0, {"channels": 6, "blocks": 190}, 'allocation = "address"\nplacement_pages = 2'),
        (
            4096,
            0,
            {"channels": 6, "planes": 2, "blocks": 100, "depth": 256},
            'allocation = "address"\nplacement_pages = 2\nplane_order = "CPWD"',
        ),
    ],
)
def test_units_and_phases_of_page_mapped_drives(
    tmp_path: Path, unit: int, phase: int, changes: dict[str, int], more: str
) -> None:
    ftl = f'kind = "page"\nmap_unit_bytes = {unit}\nphase_bytes = {phase}\n{more}'
    assert values(drive(tmp_path, ftl, **changes)) == [unit, phase]


def test_where_sending_takes_as_long_as_reading_a_block_more_tells_the_unit(tmp_path: Path) -> None:
    ftl = 'kind = "page"\nmap_unit_bytes = 32768\nallocation = "address"'
    assert values(drive(tmp_path, ftl, depth=1, block=4096)) == [32_768, 0]


@pytest.mark.parametrize("association", ["one-to-one", "many-to-one"])
def test_units_of_drives_with_log_blocks(tmp_path: Path, association: str) -> None:
    ftl = (
        'kind = "log-block"\nmap_unit_bytes = 8192\nphase_bytes = 2048\n'
        f'merge_unit_bytes = 1572864\nlog_association = "{association}"'
    )
    assert values(drive(tmp_path, ftl)) == [8192, 2048]


def test_a_buffer_is_switched_off_and_on_again(tmp_path: Path) -> None:
    buffer = "[write_buffer]\nbytes = 1_048_576\nunit_bytes = 32_768\n"
    device = drive(tmp_path, 'kind = "page"\nmap_unit_bytes = 8192', buffer)
    assert values(device) == [8192, 0]
    assert device.info.write_cache.on


PROTECTED = (
    "[write_buffer]\nbytes = 1_048_576\nunit_bytes = 4096\n"
    "switchable = false\npower_loss_protected = true\n"
)


@pytest.mark.parametrize("preset", ["nvme-datacentre", "nvme-dramless"])
def test_rates_tell_the_unit_of_modern_drives(preset: str) -> None:
    assert values(open_target(f"sim:{preset}", seed=1).device) == [4096, 0]


def test_rates_tell_that_the_unit_is_the_block() -> None:
    sets = ["host.logical_block_bytes=4096"]
    found = told(open_target("sim:nvme-datacentre", sets=sets, seed=1).device)
    assert isinstance(found[units.UNIT], Absent)


def test_room_in_a_protected_buffer_is_no_unit(tmp_path: Path) -> None:
    """What takes twice the room leaves half as many writes to be joined, or done side by side."""
    for held in (131_072, 16_777_216):
        ftl, buffer = 'kind = "page"\nmap_unit_bytes = 49152', f"bytes = {held}"
        small = PROTECTED.replace("bytes = 1_048_576", buffer)
        found = told(drive(tmp_path, ftl, small, blocks=560))[units.UNIT]
        assert not isinstance(found, Detected) or found.value == 49_152


def test_behind_a_protected_buffer_the_unit_may_be_the_block(tmp_path: Path) -> None:
    found = told(drive(tmp_path, 'kind = "page"', PROTECTED, block=4096, blocks=560))
    assert isinstance(found[units.UNIT], Absent)


def test_behind_a_protected_buffer_merge_units_are_no_rmw_units(tmp_path: Path) -> None:
    ftl = 'kind = "log-block"\nlog_blocks = 8\nmerge_unit_bytes = 393216'
    found = told(drive(tmp_path, ftl, PROTECTED))[units.UNIT]
    assert not isinstance(found, Detected) or found.value == 4096


def test_no_unit_above_the_logical_block(tmp_path: Path) -> None:
    found = told(drive(tmp_path, 'kind = "page"', block=4096))
    assert isinstance(found[units.UNIT], Absent | Undetectable)
    assert isinstance(found[units.PHASE], Undetectable)


def test_deciding_again_needs_no_drive(tmp_path: Path) -> None:
    bench = Bench(drive(tmp_path, 'kind = "page"'), Budget.parse("default"), 1)
    with bench.allowance(4 * bench.info.capacity_bytes):
        first = list(units.detect(bench))
        requests = bench.requests
        assert list(units.detect(bench)) == first
    assert bench.requests == requests
    bench.record.save(tmp_path / "series.npz")
    assert (tmp_path / "series.npz").stat().st_size < 400_000


def test_the_picture_shows_where_units_begin(tmp_path: Path) -> None:
    device = drive(tmp_path, 'kind = "page"\nmap_unit_bytes = 16384\nphase_bytes = 4096')
    begins = told(device)[units.UNIT].evidence.fit(Period)
    assert begins is not None
    assert (begins.phase, begins.period) == (12_288, 16_384)


def test_a_small_drive_is_refused(tmp_path: Path) -> None:
    found = told(drive(tmp_path, 'kind = "page"', blocks=32, channels=1))
    assert {each.outcome for each in found.values()} == {"undetectable"}


def test_merges_within_bursts_do_not_blur_a_large_unit(tmp_path: Path) -> None:
    ftl = (
        'kind = "log-block"\nmap_unit_bytes = 65536\nmerge_unit_bytes = 1572864\n'
        'log_association = "many-to-one"\nlog_blocks = 7'
    )
    assert values(drive(tmp_path, ftl)) == [65_536, 0]


def test_rows_of_pages_are_no_unit_where_one_command_is_served_at_a_time(tmp_path: Path) -> None:
    # A write across the end of a row is faster, as two chips share it.
    ftl = 'kind = "page"\nallocation = "address"\nplacement_pages = 6'
    found = told(drive(tmp_path, ftl, depth=1, block=4096, channels=3, planes=2, blocks=200))
    assert not any(isinstance(each, Detected) for each in found.values())


def test_pairs_on_chips_that_take_turns_are_no_unit(tmp_path: Path) -> None:
    # One command at a time, two units on chips of one channel in turn, the next two beside them.
    more = "[scheduler]\nway_interleave = false\n[disturbance]\nnoise_sigma = 0.08\n"
    ftl = 'kind = "page"\nallocation = "address"\nplane_order = "WCDP"\nphase_bytes = 1536'
    device = drive(tmp_path, ftl, more, depth=1, channels=8, blocks=140, ways=2, program=226_100)
    assert values(device)[0] in {None, 4096}


def test_pairs_of_blocks_on_one_chip_are_no_unit(tmp_path: Path) -> None:
    ftl = 'kind = "page"\nallocation = "address"\nplacement_pages = 2'
    noise = "[disturbance]\nnoise_sigma = 0.03\n"
    found = told(drive(tmp_path, ftl, noise, block=4096, channels=4, planes=2, blocks=140))
    assert not any(isinstance(each, Detected) for each in found.values())


@pytest.mark.always(1)
@pytest.mark.parametrize(("unit", "drain"), [(8192, "full"), (32_768, "full"), (16_384, "idle")])
def test_a_full_protected_buffer_is_known_by_writing_again(
    tmp_path: Path, unit: int, drain: str
) -> None:
    # Writes wait for room, and longer across two of its units, but not for their own way to flash.
    buffer = (
        f"[write_buffer]\nbytes = {20 * unit}\nunit_bytes = {unit}\nswitchable = false\n"
        f'power_loss_protected = true\ndrain = "{drain}"\n'
    )
    buffer += "idle_ns = 26_000_000\n" if drain == "idle" else ""
    found = told(drive(tmp_path, 'kind = "page"\nmap_unit_bytes = 16_384', buffer))
    for name, value in (("rmw_unit_bytes", 16_384), ("alignment_phase_bytes", 0)):
        each = found[name]
        if isinstance(each, Detected):  # by the rate at which they go on
            assert each.value == value
        else:
            assert isinstance(each, Undetectable)
            assert each.reason is Reason.PLP_NO_FLUSH_EFFECT


def test_rows_behind_a_buffer_that_drains_in_turn_are_no_unit(tmp_path: Path) -> None:
    buffer = (
        "[write_buffer]\nbytes = 131_072\nunit_bytes = 32_768\nconcurrent_drains = 1\n"
        "switchable = false\n"
    )
    ftl = 'kind = "page"\nallocation = "address"\nplacement_pages = 4\nphase_bytes = 2560'
    device = drive(tmp_path, ftl, buffer, channels=2, planes=4, blocks=140)
    assert values(device)[0] in {None, 4096}


def test_units_are_found_between_the_bursts_of_others(tmp_path: Path) -> None:
    others = (
        "[disturbance]\nforeign_iops = 47\nforeign_bytes = 16_384\n"
        "foreign_on_ns = 1_024_000_000\nforeign_off_ns = 20_316_160_000\n"
    )
    ftl = (
        'kind = "log-block"\nmap_unit_bytes = 65536\nmerge_unit_bytes = 3145728\n'
        'log_association = "one-to-one"\nlog_blocks = 24'
    )
    assert values(drive(tmp_path, ftl, others, channels=8, program=900_000)) == [65_536, 0]


def test_where_sending_a_block_takes_as_long_as_reading_it_nothing_is_told() -> None:
    device = open_drive(draw(1344975435, 58).toml(), "drawn", 58)
    assert values(device) == [None, None]


def test_a_unit_of_the_buffer_is_not_taken_for_one_of_the_flash(tmp_path: Path) -> None:
    buffer = (
        "[write_buffer]\nbytes = 131_072\nunit_bytes = 32_768\nconcurrent_drains = 1\n"
        'switchable = false\ndrain = "high-water"\nhigh_water_ratio = 0.43\norder = "lru"\n'
        "[disturbance]\nnoise_sigma = 0.09\n"
    )
    ftl = 'kind = "page"\nallocation = "address"\nplane_order = "CWDP"'
    device = drive(tmp_path, ftl, buffer, channels=6, blocks=190, program=300_000)
    assert values(device)[0] in {None, 4096}


def test_a_unit_of_several_pages_shows_by_where_a_block_more_is_read(tmp_path: Path) -> None:
    # One command at a time, and half a unit takes as long as all of it.
    more = "[scheduler]\nway_interleave = false\n[disturbance]\nnoise_sigma = 0.06\n"
    ftl = (
        'kind = "log-block"\nmap_unit_bytes = 24576\nphase_bytes = 13312\nlog_blocks = 40\n'
        'merge_unit_bytes = 2359296\nlog_association = "one-to-one"'
    )
    changes = {"channels": 3, "ways": 2, "planes": 4, "blocks": 64, "depth": 1}
    device = drive(tmp_path, ftl, more, **changes, program=820_000)
    assert values(device) == [24_576, 13_312]


@pytest.mark.always(2)
@pytest.mark.parametrize(
    ("seed", "index", "unit", "phase"),
    [
        # Its second block costs something, and the third saves more.
        (1344975435, 76, 12_288, 8192),
        # One command at a time, and only the ends of rows of two show.
        (1344975435, 85, 8192, 0),
        # Its last block saves a reading, but for a transfer; that behind its half costs only such.
        pytest.param(771203, 29, 32_768, 28_672, marks=REFUSED),
        # Small: half of it was written before its period was held against bursts.
        pytest.param(1_516_039_473, 52, 49_152, 8192, marks=REFUSED),
        # Pairs on one chip; all over the drive, reads wait for pieces of the mapping table.
        (3_310_060_921, 105, 8192, 4096),
        # Four units, of which only two lie on one chip and are written in turn.
        (5101, 13, 4096, 1536),
        # Small, of two chips that take turns: reading is a twentieth of what a write takes.
        (5101, 25, 49_152, 0),
    ],
)
def test_units_that_links_and_rows_hide(seed: int, index: int, unit: int, phase: int) -> None:
    assert values(open_drive(draw(seed, index).toml(), "drawn", index)) == [unit, phase]


@pytest.mark.always(1)
@pytest.mark.parametrize(
    ("seed", "index"),
    [
        # One command at a time: beyond the first of two is a third of what is beyond both.
        (1_694_533_168, 19),
        # Or next to nothing, and beyond both a program, as of a pair on one chip.
        (1_687_447_905, 62),
        # Forced writes: both are written sooner than the first.
        pytest.param(1_694_533_168, 74, marks=WRONG),
    ],
)
def test_pages_of_a_unit_are_none_though_each_is_read_by_itself(seed: int, index: int) -> None:
    device = open_drive(draw(seed, index).toml(), "drawn", index)
    assert values(device)[0] in {None, 16_384}
