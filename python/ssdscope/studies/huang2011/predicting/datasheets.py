"""Drive files from data sheets alone: what somebody simulates who cannot measure the drive.

Each value of a file says where it is from. *Data sheet*: table I has it, or it follows from what
table I has and the other values of the file. *Typical*: no data sheet says it, and a simulator has
to have it; then it is the same in all files of a kind. Nothing is fitted to a measurement, and the
host takes no time, since a data sheet says nothing of it.

SSDs are what simulators of their time take for one: mapped by pages, 16 chips on 8 channels, pages
of 4 KB and blocks of 128 of them, 7 % spare, and 1 MiB of write buffer where none is told (a write
of 115 us is shorter than any program). Their programs take as long as makes the written bandwidth,
and their reads as long as is left of the latency by the transfers; without a latency in the sheet,
as long as is usual for the kind of cell. The disk has the seek times of another maker's disk of
its class and year (Hitachi Travelstar 5K320).
"""

import math
from dataclasses import dataclass
from pathlib import Path

from ssdscope.results.files import write_text
from ssdscope.results.marks import MADE_BY
from ssdscope.targets.drive_writer import Value, drive_toml

CHANNELS, WAYS = 8, 2
PAGE_BYTES, PAGES_PER_BLOCK = 4096, 128
SPARE = 0.07
MLC, SLC = (50_000, 2_000_000), (25_000, 1_500_000)
"""Times of a read and an erase that are usual."""
BUFFER_BYTES = 1 << 20
CHANNEL_NS_PER_BYTE = 4.0
STRIPE = "64k"
SHEET, TYPICAL = "data sheet", "typical"


@dataclass(frozen=True)
class Sheet:
    """What table I says of an SSD.

    Attributes
    ----------
    read_latency_ns
        None if it says none, or gives a bound.
    buffer_bytes
        0 if it says none.
    cells
        What is usual for its kind of cell.
    """

    capacity_gb: int
    read_mb_s: int
    write_mb_s: int
    read_latency_ns: int | None = None
    buffer_bytes: int = 0
    cells: tuple[int, int] = MLC


SHEETS = {
    "SSD_I": Sheet(80, 250, 70, read_latency_ns=85_000),
    "SSD_A": Sheet(120, 250, 100, buffer_bytes=64 << 20),
    "SSD_S": Sheet(32, 100, 80, cells=SLC),
}
Told = dict[str, tuple[Value, str]]
"""By key, the value and where it is from."""


def write(device: str, folder: Path) -> str:
    """Write the drive file of a device into a folder; give the target to open."""
    if device == "Array_I":
        member = _write("SSD_I", folder, ssd(SHEETS["SSD_I"]))
        return f"raid0:{member},{member}?chunk={STRIPE}"
    return str(_write(device, folder, disk() if device == "HDD_S" else ssd(SHEETS[device])))


def write_msr(device: str, folder: Path) -> str | None:
    """Write the file of an SSD for the firmware of DiskSim's SSD extension; None of others.

    That is the simulator of the paper's reference 6.
    """
    if device not in SHEETS:
        return None
    return str(_write(device, folder, msr(SHEETS[device]), "-msr"))


def _write(device: str, folder: Path, told: Told, suffix: str = "") -> Path:
    header = [
        f"{device} of huang2011 as its data sheet has it (table I of the paper), and no more.",
        "Nothing here is fitted to a measurement.",
        f"{MADE_BY} reproduce",
    ]
    values = {key: value for key, (value, _) in told.items()}
    text = drive_toml(values, header, {key: origin for key, (_, origin) in told.items()})
    path = folder / f"huang2011-datasheet-{device}{suffix}.toml"
    write_text(path, text)
    return path


def ssd(sheet: Sheet) -> Told:
    """Work the file of an SSD out."""
    chips = CHANNELS * WAYS
    block_bytes = PAGE_BYTES * PAGES_PER_BLOCK
    raw = sheet.capacity_gb * 10**9 * (1 + SPARE)
    transfers = PAGE_BYTES * (CHANNEL_NS_PER_BYTE + 1e3 / sheet.read_mb_s)
    read: tuple[Value, str] = (sheet.cells[0], TYPICAL)
    if sheet.read_latency_ns is not None:
        left = round(sheet.read_latency_ns - transfers)
        read = (left, f"{SHEET}: {sheet.read_latency_ns / 1e3:g} us without the transfers")
    program = round(chips * PAGE_BYTES / sheet.write_mb_s * 1e3)
    buffer = (sheet.buffer_bytes, f"{SHEET}: its buffer")
    return {
        "default_state": ("steady:2g", "as the drives that were measured: in use"),
        "over_provisioning_ratio": (SPARE, TYPICAL),
        "nand.channels": (CHANNELS, TYPICAL),
        "nand.ways": (WAYS, TYPICAL),
        "nand.blocks_per_plane": (
            math.ceil(raw / (chips * block_bytes)),
            f"{SHEET}: {sheet.capacity_gb} GB",
        ),
        "nand.pages_per_block": (PAGES_PER_BLOCK, TYPICAL),
        "nand.page_bytes": (PAGE_BYTES, TYPICAL),
        "nand.read_ns": read,
        "nand.program_ns": (program, f"{SHEET}: {sheet.write_mb_s} MB/s by {chips} chips"),
        "nand.erase_ns": (sheet.cells[1], TYPICAL),
        "channel.ns_per_byte": (CHANNEL_NS_PER_BYTE, TYPICAL),
        "host.interface": ("simple", TYPICAL),
        "host.bytes_per_second": (sheet.read_mb_s * 1e6, f"{SHEET}: {sheet.read_mb_s} MB/s"),
        "ftl.kind": ("page", TYPICAL),
        "gc.policy": ("greedy", TYPICAL),
        "write_buffer.bytes": buffer if sheet.buffer_bytes else (BUFFER_BYTES, TYPICAL),
        "write_buffer.unit_bytes": (PAGE_BYTES, TYPICAL),
    }


def msr(sheet: Sheet) -> Told:
    """Work the file out for elements that serve a page at a time, without a buffer."""
    known = ssd(sheet)
    kept = (
        "nand.blocks_per_plane", "nand.pages_per_block", "nand.page_bytes", "nand.read_ns",
        "nand.program_ns", "nand.erase_ns", "channel.ns_per_byte", "host.bytes_per_second",
    )  # fmt: skip
    return {
        "default_state": ("random", "as the drives that were measured: in use"),
        "nand.channels": (CHANNELS * WAYS, "elements: as many as chips"),
        **{name: known[name] for name in kept},
        "ftl.kind": ("msr", "the firmware of DiskSim's SSD extension"),
        "gc.policy": ("greedy", TYPICAL),
        "gc.low_water_ratio": (0.05, "of the extension's sample"),
        "msr.reserve_ratio": (round(SPARE / (1 + SPARE), 4), TYPICAL),
    }


def disk() -> Told:
    """Work the file of the disk out: 500 GB, 5.6 ms, 8 MB."""
    zones, surfaces, outer, inner = 16, 4, 1820, 930
    cylinders = math.ceil(500e9 / (512 * surfaces * (outer + inner) / 2))
    return {
        "default_state": ("sequential", "of no consequence: a disk writes in place"),
        "disk.rpm": (5400, f"{SHEET}: 5.6 ms are half a revolution"),
        "disk.surfaces": (surfaces, TYPICAL),
        "disk.cylinders": (cylinders, f"{SHEET}: 500 GB"),
        "disk.zones": (zones, TYPICAL),
        "disk.outer_sectors_per_track": (outer, TYPICAL),
        "disk.inner_sectors_per_track": (inner, TYPICAL),
        "disk.seek_track_ns": (1_000_000, TYPICAL),
        "disk.seek_average_ns": (12_000_000, TYPICAL),
        "disk.seek_full_ns": (20_000_000, TYPICAL),
        "disk.head_switch_ns": (1_000_000, TYPICAL),
        "disk.write_settle_ns": (1_000_000, TYPICAL),
        "disk.read_cache_bytes": (7 << 20, f"{SHEET}: 8 MB of buffer, most of it for reads"),
        "disk.read_cache_segments": (2, TYPICAL),
        "disk.read_ahead_bytes": (1 << 20, TYPICAL),
        "disk.write_cache_bytes": (1 << 20, f"{SHEET}: the rest of it"),
        "host.interface": ("simple", TYPICAL),
        "host.bytes_per_second": (300e6, TYPICAL),
    }
