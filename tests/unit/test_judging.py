"""The words of papers in numbers, at both ends of each."""

import pytest

from ssdscope.studies import judging
from ssdscope.studies.record import Verdict


def test_a_quoted_number_is_within_a_tenth() -> None:
    assert judging.quoted(100, 110)
    assert judging.quoted(100, 90)
    assert not judging.quoted(100, 111)
    assert not judging.quoted(100, 104, within=0.03)


def test_similar_is_within_one_and_a_half_times() -> None:
    assert judging.similar(3, 2)
    assert judging.similar(2, 3)
    assert not judging.similar(3.1, 2)


@pytest.mark.parametrize(("ratio", "is_one"), [(6.9, False), (7, True), (14, True), (15, False)])
def test_an_order_of_magnitude(ratio: float, is_one: bool) -> None:
    assert judging.order_of_magnitude(ratio) is is_one


def test_an_explanation_needs_what_was_tried() -> None:
    differs = judging.claim("reads", 10, 20, "us", holds=False)
    assert differs.verdict == Verdict.DIFFERS
    assert differs.why == judging.UNKNOWN
    explained = judging.explained(differs, "the host's link", "without it 10.2 us")
    assert explained.verdict == Verdict.EXPLAINED
    assert explained.to_json()["tried"] == "without it 10.2 us"
    agrees = judging.claim("reads", 10, 10, "us", holds=True)
    assert judging.explained(agrees, "a cause", "a run") is agrees


def test_another_drive_needs_no_explanation() -> None:
    differs = judging.claim("reads", 10, 20, "us", holds=False)
    explained = judging.explained(differs, "the host's link", "without it 10.2 us")
    for row in (differs, explained):
        other = judging.of_another_drive(row)
        assert (other.verdict, other.why, other.tried) == (Verdict.DIFFERS, "of another drive", "")
