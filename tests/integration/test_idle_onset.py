"""The idle onset of drives that work for themselves in idle time, and of some that do not."""

from __future__ import annotations

from pathlib import Path
from typing import Any

import pytest
from tests.integration.small_drives import FLAT, KIB, LOG_BLOCK, MIB, NOISE, opened

from ssdscope.findings import Absent, Detected, Finding, Reason, Undetectable
from ssdscope.probes import registry, session
from ssdscope.probes.bench.ledger import Bench
from ssdscope.probes.budget import Budget
from ssdscope.probes.collection.idle import found_onset
from ssdscope.probes.collection.pauses import GoneOn, Pauses
from ssdscope.probes.collection.trials import AWAKE_NS, LONGEST_NS, Trials
from ssdscope.probes.record import Record
from ssdscope.recovery.generator import draw
from ssdscope.targets import Device
from ssdscope.targets.drive_writer import open_drive

UNIT = 64 * KIB
PAGE = {"gc.low_water_ratio": 0.02, "gc.high_water_ratio": 0.08, "over_provisioning_ratio": 0.2}
REGION = {
    "nand.bits_per_cell": 3,
    "over_provisioning_ratio": 0.3,
    "pslc.bytes": 20 * 4 * 21 * 4096,
    "pslc.program_ns": 120_000,
}
STAYS_ON = {"write_buffer.bytes": MIB, "write_buffer.switchable": False}
PROTECTED = STAYS_ON | {"write_buffer.power_loss_protected": True}
BURSTS = {
    "disturbance.foreign_iops": 30,
    "disturbance.foreign_bytes": 65_536,
    "disturbance.foreign_on_ns": 300_000_000,
    "disturbance.foreign_off_ns": 1_500_000_000,
}


def idle(onset_ns: int) -> dict[str, Any]:
    return {"gc.background": True, "gc.idle_ns": onset_ns}


def emptied(idle_ns: int) -> dict[str, Any]:
    return {"write_buffer.drain": '"idle"', "write_buffer.idle_ns": idle_ns}


def on_bench(device: Device, **known: int) -> Bench:
    bench = Bench(device, Budget.parse("full"), 1)
    for name, value in known.items():
        bench.known[name] = Detected(
            name=name, probe="test", value=value, interval=None, effect=1.0
        )
    return bench


def onset(device: Device, **known: int) -> Finding:
    bench = on_bench(device, **known)
    with bench.allowance(1 << 40):
        return found_onset(bench, "collection")


@pytest.mark.always(3)
@pytest.mark.parametrize("kind", [PAGE, LOG_BLOCK, REGION], ids=["page", "log-block", "region"])
@pytest.mark.parametrize(("onset_ns", "noise"), [(20_000_000, NOISE), (700_000_000, {})])
def test_the_onset_is_found(
    tmp_path: Path, kind: dict[str, Any], onset_ns: int, noise: dict[str, Any]
) -> None:
    found = onset(opened(tmp_path, kind, idle(onset_ns), noise))
    assert isinstance(found, Detected), found
    assert found.value == pytest.approx(onset_ns, rel=0.08)
    assert found.interval is not None
    assert found.interval[1] < 1.12 * found.interval[0]


def test_it_is_an_answer_of_the_family_and_of_its_series_alone(tmp_path: Path) -> None:
    """Decided again without a drive that could be asked anything."""
    device, record = opened(tmp_path, PAGE, idle(20_000_000)), Record()
    bench = on_bench(device)
    bench.record = record
    with bench.allowance(1 << 40):
        first = found_onset(bench, "collection")
    written = bench.bytes_written
    again = found_onset(bench, "collection")
    assert bench.bytes_written == written
    assert again == first
    record.save(tmp_path / "series")
    assert (tmp_path / "series").stat().st_size < 200 * KIB
    assert "idle_gc_onset_ns" in registry.every()["collection"].properties


def test_a_drive_settles_without_a_pause_beside_others(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    """In a pause the drive makes room, and writes behind it wait for nothing."""
    means = []
    for others in ({}, BURSTS):
        bench = on_bench(opened(tmp_path, PAGE, idle(20_000_000), others))
        monkeypatch.setattr(bench, "idle", lambda _: pytest.fail("a pause"))
        with bench.allowance(1 << 40):
            trials = Trials(bench, bench.rng("test"), UNIT, 0, 0)
            trials.settle()
            trials.calibrate(None)
        means.append(trials.waits.mean_ns)
    assert means[1] == pytest.approx(means[0], rel=0.2)


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
    bench = on_bench(opened(tmp_path, PAGE, small))
    with bench.allowance(1 << 40):
        trials = Trials(bench, bench.rng("test"), UNIT, 0, 0)
        trials.settle()
        trials.calibrate(None)
        reads_ns = [trials.run(1_000_000, 512)[1] for _ in range(8)]
    assert max(reads_ns) < 1.05 * min(reads_ns), reads_ns


def test_all_room_that_a_pause_has_made_is_used_up_before_the_next(tmp_path: Path) -> None:
    bench = on_bench(opened(tmp_path, PAGE, idle(20_000_000)))
    with bench.allowance(1 << 40):
        trials = Trials(bench, bench.rng("test"), UNIT, 0, 0)
        trials.settle()
        trials.calibrate(None)
        rested, *_ = trials.run(60_000_000, 16)
        awake, *_ = trials.run(AWAKE_NS, 256)
    waits_from = (trials.waits.quick_ns + trials.waits.mean_ns) / 2
    assert rested.mean() < waits_from < awake.mean()


def test_behind_a_buffer_that_stays_on_and_beside_another_user(tmp_path: Path) -> None:
    """Logs of many units are merged in many pieces; a flush empties the buffer."""
    logs = LOG_BLOCK | {"ftl.log_association": '"many-to-one"'}
    user = {
        "disturbance.foreign_iops": 30,
        "disturbance.foreign_on_ns": 1_000_000_000,
        "disturbance.foreign_off_ns": 9_000_000_000,
    }
    found = onset(opened(tmp_path, logs, STAYS_ON, user, idle(45_000_000)))
    assert isinstance(found, Detected), found
    assert found.value == pytest.approx(45_000_000, rel=0.08)


def test_trials_are_made_shorter_where_bursts_of_others_leave_little_time(tmp_path: Path) -> None:
    """Each write merges for a tenth of a second, and no two seconds are without a burst."""
    large = {"nand.program_ns": 800_000, "nand.channels": 1, "ftl.merge_unit_bytes": MIB // 2}
    user = {
        "disturbance.foreign_iops": 40,
        "disturbance.foreign_bytes": 65_536,
        "disturbance.foreign_on_ns": 200_000_000,
        "disturbance.foreign_off_ns": 1_500_000_000,
    }
    found = onset(opened(tmp_path, LOG_BLOCK, large, user, idle(100_000_000)))
    assert isinstance(found, Detected), found
    assert found.value == pytest.approx(100_000_000, rel=0.08)


@pytest.mark.always(2)
@pytest.mark.parametrize("kind", [PAGE, LOG_BLOCK, FLAT], ids=["page", "log-block", "flat"])
@pytest.mark.parametrize("noise", [{}, NOISE], ids=["quiet", "noisy"])
def test_drives_that_do_nothing_when_idle_have_none(
    tmp_path: Path, kind: dict[str, Any], noise: dict[str, Any]
) -> None:
    # Of a drive that merges for each write only `merging` knows that writes wait.
    merge = kind.get("ftl.merge_unit_bytes")
    known = {"merge_unit_bytes": merge, "rmw_unit_bytes": 4096} if merge else {}
    found = onset(opened(tmp_path, kind, noise), **known)
    assert isinstance(found, Absent | Undetectable), found
    if kind is LOG_BLOCK and not noise:
        # With noise it depends on the draw whether the bound comes below 3 %.
        assert isinstance(found, Absent), found


def test_room_for_more_writes_than_are_timed_shows_in_the_end(tmp_path: Path) -> None:
    """Idle time merges all logs, after which hundreds of writes in them take no merge."""
    logs = LOG_BLOCK | {"ftl.log_association": '"many-to-one"', "ftl.log_blocks": 12}
    bench = on_bench(opened(tmp_path, logs, idle(20_000_000)))
    pauses = Pauses(size_bytes=UNIT, periods_ns=(LONGEST_NS,), rounds=1, settles=True)
    with bench.allowance(1 << 40):
        rested = bench.take(pauses)
        on = bench.take(GoneOn(size_bytes=UNIT, state=None, pause_ns=LONGEST_NS))
    assert float(on.y.mean()) > 1.05 * rested.y[rested.stratum == 0][0]


@pytest.mark.parametrize("protected", [False, True])
def test_a_buffer_that_is_emptied_when_idle_is_no_collection(
    tmp_path: Path, protected: bool
) -> None:
    """A flush empties it beforehand; of a protected one only what comes behind it counts."""
    keys = STAYS_ON | emptied(30_000_000) | {"write_buffer.power_loss_protected": protected}
    found = onset(opened(tmp_path, PAGE, keys), write_buffer_bytes=MIB)
    assert isinstance(found, Absent | Undetectable), found
    if protected:
        assert isinstance(found, Undetectable)
        assert found.reason is Reason.MASKED


@pytest.mark.parametrize("timer_ns", [6_000_000, 250_000_000])
@pytest.mark.parametrize("noise", [{}, NOISE], ids=["quiet", "noisy"])
def test_collection_is_told_from_the_timer_of_a_protected_buffer(
    tmp_path: Path, timer_ns: int, noise: dict[str, Any]
) -> None:
    """Room that idle time makes lasts for longer than a buffer that is empty."""
    keys = PROTECTED | emptied(timer_ns)
    found = onset(opened(tmp_path, PAGE, keys, idle(40_000_000), noise), write_buffer_bytes=MIB)
    assert isinstance(found, Detected), found
    assert found.value == pytest.approx(40_000_000, rel=0.08)


def test_what_others_wrote_into_a_buffer_that_is_emptied_when_idle_is_no_collection(
    tmp_path: Path,
) -> None:
    """The first write after a pause would be flushed with it, unless the pause has emptied it."""
    buffer = STAYS_ON | emptied(93_000_000)
    buffer |= {"write_buffer.bytes": 3 * MIB, "scheduler.data_first": True}
    user = {
        "disturbance.foreign_iops": 48,
        "disturbance.foreign_bytes": 16_384,
        "disturbance.foreign_write_ratio": 0.3,
        "disturbance.foreign_on_ns": 174_000_000,
        "disturbance.foreign_off_ns": 3_300_000_000,
    }
    found = onset(opened(tmp_path, LOG_BLOCK, buffer, user))
    assert not isinstance(found, Detected), found


def test_a_large_buffer_that_takes_long_to_be_emptied_when_idle_is_no_collection(
    tmp_path: Path,
) -> None:
    """What was written last leaves it last: a short pause would find that still in memory."""
    buffer = PROTECTED | emptied(7_000_000) | {"write_buffer.bytes": 16 * MIB}
    slow = {"pslc.bytes": 2 * 4 * 21 * 4096, "nand.program_ns": 2_000_000}
    keys = REGION | slow | {"gc.idle_ns": 90_000_000}
    found = onset(opened(tmp_path, keys, buffer))
    assert not isinstance(found, Detected) or found.value == pytest.approx(90e6, rel=0.1), found


def test_a_buffer_is_waited_for_whose_units_are_merged_for_singly() -> None:
    """Of 2.8 MB that lasts 30 s: 64 KiB at a time would be written in 5. Its timer is 55 ms."""
    drawn = draw(3_454_773_504, 81)
    device = open_drive(drawn.toml(), "drawn", 81)
    names = ["buffer", "units", "merging", "collection"]
    found = {each.name: each for each in session.run(names, device, Budget.parse("full"), 81)}
    told = found["idle_gc_onset_ns"]
    assert not isinstance(told, Detected) or told.value == pytest.approx(196_400_000, rel=0.08)


def test_behind_a_buffer_that_no_flush_empties_nothing_is_absent(tmp_path: Path) -> None:
    """It may take all the writes that are timed, whether there is room behind it or not."""
    buffer = PROTECTED | {"write_buffer.bytes": 16 * MIB, "write_buffer.drain": '"eager"'}
    found = onset(opened(tmp_path, PAGE, buffer))
    assert isinstance(found, Undetectable), found


def test_merges_are_found_behind_a_protected_buffer_that_is_emptied_at_once(tmp_path: Path) -> None:
    """It is as empty of a drive that was kept awake for as long, and no reason to refuse."""
    buffer = PROTECTED | {"write_buffer.bytes": MIB // 4, "write_buffer.drain": '"eager"'}
    found = onset(opened(tmp_path, LOG_BLOCK, buffer, NOISE, idle(45_000_000)))
    assert isinstance(found, Detected), found
    assert found.value == pytest.approx(45_000_000, rel=0.08)
