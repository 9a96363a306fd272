"""The probe `trim` on drives that gain by discards, and on some that do not."""

from __future__ import annotations

from dataclasses import replace
from pathlib import Path
from types import SimpleNamespace
from typing import Any

import pytest
from tests.integration.small_drives import FLAT, KIB, LOG_BLOCK, MIB, NOISE, opened, probed

from ssdscope import probes
from ssdscope.findings import Evidence
from ssdscope.probes import (
    Absent,
    Bench,
    Budget,
    Detected,
    Finding,
    Reason,
    Undetectable,
    trim,
    trim_rounds,
)
from ssdscope.probes.bench import Stopped
from ssdscope.probes.settling import Overwriter
from ssdscope.studies.recovery.generator import draw
from ssdscope.targets import Device
from ssdscope.targets.drive_writer import open_drive
from ssdscope.targets.records import DeviceInfo

SHARED_LOGS = {
    "over_provisioning_ratio": 0.5,
    "nand.blocks_per_plane": 200,
    "ftl.log_association": '"many-to-one"',
    "ftl.log_blocks": 40,
}
MERGE_UNIT = Detected(name="merge_unit_bytes", probe="test", value=MIB, interval=None, effect=1)


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
    assert found.evidence.figures["settled"]
    assert found.evidence.figures["discarded_share"] == pytest.approx(0.5, abs=0.01)


@pytest.mark.parametrize(("kind", "outcome"), [(LOG_BLOCK, Detected), (FLAT, Undetectable)])
def test_rounds_tell_what_one_capacity_does_not(
    tmp_path: Path, kind: dict[str, Any], outcome: type[Finding]
) -> None:
    """Logs that all units share are merged once in many writes, each time for long."""
    logs = {"ftl.log_association": '"many-to-one"', "ftl.log_blocks": 20}
    device = opened(tmp_path, kind, NOISE, logs if kind is LOG_BLOCK else {})
    found = probed("trim_rounds", device)["trim_effect"]
    assert isinstance(found, outcome), found
    assert found.evidence.figures["rounds"] < trim_rounds.ROUNDS


def test_writes_to_one_half_alone_are_no_effect_of_discards(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    """Shared log blocks that held the other half, too, are merged with fewer and fewer units."""
    logs = {
        "over_provisioning_ratio": 0.9,
        "ftl.log_association": '"many-to-one"',
        "ftl.log_blocks": 110,
        "ftl.map_unit_bytes": 16 * KIB,
    }
    monkeypatch.setattr(trim_rounds, "discard_first", lambda *_: None)
    found = probed("trim_rounds", opened(tmp_path, LOG_BLOCK, logs), budget="full")["trim_effect"]
    assert isinstance(found, Undetectable), found
    assert found.evidence.figures["ratio"] == pytest.approx(1.0, abs=0.03)


def test_logs_that_hold_one_half_alone_are_no_effect_of_discards_in_one_capacity() -> None:
    """They are merged with fewer units than such as hold data of everywhere."""
    device = open_drive(draw(3237837982, 146).toml(), "drawn", 146)
    names = ["write_buffer", "rmw_unit", "merge_unit", "trim"]
    findings = probes.run(names, device, Budget.parse("full"), 146)
    found = {each.name: each for each in findings}["trim_effect"]
    assert found.evidence.figures["surely"] > trim.NOTHING
    assert isinstance(found, Undetectable), found


@pytest.mark.parametrize(("ratio", "outcome"), [(1.07, Undetectable), (1.1, Detected)])
def test_a_little_may_be_what_reads_in_between_make_of_less(
    ratio: float, outcome: type[Finding]
) -> None:
    """What writes alone gained was 2.9 %, where 7 % was told of such with reads between them."""
    gain = trim.Gain(ratio, (ratio - 0.01, ratio + 0.01), 1.05)
    assert isinstance(trim._judged(gain, trim.NOTHING, enough=False), outcome)


def test_shared_logs_settle_when_all_of_them_were_merged(tmp_path: Path) -> None:
    """Few writes merge, for long: a mean is steady before logs hold what they will."""
    bench = Bench(opened(tmp_path, LOG_BLOCK, SHARED_LOGS), Budget.parse("full"), 1)
    bench.known["merge_unit_bytes"] = MERGE_UNIT
    most = bench.info.capacity_bytes // 2
    with bench.allowance(2 * most):
        overwriter = Overwriter(bench, bench.rng("test"))
        assert overwriter.settle(most, turned_over=True).requests == most // (64 * KIB)
        assert overwriter.settle(most).requests < most // (64 * KIB)


def test_a_buffer_that_takes_writes_in_order_at_once_is_no_sign_of_merges(tmp_path: Path) -> None:
    """Random writes to a page-mapped drive behind it take as long as its pages do."""
    buffer = {
        "nand.program_ns": 2_500_000,
        "write_buffer.bytes": 2 * MIB,
        "write_buffer.switchable": False,
    }
    bench = Bench(opened(tmp_path, buffer), Budget.parse("full"), 1)
    most = bench.info.capacity_bytes // 2
    with bench.allowance(2 * most):
        settled = Overwriter(bench, bench.rng("test")).settle(most)
    assert settled.mean_ns > 8_000_000
    assert settled.requests == most // (64 * KIB)


@pytest.mark.parametrize("reason", list(Reason))
def test_rounds_ask_only_what_is_open(tmp_path: Path, reason: Reason) -> None:
    bench = Bench(opened(tmp_path), Budget.parse("full"), 1)
    known = Undetectable(name="trim_effect", probe="trim", reason=reason)
    bench.known["trim_effect"] = known
    if reason in trim_rounds.WORTH_ROUNDS:
        with pytest.raises(Stopped):  # nothing may be written
            list(trim_rounds.detect(bench))
    else:
        assert list(trim_rounds.detect(bench)) == [replace(known, probe="trim_rounds")]


def test_a_drive_that_merges_settles_between_the_bursts_of_others(tmp_path: Path) -> None:
    """A dozen bursts come before it has settled, and none of its writes ends within a burst."""
    bursts = {
        "disturbance.foreign_iops": 30,
        "disturbance.foreign_bytes": 65_536,
        "disturbance.foreign_on_ns": 300_000_000,
        "disturbance.foreign_off_ns": 700_000_000,
    }
    found = probed("trim", opened(tmp_path, LOG_BLOCK, NOISE | bursts))["trim_effect"]
    assert isinstance(found, Detected), found


def test_quick_merges_settle_at_once_where_the_merge_unit_is_known(tmp_path: Path) -> None:
    """A write that waits for one takes much longer than one in order, and less than 8 ms."""
    quick = {"nand.read_ns": 25_000, "nand.program_ns": 50_000, "nand.erase_ns": 500_000}
    small = {"ftl.merge_unit_bytes": MIB // 2, "nand.pages_per_block": 32}
    device = opened(tmp_path, LOG_BLOCK, quick, small)
    merge = Detected(name="merge_unit_bytes", probe="test", value=MIB // 2, interval=None, effect=1)
    settled = []
    for known in ({}, {"merge_unit_bytes": merge}):
        bench = Bench(device.fork(), Budget.parse("default"), 1)
        bench.known |= known
        with bench.allowance(device.info.capacity_bytes):
            overwriter = Overwriter(bench, bench.rng("test"), 32 * KIB)
            settled.append(overwriter.settle(device.info.capacity_bytes // 2))
    assert settled[1].slowed
    assert settled[1].requests < 0.7 * settled[0].requests
    assert settled[1].mean_ns == pytest.approx(settled[0].mean_ns, rel=0.1)


def test_a_small_region_that_is_folded_again_and_again_is_no_merging_that_settles_at_once() -> None:
    """It takes a quarter of the spare space until then, so that nothing is collected yet."""
    device = open_drive(draw(875_401_792, 51).toml(), "drawn", 51)
    bench = Bench(device, Budget.parse("full"), 1)
    bench.known["pslc_bytes"] = Undetectable(
        name="pslc_bytes",
        probe="test",
        reason=Reason.MASKED,
        evidence=Evidence(figures={"flushed_over_rested": 3.4, "paused_over_rested": 3.0}),
    )
    with bench.allowance(device.info.capacity_bytes):
        (found,) = trim.detect(bench)
    assert isinstance(found, Detected), found
    assert found.value > 2


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


def test_nothing_is_absent_before_as_much_was_written_as_was_discarded() -> None:
    """Blocks that hold nothing any more wait for their turn: half a capacity later it is 6 %."""
    drawn = draw(856441233, 56)
    found = probed("trim", open_drive(drawn.toml(), "drawn", 56), 56)["trim_effect"]
    assert isinstance(found, Undetectable), found
    assert found.evidence.figures["interval"][1] < trim.NOTHING


def test_writes_are_no_longer_where_the_unit_is_not_known(tmp_path: Path) -> None:
    """Longer ones meet collection that goes on beside what is asked about."""
    bench = Bench(opened(tmp_path), Budget.parse("full"), 1)
    overwriter = Overwriter(bench, bench.rng("test"), trim.REQUEST_BYTES, trim.REQUEST_BYTES)
    assert overwriter.granule.size_bytes == trim.REQUEST_BYTES
    assert Overwriter(bench, bench.rng("test")).granule.size_bytes == 64 * KIB


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


def test_half_of_a_small_drive_is_discarded_in_fewer_pieces() -> None:
    issued: list[Any] = []

    class Noted:
        def issue(self, _op: int, offsets: Any, lengths: Any) -> Any:
            issued.append((offsets, lengths))
            return SimpleNamespace(latency_ns=lengths)

    for half, count in ((42 * MIB, 42), (640 * MIB, trim.DISCARDS)):
        pieces, _ = trim.discard_first(Noted(), half)  # type: ignore[arg-type]
        offsets, lengths = issued.pop()
        assert (len(lengths), int(lengths.min()) > 0) == (count, True)
        assert (int(offsets[0]), int(lengths.sum()), int(pieces[-1])) == (0, half, half)
