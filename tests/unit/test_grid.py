"""The grid of huang2011: its 12,000 workloads, subsets, and what the driver makes of one."""

from collections import Counter

import numpy as np
import numpy.typing as npt
import pytest
from tests.unit.made_up_runs import info
from tests.unit.quick_drive import quick_drive

from ssdscope.targets.records import OP_READ, OP_WRITE, Log
from ssdscope.workloads import grid
from ssdscope.workloads.grid import KIB, Row, Stop, Vector


def test_there_are_12000_of_which_7480_differ() -> None:
    every = grid.grid()
    assert len(every) == len(set(every)) == 12_000
    assert len({vector.effective() for vector in every}) == 7_480
    assert every == grid.grid()


def test_one_access_pattern_at_each_time() -> None:
    patterns = {(v.wr_rand, v.rd_rand, v.wr_stride, v.rd_stride) for v in grid.grid()}
    assert len(patterns) == 24
    assert all(not (sum(p[:2]) and sum(p[2:])) for p in patterns)
    assert (0, 0, KIB, KIB) not in patterns
    assert sum(1 for p in patterns if sum(p[2:])) == 15


def test_a_subset_is_seeded_and_within_the_grid() -> None:
    drawn = grid.subset(512, seed=1)
    assert drawn == grid.subset(512, seed=1)
    assert drawn != grid.subset(512, seed=2)
    assert len(set(drawn)) == 512
    assert set(drawn) <= set(grid.grid())


def test_what_does_not_fit_is_counted() -> None:
    every = grid.grid()
    assert grid.split(every, info()) == (every, 0)
    runnable, skipped = grid.split(every, info(logical_block_bytes=4096))
    assert len(runnable) + skipped == 12_000
    assert all(KIB not in (v.effective().wr_size, v.effective().rd_size) for v in runnable)
    assert all(KIB not in (v.effective().wr_stride, v.effective().rd_stride) for v in runnable)
    # Of 24 patterns 6 leave a gap of 1 KB in either direction, and of a single one 3 or 4.
    mixed = 3 * 4 * 4 * 4 * 18
    read_only = 5 * 4 * 4 * (9 + 15 - 3)
    assert len(runnable) == mixed + 2 * read_only
    assert all(v.wr_ratio == 0 for v in grid.split(every, info(writable=False))[0])


def requests(vector: Vector, count_ns: int) -> Log:
    plan = vector.workload(Stop(0.001, count_ns), seed=3)
    return quick_drive().run_logged(plan)[1]


def gaps(log: Log, op: int) -> npt.NDArray[np.int64]:
    """Distances from each request's end to the next start, in the order of issue."""
    rows = np.argsort(log.columns["index"])
    mine = rows[log.columns["op"][rows] == op]
    starts = log.columns["offset_bytes"][mine].astype(np.int64)
    return starts[1:] - (starts + log.columns["bytes"][mine].astype(np.int64))[:-1]


def test_a_vector_becomes_what_it_says() -> None:
    vector = Vector(
        wr_ratio=25, q_dep=4, wr_size=16 * KIB, rd_size=KIB, wr_stride=64 * KIB, rd_stride=KIB
    )
    log = requests(vector, 400_000_000)
    ops, sizes = log.columns["op"], log.columns["bytes"]
    assert 0.2 < np.mean(ops == OP_WRITE) < 0.3
    assert set(sizes[ops == OP_WRITE]) == {16 * KIB}
    assert set(sizes[ops == OP_READ]) == {KIB}
    # Where the end of the drive is met it starts over.
    for op, gap in ((OP_WRITE, 64 * KIB), (OP_READ, KIB)):
        assert np.mean(gaps(log, op) == gap) > 0.98
    assert log.columns["offset_bytes"][log.columns["index"] == 0][0] > 0


def test_randomness_is_per_direction() -> None:
    vector = Vector(50, 1, 4 * KIB, 4 * KIB, wr_rand=100, rd_rand=0)
    log = requests(vector, 400_000_000)
    assert np.mean(gaps(log, OP_READ) == 0) > 0.99
    assert np.mean(gaps(log, OP_WRITE) == 0) < 0.02


@pytest.mark.parametrize(
    ("wr_ratio", "wr_size", "requests"),
    [(0, KIB, 0), (100, 256 * KIB, 16), (50, 64 * KIB, 128), (1, KIB, 8192)],
)
def test_what_is_not_counted_fills_a_buffer(wr_ratio: int, wr_size: int, requests: int) -> None:
    vector = Vector(wr_ratio, 1, wr_size, 4 * KIB)
    assert vector.workload(grid.FILLED_STOP, seed=1).ramp_requests == requests
    assert vector.workload(grid.PAPER_STOP, seed=1).ramp_requests == 0


def test_means_leave_failures_out() -> None:
    vector = Vector(0, 1, KIB, KIB)
    fine = [Row(vector, 10, 100.0, 20.0, 5.0), Row(vector, 10, 300.0, 40.0, 15.0)]
    expected = {"latency_ns": 200.0, "iops": 30.0, "bandwidth_bytes_per_s": 10.0}
    assert grid.means([*fine, Row(vector, failure="stuck")]) == expected


@pytest.mark.parametrize(
    ("pattern", "share"),
    [({}, 2), ({"wr_rand": 50}, 2), ({"wr_stride": KIB}, 1)],
)
def test_where_a_buffer_is_full_of_such_writes_fewer_are_left_out(
    pattern: dict[str, int], share: int
) -> None:
    stop = grid.Stop(fill_bytes=80 << 20)
    for size, taken in ((16 * KIB, 16 * KIB), (KIB, 4 * KIB)):
        plan = Vector(100, 4, size, KIB, **pattern).workload(stop, seed=1)
        assert plan.ramp_requests == (80 << 20) // taken // share
        assert plan.ramp_ns is None


def test_reads_come_in_for_seconds_before_anything_counts() -> None:
    """Where a buffer is full; a small one may take a slow drive longer, among reads."""
    vector = Vector(50, 1, KIB, KIB)
    assert vector.workload(grid.Stop(fill_bytes=80 << 20), seed=1).ramp_ns == grid.MIXED_NS
    assert vector.workload(grid.FILLED_STOP, seed=1).ramp_ns is None


def test_one_pattern_of_each_kind_is_drawn() -> None:
    drawn = grid.one_pattern_each(seed=1)
    assert drawn != grid.one_pattern_each(seed=2)
    assert set(drawn) <= set(grid.grid())
    kinds = {(each.wr_ratio, each.q_dep, each.wr_size, each.rd_size) for each in drawn}
    assert len(kinds) == len(drawn) == 500
    patterns = Counter((v.wr_rand, v.rd_rand, v.wr_stride, v.rd_stride) for v in drawn)
    assert len(patterns) == grid.PATTERNS
    assert set(patterns.values()) == {20, 21}
