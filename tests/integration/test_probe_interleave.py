"""What the interleave probe says of drives with so many dies."""

from __future__ import annotations

from collections.abc import Sequence
from itertools import combinations
from typing import Any

import numpy as np
import pytest
from numpy.typing import NDArray

from ssdscope.probes import Bench, Budget, Detected, Finding, Reason, Undetectable, interleave
from ssdscope.probes.bench import Stopped
from ssdscope.probes.conflicts import Conflicts, rounds
from ssdscope.probes.together import Repeated, Together
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
    (found,) = interleave.detect(bench)
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


def test_a_place_that_waits_for_no_other_is_no_die(monkeypatch: pytest.MonkeyPatch) -> None:
    """What it holds is in memory, perhaps: other places are drawn."""
    sort, sorted_before = Conflicts.classes, []

    def one_apart(self: Conflicts, waits_from: float, times: int) -> tuple[np.ndarray, int]:
        class_of, count = sort(self, waits_from, times)
        if not sorted_before:
            class_of[0], count = count, count + 1
        sorted_before.append(count)
        return class_of, count

    monkeypatch.setattr(Conflicts, "classes", one_apart)
    found = told(drive(nand__ways=2))
    assert isinstance(found, Detected)
    assert found.value == 4
    assert sorted_before == [5, 4]


def test_levels_that_noise_hides_at_first_are_read_more_often() -> None:
    """A slow link leaves little of what waiting takes."""
    slow_link = {"host__bytes_per_second": 150e6, "host__command_ns": 16_000}
    found = told(drive(nand__ways=3, nand__read_ns=22_000, **slow_link, **NOISE))
    assert isinstance(found, Detected)
    assert found.value == 6


def test_a_highest_level_of_chance_sorts_nothing(monkeypatch: pytest.MonkeyPatch) -> None:
    """Of few pairs that met something else; it is the next one that dies are shared on."""
    gaps = interleave._gaps

    def with_chance(seen: Repeated, found: NDArray[Any]) -> list[interleave._Gap]:
        top = float(found[-1])
        return [interleave._Gap(top, top + 0.05, 0.01, float(found[0])), *gaps(seen, found)]

    monkeypatch.setattr(interleave, "_gaps", with_chance)
    found = told(drive(nand__channels=3))
    assert isinstance(found, Detected)
    assert found.value == 3


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


def test_what_lies_at_the_ends_of_a_drive_is_looked_up_within_it() -> None:
    device = drive(read_cache__bytes=65_536, read_cache__switchable=False)
    ends = np.array([0, device.info.capacity_bytes - device.info.logical_block_bytes])
    together = Together(Bench(device, DEFAULT, 1), np.random.default_rng(1), 16)
    assert np.isfinite(together.read(ends, ends[::-1, None], 2).slower).all()


def test_a_cache_of_unknown_size_is_not_guessed_at() -> None:
    with pytest.raises(Stopped) as stop:
        told(drive(**FIXED_CACHE))
    assert stop.value.reason is Reason.CACHE_NOT_CONTROLLABLE


@pytest.mark.parametrize("count", [2, 7, 12])
def test_everybody_meets_everybody_once(count: int) -> None:
    met = []
    for first, second in rounds(count):
        assert len({*first, *second}) == first.size + second.size
        met += [tuple(sorted(pair)) for pair in zip(first.tolist(), second.tolist(), strict=True)]
    assert sorted(met) == list(combinations(range(count), 2))


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
        ({"nand__read_ns": 0, "channel__ns_per_byte": 0.001}, Reason.EFFECT_BELOW_NOISE),
    ],
)
def test_it_refuses(changes: dict[str, Value], reason: Reason) -> None:
    found = told(drive(**changes, **NOISE))
    assert isinstance(found, Undetectable)
    assert found.reason is reason


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
