"""How many dies the family `dies` counts on drives with so many."""

from __future__ import annotations

from collections.abc import Sequence
from pathlib import Path

import pytest

from ssdscope.findings import Detected, Finding, Reason, Undetectable
from ssdscope.probes.again import Recorded
from ssdscope.probes.bench.ledger import Bench
from ssdscope.probes.budget import Budget
from ssdscope.probes.dies import probe as dies
from ssdscope.probes.plan import Stopped
from ssdscope.targets import Device, open_target
from ssdscope.targets.drive_writer import Value, drive_toml, open_drive

MIB = 1 << 20
DEFAULT = Budget.parse("default")
BASE: dict[str, Value] = {
    "default_state": "sequential",
    "over_provisioning_ratio": 0.25,
    "nand.channels": 2,
    "nand.ways": 1,
    "nand.pages_per_block": 64,
    "nand.page_bytes": 4096,
    "nand.blocks_per_plane": 128,
    "nand.read_ns": 40_000,
    "nand.program_ns": 300_000,
    "nand.erase_ns": 1_500_000,
    "channel.ns_per_byte": 4.0,
    "host.bytes_per_second": 600e6,
    "host.command_ns": 2_000,
    "ftl.kind": "page",
}
NOISE: dict[str, Value] = {
    "disturbance.noise_sigma": 0.12,
    "disturbance.spike_ratio": 0.015,
    "disturbance.spike_ns": 800_000,
    "disturbance.drift_ratio": 0.2,
    "disturbance.drift_period_ns": 2_000_000_000,
}


def drive(**changes: Value) -> Device:
    keys = {name.replace("__", "."): value for name, value in changes.items()}
    return open_drive(drive_toml({**BASE, **keys}, []), "drive", 1)


def told(device: Device, known: Sequence[Detected] = ()) -> Finding:
    bench = Bench(device, DEFAULT, 1)
    bench.known |= {each.name: each for each in known}
    before = device.counters()
    found = next(iter(dies.detect(bench)))
    after = device.counters()
    assert before is not None
    assert after is not None
    assert after["host_bytes_written"] == before["host_bytes_written"]
    assert bench.bytes_written == 0
    return found


@pytest.mark.parametrize(
    ("channels", "ways", "dies", "planes", "together"),
    [(2, 1, 1, 1, 2), (3, 2, 1, 2, 6), (4, 3, 2, 1, 24), (8, 3, 1, 3, 24), (1, 2, 2, 1, 4)],
)
def test_dies_are_counted_through_noise(
    channels: int, ways: int, dies: int, planes: int, together: int
) -> None:
    found = told(
        drive(
            nand__channels=channels,
            nand__ways=ways,
            nand__dies=dies,
            nand__planes=planes,
            nand__blocks_per_plane=48,
            **NOISE,
        )
    )
    assert isinstance(found, Detected)
    assert found.value == together


def test_levels_that_noise_hides_at_first_are_read_more_often() -> None:
    """A slow link leaves little of what waiting takes."""
    slow_link = {"host__bytes_per_second": 150e6, "host__command_ns": 16_000}
    found = told(drive(nand__ways=3, nand__read_ns=22_000, **slow_link, **NOISE))
    assert isinstance(found, Detected)
    assert found.value == 6


def test_chips_that_take_turns_on_a_channel_count_once() -> None:
    found = told(drive(nand__channels=3, nand__ways=2, scheduler__way_interleave=False))
    assert isinstance(found, Detected)
    assert found.value == 3


def test_a_shared_channel_is_no_shared_die() -> None:
    slow: dict[str, Value] = {"channel__ns_per_byte": 12.0, "host__logical_block_bytes": 4096}
    found = told(drive(nand__ways=3, nand__read_ns=25_000, **slow))
    assert isinstance(found, Detected)
    assert found.value == 6
    assert len(found.evidence.figures["levels"]) == 3


def test_a_level_of_few_is_not_taken_for_one_of_chance() -> None:
    """Two links have a level of their own, and many more dies hang on each of them."""
    slow: dict[str, Value] = {"channel__ns_per_byte": 12.0, "host__logical_block_bytes": 4096}
    many: dict[str, Value] = {"nand__ways": 3, "nand__dies": 4, "nand__blocks_per_plane": 32}
    found = told(drive(nand__read_ns=45_000, **many, **slow, **NOISE))
    assert isinstance(found, Detected)
    assert found.value == 24


@pytest.mark.parametrize("shares", [(0.6, 1.4), (0.75, 1.0, 1.25)])
def test_pages_of_other_times_make_no_difference(shares: tuple[float, ...]) -> None:
    times = [round(60_000 * each) for each in shares]
    lines = [f"nand.read_by_type_ns = {times}"]
    cells: dict[str, Value] = {"nand.bits_per_cell": len(times), "nand.channels": 6}
    device = open_drive(drive_toml({**BASE, **NOISE, **cells}, lines), "drive", 1)
    found = told(device)
    assert isinstance(found, Detected)
    assert found.value == 6


@pytest.mark.parametrize(
    "table",
    [
        {"map.kind": "demand", "map.cache_bytes": 8000},
        {
            "map.kind": "zones",
            "map.zone_bytes": 4 * MIB,
            "map.resident_zones": 3,
            "map.load_ns": 400_000,
        },
    ],
)
def test_what_is_looked_up_is_at_hand(table: dict[str, Value]) -> None:
    found = told(drive(nand__channels=4, nand__ways=2, nand__blocks_per_plane=64, **table, **NOISE))
    assert isinstance(found, Detected)
    assert found.value == 8


FIXED_CACHE: dict[str, Value] = {
    "read_cache__bytes": MIB,
    "read_cache__unit_bytes": 16_384,
    "read_cache__switchable": False,
}


@pytest.mark.parametrize(("channels", "ways"), [(2, 1), (3, 2)])
def test_a_cache_that_stays_on_is_made_to_forget(channels: int, ways: int) -> None:
    sizes = {"read_cache_bytes": MIB, "read_cache_unit_bytes": 16_384}
    known = [
        Detected(name=name, probe="test", value=size, interval=None, effect=1)
        for name, size in sizes.items()
    ]
    found = told(drive(nand__channels=channels, nand__ways=ways, **FIXED_CACHE, **NOISE), known)
    assert isinstance(found, Detected)
    assert found.value == channels * ways


def test_a_cache_of_unknown_size_is_not_guessed_at() -> None:
    with pytest.raises(Stopped) as stop:
        told(drive(**FIXED_CACHE))
    assert stop.value.reason is Reason.CACHE_NOT_CONTROLLABLE


def test_the_twenty_chips_of_an_intel_drive() -> None:
    found = told(open_target("sim:kuo-intel-mlc", seed=1).device)
    assert isinstance(found, Detected)
    assert found.value == 20


@pytest.mark.parametrize(
    ("changes", "reason"),
    [
        ({"host__queue_depth": 1}, Reason.MASKED),
        ({"nand__channels": 1}, Reason.MASKED),
        ({"host__bytes_per_second": 2e6}, Reason.MASKED),
        ({"nand__read_ns": 0, "channel__ns_per_byte": 0.001}, Reason.MASKED),
    ],
)
def test_it_refuses(changes: dict[str, Value], reason: Reason) -> None:
    found = told(drive(**changes, **NOISE))
    assert isinstance(found, Undetectable)
    assert found.reason is reason


def test_drives_of_an_array_are_not_taken_for_dies(tmp_path: Path) -> None:
    """Each takes one command at a time, so that two reads on one overlap in nothing."""
    members = [tmp_path / f"{number}.toml" for number in range(3)]
    keys = {"host.queue_depth": 1, **NOISE}
    for path in members:
        path.write_text(drive_toml({**BASE, **keys}, []))
    found = told(open_target(f"raid0:{','.join(map(str, members))}", seed=1).device)
    assert isinstance(found, Undetectable)
    assert found.reason is Reason.MASKED
    assert "array" in (found.evidence.detail or "")


def test_a_part_of_the_drive_that_reaches_some_dies_only_tells_nothing() -> None:
    zone = 3 * MIB
    table: dict[str, Value] = {
        "ftl.kind": "log-block",
        "ftl.plane_order": "CPWD",
        "ftl.merge_unit_bytes": MIB,
        "map.kind": "zones",
        "map.zone_bytes": zone,
        "map.resident_zones": 1,
    }
    known = [
        Detected(name=name, probe="test", value=zone, interval=None, effect=1)
        for name in ("map_zone_bytes", "map_cache_bytes")
    ]
    keys = {name.replace(".", "__"): value for name, value in table.items()}
    found = told(
        drive(nand__channels=8, nand__pages_per_block=256, nand__blocks_per_plane=48, **keys),
        known,
    )
    assert isinstance(found, Undetectable)
    assert found.reason is Reason.RANGE_TOO_SMALL


def test_it_decides_again_on_what_was_measured() -> None:
    bench = Bench(drive(nand__channels=4, **NOISE), DEFAULT, 1)
    with bench.allowance(dies.PROBE.planned_writes_bytes(bench.info)):
        first = list(dies.detect(bench))
    assert [each.name for each in first] == list(dies.PROBE.properties)
    assert list(dies.detect(Recorded(bench.record, bench.info))) == first
