"""Throughput against queue depth where others write meanwhile."""

from __future__ import annotations

import numpy as np
import pytest
from tests.unit.test_probes import FakeDrive

from ssdscope.probes import Detected, Reason, Undetectable, depth_sweep


@pytest.mark.parametrize(
    ("deepest", "others_write", "told"),
    [(1.05, True, False), (1.05, False, True), (1.01, True, True)],
)
def test_what_gets_faster_by_and_by_while_others_write_has_no_knee(
    deepest: float, others_write: bool, told: bool
) -> None:
    """The longest lists are of the deepest queues: a table moves to faster cells meanwhile."""
    rng, depths = np.random.default_rng(1), np.array(depth_sweep.DEPTHS)
    curve = np.where(depths == 1, 0.83, 1.0) * np.where(depths >= 192, deepest, 1.0)
    rates = curve * np.exp(0.01 * rng.standard_normal((48, depths.size)))
    knee = depth_sweep.judge(FakeDrive().info, depths, rates, 1, seed=1, others_write=others_write)
    assert isinstance(knee, Detected if told else Undetectable)
    if isinstance(knee, Undetectable):
        assert knee.reason is Reason.INTERFERENCE
