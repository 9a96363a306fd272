"""The presets of modern drives against what was published of such drives.

They are made smaller by ``--set``: fewer and shorter blocks on the same dies leave rates and
write amplification as they are.
"""

import pytest

from ssdscope.targets import open_target
from ssdscope.workloads import Workload

MIB = 1 << 20
SMALLER = (
    "nand.blocks_per_plane=130",
    "nand.pages_per_block=64",
    "ftl.reclaim_unit_bytes=64MiB",
)


def _rate(state: str, workload: Workload) -> tuple[float, float | None]:
    """MiB/s and write amplification of writes to the datacentre drive."""
    target = open_target("sim:nvme-datacentre", state=state, sets=SMALLER, seed=3)
    summary = target.device.run(workload).summary
    write = summary["write"]
    return write["bandwidth_bytes_per_s"] / MIB, summary["counters"]["waf"]


def test_the_datacentre_drive_writes_in_order_at_the_published_rate() -> None:
    writes = Workload(
        rw="write", block_bytes=131_072, iodepth=32, requests=8_000, ramp_requests=1_000
    )
    rate, _ = _rate("fresh", writes)
    assert rate == pytest.approx(1_390, rel=0.03)


def test_the_datacentre_drive_settles_where_ssd_iq_found_it() -> None:
    """Write amplification and rate of uniform writes were not fitted (PROBING.md 1.9, 3.2)."""
    writes = Workload(rw="randwrite", block_bytes=4096, iodepth=256, requests=250_000)
    rate, amplification = _rate("steady", writes)
    assert amplification == pytest.approx(1.89, rel=0.05)
    assert rate == pytest.approx(623, rel=0.1)


def test_the_datacentre_drive_reads_in_the_published_time_less_the_software() -> None:
    target = open_target("sim:nvme-datacentre", sets=SMALLER, seed=3)
    reads = Workload(rw="randread", block_bytes=4096, requests=500)
    latency = target.device.run(reads).summary["read"]["latency_ns"]
    assert 55_000 < latency["p50"] < 65_000
