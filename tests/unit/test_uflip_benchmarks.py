"""The nine micro-benchmarks as workloads: within the target, and varied as uFLIP says."""

import pytest

from ssdscope.studies.uflip.benchmarks import (
    BENCHMARKS,
    IO_BYTES,
    MIB,
    PATTERNS,
    Room,
    baseline,
    series_patterns,
)
from ssdscope.studies.uflip.phases import Counts
from ssdscope.workloads import Flows, Workload

IGNORED = {"SR": 0, "RR": 0, "SW": 32, "RW": 144}


def room(capacity_bytes: int = 1024 * MIB, paused_ns: int | None = None) -> Room:
    return Room(capacity_bytes, Counts(IGNORED, 512), 3, paused_ns)


def plan(name: str, series: str, value: float, where: Room | None = None) -> Workload:
    made = BENCHMARKS[name].build(series, value, where or room())
    assert isinstance(made, Workload)
    return made


def end_bytes(workload: Workload) -> int:
    behind = (workload.numjobs - 1) * workload.offset_increment_bytes
    return workload.offset_bytes + behind + (workload.size_bytes or 0)


@pytest.mark.parametrize("capacity_bytes", [64 * MIB, 250 * MIB, 16_000 * MIB])
@pytest.mark.parametrize("name", BENCHMARKS)
def test_every_experiment_fits_the_target(name: str, capacity_bytes: int) -> None:
    benchmark = BENCHMARKS[name]
    for series, values in benchmark.values.items():
        for value in values:
            made = benchmark.build(series, value, room(capacity_bytes))
            if made is None:
                assert name == "locality"
                assert value > capacity_bytes
                continue
            one = [flow.workload for flow in made.flows] if isinstance(made, Flows) else [made]
            for workload, pattern in zip(one, series_patterns(series), strict=True):
                assert workload.rw == PATTERNS[pattern]
                assert end_bytes(workload) <= capacity_bytes
                assert (workload.size_bytes or 0) // workload.partitions >= workload.block_bytes


def test_the_four_patterns_differ_in_order_and_direction_alone() -> None:
    assert [baseline(name, room()).rw for name in PATTERNS] == [
        "read", "randread", "write", "randwrite",
    ]  # fmt: skip
    ordered, random = baseline("SW", room()), baseline("RW", room())
    assert ordered.size_bytes == (512 + 32) * IO_BYTES
    assert random.size_bytes == 1024 * MIB
    assert (random.ramp_requests, random.requests) == (144, 512)


def test_each_varies_its_parameter() -> None:
    assert plan("granularity", "RR", 4096).block_bytes == 4096
    assert plan("alignment", "SW", 512).offset_bytes == 512
    assert plan("locality", "RW", 8 * MIB).size_bytes == 8 * MIB
    assert plan("partitioning", "SW", 16).partitions == 16
    assert plan("order", "SW", -1).stride_bytes == -2 * IO_BYTES
    assert plan("order", "SW", 0).stride_bytes == -IO_BYTES
    assert plan("order", "SW", 1).stride_bytes == 0
    assert plan("order", "SW", 256).stride_bytes == 255 * IO_BYTES
    jobs = plan("parallelism", "RR", 4)
    assert (jobs.numjobs, jobs.offset_increment_bytes, jobs.requests) == (4, 256 * MIB, 128)
    assert plan("pause", "RW", 1e6).thinktime_ns == 1_000_000
    bursts = plan("bursts", "RW", 40)
    assert (bursts.thinktime_ns, bursts.thinktime_every) == (100_000_000, 40)


def test_streams_of_writes_come_far_enough_and_areas_are_written_once_before() -> None:
    streams = plan("partitioning", "SW", 256)
    assert (streams.ramp_requests, streams.requests) == (256 * 32, 256 * 128)
    assert plan("partitioning", "SR", 256).requests == 512
    assert plan("parallelism", "SW", 16).requests == 128
    assert plan("locality", "RW", 32 * MIB).ramp_requests == 1024
    assert plan("locality", "RR", 32 * MIB).ramp_requests == 0


def test_a_mix_is_in_the_ratio_and_each_pattern_in_its_half() -> None:
    made = BENCHMARKS["mix"].build("SR/RW", 4.0, room())
    assert isinstance(made, Flows)
    first, second = made.flows
    assert (first.turn, second.turn) == (4, 1)
    assert (first.workload.requests, second.workload.requests) == (408, 102)
    assert first.workload.ramp_requests == 4 * second.workload.ramp_requests == 4 * 29
    assert end_bytes(first.workload) <= 512 * MIB == second.workload.offset_bytes


def test_real_time_is_not_spent_pausing() -> None:
    short = room(paused_ns=2_000_000_000)
    assert plan("pause", "SR", 25.6e6, short).requests == 78
    assert plan("pause", "SR", 0.0, short).requests == 512
    assert plan("bursts", "SR", 10, short).requests == 200
    assert plan("bursts", "SR", 640, short).requests == 512
