"""What the probe of caches says of caches of so many bytes, units and read-aheads."""

from __future__ import annotations

import pytest
from tests.integration import reading_drives

from ssdscope.findings import Absent, Detected, Finding
from ssdscope.probes.budget import Budget
from ssdscope.probes.caches import probe as caches
from ssdscope.targets import Device, open_target
from ssdscope.targets.drive_writer import Value

KIB, MIB = 1 << 10, 1 << 20
DEFAULT = Budget.parse("default")
EXTRA: dict[str, Value] = {
    "nand.channels": 4,
    "nand.blocks_per_plane": 384,
    "disturbance.noise_sigma": 0.1,
    "disturbance.spike_ratio": 0.01,
    "disturbance.spike_ns": 500_000,
}


def drive(**changes: Value) -> Device:
    return reading_drives.drive(EXTRA, changes)


def told(device: Device) -> dict[str, Finding]:
    return reading_drives.told(caches.PROBE, device)


def value(found: Finding) -> float:
    assert isinstance(found, Detected), found
    assert isinstance(found.value, int)
    return found.value


@pytest.mark.parametrize(
    ("size", "unit", "changes"),
    [
        (256 * KIB, 16 * KIB, {}),
        (96 * 12 * KIB, 12 * KIB, {"read_cache__switchable": False}),
        (3 * MIB, 4 * KIB, {"host__logical_block_bytes": 512}),
        (
            50 * 24 * KIB,
            24 * KIB,
            {
                "host__logical_block_bytes": 4096,
                "ftl__map_unit_bytes": 16384,
                "ftl__phase_bytes": 4096,
            },
        ),
        (
            MIB,
            8 * KIB,
            {"map__kind": "zones", "map__zone_bytes": 8 * MIB, "map__resident_zones": 2},
        ),
    ],
)
def test_size_and_unit(size: int, unit: int, changes: dict[str, Value]) -> None:
    found = told(drive(read_cache__bytes=size, read_cache__unit_bytes=unit, **changes))
    assert value(found["read_cache_bytes"]) == pytest.approx(size, rel=0.01)
    assert value(found["read_cache_unit_bytes"]) == unit
    assert isinstance(found["read_ahead_bytes"], Absent)


def test_a_unit_of_one_block_is_no_unit() -> None:
    found = told(
        drive(
            read_cache__bytes=2 * MIB,
            read_cache__unit_bytes=4096,
            host__logical_block_bytes=4096,
        )
    )
    assert value(found["read_cache_bytes"]) == pytest.approx(2 * MIB, rel=0.01)
    assert isinstance(found["read_cache_unit_bytes"], Absent)


@pytest.mark.parametrize(
    ("ahead", "block"), [(8 * KIB, 512), (64 * KIB, 4096), (180 * KIB, 512), (768 * KIB, 4096)]
)
def test_reading_ahead(ahead: int, block: int) -> None:
    found = told(
        drive(
            read_cache__bytes=4 * MIB,
            read_cache__read_ahead_bytes=ahead,
            host__logical_block_bytes=block,
        )
    )["read_ahead_bytes"]
    assert value(found) == pytest.approx(ahead, rel=0.05)
    assert isinstance(found, Detected)
    assert found.interval is not None
    assert found.interval[0] <= ahead <= found.interval[1]


@pytest.mark.parametrize(
    "changes",
    [
        {},
        {"map__kind": "demand", "map__cache_bytes": 8000},
        {"map__kind": "zones", "map__zone_bytes": 8 * MIB, "map__load_ns": 500_000},
    ],
)
def test_a_mapping_table_is_no_cache(changes: dict[str, Value]) -> None:
    found = told(drive(**changes))
    assert all(isinstance(each, Absent) for each in found.values())


def test_the_cache_of_kuo2009() -> None:
    found = told(open_target("sim:kuo-samsung-slc", seed=1).device)
    assert value(found["read_cache_bytes"]) == 256 * KIB
    assert value(found["read_cache_unit_bytes"]) == 16 * KIB
