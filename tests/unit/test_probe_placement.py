"""What the placement probe says of drives with so many pages in a row."""

from __future__ import annotations

import pytest

from ssdscope.probes import (
    Absent,
    Bench,
    Budget,
    Detected,
    Finding,
    Reason,
    Undetectable,
    interleave,
    placement,
)
from ssdscope.targets import Device
from ssdscope.targets.drive_writer import Value, drive_toml, open_drive

DEFAULT = Budget.parse("default")
BASE: dict[str, Value] = {
    "default_state": "sequential",
    "over_provisioning_ratio": 0.25,
    "nand.channels": 4,
    "nand.pages_per_block": 96,
    "nand.page_bytes": 4096,
    "nand.blocks_per_plane": 256,
    "nand.read_ns": 60_000,
    "nand.program_ns": 300_000,
    "nand.erase_ns": 1_500_000,
    "channel.ns_per_byte": 3.0,
    "host.bytes_per_second": 600e6,
    "host.command_ns": 2_000,
    "ftl.kind": "page",
    "disturbance.noise_sigma": 0.1,
    "disturbance.spike_ratio": 0.01,
    "disturbance.spike_ns": 500_000,
}


def told(unit: int | None = None, **changes: Value) -> dict[str, Finding]:
    keys = {name.replace("__", "."): value for name, value in changes.items()}
    device: Device = open_drive(drive_toml({**BASE, **keys}, []), "drive", 1)
    bench = Bench(device, DEFAULT, 1)
    before = device.counters()
    bench.known = {each.name: each for each in interleave.detect(bench)}
    if unit is not None:
        none = Absent(name="merge_unit_bytes", probe="test", bound=0, reason="page-mapped")
        found = Detected(name="rmw_unit_bytes", probe="test", value=unit, interval=None, effect=1)
        bench.known |= {each.name: each for each in (none, found)}
    answers = {each.name: each for each in placement.detect(bench)}
    after = device.counters()
    assert before is not None
    assert after is not None
    assert after["host_bytes_written"] == before["host_bytes_written"]
    assert set(answers) == set(placement.PROBE.properties)
    return answers


def values(found: dict[str, Finding]) -> tuple[object, object]:
    way, pages = found["placement"], found["placement_pages"]
    assert isinstance(way, Detected), way
    assert isinstance(pages, Detected), pages
    return way.value, pages.value


@pytest.mark.parametrize("pages", [3, 4, 8])
@pytest.mark.parametrize("phase", [0, 1536])
def test_pages_in_a_row_are_counted(pages: int, phase: int) -> None:
    layout: dict[str, Value] = {"ftl__placement_pages": pages, "ftl__phase_bytes": phase}
    assert values(told(unit=4096, **layout)) == ("multi-channel", pages)


def test_a_unit_in_one_row_is_on_one_channel() -> None:
    found = told(unit=32_768, ftl__map_unit_bytes=32_768, ftl__placement_pages=8)
    assert values(found) == ("one-channel", 8)


def test_pages_on_different_channels() -> None:
    assert values(told()) == ("multi-channel", 1)


@pytest.mark.parametrize(
    ("changes", "reason"),
    [
        ({"host__queue_depth": 1}, Reason.LINK_BOUND),
        ({"host__logical_block_bytes": 4096}, Reason.ALIASING),
        (
            {"read_cache__bytes": 1 << 20, "read_cache__switchable": False},
            Reason.CACHE_NOT_CONTROLLABLE,
        ),
        ({"nand__read_ns": 0, "channel__ns_per_byte": 0.001}, Reason.LINK_BOUND),
    ],
)
def test_it_refuses(changes: dict[str, Value], reason: Reason) -> None:
    for each in told(**changes).values():
        assert isinstance(each, Undetectable)
        assert each.reason is reason
