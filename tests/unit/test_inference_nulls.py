"""Where there is nothing, no engine finds anything: a sample of what docs/inference.md tells."""

from __future__ import annotations

import pytest
from scripts.calibration.engines import ENGINES, IS_ONE, evidence
from scripts.calibration.nulls import NULLS

from ssdscope.inference.levels import FOUND

CASES = [(engine, kind) for engine in FOUND for kind in NULLS if (engine, kind) not in IS_ONE]
SEED = 4_711


def test_every_engine_has_a_level() -> None:
    assert set(ENGINES) == set(FOUND)


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
