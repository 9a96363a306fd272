"""Table I: what the makers' data sheets say of the devices.

A data sheet is measured over its maker's host, not the paper's: the presets are opened with a host
that takes no time, and with command queuing for the makers that have it. Table I says nothing of
sizes and depths. Here latencies are means of requests of 4 KB, one at a time, and rates those of
2 GB in order in requests of 128 KB, 32 at a time. Makers count decimal megabytes.
"""

import csv
import tomllib
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path

from ssdscope.probes.budget import StageProgress
from ssdscope.results.files import creating
from ssdscope.studies import judging
from ssdscope.studies.huang2011.procedure import DRIVES
from ssdscope.studies.record import Claim, Verdict
from ssdscope.studies.ryu2009.iozone import PUBLISHED_KIB_PER_S
from ssdscope.targets import Target, open_target
from ssdscope.targets.presets import preset_text
from ssdscope.workloads import Workload, filling

KIB = 1024
NO_TIME = ("host.command_ns=0",)
SATA_2 = (*NO_TIME, "host.bytes_per_second=265e6")
QUEUING = (*SATA_2, "host.queue_depth=32")
ROTATION_ALONE = (
    *NO_TIME,
    "host.firmware_ns=0",
    *(f"disk.{key}_ns=0" for key in ("seek_track", "seek_average", "seek_full", "head_switch")),
)
NAMES = {**DRIVES, "SSD_A": "huang-ssd-a"}
BUFFER = "buffer size"
WRITE_US = 115.0
TOLERANCE = 0.1


@dataclass(frozen=True)
class Entry:
    """One value of the table.

    Attributes
    ----------
    published
        What the data sheet says, in `unit`: GB, us or MB/s.
    rw
        What is measured; empty for the capacity.
    sets
        The maker's host.
    bound
        Whether `published` is a limit and no value.
    block_bytes
        Size of a request whose latency is asked.
    """

    device: str
    what: str
    published: float
    unit: str
    rw: str = ""
    sets: tuple[str, ...] = ()
    bound: bool = False
    block_bytes: int = 4 * KIB


ENTRIES = (
    Entry("HDD_S", "capacity", 500, "GB"),
    Entry("HDD_S", "rotational latency", 5600, "us", "randread", ROTATION_ALONE, block_bytes=512),
    Entry("HDD_S", BUFFER, 8, "MB"),
    Entry("SSD_I", "capacity", 80, "GB"),
    Entry("SSD_I", "read bandwidth", 250, "MB/s", "read", QUEUING),
    Entry("SSD_I", "write bandwidth", 70, "MB/s", "write", QUEUING),
    Entry("SSD_I", "read latency", 85, "us", "randread", QUEUING),
    Entry("SSD_I", "write latency", WRITE_US, "us", "write", QUEUING),
    Entry("SSD_A", "capacity", 120, "GB"),
    Entry("SSD_A", BUFFER, 64, "MB", sets=SATA_2),
    Entry("SSD_A", "read bandwidth", 250, "MB/s", "read", QUEUING),
    Entry("SSD_A", "write bandwidth", 100, "MB/s", "write", QUEUING),
    Entry("SSD_A", "read latency", 100, "us", "randread", QUEUING, bound=True),
    Entry("SSD_A", "write latency", 100, "us", "write", QUEUING, bound=True),
    Entry("SSD_S", "capacity", 32, "GB"),
    Entry("SSD_S", "read bandwidth", 100, "MB/s", "read", NO_TIME),
    Entry("SSD_S", "write bandwidth", 80, "MB/s", "write", NO_TIME),
)


def measure(
    seed: int, progress: StageProgress, entries: Sequence[Entry] = ENTRIES
) -> dict[Entry, float]:
    """Measure entries of the table, each on a drive of its own; in the units of the table."""
    values = {}
    for entry in entries:
        values[entry] = _measure(entry, seed)
        progress(f"data sheet of {entry.device}", len(values) / len(entries))
    return values


def _measure(entry: Entry, seed: int) -> float:
    target = open_target(f"sim:{NAMES[entry.device]}", sets=entry.sets, seed=seed)
    if entry.what == BUFFER:
        return _buffer_mb(target)
    if not entry.rw:
        return target.capacity_bytes / 1e9
    if entry.unit == "us":
        plan = Workload(rw=entry.rw, block_bytes=entry.block_bytes, requests=4000, seed=seed)
    else:
        plan = Workload(rw=entry.rw, block_bytes=128 * KIB, iodepth=32, io_bytes=2 << 30)
    direction = target.device.run(plan).whole().only()
    if entry.unit == "us":
        return direction.latency_ns.mean / 1e3
    return (direction.bandwidth_bytes_per_s or 0.0) / 1e6


def _buffer_mb(target: Target) -> float:
    """Write until writes are slow; what a disk keeps for reads is as its file says."""
    disk = (target.drive or {}).get("disk")
    if disk is not None:
        return float(disk["read_cache_bytes"] + disk["write_cache_bytes"]) / (1 << 20)
    return filling.held_bytes(target.device, 1) / (1 << 20)


def compare(values: Mapping[Entry, float]) -> list[Claim]:
    """Give every entry beside what was measured."""
    return [_claim(entry, ours) for entry, ours in values.items()]


def _claim(entry: Entry, ours: float) -> Claim:
    what, unit = f"{entry.device}: {entry.what}", entry.unit
    paper = f"< {entry.published:g}" if entry.bound else entry.published
    off = ours / entry.published - 1
    if off < 0 if entry.bound else abs(off) <= TOLERANCE:
        return Claim(what, paper, round(ours, 1), unit, Verdict.AGREES)
    row = judging.claim(what, paper, round(ours, 1), unit, holds=False, why=f"{100 * off:+.0f} %")
    if (entry.device, entry.what) != ("SSD_I", "write latency") or ours > WRITE_US:
        return row
    return judging.explained(row, _contradiction(), _slower_buffer(ours))


def _slower_buffer(ours_us: float) -> str:
    """Run ryu2009's random writes on the same drive with a buffer that takes the data sheet's."""
    text = preset_text("ryu-c")
    ns_per_byte = tomllib.loads(text)["write_buffer"]["ns_per_byte"]
    slower = ns_per_byte + 1e3 * (WRITE_US - ours_us) / (4 * KIB)
    plan = Workload(rw="randwrite", size_bytes=1 << 30, requests=2000)
    took_us = []
    for sets in ((), (f"write_buffer.ns_per_byte={slower:.4g}",)):
        drive = open_target("sim:ryu-c", state="fresh", sets=sets, seed=1).device
        took_us.append(drive.run(plan).whole().only().latency_ns.mean / 1e3)
    return (
        f"with a buffer slow enough for {WRITE_US:g} us, random writes of 4 KB take "
        f"{took_us[1]:.0f} us on ryu-c; as it is {took_us[0]:.0f}, and figure 13 has "
        f"{4e6 / PUBLISHED_KIB_PER_S['ryu-c', 'randwrite'][0]:.0f}"
    )


def _contradiction() -> str:
    """Explain an entry that cannot hold beside what another paper measured on the drive."""
    read, write = (4e6 / PUBLISHED_KIB_PER_S["ryu-c", op][0] for op in ("randread", "randwrite"))
    return (
        "ryu2009 measured this model of drive (figure 13): a random read of 4 KB took "
        f"{read:.0f} us and a random write {write:.0f} us, both with the host's time, so that "
        f"writes are {read - write:.0f} us faster; the data sheet has them 30 us slower. Unless a "
        "host takes longer for a read than for a write, no drive does both, and the preset does "
        "what was measured: its buffer takes writes at once"
    )


def write_table(values: Mapping[Entry, float], path: Path) -> Path:
    """Write every entry as CSV."""
    with creating(path) as file:
        table = csv.writer(file)
        table.writerow(["device", "what", "published", "bound", "ours", "unit"])
        for entry, ours in values.items():
            row = (entry.device, entry.what, entry.published, entry.bound, ours, entry.unit)
            table.writerow(row)
    return path
