"""The words of papers in numbers, at both ends of each."""

from dataclasses import replace

from ssdscope.studies import judging
from ssdscope.studies.record import Claim, Verdict


def test_a_quoted_number_is_within_a_tenth() -> None:
    assert judging.quoted(100, 110)
    assert judging.quoted(100, 90)
    assert not judging.quoted(100, 111)
    assert not judging.quoted(100, 104, within=0.03)


def test_similar_is_within_one_and_a_half_times() -> None:
    assert judging.similar(3, 2)
    assert judging.similar(2, 3)
    assert not judging.similar(3.1, 2)


def test_the_worst_of_some_verdicts() -> None:
    assert judging.worst({Verdict.AGREES, Verdict.EXPLAINED}) == Verdict.EXPLAINED
    assert judging.worst([Verdict.EASIER, Verdict.DIFFERS, Verdict.AGREES]) == Verdict.DIFFERS


def test_another_drive_needs_no_explanation() -> None:
    differs = Claim("reads", 10, 20, "us", Verdict.DIFFERS, "why", tried="without it 10.2 us")
    explained = replace(differs, verdict=Verdict.EXPLAINED)
    for row in (differs, explained):
        other = judging.of_another_drive(row)
        assert (other.verdict, other.why, other.tried) == (Verdict.DIFFERS, "of another drive", "")
    agrees = replace(differs, verdict=Verdict.AGREES)
    assert judging.of_another_drive(agrees) is agrees
