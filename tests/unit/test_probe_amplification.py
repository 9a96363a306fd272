"""The probe `amplification`: what drives program for a byte, against their own counters."""

from __future__ import annotations

from pathlib import Path
from typing import Any

import numpy as np
import pytest
from tests.unit.collecting_drives import NOISE, bench_with, page_mapped, told

from ssdscope.probes import Detected, Finding, Reason, Undetectable, amplification

PAGE = 4096


def found_on(bench: Any) -> Finding:
    return told("amplification", bench)[amplification.AMPLIFICATION]


def bench_of(tmp_path: Path, toml: str, spare: float = 0.27, planes: int = 2, **more: Any) -> Any:
    known = {
        "rmw_unit_bytes": PAGE,
        "pslc_bytes": None,
        "over_provisioning_ratio": spare,
        "reclaim_unit_bytes": planes * 48 * PAGE,
        "gc_period_bytes": 48 * PAGE,
    }
    return bench_with(tmp_path, toml, **(known | more))


def counted(bench: Any) -> float:
    """Bytes programmed for a byte written by settled overwrites, by the drive's own counters."""
    names = ("flash_bytes_programmed", "host_bytes_written")
    device = bench._device
    units = bench.info.capacity_bytes // PAGE
    rng = np.random.default_rng(7)
    with bench.allowance(4 * bench.info.capacity_bytes):
        for _ in range(2):
            before = [device.counters()[name] for name in names]
            bench.write(rng.integers(0, units, int(1.5 * units)) * PAGE, PAGE, iodepth=8)
    after = [device.counters()[name] for name in names]
    return float((after[0] - before[0]) / (after[1] - before[1]))


@pytest.mark.parametrize("noise", ["", NOISE])
@pytest.mark.parametrize("policy", ["greedy", "fifo", "cost-benefit", "random"])
@pytest.mark.parametrize("allocation", ["address", "order"])
def test_the_amplification_is_that_of_the_flash(
    tmp_path: Path, policy: str, allocation: str, noise: str
) -> None:
    """Whichever block a drive collects."""
    # Of blind draws there must be many.
    blocks = 320 if policy == "random" else 160
    toml = page_mapped(policy=policy, allocation=allocation, blocks=blocks)
    bench = bench_of(tmp_path, toml + noise)
    found = found_on(bench)
    assert isinstance(found, Detected)
    assert found.value == pytest.approx(counted(bench), rel=0.1)


def test_a_wrong_reclaim_unit_gives_no_amplification(tmp_path: Path) -> None:
    """Then blocks are stale as a whole, or not at all, and nothing follows the course."""
    bench = bench_of(tmp_path, page_mapped(), reclaim_unit_bytes=40 * 48 * PAGE)
    found = found_on(bench)
    assert isinstance(found, Undetectable)


@pytest.mark.parametrize("name", ["over_provisioning_ratio", "reclaim_unit_bytes"])
def test_what_it_needs_must_be_known(tmp_path: Path, name: str) -> None:
    known = {"rmw_unit_bytes": PAGE, "pslc_bytes": None}
    known |= {"over_provisioning_ratio": 0.27, "reclaim_unit_bytes": 2 * 48 * PAGE}
    known.pop(name)
    assert isinstance(found_on(bench_with(tmp_path, page_mapped(), **known)), Undetectable)


def test_merges_and_folding_hide_it(tmp_path: Path) -> None:
    for name in ("merge_unit_bytes", "pslc_bytes"):
        bench = bench_of(tmp_path, page_mapped(), **{name: 1 << 20})
        found = found_on(bench)
        assert isinstance(found, Undetectable)
        assert found.reason is Reason.MASKED
        assert bench.bytes_written == 0
