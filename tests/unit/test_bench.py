"""The bench: a ledger that no probe overdraws, states that are shared, answers that are joined."""

from __future__ import annotations

import errno
from collections.abc import Iterator
from dataclasses import dataclass, replace
from pathlib import Path
from typing import Any

import numpy as np
import pytest

from ssdscope.errors import DeviceError
from ssdscope.findings import Absent, Ambiguous, Detected, Finding, Reason, Undetectable
from ssdscope.inference.series import Series
from ssdscope.probes import registry, session
from ssdscope.probes.bench.ledger import Bench
from ssdscope.probes.budget import Budget
from ssdscope.probes.info import ProbeInfo
from ssdscope.probes.plan import Plan, State, Stopped
from ssdscope.probes.reconcile import reconciled
from ssdscope.targets import Device, open_target
from ssdscope.targets.records import DeviceInfo

DEFAULT = Budget.parse("default")
PAGE = 4096


@pytest.fixture
def drive() -> Device:
    changes = (
        "nand.blocks_per_plane=32",
        "over_provisioning_ratio=1.0",
        "nand.channels=2",
        "nand.ways=1",
    )
    return open_target("sim:mqsim-8g", state="fresh", sets=changes, seed=1).device


def told(drive: Device, *chosen: ProbeInfo, monkeypatch: pytest.MonkeyPatch) -> list[Finding]:
    monkeypatch.setattr(registry, "_PROBES", chosen)
    return list(session.each(["all"], drive, DEFAULT, 1))


def probe(detect: Any, **changes: Any) -> ProbeInfo:
    plain = ProbeInfo(
        name="test",
        summary="for a test",
        weight="standard",
        properties=("rmw_unit_bytes",),
        cost="nothing",
        detect=detect,
    )
    return replace(plain, **changes)


@dataclass(frozen=True, kw_only=True)
class Declared(Plan):
    """Writes so many bytes, says whoever asks for it."""

    size: int

    def measure(self, _bench: Bench, _rng: np.random.Generator) -> Series:
        raise NotImplementedError

    def writes_bytes(self, _info: DeviceInfo) -> int:
        return self.size


def declaring(size: int) -> Any:
    return lambda _: (Declared(size=size),)


def found(value: float, **changes: Any) -> Detected:
    plain = Detected(name="rmw_unit_bytes", probe="test", value=value, interval=None, effect=1.0)
    return replace(plain, **changes)


def test_no_probe_writes_more_than_it_declared(
    drive: Device, monkeypatch: pytest.MonkeyPatch
) -> None:
    def greedy(bench: Bench) -> Iterator[Finding]:
        bench.write(np.arange(4) * PAGE, PAGE)
        bench.write(np.arange(5) * PAGE, PAGE)
        yield found(PAGE)

    refused = told(drive, probe(greedy, plans=declaring(8 * PAGE)), monkeypatch=monkeypatch)
    assert [each.outcome for each in refused] == ["undetectable"]
    assert isinstance(refused[0], Undetectable)
    assert refused[0].reason is Reason.BUDGET_EXHAUSTED
    assert refused[0].bytes_written == 4 * PAGE
    counters = drive.counters()
    assert counters is not None


def test_a_state_is_prepared_once_and_returned_to(
    drive: Device, monkeypatch: pytest.MonkeyPatch
) -> None:
    written: list[int] = []

    def spoil(bench: Bench) -> Iterator[Finding]:
        bench.write([0], PAGE)
        written.append(bench.bytes_written)
        yield found(PAGE)

    one = probe(spoil, state=State.FILLED, plans=declaring(PAGE))
    twice = told(drive, one, replace(one, name="again"), monkeypatch=monkeypatch)
    size = drive.info.capacity_bytes
    assert [each.bytes_written for each in twice] == [size + PAGE, PAGE]
    assert written == [size + PAGE, size + 2 * PAGE]
    assert session.planned_writes_bytes([one, one], drive.info) == size + 2 * PAGE


def test_the_drive_is_left_as_it_was_found(drive: Device, monkeypatch: pytest.MonkeyPatch) -> None:
    before = drive.counters()

    def write(bench: Bench) -> Iterator[Finding]:
        bench.write([0], PAGE)
        bench.idle(10**9)
        yield found(PAGE)

    told(drive, probe(write, plans=declaring(PAGE)), monkeypatch=monkeypatch)
    assert drive.counters() == before


def test_a_read_only_target_is_not_written(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    file = tmp_path / "drive.bin"
    file.write_bytes(b"\0" * (16 << 20))
    device = open_target(str(file), seed=1).device

    def write(bench: Bench) -> Iterator[Finding]:
        bench.write([0], PAGE)
        yield found(PAGE)

    refused = told(device, probe(write, plans=declaring(PAGE)), monkeypatch=monkeypatch)
    assert isinstance(refused[0], Undetectable)
    assert refused[0].reason is Reason.NOT_WRITABLE


def test_failed_requests_stop_a_probe_and_a_lost_drive_all(drive: Device) -> None:
    bench = Bench(drive, DEFAULT, 1)
    whole = drive.run_list

    def failing(code: int) -> Any:
        def run_list(*args: Any, **pacing: Any) -> Any:
            log = whole(*args, **pacing)
            log.columns["error"][1] = code
            return log

        return run_list

    bench._device.run_list = failing(errno.EIO)  # type: ignore[method-assign]
    with pytest.raises(Stopped, match="1 of 3 requests failed, the first at byte 4096"):
        bench.read(np.arange(3) * PAGE, PAGE)
    assert len(bench.read(np.arange(3) * PAGE, PAGE, keep_errors=True)) == 3
    bench._device.run_list = failing(errno.ENODEV)  # type: ignore[method-assign]
    with pytest.raises(DeviceError, match="gone away"):
        bench.read(np.arange(3) * PAGE, PAGE, keep_errors=True)


def test_two_answers_become_one() -> None:
    nothing = Undetectable(name="rmw_unit_bytes", probe="other", reason=Reason.MASKED)
    absent = Absent(name="rmw_unit_bytes", probe="other", bound=0.1, reason="flat")
    assert reconciled([nothing, found(PAGE)]) == [found(PAGE)]
    assert reconciled([absent, nothing]) == [absent]
    assert reconciled([found(PAGE), found(PAGE, probe="other")]) == [found(PAGE)]
    (doubted,) = reconciled([found(PAGE), found(2 * PAGE, probe="other")])
    assert isinstance(doubted, Ambiguous)
    assert doubted.candidates == (PAGE, 2 * PAGE)
    assert doubted.reason == "the probes test and other disagree"


@pytest.mark.parametrize(("merge_bytes", "doubted"), [(12 * PAGE, False), (6 * PAGE, True)])
def test_a_merge_unit_holds_whole_rmw_units(merge_bytes: int, doubted: bool) -> None:
    both = [found(4 * PAGE), found(merge_bytes, name="merge_unit_bytes")]
    outcomes = [each.outcome for each in reconciled(both)]
    assert outcomes == ["ambiguous" if doubted else "detected"] * 2


def test_a_drive_merges_or_collects() -> None:
    both = [found(1 << 20, name=f"{kind}_unit_bytes") for kind in ("merge", "reclaim")]
    assert [each.outcome for each in reconciled(both)] == ["ambiguous"] * 2
