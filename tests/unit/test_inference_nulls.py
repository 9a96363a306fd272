"""Where there is nothing, no engine finds anything: a sample of what docs/inference.md tells."""

from __future__ import annotations

import ast
from pathlib import Path

import pytest
from scripts.calibration.engines import ENGINES, IS_ONE, evidence
from scripts.calibration.nulls import NULLS
from tests.syntax import nodes_of, tree_of
from tests.violations import Violations

import ssdscope
from ssdscope.findings.families import FAMILIES
from ssdscope.inference.levels import FOUND

PACKAGE = Path(ssdscope.__file__).parent
CASES = [(engine, kind) for engine in FOUND for kind in NULLS if (engine, kind) not in IS_ONE]
SEED = 4_711

WEIGHING = {"Weighed", "Classes", "Turned"}
"""What an engine gives back, alone or with more."""
DECIDE_NOTHING = {
    "nothing": "says that there is nothing to weigh",
    "reach": "tells about where `cells` is to look",
    "extent": "tells how much of what is known to be there",
    "back": "tells how much of a level that `falls` has found is there behind another rest",
    "in_memory": "tells how much of a burst that `falls` has found is in memory",
    "searched": "asks where to write; `contrast` decides on what was written last",
    "collected": "tells what a course settles at that `step` found, against theory's own courses",
}
"""Functions that give back as much, and by whose evidence nothing is found."""


def engines(path: Path) -> set[str]:
    """Public functions of a module that weigh series, if it is one of engines alone."""
    parts = {node.module for node in nodes_of(path) if isinstance(node, ast.ImportFrom)}
    if any((each or "").startswith(("ssdscope.probes.plan", "ssdscope.probes.bench",
                                    "ssdscope.probes.verdict", "ssdscope.findings"))
           for each in parts):  # fmt: skip
        return set()
    public = {
        each
        for node in tree_of(path).body
        if isinstance(node, ast.Assign) and ast.unparse(node.targets[0]) == "__all__"
        for each in ast.literal_eval(node.value)
    }
    return {
        node.name
        for node in tree_of(path).body
        if isinstance(node, ast.FunctionDef) and node.name in public and node.returns
        if WEIGHING & {each.id for each in ast.walk(node.returns) if isinstance(each, ast.Name)}
    }


def looked_up(path: Path) -> list[int]:
    """Lines on which a level is taken from the table."""
    tables = {"FOUND", "levels.FOUND"}
    subscripts = (node for node in nodes_of(path) if isinstance(node, ast.Subscript))
    return [node.lineno for node in subscripts if ast.unparse(node.value) in tables]


def test_every_engine_has_a_level() -> None:
    assert list(ENGINES) == list(FOUND)


def test_every_engine_has_a_null() -> None:
    calibrated = {each.__name__ for engine in ENGINES.values() for each in engine.engines}
    folders = [PACKAGE / "inference", *(PACKAGE / "probes" / name for name in FAMILIES)]
    found = {name for folder in folders for path in folder.glob("*.py") for name in engines(path)}
    assert found - calibrated == DECIDE_NOTHING.keys()
    assert calibrated <= found


def test_levels_are_looked_up_by_the_verdict_and_by_engines_alone() -> None:
    rule = Violations()
    for path in (each for name in FAMILIES for each in (PACKAGE / "probes" / name).glob("*.py")):
        allowed = bool(engines(path))
        for line in looked_up(path):
            rule.check(allowed, f"{path}:{line}", "takes a level: ask probes.verdict")
        rule.check(True, str(path), "")
    rule.none(least=40)
    assert looked_up(PACKAGE / "probes" / "verdict.py")


@pytest.mark.parametrize(("engine", "kind"), CASES)
def test_nothing_is_found_where_there_is_nothing(engine: str, kind: str) -> None:
    assert max(evidence(engine, kind, 0.0, 2, SEED)) < FOUND[engine]


@pytest.mark.calibration
@pytest.mark.parametrize(("engine", "kind"), CASES)
def test_nor_in_many_series(engine: str, kind: str) -> None:
    alarms = [each >= FOUND[engine] for each in evidence(engine, kind, 0.0, 200, SEED + 1)]
    assert sum(alarms) <= 2


@pytest.mark.parametrize(("engine", "effect"), [*dict.fromkeys(FOUND, 1.0).items()])
def test_what_is_large_is_found(engine: str, effect: float) -> None:
    effect = 0.2 if "rare" in engine else effect
    assert min(evidence(engine, "noise", effect, 2, SEED)) >= FOUND[engine]
