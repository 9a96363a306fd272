"""The probe `buffer` on drives whose buffer is known, because they are written here."""

from __future__ import annotations

from dataclasses import replace
from importlib.resources import files
from pathlib import Path
from typing import Any
from unittest.mock import patch

import pytest
from tests.integration.small_drives import KIB, LOG_BLOCK, NOISE, opened, probed

from ssdscope.findings import Absent, Detected, Finding, Reason, Undetectable
from ssdscope.probes.bench.ledger import Bench
from ssdscope.probes.budget import Budget
from ssdscope.probes.buffer.probe import detect
from ssdscope.probes.record import Record
from ssdscope.recovery.generator import draw
from ssdscope.targets import open_target
from ssdscope.targets.drive_writer import open_drive
from ssdscope.targets.records import UNKNOWN_CACHE


def buffer(kib: int, unit_kib: int, drain: str, **more: Any) -> dict[str, Any]:
    return {
        "write_buffer.bytes": kib * KIB,
        "write_buffer.unit_bytes": unit_kib * KIB,
        "write_buffer.drain": f'"{drain}"',
    } | {f"write_buffer.{name}": value for name, value in more.items()}


def assert_found(found: dict[str, Finding], kib: int, unit_kib: int) -> None:
    size, unit = found["write_buffer_bytes"], found["write_buffer_unit_bytes"]
    assert isinstance(size, Detected), size
    assert isinstance(unit, Detected), unit
    assert unit.value == unit_kib * KIB
    assert size.value == pytest.approx(kib * KIB, rel=0.05)
    assert size.interval is not None
    assert size.interval[0] <= kib * KIB <= size.interval[1]


@pytest.mark.parametrize("drain", ["eager", "full", "high-water", "idle"])
@pytest.mark.parametrize(("kib", "unit_kib"), [(128, 8), (1500, 12), (6144, 768)])
def test_size_and_unit_are_found_however_it_drains(
    tmp_path: Path, drain: str, kib: int, unit_kib: int
) -> None:
    found = probed("buffer", opened(tmp_path, buffer(kib, unit_kib, drain)))
    assert_found(found, kib, unit_kib)


@pytest.mark.parametrize("drain", ["eager", "full"])
def test_noise_spikes_and_log_blocks_do_not_matter(tmp_path: Path, drain: str) -> None:
    found = probed("buffer", opened(tmp_path, LOG_BLOCK, NOISE, buffer(384, 16, drain)))
    assert_found(found, 384, 16)


@pytest.mark.parametrize("drain", ["eager", "full", "high-water", "idle"])
def test_a_protected_buffer_is_counted_too(tmp_path: Path, drain: str) -> None:
    """Nothing shows that all of it has left, but reads show what it holds when it is full."""
    keys = buffer(512, 16, drain, power_loss_protected=True, switchable=False)
    assert_found(probed("buffer", opened(tmp_path, keys)), 512, 16)


def test_what_others_wrote_meanwhile_takes_no_room(tmp_path: Path) -> None:
    """A buffer that writes only when it is full keeps it until it is flushed again."""
    others = {
        "disturbance.foreign_iops": 40,
        "disturbance.foreign_bytes": 4096,
        "disturbance.foreign_write_ratio": 0.5,
        "disturbance.foreign_on_ns": 500_000_000,
        "disturbance.foreign_off_ns": 5_000_000_000,
    }
    keys = buffer(368, 16, "full", switchable=False)
    assert_found(probed("buffer", opened(tmp_path, keys, others)), 368, 16)


def test_a_drive_without_buffer_says_absent(tmp_path: Path) -> None:
    for finding in probed("buffer", opened(tmp_path)).values():
        assert isinstance(finding, Absent)


def test_a_buffer_that_drains_faster_than_it_fills_is_not_told(tmp_path: Path) -> None:
    fast = {"nand.program_ns": 1_000, "nand.read_ns": 1_000, "channel.ns_per_byte": 0.1}
    found = probed("buffer", opened(tmp_path, fast, buffer(256, 4, "eager")))
    for finding in found.values():
        assert isinstance(finding, Undetectable)
        assert finding.reason in (Reason.EFFECT_BELOW_NOISE, Reason.PLP_NO_FLUSH_EFFECT)


@pytest.mark.parametrize(("index", "size_bytes"), [(6, 1_138_688), (11, 3_473_408)])
def test_no_law_of_draining_is_needed(index: int, size_bytes: int) -> None:
    """One drains from a mark on only, one by pages of a unit: what is held tells both."""
    device = open_drive(draw(77, index).toml(), "drawn", index)
    found = probed("buffer", device, index, "full")["write_buffer_bytes"]
    assert isinstance(found, Detected), found
    assert found.value == pytest.approx(size_bytes, rel=0.05)


@pytest.mark.parametrize(
    ("index", "size_bytes", "unit_bytes"),
    [
        (55, 737_280, 16_384),  # The first wait is a long merge, and few follow.
        (78, 946_176, 12_288),  # Behind it much leaves at once; before it nothing does.
        (13, 131_072, 32_768),  # It holds four units only.
    ],
)
def test_merges_and_draining_do_not_hide_it(index: int, size_bytes: int, unit_bytes: int) -> None:
    assert_drawn(2_443_042_846, index, size_bytes, unit_bytes)


@pytest.mark.parametrize(
    ("seed", "index", "size_bytes", "unit_bytes"),
    [
        (
            2_443_042_846,
            188,
            1_114_112,
            8192,
        ),  # Much leaves while it is filled, and while it is read.
        (
            1_344_975_435,
            32,
            196_608,
            32_768,
        ),  # Six units, and a block has often left before the next.
        (1_344_975_435, 70, 1_818_624, 12_288),  # It is drained about as fast as it is filled.
    ],
)
def test_what_fills_it_now_and_then_only_tells_nothing_wrong(
    seed: int, index: int, size_bytes: int, unit_bytes: int
) -> None:
    device = open_drive(draw(seed, index).toml(), "drawn", index)
    found = probed("buffer", device, index, "full")
    size, unit = found["write_buffer_bytes"], found["write_buffer_unit_bytes"]
    if isinstance(size, Detected):
        assert size.value == pytest.approx(size_bytes, rel=0.1)
    assert not isinstance(unit, Absent)
    if isinstance(unit, Detected):
        assert unit.value == unit_bytes


def assert_drawn(seed: int, index: int, size_bytes: int, unit_bytes: int) -> None:
    device = open_drive(draw(seed, index).toml(), "drawn", index)
    found = probed("buffer", device, index, "full")
    size, unit = found["write_buffer_bytes"], found["write_buffer_unit_bytes"]
    assert isinstance(size, Detected), size
    assert isinstance(unit, Detected), unit
    assert unit.value == unit_bytes
    assert size.value == pytest.approx(size_bytes, rel=0.05)
    assert size.interval is not None
    assert size.interval[0] <= size_bytes <= size.interval[1]


SLOW_COMMANDS = (files("ssdscope") / "drives" / "ryu-c.toml").read_text()


def behind_slow_commands(folder: Path, old: str, new: str) -> dict[str, Finding]:
    """Probe a drive whose small writes take longer than a unit needs to drain."""
    changed = SLOW_COMMANDS.replace(old, new)
    assert changed != SLOW_COMMANDS or old == new
    file = folder / "drive.toml"
    file.write_text(changed, encoding="utf-8")
    return probed("buffer", open_target(str(file), seed=1).device)


@pytest.mark.always(1)
@pytest.mark.parametrize("kib", [80, 112])
def test_long_writes_fill_what_blocks_do_not(tmp_path: Path, kib: int) -> None:
    found = behind_slow_commands(tmp_path, "bytes = 114_688", f"bytes = {kib * KIB}")
    size, unit = found["write_buffer_bytes"], found["write_buffer_unit_bytes"]
    assert isinstance(size, Detected), size
    assert isinstance(unit, Detected), unit
    assert (size.value, unit.value) == (kib * KIB, 4 * KIB)


def test_long_writes_tell_nothing_of_what_is_protected(tmp_path: Path) -> None:
    new = "[write_buffer]\npower_loss_protected = true\nswitchable = false"
    for finding in behind_slow_commands(tmp_path, "[write_buffer]", new).values():
        assert isinstance(finding, Undetectable)


def test_the_ata_request_limit_is_a_caution(tmp_path: Path) -> None:
    found = probed("buffer", opened(tmp_path, buffer(128, 16, "idle")))
    cautions = found["write_buffer_bytes"].evidence.cautions
    assert any("ATA request limit" in each for each in cautions)


def test_slow_pages_behind_a_fast_region_are_no_buffer(tmp_path: Path) -> None:
    region = {
        "nand.bits_per_cell": 3,
        "pslc.bytes": 3 * 4 * 21 * 4096,
        "pslc.program_ns": 100_000,
        "over_provisioning_ratio": 0.3,
    }
    found = probed("buffer", opened(tmp_path, region, buffer(256, 8, "full")))
    assert_found(found, 256, 8)


def test_units_smaller_than_a_block_are_told_by_blocks(tmp_path: Path) -> None:
    keys = buffer(512, 4, "full") | {"host.logical_block_bytes": 4096}
    keys["write_buffer.unit_bytes"] = 512
    found = probed("buffer", opened(tmp_path, keys))
    size = found["write_buffer_bytes"]
    assert isinstance(size, Detected)
    assert size.value == pytest.approx(512 * KIB, rel=0.05)
    assert isinstance(found["write_buffer_unit_bytes"], Absent)


def test_a_region_that_is_full_is_no_buffer(tmp_path: Path) -> None:
    """Nothing says whether there is a cache, and writes slow down: but nothing is in memory."""
    region = {
        "nand.bits_per_cell": 3,
        "pslc.bytes": 3 * 4 * 21 * 4096,
        "pslc.program_ns": 100_000,
        "over_provisioning_ratio": 0.3,
    }
    device = opened(tmp_path, region)
    bench = Bench(device, Budget.parse("full"), 1)
    unknown = replace(device.info, write_cache=UNKNOWN_CACHE)
    with patch.object(Bench, "info", unknown), bench.allowance(device.info.capacity_bytes):
        for finding in detect(bench):
            assert isinstance(finding, Undetectable), finding


def test_what_was_recorded_is_decided_upon_again(tmp_path: Path) -> None:
    device = opened(tmp_path, buffer(384, 16, "eager"), NOISE)
    bench = Bench(device, Budget.parse("full"), 1)
    with bench.allowance(device.info.capacity_bytes):
        first = list(detect(bench))
    bench.record.save(tmp_path / "series")
    assert (tmp_path / "series").stat().st_size < 200_000
    again = Bench(device, Budget.parse("full"), 1)
    again.record = Record.load(tmp_path / "series")
    assert list(detect(again)) == first
    assert again.requests == 0
