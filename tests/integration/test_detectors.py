"""The rows of detectors: what paper, procedure, probe and drive file say, and the verdict."""

from __future__ import annotations

import pytest

from ssdscope.findings import Absent, Ambiguous, Detected, Finding, Reason, Undetectable
from ssdscope.recovery.truth import ABSENT, Truth
from ssdscope.studies import Verdict
from ssdscope.studies.detectors import Probed, Question, answered

KIB = 1024
NAME = "write_buffer_bytes"


def question(paper: int | None = 20, literal: int | None = 20, because: str = "") -> Question:
    kib = [None if each is None else each * KIB for each in (paper, literal)]
    return Question("a buffer", NAME, kib[0], kib[1], "KB", KIB, because)


def detected(kib: int) -> Finding:
    return Detected(name=NAME, probe="test", value=kib * KIB, interval=None, effect=1.0)


def test_all_that_say_the_same_agree() -> None:
    row = answered(question(), detected(20), Truth(20 * KIB))
    assert row.verdict == Verdict.AGREES
    assert (row.paper, row.literal, row.ours, row.truth, row.unit) == (20, 20, 20, 20, "KB")


@pytest.mark.parametrize("because", ["", "the paper drained it"])
def test_a_right_probe_beside_a_wrong_paper_needs_a_reason(because: str) -> None:
    row = answered(question(20, 20, because), detected(12), Truth(12 * KIB))
    assert row.verdict == (Verdict.EXPLAINED if because else Verdict.DIFFERS)
    assert not because or row.why == because


def test_no_reason_excuses_a_wrong_probe() -> None:
    row = answered(question(20, 20, "a reason"), detected(20), Truth(12 * KIB))
    assert row.verdict == Verdict.DIFFERS
    assert "drive's file" in row.why


def test_a_procedure_that_fails_needs_a_reason() -> None:
    truth = Truth(20 * KIB)
    assert answered(question(20, 4), detected(20), truth).verdict == Verdict.DIFFERS
    row = answered(question(20, None, "it cannot work"), detected(20), truth)
    assert row.verdict == Verdict.EXPLAINED
    assert (row.paper, row.literal, row.ours, row.unit) == ("20 KB", "no answer", "20 KB", "")


@pytest.mark.parametrize(
    ("finding", "said"),
    [
        (Undetectable(name=NAME, probe="test", reason=Reason.LINK_BOUND), "cannot be told: link"),
        (Ambiguous(name=NAME, probe="test", candidates=(1, 2), reason="close"), "one of 1, 2"),
    ],
)
def test_a_refusal_is_shown_and_differs_unless_explained(finding: Finding, said: str) -> None:
    row = answered(question(), finding, Truth(20 * KIB))
    assert str(row.ours).startswith(said)
    assert row.verdict == Verdict.DIFFERS
    explained = answered(question(because="a reason"), finding, Truth(20 * KIB))
    assert explained.verdict == Verdict.EXPLAINED


def test_no_reason_excuses_a_probe_that_misses_what_is_there() -> None:
    absent = Absent(name=NAME, probe="test", bound=1.0, reason="flat")
    row = answered(question(because="a reason"), absent, Truth(20 * KIB))
    assert (row.ours, row.verdict) == ("absent", Verdict.DIFFERS)
    assert answered(question(because="a reason"), absent, ABSENT).verdict == Verdict.EXPLAINED


def test_a_drive_of_which_nothing_is_known_has_no_truth() -> None:
    row = answered(question(None, 20), detected(20), None)
    assert row.verdict == Verdict.AGREES
    assert row.truth is None
    assert row.paper == "not said"


def test_what_is_true_comes_from_the_preset_s_file() -> None:
    probed = Probed(seed=1)
    assert probed.truth("merge_unit_bytes", "sim:kuo-samsung-slc") == Truth(4 << 20)
    assert probed.truth("rmw_unit_bytes", "sim:ryu-a") == Truth(16 * KIB)
    assert probed.truth("allocation", "sim:ryu-c") == Truth("order")
    assert probed.truth("allocation", "sim:ryu-b") == Truth("address")
    zones = probed.truth("map_zone_bytes", "sim:ryu-a", ("map.zone_bytes=8m",))
    assert zones == Truth(8 << 20)
