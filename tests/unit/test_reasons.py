"""Refusals in words: every reason has its own, in code and docs, and true where it is met."""

import ast
import re
from pathlib import Path

import pytest
from tests.syntax import nodes_of

from ssdscope.cli.probe import findings_text
from ssdscope.findings import PROPERTIES, Findings, Undetectable
from ssdscope.findings.reasons import (
    WORDS,
    Reason,
    Where,
    what_was_seen,
    what_would_help,
)
from ssdscope.report import words

ROOT = Path(__file__).parents[2]
PROBES = ROOT / "python" / "ssdscope" / "probes"
FILE, SIMULATED, NULL = Where("file"), Where("simulated", virtual=True), Where("null")


def emitted() -> set[Reason]:
    """Reasons that a probe names elsewhere than in a comparison."""
    found = set()
    for path in PROBES.rglob("*.py"):
        nodes = nodes_of(path)
        compared = {
            id(inner) for node in nodes if isinstance(node, ast.Compare) for inner in ast.walk(node)
        }
        found |= {
            Reason[node.attr]
            for node in nodes
            if isinstance(node, ast.Attribute)
            and isinstance(node.value, ast.Name)
            and node.value.id == "Reason"
            and path.name != "reasons.py"
            and id(node) not in compared
        }
    return found


def test_every_reason_is_met_and_every_one_met_has_words() -> None:
    assert emitted() == set(Reason) == set(WORDS)


def test_the_table_in_the_docs_is_the_one_in_the_code() -> None:
    text = (ROOT / "docs" / "probes.md").read_text(encoding="utf-8")
    text = text.partition("## Why a probe refuses")[2].partition("\n## ")[0]
    rows = dict(re.findall(r"^\| `([a-z_]+)` \| (.*) \|$", text, re.MULTILINE))
    assert set(rows) == set(map(str, Reason))
    for reason, told in WORDS.items():
        row = rows[str(reason)].replace("what the property shows by", "{sign}")
        for said in (told.seen, told.helps, told.simulated, told.file, told.block, told.full):
            assert said is None or said in row


@pytest.mark.parametrize("reason", Reason)
def test_nobody_is_told_what_cannot_help_there(reason: Reason) -> None:
    assert "quieter machine" not in what_would_help(reason, SIMULATED)
    assert "real drives" not in what_would_help(reason, SIMULATED)
    assert "drive behind it" in what_would_help(reason, NULL)
    for where in (FILE, SIMULATED, Where()):
        assert what_would_help(reason, where)
    for each in PROPERTIES.values():
        assert "mapping table" not in what_was_seen(reason, each.sign)
        assert "{" not in what_was_seen(reason, each.sign)


def test_no_probe_says_that_nothing_helps() -> None:
    """What no host can tell is known only to who looks inside."""
    wheres = [
        Where(full=full, virtual=virtual) for full in (False, True) for virtual in (False, True)
    ]
    said = {what_would_help(reason, where) for reason in Reason for where in wheres}
    assert not [each for each in said if "from outside" in each]
    protected = [what_would_help(Reason.PLP_NO_FLUSH_EFFECT, where) for where in wheres]
    assert all("bursts at depth" in each for each in protected)
    assert ["full:2h" in each for each in protected] == [False, False, True, True]


def test_a_probe_that_was_left_out_is_named() -> None:
    left = Where("simulated", virtual=True, left_out=("amplification",))
    assert "amplification" in what_would_help(Reason.EFFECT_BELOW_NOISE, left)
    assert "amplification" not in what_would_help(Reason.NOT_SUPPORTED, left)
    full = Where("file", full=True)
    assert "--budget full:" in what_would_help(Reason.BUDGET_EXHAUSTED, full)


def test_the_command_line_says_what_the_page_says() -> None:
    refused = [
        Undetectable(name=name, probe="region", reason=Reason.NOT_WRITABLE, where=FILE)
        for name in ("pslc_bytes", "trim_effect")
    ]
    text = " ".join(findings_text(Findings(refused)).split())
    assert words.remark(refused[0]) == refused[0].in_words()
    assert f"pslc_bytes, trim_effect: {refused[0].in_words()}" in text
    assert "not_writable" not in text
    assert "--destroy-data" in text
