"""What the probe of the table says of drives whose table is in zones, on demand, or in memory."""

from __future__ import annotations

from dataclasses import replace
from typing import Any

import pytest
from tests.integration import reading_drives

from ssdscope.findings import Absent, Ambiguous, Detected, Finding, Undetectable
from ssdscope.probes import session
from ssdscope.probes.asking import answers
from ssdscope.probes.bench.ledger import Bench
from ssdscope.probes.budget import Budget
from ssdscope.probes.caches import probe as caches
from ssdscope.probes.info import ProbeInfo
from ssdscope.probes.table import probe as table
from ssdscope.recovery.generator import draw
from ssdscope.targets import Device, open_target
from ssdscope.targets.drive_writer import Value, open_drive

MIB = 1 << 20
DEFAULT = Budget.parse("default")
EXTRA: dict[str, Value] = {
    "nand.channels": 2,
    "nand.ways": 2,
    "nand.blocks_per_plane": 512,
}


def drive(**changes: Value) -> Device:
    return reading_drives.drive(EXTRA, changes)


def told(device: Device, seed: int = 1) -> dict[str, Finding]:
    return reading_drives.told(table.PROBE, device, seed)


@pytest.mark.parametrize(
    ("zone_bytes", "resident", "block_bytes", "changes"),
    [
        (6 * MIB, 1, 512, {}),
        (5_255_168, 7, 512, {"map__load_ns": 60_000}),
        (28 * MIB, 3, 4096, {}),
        (7 * MIB, 2, 4096, {"read_cache__bytes": 4 * MIB, "read_cache__switchable": False}),
        (7 * MIB, 2, 512, {"read_cache__bytes": 8 * MIB, "read_cache__unit_bytes": 8192}),
    ],
)
def test_zones_to_the_byte(
    zone_bytes: int, resident: int, block_bytes: int, changes: dict[str, Value]
) -> None:
    found = told(
        drive(
            map__kind="zones",
            map__zone_bytes=zone_bytes,
            map__resident_zones=resident,
            host__logical_block_bytes=block_bytes,
            **{"map__load_ns": 300_000, **changes},
        )
    )
    zone, cache = found["map_zone_bytes"], found["map_cache_bytes"]
    assert isinstance(zone, Detected)
    assert isinstance(cache, Detected)
    assert zone.value == zone_bytes
    assert cache.value == resident * zone_bytes


def test_zones_are_found_between_the_bursts_of_others() -> None:
    """No list of reads ends before the next burst."""
    device = drive(
        map__kind="zones",
        map__zone_bytes=6 * MIB,
        map__resident_zones=3,
        map__load_ns=1_000_000,
        disturbance__foreign_iops=40,
        disturbance__foreign_bytes=65_536,
        disturbance__foreign_on_ns=600_000_000,
        disturbance__foreign_off_ns=2_000_000_000,
    )
    found = told(device)
    zone, cache = found["map_zone_bytes"], found["map_cache_bytes"]
    assert isinstance(zone, Detected)
    assert zone.value == 6 * MIB
    assert isinstance(cache, Detected)
    assert cache.value == 18 * MIB


@pytest.mark.parametrize(("unit_bytes", "entries"), [(4096, 3000), (12_288, 700), (65_536, 150)])
def test_entries_on_demand(unit_bytes: int, entries: int) -> None:
    found = told(
        drive(
            nand__channels=3,
            nand__pages_per_block=48,
            ftl__map_unit_bytes=unit_bytes,
            ftl__placement_pages=unit_bytes // 4096,
            map__kind="demand",
            map__cache_bytes=8 * entries,
        )
    )
    zone, cache = found["map_zone_bytes"], found["map_cache_bytes"]
    assert isinstance(zone, Detected)
    assert isinstance(cache, Detected)
    assert zone.value == unit_bytes
    assert cache.interval is not None
    low, high = cache.interval
    assert low <= entries * unit_bytes <= high <= 1.1 * low


def test_entries_of_one_block_are_counted_and_their_size_is_not_told() -> None:
    found = told(
        drive(map__kind="demand", map__cache_bytes=8 * 2000, host__logical_block_bytes=4096)
    )
    assert isinstance(found["map_zone_bytes"], Absent)
    cache = found["map_cache_bytes"]
    assert isinstance(cache, Detected)
    assert cache.value == pytest.approx(2000 * 4096, rel=0.01)


@pytest.mark.parametrize("name", ["mqsim-8g", "kuo-intel-mlc", "huang-ssd-a", "msr-4gb"])
def test_a_table_in_memory_is_absent(name: str) -> None:
    found = told(open_target(f"sim:{name}", seed=1).device)
    for each in found.values():
        assert isinstance(each, Absent)
        assert each.bound < 0.1


@pytest.mark.parametrize("name", ["huang-hdd-s", "ryu-hdd"])
def test_a_seek_is_no_zone(name: str) -> None:
    bench = Bench(open_target(f"sim:{name}", seed=1).device, DEFAULT, 1)
    found = list(answers(table.PROBE, bench, bench))
    assert {each.name for each in found} == {*table.PROBE.properties}
    assert not any(isinstance(each, Detected | Ambiguous) for each in found)


def test_blocks_again_prove_nothing_where_a_read_cache_stays_on() -> None:
    cached: dict[str, Any] = {"read_cache__bytes": 4 * MIB, "read_cache__switchable": False}
    found = told(drive(host__logical_block_bytes=4096, **cached))
    assert {type(each) for each in found.values()} == {Undetectable}
    found = told(drive(host__logical_block_bytes=512, **cached))
    assert {type(each) for each in found.values()} == {Absent}


@pytest.mark.parametrize(
    ("name", "zone_bytes", "kept"),
    [
        ("kuo-transcend-slc", 476 * MIB, 1),
        ("kuo-samsung-slc", 4 * MIB, 32),
        ("kuo-mtron-slc", 40 * MIB, 1),
    ],
)
def test_the_zones_of_kuo2009(name: str, zone_bytes: int, kept: int) -> None:
    device = open_target(f"sim:{name}", seed=1).device
    found = {each.name: each for each in session.each(["table"], device, DEFAULT, 1)}
    zone, cache = found["map_zone_bytes"], found["map_cache_bytes"]
    assert isinstance(zone, Detected)
    assert isinstance(cache, Detected)
    assert (zone.value, cache.value) == (zone_bytes, kept * zone_bytes)


def test_pieces_are_no_units_of_a_read_cache_that_stays_on() -> None:
    zones: dict[str, Value] = {
        "map.kind": "zones",
        "map.zone_bytes": 16_384,
        "map.resident_zones": 200,
        "map.load_ns": 423_000,
    }
    drawn = draw(2_404_294_828, 44)
    others = {key: value for key, value in drawn.values.items() if not key.startswith("map.")}
    device = open_drive(replace(drawn, values={**others, **zones}).toml(), "drawn", 44)
    found = session.run(["caches", "table"], device, Budget.parse("full"), 44)
    kept = {each.name: each for each in found}["map_cache_bytes"]
    assert kept.value in (None, pytest.approx(200 * 16_384, rel=0.02))


def test_an_edge_is_looked_for_on_the_drive_alone() -> None:
    """Where one wild read moves it, what is looked at is widened, but not beyond the last block."""
    drawn = draw(777_001, 4)
    found = told(open_drive(drawn.toml(), "drawn", 4), seed=4)
    truth = (float(str(drawn.values["map.zone_bytes"])), None)
    assert found["map_zone_bytes"].value in truth


def test_edges_that_contradict_each_other_tell_no_size() -> None:
    drawn = draw(3_454_773_504, 159)
    device = open_drive(drawn.toml(), "drawn", 159)
    found = session.run(["caches", "table"], device, Budget.parse("full"), 159)
    zone = {each.name: each for each in found}["map_zone_bytes"]
    assert zone.value in (None, float(str(drawn.values["map.zone_bytes"])))


@pytest.mark.parametrize("probe", [caches.PROBE, table.PROBE])
def test_what_was_measured_is_decided_alike_without_the_drive(probe: ProbeInfo) -> None:
    device = drive(
        map__kind="zones",
        map__zone_bytes=6 * MIB,
        map__resident_zones=2,
        map__load_ns=300_000,
        read_cache__bytes=2 * MIB,
        read_cache__unit_bytes=8192,
        read_cache__read_ahead_bytes=65_536,
    )
    bench = Bench(device, DEFAULT, 1)
    found = list(probe.detect(bench))
    assert all(isinstance(each, Detected) for each in found)
    asked = bench.requests
    assert list(probe.detect(bench)) == found
    assert bench.requests == asked
