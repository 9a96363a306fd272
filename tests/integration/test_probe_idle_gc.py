"""The probe `idle_gc` on drives that work for themselves in idle time, and on some that do not."""

from __future__ import annotations

from pathlib import Path
from typing import Any

import pytest
from tests.integration.small_drives import FLAT, LOG_BLOCK, MIB, NOISE, opened, probed

from ssdscope.findings import Absent, Detected, Evidence, Finding, Reason, Undetectable
from ssdscope.probes import idle_gc, session
from ssdscope.probes.bench import Bench, Stopped
from ssdscope.probes.budget import Budget
from ssdscope.probes.idle_steps import Steps
from ssdscope.probes.idle_trials import Trials
from ssdscope.probes.settling import Overwriter
from ssdscope.studies.recovery.generator import draw
from ssdscope.targets.drive_writer import open_drive

PAGE = {"gc.low_water_ratio": 0.02, "gc.high_water_ratio": 0.08, "over_provisioning_ratio": 0.2}
REGION = {
    "nand.bits_per_cell": 3,
    "over_provisioning_ratio": 0.3,
    "pslc.bytes": 20 * 4 * 21 * 4096,
    "pslc.program_ns": 120_000,
}


def idle(onset_ns: int) -> dict[str, Any]:
    return {"gc.background": True, "gc.idle_ns": onset_ns}


@pytest.mark.always(3)
@pytest.mark.parametrize("kind", [PAGE, LOG_BLOCK, REGION], ids=["page", "log-block", "region"])
@pytest.mark.parametrize(("onset_ns", "noise"), [(20_000_000, NOISE), (700_000_000, {})])
def test_the_onset_is_found(
    tmp_path: Path, kind: dict[str, Any], onset_ns: int, noise: dict[str, Any]
) -> None:
    found = probed("idle_gc", opened(tmp_path, kind, idle(onset_ns), noise))["idle_gc_onset_ns"]
    assert isinstance(found, Detected), found
    assert found.value == pytest.approx(onset_ns, rel=0.08)


def test_where_trials_contradict_each_other_all_room_is_used_up_before_each(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    """What a trial has left, as writes wait now and then even where there is room, is gained."""
    narrowed, windows = idle_gc._narrowed, []

    def contradicting(steps: Steps, common: dict[str, Any]) -> Finding:
        windows.append(steps.trials._window)
        if len(windows) == 1:
            raise Stopped(Reason.EFFECT_BELOW_NOISE)
        return narrowed(steps, common)

    monkeypatch.setattr(idle_gc, "_narrowed", contradicting)
    found = probed("idle_gc", opened(tmp_path, PAGE, idle(20_000_000)))["idle_gc_onset_ns"]
    assert isinstance(found, Detected), found
    assert found.value == pytest.approx(20_000_000, rel=0.08)
    assert windows[0] == 0 < windows[1]


BURSTS = {
    "disturbance.foreign_iops": 30,
    "disturbance.foreign_bytes": 65_536,
    "disturbance.foreign_on_ns": 300_000_000,
    "disturbance.foreign_off_ns": 1_500_000_000,
}


def test_a_drive_settles_without_a_pause_beside_others(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    """In a pause the drive makes room, and writes behind it wait for nothing."""
    waits = []
    for others in ({}, BURSTS):
        bench = Bench(opened(tmp_path, PAGE, idle(20_000_000), others), Budget.parse("full"), 1)
        monkeypatch.setattr(bench, "idle", lambda _: pytest.fail("a pause"))
        with bench.allowance(1 << 40):
            overwriter = Overwriter(bench, bench.rng("test"), MIB // 16)
            settled = overwriter.settle(bench.info.capacity_bytes)
            assert not idle_gc._flush_works(overwriter, settled)
            waits.append(Trials(overwriter, flushed=False).mean_ns)
    assert waits[1] == pytest.approx(waits[0], rel=0.2)


def test_what_trials_are_held_against_takes_the_same_wherever_collection_copies_it(
    tmp_path: Path,
) -> None:
    """Two pages that are read as one lie side by side, or in a row."""
    small = {
        "nand.page_bytes": 2048,
        "ftl.placement_pages": 4,
        "ftl.reclaim_unit_bytes": 2 * 64 * 2048,
        "gc.policy": '"random"',
    }
    bench = Bench(opened(tmp_path, PAGE, small), Budget.parse("full"), 1)
    with bench.allowance(1 << 40):
        trials = Trials(Overwriter(bench, bench.rng("test"), MIB // 16), flushed=False)
        reads_ns = []
        for _ in range(8):
            trials.overwriter.write(512, bench.info.capacity_bytes)
            reads_ns.append(trials._quiet(1_000_000, 1))
    assert max(reads_ns) < 1.05 * min(reads_ns), reads_ns


def test_all_room_that_a_pause_has_made_is_used_up(tmp_path: Path) -> None:
    bench = Bench(opened(tmp_path, PAGE, idle(20_000_000)), Budget.parse("full"), 1)
    with bench.allowance(1 << 40):
        overwriter = Overwriter(bench, bench.rng("test"), MIB // 16)
        overwriter.settle(bench.info.capacity_bytes)
        trials = Trials(overwriter, flushed=False)
        trials.use_up_all()
        trials._quiet(60_000_000, trials.gaps(60_000_000))
        waits_from = (trials.quick_ns + trials.mean_ns) / 2
        assert trials._timed(256).mean() < waits_from
        trials._make_work()
        assert trials._timed(256).mean() > waits_from


def test_the_onset_is_found_behind_a_buffer_that_stays_on_and_beside_another_user(
    tmp_path: Path,
) -> None:
    """Logs of many units are merged in many pieces; a flush empties the buffer."""
    logs = LOG_BLOCK | {"ftl.log_association": '"many-to-one"'}
    buffer = {"write_buffer.bytes": MIB, "write_buffer.switchable": False}
    user = {
        "disturbance.foreign_iops": 30,
        "disturbance.foreign_on_ns": 1_000_000_000,
        "disturbance.foreign_off_ns": 9_000_000_000,
    }
    found = probed("idle_gc", opened(tmp_path, logs, buffer, user, idle(45_000_000)))
    onset = found["idle_gc_onset_ns"]
    assert isinstance(onset, Detected), onset
    low, high = onset.interval or (0, 0)
    assert low < 45_000_000 < high < 1.08 * low


def test_trials_are_made_shorter_where_bursts_of_others_leave_little_time(tmp_path: Path) -> None:
    """Each write merges for a tenth of a second, and no two seconds are without a burst."""
    large = {"nand.program_ns": 800_000, "nand.channels": 1, "ftl.merge_unit_bytes": MIB // 2}
    user = {
        "disturbance.foreign_iops": 40,
        "disturbance.foreign_bytes": 65_536,
        "disturbance.foreign_on_ns": 200_000_000,
        "disturbance.foreign_off_ns": 1_500_000_000,
    }
    found = probed("idle_gc", opened(tmp_path, LOG_BLOCK, large, user, idle(100_000_000)))
    onset = found["idle_gc_onset_ns"]
    assert isinstance(onset, Detected), onset
    assert onset.value == pytest.approx(100_000_000, rel=0.08)


@pytest.mark.always(2)
@pytest.mark.parametrize("kind", [PAGE, LOG_BLOCK, FLAT], ids=["page", "log-block", "flat"])
@pytest.mark.parametrize("noise", [{}, NOISE], ids=["quiet", "noisy"])
def test_drives_that_do_nothing_when_idle_have_none(
    tmp_path: Path, kind: dict[str, Any], noise: dict[str, Any]
) -> None:
    found = probed("idle_gc", opened(tmp_path, kind, noise))["idle_gc_onset_ns"]
    assert isinstance(found, Absent | Undetectable), found
    if kind is LOG_BLOCK and not noise:
        # With noise it depends on the draw whether the bound comes below 3 %.
        assert isinstance(found, Absent), found


def test_room_for_more_writes_than_are_timed_is_no_absence(tmp_path: Path) -> None:
    """Idle time merges all logs, after which hundreds of writes in them take no merge."""
    logs = LOG_BLOCK | {"ftl.log_association": '"many-to-one"', "ftl.log_blocks": 12}
    bench = Bench(opened(tmp_path, logs, idle(20_000_000)), Budget.parse("full"), 1)
    with bench.allowance(1 << 30):
        overwriter = Overwriter(bench, bench.rng("test"))
        overwriter.settle(1 << 27)
        trials = Trials(overwriter, flushed=False)
        rested = trials.run(idle_gc.LONG_NS[-1], 16, 1)
        rested_ns = float(rested.writes_ns.mean()) * rested.read_ns
        for as_slow, stays in ((1, False), (20, True)):
            gained = idle_gc._Gained(0.0, 1.0, as_slow * rested_ns)
            assert idle_gc._stays_fast(trials, gained, {"evidence": Evidence()}) is stays


def test_a_buffer_that_is_emptied_when_idle_is_no_collection(tmp_path: Path) -> None:
    """A flush empties it beforehand; one that is protected cannot be told from collection."""
    buffer = {
        "write_buffer.bytes": 4 * MIB,
        "write_buffer.drain": '"idle"',
        "write_buffer.idle_ns": 30_000_000,
        "write_buffer.switchable": False,
    }
    for protected in (False, True):
        keys = buffer | {"write_buffer.power_loss_protected": protected}
        found = probed("idle_gc", opened(tmp_path, PAGE, keys))["idle_gc_onset_ns"]
        assert isinstance(found, Absent | Undetectable), (protected, found)


def test_what_others_wrote_into_a_buffer_that_is_emptied_when_idle_is_no_collection(
    tmp_path: Path,
) -> None:
    """The first write after a pause would be flushed with it, unless the pause has emptied it."""
    buffer = {
        "write_buffer.bytes": 3 * MIB,
        "write_buffer.drain": '"idle"',
        "write_buffer.idle_ns": 93_000_000,
        "scheduler.data_first": True,
        "write_buffer.switchable": False,
    }
    user = {
        "disturbance.foreign_iops": 48,
        "disturbance.foreign_bytes": 16_384,
        "disturbance.foreign_write_ratio": 0.3,
        "disturbance.foreign_on_ns": 174_000_000,
        "disturbance.foreign_off_ns": 3_300_000_000,
    }
    found = probed("idle_gc", opened(tmp_path, LOG_BLOCK, buffer, user))["idle_gc_onset_ns"]
    assert not isinstance(found, Detected), found


def test_a_large_buffer_that_takes_long_to_be_emptied_when_idle_is_no_collection(
    tmp_path: Path,
) -> None:
    """What was written last leaves it last: a short pause would find that still in memory."""
    buffer = {
        "write_buffer.bytes": 16 * MIB,
        "write_buffer.drain": '"idle"',
        "write_buffer.idle_ns": 7_000_000,
        "write_buffer.switchable": False,
        "write_buffer.power_loss_protected": True,
    }
    slow = {"pslc.bytes": 2 * 4 * 21 * 4096, "nand.program_ns": 2_000_000}
    keys = REGION | slow | {"gc.idle_ns": 90_000_000}
    found = probed("idle_gc", opened(tmp_path, keys, buffer))["idle_gc_onset_ns"]
    assert not isinstance(found, Detected), found


def test_a_buffer_is_waited_for_whose_units_are_merged_for_singly() -> None:
    """Of 2.8 MB that lasts 30 s: 64 KiB at a time would be written in 5."""
    drawn = draw(3_454_773_504, 81)
    device = open_drive(drawn.toml(), "drawn", 81)
    names = ["buffer", "units", "merging", "idle_gc"]
    found = {each.name: each for each in session.run(names, device, Budget.parse("full"), 81)}
    assert not isinstance(found["idle_gc_onset_ns"], Detected), found["idle_gc_onset_ns"]


def test_behind_a_buffer_that_no_flush_empties_nothing_is_absent(tmp_path: Path) -> None:
    """It may take all the writes that are timed, whether there is room behind it or not."""
    buffer = {
        "write_buffer.bytes": 16 * MIB,
        "write_buffer.drain": '"eager"',
        "write_buffer.switchable": False,
        "write_buffer.power_loss_protected": True,
    }
    found = probed("idle_gc", opened(tmp_path, PAGE, buffer))["idle_gc_onset_ns"]
    assert isinstance(found, Undetectable), found


def test_merges_are_found_behind_a_protected_buffer_that_is_emptied_at_once(tmp_path: Path) -> None:
    """It is as empty of a drive that was kept awake for as long, and no reason to refuse."""
    buffer = {
        "write_buffer.bytes": MIB // 4,
        "write_buffer.drain": '"eager"',
        "write_buffer.switchable": False,
        "write_buffer.power_loss_protected": True,
    }
    found = probed("idle_gc", opened(tmp_path, LOG_BLOCK, buffer, NOISE, idle(45_000_000)))
    onset = found["idle_gc_onset_ns"]
    assert isinstance(onset, Detected), onset
    assert onset.value == pytest.approx(45_000_000, rel=0.08)
