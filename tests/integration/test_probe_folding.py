"""Whether blocks are folded, from writes in order to a drive without data."""

from __future__ import annotations

from functools import partial
from pathlib import Path
from typing import Any

import pytest
from tests.integration.small_drives import NOISE, opened

from ssdscope.probes.bench import Bench
from ssdscope.probes.budget import Budget
from ssdscope.probes.folding import folds, writes_bytes
from ssdscope.probes.overwriting import Granule, write_through
from ssdscope.probes.states import State

UNIT = Granule(4096, 0, exact=True)
BLIND = {"gc.policy": '"random"'}
ALWAYS_FULL = {
    "nand.bits_per_cell": 3,
    "over_provisioning_ratio": 0.3,
    "pslc.bytes": 8 * 4 * 21 * 4096,
    "pslc.program_ns": 120_000,
    "pslc.overflow": '"fold"',
    "pslc.fold_when_idle": False,
}


@pytest.mark.parametrize(("keys", "folded"), [({}, False), (BLIND, False), (ALWAYS_FULL, True)])
def test_only_a_region_makes_writes_in_order_wait(
    tmp_path: Path, keys: dict[str, Any], folded: bool
) -> None:
    """Drives that collect blindly copy where data are, and nothing where there are none."""
    bench = Bench(opened(tmp_path, keys, NOISE), Budget.parse("full"), 1)
    with bench.allowance(writes_bytes(bench.info.capacity_bytes)):
        bench.enter(State.AS_FOUND)
        assert folds(bench, UNIT, 4 * 64 * 4096, partial(write_through, bench)) is folded
