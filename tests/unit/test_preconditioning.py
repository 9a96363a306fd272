"""Filling a drive: every byte once, in large writes."""

import pytest

from ssdscope.errors import UsageError
from ssdscope.targets import open_target
from ssdscope.workloads.preconditioning import fill_sequentially

MIB = 1 << 20


@pytest.mark.parametrize(
    ("size_bytes", "whole_writes"), [(3 * MIB, 3), (3 * MIB + 512, 3), (MIB - 512, 1)]
)
def test_what_is_no_whole_block_is_the_last_write(size_bytes: int, whole_writes: int) -> None:
    device = open_target("sim:huang-ssd-s", state="fresh", seed=1).device
    filled = fill_sequentially(device, offset_bytes=512, size_bytes=size_bytes)
    assert filled.requests == whole_writes
    counters = device.counters()
    assert counters is not None
    assert counters["host_bytes_written"] == size_bytes
    pages = size_bytes // 4096 + whole_writes + 2  # where two writes meet in a page it is twice
    assert counters["flash_bytes_programmed"] <= pages * 4096, "no page again and again"


@pytest.mark.parametrize("size_bytes", [0, 700])
def test_a_region_is_whole_logical_blocks(size_bytes: int) -> None:
    device = open_target("sim:huang-ssd-s", state="fresh", seed=1).device
    with pytest.raises(UsageError, match="not whole logical blocks"):
        fill_sequentially(device, size_bytes=size_bytes)
