"""Runs of the grid's workloads: on copies, after a minute's use, with a large buffer full."""

from dataclasses import replace
from typing import Any

import pytest
from tests.unit.made_up_runs import info
from tests.unit.quick_drive import quick_drive

from ssdscope.targets import open_target
from ssdscope.targets.device import Device
from ssdscope.workloads import filling, grid, measuring
from ssdscope.workloads.grid import KIB, Drawn, Stop, Vector


def test_rows_come_in_order_repeat_and_keep_little_s_law() -> None:
    vectors, _ = grid.split(grid.subset(40, seed=5), info())
    device, stop, seen = quick_drive(), Stop(0.05, 200_000_000), []
    before = device.counters()
    rows = list(
        measuring.run(
            device, vectors, seed=1, stop=stop, progress=lambda done, _: seen.append(done)
        )
    )
    assert [row.vector for row in rows] == vectors
    assert seen == list(range(1, 41))
    assert device.counters() == before, "runs are on copies"
    assert rows == list(measuring.run(device, vectors, seed=1, stop=stop, jobs=1))
    for row in rows:
        assert not row.failure
        in_flight = row.latency_ns * row.iops / 1e9
        if row.requests > 50 * row.vector.q_dep:
            assert in_flight == pytest.approx(row.vector.q_dep, rel=0.1), row


def test_the_interval_ends_a_run_before_the_minute() -> None:
    vector = Vector(0, 1, KIB, 4 * KIB, rd_rand=100)
    row = measuring.measure(quick_drive(), Drawn(vector, 1), Stop())
    assert 0 < row.elapsed_ns < 60_000_000_000
    assert row.requests >= 200


def test_a_buffer_is_full_before_anything_counts() -> None:
    disk = open_target("sim:huang-hdd-s", seed=1).device
    vector = Vector(100, 1, 4 * KIB, KIB, wr_rand=100)
    filling, full = (
        next(measuring.run(disk, [vector], seed=1, stop=Stop(runtime_ns=10**10, fill_bytes=fill)))
        for fill in (0, grid.FILLED_STOP.fill_bytes)
    )
    assert filling.ci_reached
    assert filling.latency_ns < 300_000, "all in the write cache"
    assert full.latency_ns > 2_000_000, "the arm has to move"


def test_a_buffer_that_empties_while_it_is_filled_is_full_all_the_same() -> None:
    vector = Vector(100, 10, 119 * KIB, KIB, wr_rand=22)
    disk = open_target("sim:huang-ssd-a", seed=1).device
    grid.use(disk, seed=1)
    stop = Stop(0.02, 20 * 10**9, fill_bytes=87 << 20)
    row = measuring.measure(disk.fork(), Drawn(vector, 1), stop)
    measuring.measure(disk, Drawn(vector, 7), replace(stop, until_ci=1e-9))
    minute_later = measuring.measure(disk, Drawn(vector, 1), stop)
    assert row.latency_ns == pytest.approx(minute_later.latency_ns, rel=0.15)


def test_how_much_fills_a_buffer_is_measured() -> None:
    least = grid.FILLED_STOP.fill_bytes
    buffered = open_target("sim:huang-ssd-a", seed=1).device
    assert 64 << 20 < filling.fill_bytes(buffered, seed=1) < 128 << 20, "64 MB of buffer"
    assert filling.fill_bytes(quick_drive(), seed=1) == least
    for share, full_ns in ((100, 2_000_000), (47, 1_000_000)):
        vector = Vector(share, 1, 4 * KIB, KIB, wr_rand=100)
        begun, full = (
            measuring.measure(buffered.fork(), Drawn(vector, 1), Stop(0.05, 20 * 10**9, fill))
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
        next(measuring.run(disk, [vector], seed=1, stop=stop, size_bytes=size)) for size in sizes
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
        (name, stop): next(measuring.run(device, [write], seed=1, stop=stop)).latency_ns
        for name, device in (("filled", filled), ("used", used))
        for stop in (brief, long)
    }
    assert latency["filled", brief] < 0.7 * latency["filled", long]
    assert latency["used", brief] == pytest.approx(latency["used", long], rel=0.05)


def test_reads_have_no_part_in_turning_a_full_buffer_over() -> None:
    """So many of the workload's own writes, and none where all it does is write, or read."""
    buffered = open_target("sim:huang-ssd-a", seed=1).device
    stop = Stop(0.5, 10**8, fill_bytes=80 << 20)
    written = {}
    for share in (0, 25, 100):
        drive, vector = buffered.fork(), Vector(share, 4, 64 * KIB, 4 * KIB, wr_rand=50)
        filling.turn_over(drive, Drawn(vector, 1), stop)
        counters = drive.counters()
        assert counters["host_bytes_read"] == 0
        written[share] = counters["host_bytes_written"]
    assert written == {0: 0, 25: (80 << 20) // 2, 100: 0}
    small = grid.FILLED_STOP
    filling.turn_over(drive := buffered.fork(), Drawn(replace(vector, wr_ratio=25), 1), small)
    assert drive.counters()["host_bytes_written"] == 0


def test_the_last_run_that_writes_alike_begins_on_the_full_drive_itself(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    buffered = open_target("sim:huang-ssd-a", seed=1).device
    stop = Stop(0.5, 10**8, fill_bytes=87 << 20)
    copied: list[Device] = []
    fork = Device.fork

    def noted(device: Device) -> Device:
        copied.append(device)
        return fork(device)

    monkeypatch.setattr(Device, "fork", noted)
    alike = [Drawn(Vector(share, 4, 64 * KIB, 4 * KIB, wr_rand=50), 1) for share in (100, 50)]
    assert len(list(measuring.on_copies(buffered, alike, stop, jobs=1))) == 2
    assert [each is buffered for each in copied] == [True, False], "one to fill, one of the full"


def test_runs_that_write_alike_begin_on_one_full_drive(monkeypatch: pytest.MonkeyPatch) -> None:
    buffered = open_target("sim:huang-ssd-a", seed=1).device
    stop = Stop(0.5, 10**8, fill_bytes=87 << 20)
    alike = [Vector(share, 4, 64 * KIB, 4 * KIB, wr_rand=50) for share in (100, 50, 25)]
    other, reads = replace(alike[0], wr_rand=0), replace(alike[0], wr_ratio=0)
    drawn = [Drawn(vector, seed) for seed in (1, 2) for vector in (*alike, other, reads)]
    alone = [measuring.measure(buffered.fork(), each, stop) for each in drawn]
    fills: list[Drawn] = []

    def counted(device: Device, each: Drawn, *how: Any) -> None:
        fills.append(filling.filler(each))
        filling.fill(device, each, *how)

    monkeypatch.setattr(measuring, "fill", counted)
    assert list(measuring.on_copies(buffered, drawn, stop, jobs=2)) == alone
    assert len(fills) == len(set(fills)) == 4, "two kinds of writes, with each seed"
    monkeypatch.setattr(measuring, "KEPT", 1)
    mixed = [drawn[place] for place in (0, 5, 1, 6, 2, 7)]
    order = measuring.alike_together(mixed)
    assert order == [0, 2, 4, 1, 3, 5]
    for sequence, times in ((mixed, 6), ([mixed[place] for place in order], 2)):
        fills.clear()
        assert len(list(measuring.on_copies(buffered, sequence, stop, jobs=1))) == 6
        assert len(fills) == times
