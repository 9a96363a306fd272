"""The probe `write_buffer` on drives whose buffer is known, because they are written here."""

from __future__ import annotations

from pathlib import Path
from typing import Any

import pytest
from tests.integration.small_drives import KIB, LOG_BLOCK, NOISE, opened, probed

from ssdscope.probes import Absent, Detected, Finding, Reason, Undetectable
from ssdscope.probes.buffer_unit import find_unit
from ssdscope.studies.recovery.generator import draw
from ssdscope.targets.drive_writer import open_drive


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
@pytest.mark.parametrize(("kib", "unit_kib"), [(128, 8), (1500, 12)])
def test_size_and_unit_are_found_however_it_drains(
    tmp_path: Path, drain: str, kib: int, unit_kib: int
) -> None:
    found = probed("write_buffer", opened(tmp_path, buffer(kib, unit_kib, drain)))
    assert_found(found, kib, unit_kib)


@pytest.mark.parametrize("drain", ["eager", "full"])
def test_noise_spikes_and_log_blocks_do_not_matter(tmp_path: Path, drain: str) -> None:
    found = probed("write_buffer", opened(tmp_path, LOG_BLOCK, NOISE, buffer(384, 16, drain)))
    assert_found(found, 384, 16)


@pytest.mark.parametrize("drain", ["eager", "full", "high-water", "idle"])
def test_a_protected_buffer_is_counted_and_not_told(tmp_path: Path, drain: str) -> None:
    """What a flush and a pause leave is discarded, but nothing shows that all of it has left."""
    keys = buffer(512, 16, drain, power_loss_protected=True, switchable=False)
    for finding in probed("write_buffer", opened(tmp_path, keys)).values():
        assert isinstance(finding, Undetectable)
        assert finding.reason is Reason.PLP_NO_FLUSH_EFFECT
        assert finding.evidence.figures["about_bytes"] == pytest.approx(512 << 10, rel=0.1)


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
    assert_found(probed("write_buffer", opened(tmp_path, keys, others)), 368, 16)


def test_a_drive_without_buffer_says_absent(tmp_path: Path) -> None:
    for finding in probed("write_buffer", opened(tmp_path)).values():
        assert isinstance(finding, Absent)


def test_a_buffer_that_drains_faster_than_it_fills_is_not_told(tmp_path: Path) -> None:
    fast = {"nand.program_ns": 1_000, "nand.read_ns": 1_000, "channel.ns_per_byte": 0.1}
    found = probed("write_buffer", opened(tmp_path, fast, buffer(256, 4, "eager")))
    for finding in found.values():
        assert isinstance(finding, Undetectable)
        assert finding.reason in (Reason.EFFECT_BELOW_NOISE, Reason.PLP_NO_FLUSH_EFFECT)


@pytest.mark.parametrize(("index", "size_bytes"), [(6, 1_138_688), (11, 3_473_408)])
def test_no_law_of_draining_is_needed(index: int, size_bytes: int) -> None:
    """One drains from a mark on only, one by pages of a unit: what is held tells both."""
    device = open_drive(draw(77, index).toml(), "drawn", index)
    found = probed("write_buffer", device, index, "full")["write_buffer_bytes"]
    assert isinstance(found, Detected), found
    assert found.value == pytest.approx(size_bytes, rel=0.05)


@pytest.mark.parametrize(
    ("index", "size_bytes", "unit_bytes"),
    [
        (55, 737_280, 16_384),  # The first wait is a long merge, and few follow.
        (78, 946_176, 12_288),  # Behind it much leaves at once; before it nothing does.
        (188, 1_114_112, 8192),  # Much leaves while it is filled, and while it is read.
        (13, 131_072, 32_768),  # It holds four units only.
    ],
)
def test_merges_and_draining_do_not_hide_it(index: int, size_bytes: int, unit_bytes: int) -> None:
    assert_drawn(2_443_042_846, index, size_bytes, unit_bytes)


@pytest.mark.parametrize(
    ("index", "size_bytes", "unit_bytes"),
    [
        (32, 196_608, 32_768),  # Six units: single looks see seven, and flushes do nothing.
        (70, 1_818_624, 12_288),  # Some bursts of the unit's last confirmation tell nothing.
    ],
)
def test_single_bursts_that_tell_nothing_do_not_hide_it(
    index: int, size_bytes: int, unit_bytes: int
) -> None:
    assert_drawn(1_344_975_435, index, size_bytes, unit_bytes)


def assert_drawn(seed: int, index: int, size_bytes: int, unit_bytes: int) -> None:
    device = open_drive(draw(seed, index).toml(), "drawn", index)
    found = probed("write_buffer", device, index, "full")
    size, unit = found["write_buffer_bytes"], found["write_buffer_unit_bytes"]
    assert isinstance(size, Detected), size
    assert isinstance(unit, Detected), unit
    assert unit.value == unit_bytes
    assert size.value == pytest.approx(size_bytes, rel=0.05)
    assert size.interval is not None
    assert size.interval[0] <= size_bytes <= size.interval[1]


def test_the_ata_request_limit_is_a_caution(tmp_path: Path) -> None:
    found = probed("write_buffer", opened(tmp_path, buffer(128, 16, "idle")))
    cautions = found["write_buffer_bytes"].evidence.cautions
    assert any("ATA request limit" in each for each in cautions)


def test_slow_pages_behind_a_fast_region_are_no_buffer(tmp_path: Path) -> None:
    region = {
        "nand.bits_per_cell": 3,
        "pslc.bytes": 3 * 4 * 21 * 4096,
        "pslc.program_ns": 100_000,
        "over_provisioning_ratio": 0.3,
    }
    found = probed("write_buffer", opened(tmp_path, region, buffer(256, 8, "full")))
    assert_found(found, 256, 8)


@pytest.mark.parametrize(("whole", "confirmed"), [(1.0, True), (1.85, False)])
def test_a_unit_is_no_shorter_than_a_write_that_took_one(whole: float, confirmed: bool) -> None:
    """On a drive never written, writes of a whole unit of 4 KiB left a buffer before others."""

    def units(at: int, length: int) -> float:
        if length == 4 * KIB and at % (4 * KIB) == 0:
            return whole
        return float((at + length - 1) // (4 * KIB) - at // (4 * KIB) + 1)

    assert find_unit(units, 512).confirmed == confirmed
