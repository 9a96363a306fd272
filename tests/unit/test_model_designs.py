"""Which workloads are run, and what a model is told of them."""

import math
from typing import Any

import numpy as np
import pytest
from tests.unit.made_up_runs import info, latency_ns

from ssdscope.errors import UsageError
from ssdscope.models import designs, features
from ssdscope.workloads.grid import COLUMNS, KIB, Vector


def test_a_longer_sobol_design_begins_with_the_shorter() -> None:
    short, long = designs.sobol(info(), 100, 3), designs.sobol(info(), 300, 3)
    assert long[:100] == short
    assert short != designs.sobol(info(), 100, 4)
    assert len(set(long)) == 300


@pytest.mark.parametrize("block", [512, 4096])
def test_all_workloads_fit_the_drive(block: int) -> None:
    drive = info(logical_block_bytes=block)
    for vector in designs.sobol(drive, 256, 1) + designs.off_grid(drive, 256, 1):
        assert vector.fits(drive)
        assert not (vector.wr_rand + vector.rd_rand and vector.wr_stride + vector.rd_stride)
    only_read = info(writable=False)
    assert {vector.wr_ratio for vector in designs.sobol(only_read, 64, 1)} == {0}


def test_the_ends_that_people_ask_about_are_in_the_design() -> None:
    rows = features.inputs(designs.sobol(info(), 512, 1))
    given = dict(zip(COLUMNS, rows.T, strict=True))
    for name, low, high in (
        ("wr_ratio", 0, 100),
        ("q_dep", 1, 64),
        ("wr_size", KIB, 256 * KIB),
        ("rd_rand", 0, 100),
        ("rd_stride", 0, 256 * KIB),
    ):
        assert (given[name].min(), given[name].max()) == (low, high), name
    assert 0.05 < np.mean(given["wr_ratio"] == 0) < 0.12
    # Even in the logarithm: half of the sizes are below the geometric middle.
    assert 0.45 < np.mean(given["wr_size"] < 16 * KIB) < 0.55


def test_the_test_set_is_another_one() -> None:
    assert not set(designs.sobol(info(), 512, 1)) & set(designs.off_grid(info(), 512, 1))


def test_the_grid_is_the_paper_s_and_leaves_out_what_does_not_fit() -> None:
    every, skipped = designs.of_grid(info(), 12_000, 1)
    assert (len(every), skipped) == (12_000, 0)
    some, skipped = designs.of_grid(info(logical_block_bytes=4096), 500, 1)
    assert len(some) + skipped == 500
    assert skipped > 0


def test_a_tiny_drive_is_refused() -> None:
    from dataclasses import replace

    with pytest.raises(UsageError, match="too few for 64 requests"):
        designs.require(replace(info(), capacity_bytes=1 << 20))


def test_an_adaptive_design_goes_where_least_is_known() -> None:
    known = [each for each in designs.sobol(info(), 400, 2) if each.q_dep <= 16][:100]
    latencies = [latency_ns(each) for each in known]
    chosen = designs.least_sure(known, latencies, info(), 10, 5)
    assert len(set(chosen)) == 10
    depths = [each.q_dep for each in chosen]
    assert np.mean([depth > 16 for depth in depths]) > 0.5


def test_the_same_workload_has_the_same_features() -> None:
    """At 0 % writes nobody can tell how large they would be."""
    one, other = Vector(0, 4, 4096, 8192, 0, 50), Vector(0, 4, 65536, 8192, 100, 50)
    for name in features.SETS:
        rows = features.columns(name, features.inputs([one, other]))
        assert (rows[0] == rows[1]).all()
        assert rows.shape[1] == len(features.SETS[name])
        assert np.isfinite(rows).all()


def test_formulas_say_what_the_columns_hold() -> None:
    """The formulas in a model file are all a reader in another language has."""
    rows = features.inputs(designs.sobol(info(), 64, 1))
    columns = features.columns("service", rows)
    tools: dict[str, Any] = {"log2": np.log2, "ceil": np.ceil, "min": min, "max": max}
    tools |= {"abs": abs, "sin": np.sin, "cos": np.cos, "sqrt": np.sqrt, "pi": np.pi}
    tools |= {"gcd": lambda one, other: math.gcd(int(one), int(other)), "__builtins__": {}}
    for row, found in zip(rows, columns, strict=True):
        known: dict[str, float] = dict(zip(COLUMNS, row.tolist(), strict=True))
        waiting = dict(features.FORMULAS)
        while waiting:
            name = next(n for n in waiting if _ready(waiting[n], waiting))
            known[name] = eval(waiting.pop(name).replace(" mod ", " % "), tools, known)
        wanted = [known[name] for name in features.SETS["service"]]
        assert found == pytest.approx(wanted, abs=1e-9)


def _ready(formula: str, waiting: dict[str, str]) -> bool:
    import re

    return not set(re.findall(r"\w+", formula)) & waiting.keys()


def test_pages_touched_are_the_mean_over_a_run() -> None:
    for size, stride in ((3072, 0), (1024, 0), (6144, 0), (8192, 0), (12288, 2048)):
        starts = np.arange(4096) * (size + stride) % 4096
        touched = np.ceil((starts + size) / 4096)
        whole = np.maximum(0, (starts + size) // 4096 - np.ceil(starts / 4096))
        row = features.inputs([Vector(100, 1, size, 4096, 0, 0, stride, 0)])
        columns = features.columns("service", row)[0]
        known = dict(zip(features.SETS["service"], columns, strict=True))
        assert known["wr_touched"] == pytest.approx(touched.mean()), size
        assert known["wr_cut"] == pytest.approx((touched - whole).mean()), size


def _known(vector: Vector) -> dict[str, float]:
    columns = features.columns("service", features.inputs([vector]))[0]
    return dict(zip(features.SETS["service"], columns.tolist(), strict=True))


def test_chunks_touched_are_the_mean_over_a_run() -> None:
    for size, stride in ((4096, 0), (65536, 0), (65536, 4096), (98304, 0), (262144, 65536)):
        starts = np.arange(65536) * (size + stride) % 65536
        touched = np.ceil((starts + size) / 65536).mean()
        known = _known(Vector(0, 1, 4096, size, 0, 0, 0, stride))
        assert known["log2_rd_chunks"] == pytest.approx(np.log2(touched)), size
        assert known["rd_parts"] == pytest.approx(min(2, touched)), size


def test_requests_in_flight_meet_on_one_member_or_take_turns() -> None:
    """How far they lie together in a period of two chunks is the length of a mean of arrows."""

    def together(stride: int, depth: int = 16, random: int = 0, size: int = 1024) -> float:
        return _known(Vector(0, depth, 4096, size, random, random, 0, stride))["rd_together"]

    one = together(130048)
    assert one == pytest.approx(1, abs=1e-3)  # 128 KiB from start to start: always one member
    assert together(64512) < one / 16  # 64 KiB: the two in turn
    assert together(64512, depth=1) == pytest.approx(one)  # nothing is in flight with it
    assert together(7168) < together(7168, depth=2) < one
    assert together(0, random=100) == pytest.approx(one / 16)
    assert together(0, size=131072) == pytest.approx(0, abs=1e-12)  # itself on both alike
    steps, apart = np.arange(4096), 15 / 16 * 0.7
    arrows = (apart**steps * np.exp(2j * np.pi * steps * 1024 / 131072)).sum() / 16
    assert together(0, random=30) == pytest.approx(abs(arrows) * one)


def test_kinds_of_workloads() -> None:
    rows = features.inputs(
        [
            Vector(0, 1, 4096, 4096, 0, 100),
            Vector(100, 1, 4096, 4096, 100, 0),
            Vector(0, 1, 4096, 4096),
            Vector(50, 1, 4096, 4096, 0, 0, 65536, 65536),
        ]
    )
    kinds = {kind: features.belongs(kind, rows).tolist() for kind in features.WORKLOADS}
    assert kinds["rand_rd"] == [True, False, False, False]
    assert kinds["rand_wr"] == [False, True, False, False]
    assert kinds["seq_rd"] == [False, False, True, False]
    assert kinds["rd_only"] == [True, False, True, False]
    assert kinds["rand_only"] == [True, True, False, False]
    assert kinds["all"] == [True] * 4
    with pytest.raises(UsageError, match="no kind of workload 'x'"):
        features.belongs("x", rows)
