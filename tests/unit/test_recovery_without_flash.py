"""Targets without flash of the recovery study: what they are, what is true of them, how judged."""

from collections import Counter

import numpy as np
import pytest

from ssdscope.findings import Absent, Ambiguous, Detected, Finding
from ssdscope.recovery.blind import Probed, _judged_without_flash
from ssdscope.recovery.judge import Outcome, judge
from ssdscope.recovery.sources import Source
from ssdscope.recovery.truth import ABSENT, NO_ONE, Truth
from ssdscope.recovery.truth_of_disks import (
    DISK_KINDS,
    truths_of_disks,
    visible_of_disks,
)
from ssdscope.recovery.twin import read
from ssdscope.recovery.without_flash import draw_without_flash
from ssdscope.studies.recovery import tally
from ssdscope.targets.drive_writer import drive_toml, open_drive

DRAWN = [draw_without_flash(5, index) for index in range(20)]
DISKS = [each for each in DRAWN if each.disks]


def test_twenty_targets_are_of_every_kind() -> None:
    kinds = Counter(each.kind for each in DRAWN)
    assert kinds == {"disk": 8, "like": 4, "unlike": 2, "file": 4, "null": 2}
    assert draw_without_flash(5, 3) == DRAWN[3]
    assert [each.label for each in DRAWN[:2]] == ["5:0w", "5:1w"]


@pytest.mark.parametrize("drawn", [DRAWN[0], DRAWN[1], DRAWN[3], DRAWN[5], DRAWN[7]])
def test_a_drawn_target_opens_for_writing(drawn: object) -> None:
    assert hasattr(drawn, "opened")
    with drawn.opened() as device:
        assert device.info.writable
        assert device.counters() is None


def test_a_block_read_again_past_the_cache_comes_after_a_revolution() -> None:
    for drawn in DISKS[:4]:
        values = drawn.disks[0]
        device = open_drive(drive_toml({**values, "host.queue_depth": 1}, []), "disk", 1)
        if device.info.read_cache.control == "switchable":
            device.set_read_cache(False)
        latency = read(device, np.full(8, 1 << 20, np.uint64), 4096)
        rotation = truths_of_disks([values])["rotation_ns"].value
        assert np.median(latency[1:]) == pytest.approx(rotation, rel=1e-3)


def test_disks_side_by_side_have_the_caches_of_all_and_the_arms_of_one() -> None:
    values = {**DISKS[0].disks[0], "disk.read_cache_bytes": 1 << 20, "disk.read_cache_segments": 4}
    one, two = truths_of_disks([values]), truths_of_disks([values, values])
    assert list(one) == list(DISK_KINDS)
    assert two["rotation_ns"] == one["rotation_ns"]
    assert two["disk_cache_bytes"] == Truth(2 << 20)
    assert two["disk_cache_segments"] == Truth(8)
    slower = {**values, "disk.rpm": 600}
    assert truths_of_disks([values, slower])["rotation_ns"] == NO_ONE
    assert "rotation_ns" not in visible_of_disks([values, slower])
    assert truths_of_disks([{**values, "disk.read_cache_bytes": 0}])["disk_cache_bytes"] == ABSENT


def test_what_moves_the_arm_can_be_told() -> None:
    for drawn in DISKS:
        assert all(each.observable for each in visible_of_disks(drawn.disks).values())


SAID = {"name": "rmw_unit_bytes", "probe": "a probe"}
KNEE = {**SAID, "name": "queue_depth_knee"}


@pytest.mark.parametrize(
    ("said", "outcome"),
    [
        (Detected(value=4096.0, interval=None, effect=1.0, **SAID), Outcome.WRONG),
        (Ambiguous(reason="seven of them", candidates=(512, 4096), **SAID), Outcome.WRONG),
        (Absent(bound=0.0, reason="nothing shows", **SAID), Outcome.ABSENT_RIGHT),
        (Detected(value=8.0, interval=None, effect=1.0, **KNEE), Outcome.RIGHT),
        (None, Outcome.UNDETECTABLE),
    ],
)
def test_no_claim_about_flash_may_be_made(said: Finding | None, outcome: Outcome) -> None:
    name = "rmw_unit_bytes" if said is None else said.name
    assert _judged_without_flash(name, said).outcome == outcome


@pytest.mark.parametrize(
    ("said", "outcome"),
    [
        (Detected(value=4096.0, interval=(4000.0, 4200.0), effect=1.0, **SAID), Outcome.WRONG),
        (Ambiguous(reason="two", candidates=(512, 4096), **SAID), Outcome.AMBIGUOUS),
        (Absent(bound=0.0, reason="nothing shows", **SAID), Outcome.ABSENT_WRONG),
        (None, Outcome.UNDETECTABLE),
    ],
)
def test_without_a_single_truth_no_value_is_right(said: Finding | None, outcome: Outcome) -> None:
    for name in ("rmw_unit_bytes", "rotation_ns"):
        judged = judge(name, NO_ONE, None, said)
        assert (judged.outcome, judged.truth) == (outcome, "no one value")
        assert (judged.present, judged.observable, judged.covered) == (True, False, None)


def test_false_claims_are_counted_apart_from_findings_of_disks() -> None:
    said = Detected(value=4096.0, interval=None, effect=1.0, **SAID)
    wrong = _judged_without_flash("rmw_unit_bytes", said)
    drives = [Probed(f"1:{n}w", Source.WITHOUT_FLASH, (wrong,), 0, 1.0) for n in range(2)]
    one, two = (tally.claims(Source.WITHOUT_FLASH, drives[:n])[0] for n in (1, 2))
    assert (one.ours, one.verdict) == (1, "agrees")
    assert (two.ours, two.verdict) == (2, "differs")
    assert "rotation_ns" not in tally.names_of(drives)
