"""A drive opened `steady` is one that was written on until it settled, on every preset.

Rate and write amplification of 4 KiB random writes agree from the first write on. Drives are made
smaller, or a part of them is overwritten, so that reaching the state by writing takes seconds.
"""

from dataclasses import dataclass

import pytest

from ssdscope.targets import Device, open_target
from ssdscope.targets.presets import preset_names
from ssdscope.workloads import Workload

MIB = 1024 * 1024
AGREE = 0.03
"""Of both figures, relatively."""


@dataclass(frozen=True)
class Small:
    """A part of a drive: what is overwritten, and the requests that settle it and are measured."""

    window_bytes: int
    requests: int
    sets: tuple[str, ...] = ()


ONE_DIE = ("nand.channels=1", "nand.ways=1")
REST = "gc.skip_every=0"
"""With it free blocks become fewer for ever, as in MQSim: nothing to come to rest at."""
ONE_DIES_BUFFER = ("write_buffer.bytes=2097152", "write_buffer.concurrent_drains=128")
X25_M = Small(
    200 * MIB,
    120_000,
    ("default_state=sequential", "nand.channels=2", "nand.blocks_per_plane=192"),
)
SMALL = {
    "huang-hdd-s": Small(1024 * MIB, 60_000),
    "ryu-hdd": Small(1024 * MIB, 150_000),
    "huang-ssd-i": X25_M,
    "kuo-intel-mlc": X25_M,
    "ryu-c": X25_M,
    "kuo-ocz-vertex": Small(400 * MIB, 150_000, ("nand.channels=1", "nand.blocks_per_plane=256")),
    "ryu-a": Small(128 * MIB, 30_000, ("nand.blocks_per_plane=512",)),
    "mqsim-8g": Small(256 * MIB, 150_000, ("nand.blocks_per_plane=256", REST)),
    "mqsim-512g": Small(256 * MIB, 100_000, (*ONE_DIE, "nand.blocks_per_plane=256", REST)),
    "msr-4gb": Small(256 * MIB, 100_000, ("nand.blocks_per_plane=64",)),
    "msr-32gb": Small(256 * MIB, 100_000, ("nand.blocks_per_plane=64",)),
    "nvme-tlc": Small(
        256 * MIB,
        60_000,
        (
            *ONE_DIE,
            *ONE_DIES_BUFFER,
            "nand.pages_per_block=24",
            "ftl.reclaim_unit_bytes=786432",
            "pslc.bytes=6291456",
            "pslc.dynamic_bytes=104857600",
        ),
    ),
    "nvme-dramless": Small(
        256 * MIB,
        60_000,
        (
            *ONE_DIE,
            *ONE_DIES_BUFFER,
            "nand.pages_per_block=21",
            "ftl.reclaim_unit_bytes=688128",
            "pslc.dynamic_bytes=340000000",
            "map.cache_bytes=65536",
        ),
    ),
    "sata-tlc": Small(
        256 * MIB,
        120_000,
        (
            *ONE_DIE,
            *ONE_DIES_BUFFER,
            "nand.pages_per_block=24",
            "ftl.reclaim_unit_bytes=786432",
            "pslc.bytes=12582912",
            "pslc.dynamic_bytes=34952533",
        ),
    ),
    "nvme-datacentre": Small(
        512 * MIB,
        150_000,
        (
            *ONE_DIE,
            *ONE_DIES_BUFFER,
            "nand.pages_per_block=32",
            "ftl.reclaim_unit_bytes=2097152",
        ),
    ),
    "huang-ssd-a": Small(1024 * MIB, 50_000),
    "huang-ssd-s": Small(1024 * MIB, 12_000),
    "kuo-mtron-slc": Small(256 * MIB, 20_000),
    "kuo-ocz-core": Small(1024 * MIB, 1_000),
    "kuo-samsung-slc": Small(1024 * MIB, 1_000),
    "kuo-transcend-mlc": Small(1024 * MIB, 1_000),
    "kuo-transcend-slc": Small(1024 * MIB, 2_000),
    "ryu-b": Small(1024 * MIB, 16_000),
}


def overwrite(device: Device, small: Small, seed: int) -> tuple[float, float]:
    """Give bytes a second, and write amplification where the drive counts."""
    workload = Workload(
        rw="randwrite",
        block_bytes=4096,
        size_bytes=small.window_bytes,
        requests=small.requests,
        seed=seed,
    )
    result = device.run(workload)
    rate = small.requests * 4096 / result.elapsed_ns * 1e9
    counters = result.summary.get("counters")
    return rate, counters["waf"] if counters else 1.0


@pytest.mark.always(6)
@pytest.mark.parametrize("name", SMALL)
def test_a_prepared_drive_is_where_writing_leads(name: str) -> None:
    small = SMALL[name]

    def device(state: str) -> Device:
        return open_target(f"sim:{name}", state=state, sets=small.sets, seed=1).device

    written = device("sequential")
    overwrite(written, small, 1)
    reached = overwrite(written, small, 2)
    prepared = overwrite(device(f"steady:{small.window_bytes}"), small, 3)
    assert prepared == pytest.approx(reached, rel=AGREE)


def test_every_preset_is_compared() -> None:
    assert {*SMALL, "huang-array-i"} == set(preset_names())
