"""Every probe on drives that fail, go away, lie, are shared, tiny or read-only: no wrong number.

What a probe says of a sound drive is known. Of the same drive in trouble it says the same, or why
it cannot tell.
"""

from __future__ import annotations

import hashlib
import math
import os
from collections.abc import Callable, Iterable
from pathlib import Path
from typing import Any

import pytest
from tests.integration.small_drives import LOG_BLOCK, MIB, opened

from ssdscope.errors import DeviceError
from ssdscope.findings import Absent, Detected, Finding, Reason, Undetectable
from ssdscope.probes import registry, session
from ssdscope.probes.budget import Budget
from ssdscope.targets import Device, open_target
from ssdscope.targets.records import OP_WRITE, OP_WRITE_FUA

FULL = Budget.parse("full")
PAGE = {"ftl.map_unit_bytes": 8192, "over_provisioning_ratio": 0.25}
LOG = LOG_BLOCK | {
    "ftl.map_unit_bytes": 8192,
    "map.kind": '"zones"',
    "map.zone_bytes": 16 * MIB,
    "map.resident_zones": 3,
    "map.load_ns": 300_000,
    "write_buffer.bytes": MIB // 4,
    "read_cache.bytes": MIB // 4,
}
DRIVES = {"page": PAGE, "log": LOG}
NEAR = 0.10
"""The tolerance of the recovery study for what is not exact."""
Answers = dict[tuple[str, str], Finding]


class Ledger:
    """Counts what really goes to a drive, request by request."""

    def __init__(self, device: Device) -> None:
        self.bytes_written = 0
        self.lists = 0
        self.before: Callable[[int], None] = lambda _number: None
        self._run_list, self._run = device.run_list, device.run
        device.run_list = self.run_list  # type: ignore[method-assign]
        device.run = self.run  # type: ignore[method-assign]

    def run_list(self, ops: Any, *rest: Any, **pacing: Any) -> Any:
        self.lists += 1
        self.before(self.lists)
        log = self._run_list(ops, *rest, **pacing)
        self.bytes_written += int(log.bytes[(log.op == OP_WRITE) | (log.op == OP_WRITE_FUA)].sum())
        return log

    def run(self, *rest: Any, **options: Any) -> Any:
        result = self._run(*rest, **options)
        self.bytes_written += 0 if result.write is None else result.write.bytes
        return result


def answers(found: Iterable[Finding]) -> Answers:
    return {(each.probe, each.name): each for each in found}


def asked(device: Device, names: Iterable[str] = ("all",), budget: Budget = FULL) -> Answers:
    return answers(session.each(tuple(names), device, budget, 1))


@pytest.fixture(scope="module")
def sound(tmp_path_factory: pytest.TempPathFactory) -> dict[str, Answers]:
    """Give what all probes say of drives without fault, and hold it to the ledger."""
    told = {}
    for name, keys in DRIVES.items():
        device = opened(tmp_path_factory.mktemp(name), keys)
        ledger = Ledger(device)
        told[name] = asked(device)
        chosen = registry.choose("all", FULL)
        assert ledger.bytes_written <= session.planned_writes_bytes(chosen, device.info, full=True)
        own = {each.probe: each.bytes_written for each in told[name].values()}
        assert sum(own.values()) == ledger.bytes_written
        for probe in chosen:
            assert own[probe.name] <= probe.planned_writes_bytes(device.info, full=True), probe.name
    return told


def unspoiled(found: Answers, sound: Answers) -> None:
    """Hold answers to those of the sound drive."""
    for key, each in found.items():
        known = sound[key]
        if isinstance(each, Detected):
            assert isinstance(known, Detected), (key, each.value)
            if isinstance(each.value, str):
                assert each.value == known.value, key
            else:
                assert math.isclose(each.value, float(known.value), rel_tol=NEAR), key
        elif isinstance(each, Absent):
            assert not isinstance(known, Detected), key


def test_the_sound_drives_have_answers(sound: dict[str, Answers]) -> None:
    """Or else nothing could be spoiled."""
    for found in sound.values():
        assert sum(isinstance(each, Detected) for each in found.values()) >= 13


@pytest.mark.always(3)
@pytest.mark.parametrize("drive", DRIVES)
@pytest.mark.parametrize(
    ("offset", "size"), [(0, 32 * MIB), (77 * MIB, 64 << 10), (100 * MIB, 4096), (200 * MIB, MIB)]
)
def test_errors_on_a_range(
    sound: dict[str, Answers], drive: str, offset: int, size: int, tmp_path: Path
) -> None:
    bad = {"disturbance.fault_offset_bytes": offset, "disturbance.fault_bytes": size}
    found = asked(opened(tmp_path, DRIVES[drive], bad))
    unspoiled(found, sound[drive])
    refused = [each for each in found.values() if isinstance(each, Undetectable)]
    assert any(each.reason is Reason.DEVICE_ERRORS for each in refused)
    assert not any(each.reason is Reason.INTERFERENCE for each in refused), "nobody else was there"


@pytest.mark.parametrize("probe", registry.every())
def test_a_drive_that_goes_away(sound: dict[str, Answers], probe: str, tmp_path: Path) -> None:
    """While it is prepared, or in the middle of a probe: an error, and no number from before."""
    ended = 0
    for requests in (40, 400, 2000, 6000):
        gone = {"disturbance.gone_after_requests": requests}
        found: list[Finding] = []
        try:
            found.extend(session.each([probe], opened(tmp_path, LOG, gone), FULL, 1))
        except DeviceError as error:
            ended += "gone away in the middle of a probe" in error.message
        unspoiled(answers(found), sound["log"])
    assert ended >= 1


@pytest.mark.always(2)
@pytest.mark.parametrize("drive", DRIVES)
@pytest.mark.parametrize("flush", ["refused", "ignored"])
def test_a_drive_without_flush(
    sound: dict[str, Answers], drive: str, flush: str, tmp_path: Path
) -> None:
    found = asked(opened(tmp_path, DRIVES[drive], {"disturbance.flush": f'"{flush}"'}))
    unspoiled(found, sound[drive])
    for key, each in found.items():
        if isinstance(each, Undetectable):
            before = getattr(sound[drive][key], "reason", None)
            assert each.reason in (Reason.NOT_SUPPORTED, Reason.PLP_NO_FLUSH_EFFECT, before), key


LIGHT = [each.name for each in registry.every().values() if each.weight == "light"]
LOADS = {"steady writes": (300, 16384, 1.0, 0), "bursts": (3000, 65536, 0.5, 2_000_000_000)}


@pytest.mark.parametrize("load", LOADS)
def test_a_drive_that_others_use(sound: dict[str, Answers], load: str, tmp_path: Path) -> None:
    """What probes of writes make of it, each in its own tests; here what only reads."""
    iops, size, writes, pause_ns = LOADS[load]
    keys: dict[str, Any] = {
        "disturbance.foreign_iops": iops,
        "disturbance.foreign_bytes": size,
        "disturbance.foreign_write_ratio": writes,
    }
    if pause_ns:
        keys |= {"disturbance.foreign_on_ns": 300_000_000, "disturbance.foreign_off_ns": pause_ns}
    found = asked(opened(tmp_path, PAGE, keys), LIGHT, Budget.parse("default"))
    unspoiled(found, sound["page"])
    latency = found["latency", "read_latency_alpha_ns"]
    if pause_ns:  # between two visits the drive is left alone for long enough
        assert isinstance(latency, Detected)
    else:
        assert isinstance(latency, Undetectable)
        assert latency.reason is Reason.INTERFERENCE


@pytest.mark.parametrize("drive", ["page", "log"])
def test_drives_too_small(drive: str, tmp_path: Path) -> None:
    """From 1 MiB on; exact answers are right all the same, and the others are refused."""
    keys = {"ftl.kind": '"page"'} if drive == "page" else LOG_BLOCK
    for blocks, pages in ((24, 8), (24, 32), (40, 64)):
        tiny = {"nand.blocks_per_plane": blocks, "nand.pages_per_block": pages}
        merge = {"ftl.merge_unit_bytes": 16384 * pages} if drive == "log" else {}
        device = opened(tmp_path, keys | {"over_provisioning_ratio": 1.0} | merge, tiny)
        found = {each.name: each for each in asked(device).values()}
        assert set(found) >= {
            name for each in registry.every().values() for name in each.properties
        }
        for name, truth in (("rmw_unit_bytes", 4096), ("interleave_degree", 4)):
            told = found[name]
            assert not isinstance(told, Detected) or told.value == truth, (name, device.info)
        merged = found["merge_unit_bytes"]
        assert not isinstance(merged, Detected) or merged.value == merge["ftl.merge_unit_bytes"]


@pytest.fixture
def disk(tmp_path: Path) -> Path:
    path = tmp_path / "disk.bin"
    path.write_bytes(os.urandom(32 * MIB))
    return path


BRIEF = Budget("full", wall_s=3, repetitions=1, heavy=True)


def test_a_file_that_may_only_be_read(disk: Path) -> None:
    before = hashlib.sha256(disk.read_bytes()).hexdigest()
    device = open_target(str(disk), seed=1).device
    ledger = Ledger(device)
    found = asked(device, budget=BRIEF)
    assert ledger.bytes_written == 0
    assert hashlib.sha256(disk.read_bytes()).hexdigest() == before
    writing = {each.name for each in registry.every().values() if each.weight != "light"}
    for (probe, _), each in found.items():
        if probe in writing:
            assert isinstance(each, Undetectable | Absent), (probe, each)
        assert each.bytes_written == 0


def test_a_file_that_is_cut_off_in_the_middle(disk: Path) -> None:
    """It is another file then: an error says so, at once and whenever it is asked again."""
    device = open_target(str(disk), seed=1).device
    ledger = Ledger(device)
    ledger.before = lambda number: os.truncate(disk, MIB) if number == 2 else None
    for _ in range(2):
        with pytest.raises(DeviceError, match="changed while it was measured"):
            asked(device, LIGHT, BRIEF)


def test_a_written_file_keeps_to_plan_and_time(tmp_path: Path) -> None:
    path = tmp_path / "disk.bin"
    path.write_bytes(bytes(32 * MIB))
    device = open_target(str(path), seed=1, destroy_token="FILE:disk.bin").device
    ledger = Ledger(device)
    found = asked(device, budget=BRIEF)
    chosen = registry.choose("all", BRIEF)
    assert ledger.bytes_written <= session.planned_writes_bytes(chosen, device.info, full=True)
    assert {name for _, name in found} == {name for each in chosen for name in each.properties}
