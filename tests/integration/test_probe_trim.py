"""The family `trim` on drives that gain by discards, and on some that do not."""

from __future__ import annotations

from dataclasses import replace
from pathlib import Path
from typing import Any

import numpy as np
import pytest
from tests.integration.small_drives import FLAT, KIB, LOG_BLOCK, NOISE, opened, probed

from ssdscope.findings import Absent, Detected, Reason, Undetectable
from ssdscope.inference.series import Series
from ssdscope.probes.bench.ledger import Bench
from ssdscope.probes.bench.overwriting import Granule
from ssdscope.probes.budget import Budget
from ssdscope.probes.trim import probe as trim
from ssdscope.targets import Device
from ssdscope.targets.records import OP_DISCARD, DeviceInfo

SHARED_LOGS = {"ftl.log_association": '"many-to-one"', "ftl.log_blocks": 20}


class WithoutDiscard:
    """A drive that does not know the command."""

    def __init__(self, device: Device) -> None:
        self._device = device

    @property
    def info(self) -> DeviceInfo:
        return replace(self._device.info, discard=False)

    def __getattr__(self, name: str) -> Any:
        return getattr(self._device, name)


@pytest.mark.parametrize("kind", [{"over_provisioning_ratio": 0.12}, LOG_BLOCK])
@pytest.mark.parametrize("noise", [{}, NOISE])
def test_discards_make_settled_drives_faster(
    tmp_path: Path, kind: dict[str, Any], noise: dict[str, Any]
) -> None:
    found = probed("trim", opened(tmp_path, kind, noise))["trim_effect"]
    assert isinstance(found, Detected), found
    assert isinstance(found.value, float)
    assert found.value > 1.2


@pytest.mark.parametrize(
    ("kind", "outcome"), [(LOG_BLOCK, Detected), (FLAT, Absent | Undetectable)]
)
def test_logs_that_all_units_share_tell_and_flat_drives_do_not(
    tmp_path: Path, kind: dict[str, Any], outcome: Any
) -> None:
    """Such logs are merged once in many writes, each time for long."""
    device = opened(tmp_path, kind, NOISE, SHARED_LOGS if kind is LOG_BLOCK else {})
    found = probed("trim", device, budget="full")["trim_effect"]
    assert isinstance(found, outcome), found


def test_writes_to_one_half_alone_are_no_effect_of_discards(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    """Shared log blocks that held the other half, too, would be merged with fewer and fewer units.

    So all that is compared goes to one half, and what is told without a discard is nothing.
    """
    logs = {
        "over_provisioning_ratio": 0.9,
        "ftl.log_association": '"many-to-one"',
        "ftl.log_blocks": 110,
        "ftl.map_unit_bytes": 16 * KIB,
    }
    issue = Bench.issue

    def without_discards(bench: Bench, ops: Any, *args: Any, **keys: Any) -> Any:
        return None if np.all(np.asarray(ops) == OP_DISCARD) else issue(bench, ops, *args, **keys)

    monkeypatch.setattr(Bench, "issue", without_discards)
    found = probed("trim", opened(tmp_path, LOG_BLOCK, logs), budget="full")["trim_effect"]
    assert isinstance(found, Undetectable | Absent), found


def test_others_at_work_meanwhile_are_no_effect(tmp_path: Path) -> None:
    bursts = {
        "disturbance.foreign_iops": 30,
        "disturbance.foreign_bytes": 65_536,
        "disturbance.foreign_on_ns": 300_000_000,
        "disturbance.foreign_off_ns": 700_000_000,
    }
    found = probed("trim", opened(tmp_path, LOG_BLOCK, NOISE | bursts))["trim_effect"]
    assert isinstance(found, Detected), found
    flat = probed("trim", opened(tmp_path, FLAT, NOISE | bursts))["trim_effect"]
    assert not isinstance(flat, Detected), flat


@pytest.mark.parametrize("drift", [0.0, 0.3])
def test_where_nothing_is_collected_nothing_is_found(tmp_path: Path, drift: float) -> None:
    """A drift of 30 % is no effect of discards."""
    keys = NOISE | {
        "disturbance.drift_ratio": drift,
        "disturbance.drift_period_ns": 1_000_000_000,
    }
    for seed in range(3):
        found = probed("trim", opened(tmp_path, FLAT, keys, seed=seed), seed)["trim_effect"]
        assert isinstance(found, Absent | Undetectable), (seed, found)


@pytest.mark.parametrize(
    ("gain", "absent", "kind"),
    [(1.5, False, Detected), (1.0, True, Absent), (1.0, False, Undetectable)],
)
def test_what_a_series_comes_to(gain: float, absent: bool, kind: type) -> None:
    """Nothing is absent before as much was written as was discarded."""
    rng = np.random.default_rng(5)
    y = np.exp(0.05 * rng.normal(size=6000))
    y[:2000] *= gain
    found = trim._judged(Series.of(np.arange(6000) - 2000, y), absent=absent)
    assert isinstance(found, kind), found


def test_it_writes_a_capacity_at_most_unless_more_is_asked_for(tmp_path: Path) -> None:
    info = opened(tmp_path).info
    assert trim.PROBE.planned_writes_bytes(info) <= info.capacity_bytes
    assert trim.PROBE.planned_writes_bytes(info, full=True) <= 8 * info.capacity_bytes
    whole = trim.Discards(unit=Granule(96 * KIB, 0))
    assert whole.writes_bytes(info) <= info.capacity_bytes


def test_without_discards_it_cannot_be_told(tmp_path: Path) -> None:
    device: Any = WithoutDiscard(opened(tmp_path))
    found = probed("trim", device)["trim_effect"]
    assert isinstance(found, Undetectable)
    assert found.reason == Reason.NOT_SUPPORTED
    assert found.bytes_written == 0


def test_a_tiny_drive_is_refused(tmp_path: Path) -> None:
    tiny = {"nand.blocks_per_plane": 60, "nand.channels": 1, "nand.ways": 1}
    found = probed("trim", opened(tmp_path, tiny))["trim_effect"]
    assert isinstance(found, Undetectable)
    assert found.reason == Reason.RANGE_TOO_SMALL


def test_deciding_again_takes_no_drive(tmp_path: Path) -> None:
    """What was measured gives the same answer, with nothing more asked of the drive."""
    bench = Bench(opened(tmp_path, {"over_provisioning_ratio": 0.12}), Budget.parse("default"), 1)
    with bench.allowance(bench.info.capacity_bytes):
        first = list(trim.detect(bench))
    asked = bench.requests
    assert [each.to_json() for each in trim.detect(bench)] == [each.to_json() for each in first]
    assert bench.requests == asked
