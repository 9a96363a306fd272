"""The probe `allocation` on drives that are written here, so that what it should find is known."""

from __future__ import annotations

from pathlib import Path

import pytest

from ssdscope.probes import Absent, Budget, Detected, order_regions
from ssdscope.probes import allocation as allocation_probe
from ssdscope.probes.bench import Bench
from ssdscope.targets import open_target

DRIVE = """
over_provisioning_ratio = 0.25
[nand]
channels = 4
blocks_per_plane = 800
pages_per_block = 64
page_bytes = 4096
read_ns = 60_000
program_ns = 400_000
erase_ns = 2_000_000
[channel]
ns_per_byte = 2
[ftl]
kind = "page"
placement_pages = 1
allocation = "{allocation}"
[write_buffer]
bytes = 25_165_824
drain = "full"
order = "fifo"
power_loss_protected = true
switchable = false
"""


def known(name: str, value: int) -> Detected:
    return Detected(name=name, probe=name, value=value, interval=None, effect=1.0, evidence={})


@pytest.mark.parametrize("allocation", ["order", "address"])
def test_what_a_protected_buffer_holds_is_put_out_of_it(tmp_path: Path, allocation: str) -> None:
    """Read from memory, what was written at random would be as fast as what was in order."""
    file = tmp_path / "drive.toml"
    file.write_text(DRIVE.format(allocation=allocation), encoding="utf-8")
    device = open_target(str(file), seed=1).device
    bench = Bench(device, Budget.parse("full"), 1)
    bench.known["interleave_degree"] = known("interleave_degree", 4)
    bench.known["write_buffer_bytes"] = known("write_buffer_bytes", 25_165_824)
    bench.known["pslc_bytes"] = Absent(name="pslc_bytes", probe="pslc", bound=0.0, reason="none")
    layout = order_regions.lay_out(bench)
    assert layout is not None
    with bench.allowance(2 * device.info.capacity_bytes):
        order_regions.write_beside(bench, layout.part(0, order_regions.PAIRS))
        assert bench.bytes_written >= 25_165_824
        (answer,) = allocation_probe.detect(bench)
    assert isinstance(answer, Detected)
    assert answer.value == allocation
