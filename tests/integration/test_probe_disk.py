"""The family `disk`: hard disks, arrays of them, and what is none."""

from __future__ import annotations

from pathlib import Path
from typing import Any

import pytest
from tests.integration.small_drives import FLAT, NOISE, opened

from ssdscope.findings import Absent, Ambiguous, Detected, Finding, Reason, Undetectable
from ssdscope.findings.families import FAMILIES
from ssdscope.probes import session
from ssdscope.probes.bench.ledger import Bench
from ssdscope.probes.budget import Budget
from ssdscope.probes.disk import probe as disk
from ssdscope.probes.mechanisms import NO_FLASH
from ssdscope.recovery.judge import WRONG, judge
from ssdscope.recovery.truth_of_disks import truths_of_disks, visible_of_disks
from ssdscope.recovery.without_flash import WithoutFlash, draw_without_flash
from ssdscope.targets.opening import open_target

FULL = Budget.parse("full")


def found_on(device: Any, *names: str) -> dict[str, Finding]:
    return {each.name: each for each in session.run(names or ("disk",), device, FULL, 7)}


@pytest.mark.parametrize(
    ("name", "truths"),
    [
        ("huang-hdd-s", (60e9 / 5400, 1e6, 10e6, 7 << 20, 2)),
        ("ryu-hdd", (60e9 / 7200, 0.8e6, 17e6, 8 << 20, 8)),
    ],
)
def test_the_disks_of_the_papers(name: str, truths: tuple[float, ...]) -> None:
    found = found_on(open_target(f"sim:{name}", seed=1).device)
    for key, truth in zip(FAMILIES["disk"], truths, strict=True):
        each = found[key]
        assert isinstance(each, Detected), each
        assert each.value == pytest.approx(truth, rel=0.1)
    assert found["rotation_ns"].value == pytest.approx(truths[0], rel=1e-4)


def judged(drawn: WithoutFlash) -> dict[str, Any]:
    truths, visible = truths_of_disks(drawn.disks), visible_of_disks(drawn.disks)
    with drawn.opened() as device:
        found = found_on(device)
    return {
        name: judge(name, truths[name], visible.get(name), each) for name, each in found.items()
    }


@pytest.mark.parametrize("index", [0, 2, 8, 10, 14])
def test_drawn_disks_with_noise_are_told_and_none_is_wrong(index: int) -> None:
    """The eighth is an array of two like ones."""
    said = judged(draw_without_flash(3101, index))
    assert not [each for each in said.values() if each.outcome in WRONG]
    assert said["rotation_ns"].outcome == "right"
    assert said["seek_full_ns"].outcome == "right"


def test_unlike_disks_have_no_one_turn() -> None:
    with draw_without_flash(3101, 5).opened() as device:
        found = found_on(device)
    both = found["rotation_ns"]
    assert isinstance(both, Ambiguous)
    assert both.candidates == (pytest.approx(4e6, rel=1e-3), pytest.approx(10_169_492, rel=1e-3))
    assert isinstance(found["seek_full_ns"], Undetectable)


@pytest.mark.parametrize("name", ["mqsim-8g", "kuo-samsung-slc"])
def test_flash_is_told_by_64_reads(name: str) -> None:
    bench = Bench(open_target(f"sim:{name}", seed=1).device, FULL, 7)
    found = list(disk.detect(bench))
    assert [each.name for each in found] == list(FAMILIES["disk"])
    assert all(isinstance(each, Absent) for each in found)
    assert len({each.reason for each in found}) == 1
    assert bench.requests == disk.PLACES
    assert bench.bytes_written == 0


def test_slow_flash_does_not_turn(tmp_path: Path) -> None:
    slow = {"nand.read_ns": 3_000_000}
    found = found_on(opened(tmp_path, FLAT, NOISE, slow))
    assert not isinstance(found["rotation_ns"], Detected | Ambiguous)


def test_a_record_gives_the_same_again() -> None:
    bench = Bench(open_target("sim:ryu-hdd", seed=2).device, FULL, 7)
    first = list(disk.detect(bench))
    asked = bench.requests
    assert list(disk.detect(bench)) == first
    assert bench.requests == asked


def test_nothing_is_claimed_of_flash_on_a_disk() -> None:
    """Nor by a probe that is asked for alone, before anybody has told what it is."""
    found = found_on(open_target("sim:huang-hdd-s", seed=1).device, "units", "caches")
    assert found
    for name, each in found.items():
        assert name in NO_FLASH
        assert isinstance(each, Undetectable)
        assert each.reason is Reason.MASKED
        assert "hard disk" in (each.evidence.detail or "")
