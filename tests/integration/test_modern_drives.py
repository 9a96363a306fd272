"""The presets of modern drives against what was published of such drives.

They are made smaller by ``--set``: fewer and shorter blocks on the same dies leave rates and
write amplification as they are. What is counted in blocks shrinks with them: regions with one
bit per cell, erases, map caches.
"""

import tomllib
from dataclasses import dataclass

import pytest

from ssdscope.findings import Detected, Undetectable
from ssdscope.probes.budget import Budget
from ssdscope.probes.session import run
from ssdscope.targets import Target, open_target
from ssdscope.targets.presets import preset_text
from ssdscope.workloads import Workload

MIB = 1 << 20
GB = 1_000_000_000
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


@dataclass(frozen=True)
class Consumer:
    """What was published of a drive that begins to write with one bit per cell."""

    preset: str
    fast_gb: float
    fast_rate: float
    slow_rate: float
    slow_gb: float
    """Written after the knee for the slow rate."""
    read_us: float
    shorter: int
    """How many times fewer pages its blocks get; there are `FEWER` times fewer blocks."""


FEWER = 20
CONSUMER = (
    # The class of the Samsung 860 EVO 250 GB; PROBING.md 1.9 has none of SATA.
    Consumer("sata-tlc", 12, 0.52, 0.30, 60, 100, shorter=8),
    # PROBING.md 1.9: Samsung 980 PRO 1 TB; 22,000 reads a second by its data sheet.
    Consumer("nvme-tlc", 113, 4.0, 1.5, 200, 45.5, shorter=16),
    # PROBING.md 1.9: WD SN580 1 TB. The time of a read is that of its class.
    Consumer("nvme-dramless", 341, 4.0, 0.45, 200, 60, shorter=16),
)


def smaller(drive: Consumer) -> list[str]:
    """Keys that make a preset `FEWER` * `shorter` times smaller."""
    values = tomllib.loads(preset_text(drive.preset))
    nand, pslc, shorter = values["nand"], values["pslc"], drive.shorter
    step = values["ftl"]["reclaim_unit_bytes"] // shorter // nand["bits_per_cell"]
    own, lent = pslc.get("bytes", 0), pslc["dynamic_bytes"]
    own_steps, steps = (round(part / (FEWER * shorter * step)) for part in (own, own + lent))
    sets = [
        f"nand.blocks_per_plane={nand['blocks_per_plane'] // FEWER}",
        f"nand.pages_per_block={nand['pages_per_block'] // shorter}",
        f"nand.erase_ns={nand['erase_ns'] // shorter}",
        f"ftl.reclaim_unit_bytes={values['ftl']['reclaim_unit_bytes'] // shorter}",
        f"pslc.bytes={own_steps * step}",
        f"pslc.dynamic_bytes={(steps - own_steps) * step}",
        # As much as keeps all planes busy: the rest would count as written at full speed.
        f"write_buffer.bytes={2 * MIB}",
    ]
    if "map" in values:
        sets.append(f"map.cache_bytes={values['map']['cache_bytes'] // (FEWER * shorter)}")
    return sets


def _write(target: Target, offset_bytes: int) -> float:
    """Seconds that the next MiB in order takes."""
    writes = Workload(
        rw="write", block_bytes=131_072, iodepth=8, requests=8, offset_bytes=offset_bytes
    )
    rate: float = target.device.run(writes).summary["write"]["bandwidth_bytes_per_s"]
    return MIB / rate


@pytest.mark.parametrize("drive", CONSUMER, ids=lambda drive: drive.preset)
def test_a_consumer_drive_is_fast_for_as_long_as_was_published(drive: Consumer) -> None:
    target = open_target(f"sim:{drive.preset}", state="fresh", sets=smaller(drive), seed=3)
    times = FEWER * drive.shorter
    between = MIB / GB / (drive.fast_rate * drive.slow_rate) ** 0.5
    slow_mib = int(drive.slow_gb * GB / times / MIB)
    # The first two MiB fill the write buffer.
    seconds = [_write(target, number * MIB) for number in range(2)]
    while len(seconds) == 2 or seconds[-1] < between:
        seconds.append(_write(target, len(seconds) * MIB))
    knee = len(seconds) - 1
    seconds += [_write(target, (knee + 1 + number) * MIB) for number in range(slow_mib)]
    assert knee * MIB * times / GB == pytest.approx(drive.fast_gb, rel=0.1)
    fast, slow = seconds[2:knee], seconds[knee:]
    assert len(fast) * MIB / sum(fast) / GB == pytest.approx(drive.fast_rate, rel=0.1)
    assert len(slow) * MIB / sum(slow) / GB == pytest.approx(drive.slow_rate, rel=0.1)


@pytest.mark.parametrize("drive", CONSUMER, ids=lambda drive: drive.preset)
def test_the_probe_tells_how_much_is_fast_or_that_it_cannot(drive: Consumer) -> None:
    """A region of all that is free has no one size: where a fresh drive slows down is said."""
    target = open_target(f"sim:{drive.preset}", state="fresh", sets=smaller(drive), seed=3)
    every = run(["units", "region"], target.device, Budget.parse("default"), 3)
    found = next(each for each in every if each.name == "pslc_bytes")
    published = drive.fast_gb * GB / (FEWER * drive.shorter)
    if drive.preset == "nvme-dramless":
        assert isinstance(found, Undetectable), found
        at = found.evidence.figures["slows_down_at_bytes"]
        assert at == pytest.approx(published, rel=0.1)
    else:
        assert isinstance(found, Detected), found
        assert found.value == pytest.approx(published, rel=0.1)
        assert found.interval is not None
        assert found.interval[0] <= published <= found.interval[1]


@pytest.mark.parametrize("drive", CONSUMER, ids=lambda drive: drive.preset)
def test_a_consumer_drive_reads_in_the_time_of_its_class(drive: Consumer) -> None:
    """Of a part that even the smallest map cache holds, on a full drive: all bits per cell."""
    target = open_target(f"sim:{drive.preset}", state="sequential", sets=smaller(drive), seed=3)
    part = 16 * MIB
    target.device.run(Workload(rw="read", block_bytes=131_072, iodepth=8, size_bytes=part))
    reads = Workload(rw="randread", block_bytes=4096, requests=1_000, size_bytes=part)
    latency = target.device.run(reads).summary["read"]["latency_ns"]
    assert latency["mean"] / 1_000 == pytest.approx(drive.read_us, rel=0.1)


def test_reads_of_more_than_the_map_cache_holds_take_two_reads_of_flash() -> None:
    """Mean time = that of a hit, and that of a load for the share that is not held."""
    drive = CONSUMER[2]
    sets = smaller(drive)
    target = open_target(f"sim:{drive.preset}", state="sequential", sets=sets, seed=3)
    values = tomllib.loads(preset_text(drive.preset))["map"]
    entries = values["cache_bytes"] // (FEWER * drive.shorter) // values["cached_entry_bytes"]
    means = {}
    for size in (16 * MIB, 96 * MIB, 256 * MIB, 1024 * MIB, 2048 * MIB):
        in_order = Workload(rw="read", block_bytes=131_072, iodepth=8, size_bytes=size)
        target.device.run(in_order)
        reads = Workload(
            rw="randread", block_bytes=4096, requests=4_000, ramp_requests=60_000, size_bytes=size
        )
        summary = target.device.run(reads).summary
        means[size] = summary["read"]["latency_ns"]["mean"]
        missed = summary["counters"]["map_loads"] / 4_000
        assert missed == pytest.approx(max(0.0, 1 - entries * 4096 / size), abs=0.03), size
    hit = means[16 * MIB]
    assert means[96 * MIB] == pytest.approx(hit, rel=0.01)
    load = (means[2048 * MIB] - hit) / (1 - entries * 4096 / (2048 * MIB))
    assert load == pytest.approx(hit, rel=0.1), "a second read of flash"
    for size in (256 * MIB, 1024 * MIB):
        expected = hit + load * (1 - entries * 4096 / size)
        assert means[size] == pytest.approx(expected, rel=0.03), size
