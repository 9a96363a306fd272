"""What a workload will write, against a count of what it does write."""

from typing import Any

import pytest

from ssdscope.targets import open_target
from ssdscope.targets.endurance import by_wear
from ssdscope.workloads.flows import Flow, Flows
from ssdscope.workloads.planned import Planned, planned
from ssdscope.workloads.workload import Workload

CAPACITY = 2**20


@pytest.mark.parametrize(
    "options",
    [
        {"rw": "write"},
        {"rw": "randwrite", "offset_bytes": CAPACITY // 4},
        {"rw": "write", "size_bytes": 65536, "numjobs": 2},
        {"rw": "randwrite", "requests": 77, "block_bytes": 8192, "numjobs": 3},
        {"rw": "write", "io_bytes": 3 * CAPACITY},
        {"rw": "write", "requests": 50, "io_bytes": 4096 * 20},
        {"rw": "read"},
    ],
)
def test_the_plan_is_what_is_written(options: dict[str, Any]) -> None:
    workload = Workload(**options)
    ran = open_target(f"null:{CAPACITY}").device.run(workload)
    written = 0 if ran.write is None else ran.write.bytes
    assert planned(workload, CAPACITY).writes_bytes == written


def test_a_mix_writes_its_share() -> None:
    workload = Workload(rw="randrw", read_percent=75, requests=4000)
    ran = open_target(f"null:{CAPACITY}").device.run(workload)
    assert ran.write is not None
    assert planned(workload, CAPACITY).writes_bytes == pytest.approx(ran.write.bytes, rel=0.1)


def test_what_only_time_ends_is_unknown() -> None:
    second = 10**9
    assert planned(Workload(rw="write", runtime_ns=second), CAPACITY) == Planned(None, second)
    paced = Workload(rw="write", runtime_ns=second, rate_iops=100)
    assert planned(paced, CAPACITY) == Planned(100 * 4096, second)
    both = Flows((Flow("a", paced), Flow("b", Workload(rw="write", requests=1, rate_iops=1))))
    assert planned(both, CAPACITY) == Planned(101 * 4096, 2 * second)


@pytest.mark.parametrize(
    ("health", "life"),
    [
        ({"used_percent": 4, "host_bytes_written": 24 * 10**12}, 600 * 10**12),
        ({"used_percent": 0, "host_bytes_written": 10**12}, None),
        ({"used_percent": None, "host_bytes_written": None}, None),
        ({}, None),
    ],
)
def test_a_drive_says_its_life_by_its_wear(health: dict[str, Any], life: int | None) -> None:
    assert by_wear(health) == life
