"""The grid of huang2011: its 12,000 workloads, subsets, and what the driver makes of one."""

from dataclasses import replace

import numpy as np
import numpy.typing as npt
import pytest

from ssdscope.targets import open_target
from ssdscope.targets.device import Device
from ssdscope.targets.records import OP_READ, OP_WRITE, DeviceInfo, Log
from ssdscope.workloads import filling, grid
from ssdscope.workloads.grid import KIB, Row, Stop, Vector

SMALL = (
    "nand.channels=2",
    "nand.ways=1",
    "nand.blocks_per_plane=64",
    "over_provisioning_ratio=0.5",
)


def info(logical_block_bytes: int = 512, *, writable: bool = True) -> DeviceInfo:
    return DeviceInfo(
        kind="simulated",
        capacity_bytes=1 << 30,
        logical_block_bytes=logical_block_bytes,
        clock="virtual",
        writable=writable,
        discard=True,
        attribution=True,
        snapshot=True,
    )


def small_drive() -> Device:
    return open_target("sim:mqsim-8g", state="sequential", sets=SMALL, seed=1).device


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
    runnable, skipped = grid.split(every, info(4096))
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
    return small_drive().run_logged(plan)[1]


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


def test_rows_come_in_order_repeat_and_keep_little_s_law() -> None:
    vectors, _ = grid.split(grid.subset(40, seed=5), info())
    device, stop, seen = small_drive(), Stop(0.05, 200_000_000), []
    before = device.counters()
    rows = list(
        grid.run(device, vectors, seed=1, stop=stop, progress=lambda done, _: seen.append(done))
    )
    assert [row.vector for row in rows] == vectors
    assert seen == list(range(1, 41))
    assert device.counters() == before, "runs are on copies"
    assert rows == list(grid.run(device, vectors, seed=1, stop=stop, jobs=1))
    for row in rows:
        assert not row.failure
        in_flight = row.latency_ns * row.iops / 1e9
        if row.requests > 50 * row.vector.q_dep:
            assert in_flight == pytest.approx(row.vector.q_dep, rel=0.1), row


def test_the_interval_ends_a_run_before_the_minute() -> None:
    vector = Vector(0, 1, KIB, 4 * KIB, rd_rand=100)
    row = grid.measure(small_drive(), vector, Stop(), seed=1)
    assert 0 < row.elapsed_ns < 60_000_000_000
    assert row.requests >= 200


def test_a_buffer_is_full_before_anything_counts() -> None:
    disk = open_target("sim:huang-hdd-s", seed=1).device
    vector = Vector(100, 1, 4 * KIB, KIB, wr_rand=100)
    filling, full = (
        next(grid.run(disk, [vector], seed=1, stop=Stop(runtime_ns=10**10, fill_bytes=fill)))
        for fill in (0, grid.FILLED_STOP.fill_bytes)
    )
    assert filling.ci_reached
    assert filling.latency_ns < 300_000, "all in the write cache"
    assert full.latency_ns > 2_000_000, "the arm has to move"


@pytest.mark.parametrize(
    ("wr_ratio", "wr_size", "requests"),
    [(0, KIB, 0), (100, 256 * KIB, 16), (50, 64 * KIB, 128), (1, KIB, 8192)],
)
def test_what_is_not_counted_fills_a_buffer(wr_ratio: int, wr_size: int, requests: int) -> None:
    vector = Vector(wr_ratio, 1, wr_size, 4 * KIB)
    assert vector.workload(grid.FILLED_STOP, seed=1).ramp_requests == requests
    assert vector.workload(grid.PAPER_STOP, seed=1).ramp_requests == 0


def test_a_buffer_that_empties_while_it_is_filled_is_full_all_the_same() -> None:
    vector = Vector(100, 10, 119 * KIB, KIB, wr_rand=22)
    disk = open_target("sim:huang-ssd-a", seed=1).device
    grid.use(disk, seed=1)
    stop = Stop(0.02, 20 * 10**9, fill_bytes=87 << 20)
    row = grid.measure(disk.fork(), vector, stop, seed=1)
    grid.measure(disk, vector, replace(stop, until_ci=1e-9), seed=7)
    minute_later = grid.measure(disk, vector, stop, seed=1)
    assert row.latency_ns == pytest.approx(minute_later.latency_ns, rel=0.15)


def test_how_much_fills_a_buffer_is_measured() -> None:
    least = grid.FILLED_STOP.fill_bytes
    buffered = open_target("sim:huang-ssd-a", seed=1).device
    assert 64 << 20 < filling.fill_bytes(buffered, seed=1) < 128 << 20, "64 MB of buffer"
    assert filling.fill_bytes(small_drive(), seed=1) == least
    for share, full_ns in ((100, 2_000_000), (47, 1_000_000)):
        vector = Vector(share, 1, 4 * KIB, KIB, wr_rand=100)
        begun, full = (
            grid.measure(buffered.fork(), vector, Stop(0.05, 20 * 10**9, fill), seed=1)
            for fill in (least, 87 << 20)
        )
        assert begun.latency_ns < 800_000 < full_ns < full.latency_ns
    assert filling.fast_pieces([]) == filling.fast_pieces([5] * 160) == 0
    assert filling.fast_pieces([5] * 30 + [50] * 60) == 30
    assert filling.fast_pieces([5] * 30 + [50] * 5 + [5] * 2 + [50] * 60) == 37
    assert filling.fast_pieces([50] + [5] * 100) == 0, "slow at first only"


def test_runs_can_be_kept_to_a_part_of_the_drive() -> None:
    disk = open_target("sim:huang-hdd-s", seed=1).device
    vector, stop = Vector(0, 1, KIB, 4 * KIB, rd_rand=100), Stop(0.05)
    sizes = (None, 1 << 30, 1 << 50)
    whole, part, more = (
        next(grid.run(disk, [vector], seed=1, stop=stop, size_bytes=size)) for size in sizes
    )
    assert part.latency_ns < 0.7 * whole.latency_ns, "the arm moves less"
    assert more == whole


def test_a_drive_in_use_has_no_free_log_blocks() -> None:
    write = Vector(100, 1, 256 * KIB, KIB, wr_rand=100)
    drive = open_target("sim:huang-ssd-s", seed=1).device
    filled, used = drive.fork(), drive.fork()
    grid.use(used, seed=1)
    brief, long = Stop(0.01, 500_000_000), Stop(0.01, 20_000_000_000)
    latency = {
        (name, stop): next(grid.run(device, [write], seed=1, stop=stop)).latency_ns
        for name, device in (("filled", filled), ("used", used))
        for stop in (brief, long)
    }
    assert latency["filled", brief] < 0.7 * latency["filled", long]
    assert latency["used", brief] == pytest.approx(latency["used", long], rel=0.05)


def test_means_leave_failures_out() -> None:
    vector = Vector(0, 1, KIB, KIB)
    fine = [Row(vector, 10, 100.0, 20.0, 5.0), Row(vector, 10, 300.0, 40.0, 15.0)]
    expected = {"latency_ns": 200.0, "iops": 30.0, "bandwidth_bytes_per_s": 10.0}
    assert grid.means([*fine, Row(vector, failure="stuck")]) == expected
