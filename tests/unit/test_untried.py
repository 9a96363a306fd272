"""What was not tried for want of budget does not read like what cannot be told."""

from __future__ import annotations

import pytest

from ssdscope.cli.probe import findings_text
from ssdscope.findings import (
    PROPERTIES,
    Detected,
    Evidence,
    Finding,
    Findings,
    Reason,
    Undetectable,
)
from ssdscope.probes.budget import Budget
from ssdscope.probes.mechanisms import masked
from ssdscope.report import evidence, sections, untried

DEFAULT, FULL = Budget.parse("default"), Budget.parse("full:20m")


def refused(name: str, reason: Reason) -> Finding:
    return Undetectable(name=name, probe="a", reason=reason, evidence=Evidence(detail="said"))


FOUND = Findings(
    [
        refused("rmw_unit_bytes", Reason.BUDGET_EXHAUSTED),
        refused("alignment_phase_bytes", Reason.BUDGET_EXHAUSTED),
        refused("write_buffer_bytes", Reason.EFFECT_BELOW_NOISE),
        Detected(name="queue_depth_knee", probe="a", value=4.0, interval=None, effect=1.0),
    ]
)


@pytest.mark.parametrize(
    ("names", "budget", "said"),
    [
        (["units"], DEFAULT, "2 of 4 properties tried; --budget full adds units"),
        (["rmw_unit"], FULL, "2 of 4 properties tried; --budget full:2h adds units"),
        (["spare"], DEFAULT, "2 of 6 properties tried; --budget full adds spare"),
    ],
)
def test_a_line_says_what_was_tried_and_what_adds_more(
    names: list[str], budget: Budget, said: str
) -> None:
    assert untried.tried(FOUND, budget, names).in_words().startswith(said)


def test_all_says_of_all_that_a_full_budget_looks_for() -> None:
    reached = untried.tried(FOUND, DEFAULT)
    assert (reached.count, reached.of) == (2, len(PROPERTIES))
    assert len(reached.not_tried) == len(PROPERTIES) - 2
    assert {"units", "spare", "collection"} <= {*reached.adds}
    assert reached.to_json()["in_words"] == reached.in_words()


def test_a_table_names_what_was_not_tried_last() -> None:
    text = findings_text(FOUND, "2 of 4 properties tried")
    rows, line, *_ = text.split("\n\n")
    assert line == "2 of 4 properties tried"
    outcomes = [row.split("  ")[1:] for row in rows.splitlines()[1:]]
    kinds = [next(word.strip() for word in row if word.strip()) for row in outcomes]
    assert kinds == ["detected", "undetectable", "not tried", "not tried"]
    assert "rmw_unit_bytes, alignment_phase_bytes: not tried: " in text


def test_the_page_has_a_place_of_its_own_for_it() -> None:
    assert [each.names for each in evidence.refused(FOUND)] == ["Write buffer"]
    (line,) = evidence.refused(FOUND, tried=False)
    assert line.names.count(",") == 1
    assert [(kind, count) for kind, _, count in sections.counts(FOUND)] == [
        ("detected", 1),
        ("undetectable", 1),
        ("not tried", 2),
    ]


def test_json_says_whether_it_was_tried_and_keeps_its_keys() -> None:
    documents = {each["property"]: each for each in FOUND.to_json()}
    assert documents["rmw_unit_bytes"]["tried"] is False
    assert documents["rmw_unit_bytes"]["outcome"] == "undetectable"
    assert documents["write_buffer_bytes"]["tried"] is True
    assert dict(Findings.from_json(FOUND.to_json())) == dict(FOUND)


@pytest.mark.parametrize(
    ("reason", "said"),
    [
        (Reason.BUDGET_EXHAUSTED, Reason.BUDGET_EXHAUSTED),
        (Reason.EFFECT_BELOW_NOISE, Reason.MASKED),
    ],
)
def test_what_hangs_on_something_not_tried_is_not_tried_either(
    reason: Reason, said: Reason
) -> None:
    known = {
        "rmw_unit_bytes": refused("rmw_unit_bytes", reason),
        "merge_unit_bytes": Detected(
            name="merge_unit_bytes", probe="a", value=4096, interval=None, effect=1.0
        ),
    }
    mask = masked("over_provisioning_ratio", known)
    assert mask is not None
    found = mask.refusal("over_provisioning_ratio", "spare", known.get(mask.by))
    assert found.reason is said
