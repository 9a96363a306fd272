"""Table I: what the makers' data sheets say of the devices.

A data sheet is measured over its maker's host, not the paper's: the presets are opened with a host
that takes no time, and with command queuing for the makers that have it. Table I says nothing of
sizes and depths. Here latencies are means of requests of 4 KB, one at a time, and rates those of
2 GB in order in requests of 128 KB, 32 at a time. Makers count decimal megabytes.
"""

from collections.abc import Iterator, Sequence
from dataclasses import dataclass

from ssdscope.probes.budget import StageProgress
from ssdscope.studies.huang2011.claims import of
from ssdscope.studies.huang2011.procedure import Runs
from ssdscope.studies.paper import Paper
from ssdscope.studies.record import Measured, Reading
from ssdscope.targets import Target, open_target
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
RATE_BYTES = 2 << 30
SUSTAINED_AFTER_BYTES = 2 << 30
"""Written before what is sustained is measured: thirty times the largest buffer."""
HOSTS = {"SSD_I": QUEUING, "SSD_A": QUEUING, "SSD_S": NO_TIME, "HDD_S": NO_TIME}
UNITS = {
    "capacity": "GB", "buffer": "MB", "rate": "MB/s", "latency": "us", "latency, bound": "us",
    "sustained": "MB/s",
}  # fmt: skip
"""Of the rows that are entries of the table."""


@dataclass(frozen=True)
class Entry:
    """One value of the table.

    Attributes
    ----------
    row, what
        The row of `paper.toml` and, with the device before it, the case.
    rw
        What is measured; empty where nothing is run.
    sets
        The maker's host.
    block_bytes
        Size of a request whose latency is asked.
    """

    row: str
    device: str
    what: str
    rw: str = ""
    sets: tuple[str, ...] = ()
    block_bytes: int = 4 * KIB

    @property
    def name(self) -> str:
        """Name its reading."""
        return f"{self.row}: {self.device}: {self.what}"


def entries() -> list[Entry]:
    """List what is measured."""
    found = [
        Entry("capacity", device, "capacity") for device in ("HDD_S", "SSD_I", "SSD_A", "SSD_S")
    ]
    rotation = Entry("latency", "HDD_S", "rotational latency", "randread", ROTATION_ALONE, 512)
    found += [rotation, Entry("buffer", "HDD_S", "buffer size")]
    found.append(Entry("buffer", "SSD_A", "buffer size", sets=SATA_2))
    for device in ("SSD_I", "SSD_A", "SSD_S"):
        for way, rw in (("read", "read"), ("write", "write")):
            found.append(Entry("rate", device, f"{way} bandwidth", rw, HOSTS[device]))
        found.append(Entry("sustained", device, "writes after 2 GB", "write", HOSTS[device]))
    for row, device in (("latency", "SSD_I"), ("latency, bound", "SSD_A")):
        for way, rw in (("read", "randread"), ("write", "write")):
            found.append(Entry(row, device, f"{way} latency", rw, QUEUING))
    return found


def measure(paper: Paper, runs: Runs, progress: StageProgress) -> Measured:
    """Measure the entries of the table, each on a drive of its own, and what else is said."""
    asked, values = entries(), {}
    for entry in asked:
        values[entry] = value(entry, runs)
        progress(f"data sheet of {entry.device}", len(values) / len(asked))
    found = {entry.name: of(ours, digits=4) for entry, ours in values.items()}
    return Measured(found | dict(_others(runs)), None, _columns(paper, values))


def _columns(paper: Paper, values: dict[Entry, float]) -> dict[str, list[object]]:
    """Return every entry beside the data sheet's."""
    rows = [(entry, paper.rows[entry.row], ours) for entry, ours in values.items()]
    cases = [f"{entry.device}: {entry.what}" for entry, *_ in rows]
    return {
        "device": [entry.device for entry, *_ in rows],
        "what": [entry.what for entry, *_ in rows],
        "published": [
            row.paper[case] if isinstance(row.paper, dict) else row.paper
            for (_, row, _), case in zip(rows, cases, strict=True)
        ],
        "bound": ["bound" in entry.row for entry, *_ in rows],
        "ours": [ours for *_, ours in rows],
        "unit": [UNITS[entry.row] for entry, *_ in rows],
    }


def value(entry: Entry, runs: Runs) -> float:
    """Measure an entry, in the unit of the table."""
    target = _open(runs, entry.device, entry.sets)
    if entry.row == "buffer":
        return _buffer_mb(target)
    if not entry.rw:
        return target.capacity_bytes / 1e9
    if UNITS[entry.row] == "us":
        plan = Workload(rw=entry.rw, block_bytes=entry.block_bytes, requests=4000, seed=runs.seed)
        return float(target.device.run(plan).whole().only().latency_ns.mean / 1e3)
    if entry.row == "sustained":
        _rate(target, "write", SUSTAINED_AFTER_BYTES)
        return _rate(target, "write", RATE_BYTES, SUSTAINED_AFTER_BYTES)
    return _rate(target, entry.rw, RATE_BYTES)


def _open(runs: Runs, device: str, sets: Sequence[str]) -> Target:
    """Open a preset behind its maker's host; what a trial sets comes last."""
    uri = runs.open(device).uri
    return open_target(uri, sets=(*sets, *runs.sets.get(device, ())), seed=runs.seed)


def _rate(target: Target, rw: str, size: int, offset: int = 0) -> float:
    plan = Workload(rw=rw, block_bytes=128 * KIB, iodepth=32, io_bytes=size, offset_bytes=offset)
    direction = target.device.run(plan).whole().only()
    return (direction.bandwidth_bytes_per_s or 0.0) / 1e6


def _buffer_mb(target: Target) -> float:
    """Write until writes are slow; what a disk keeps for reads is as its file says."""
    disk = (target.drive or {}).get("disk")
    if disk is not None:
        return float(disk["read_cache_bytes"] + disk["write_cache_bytes"]) / (1 << 20)
    return filling.held_bytes(target.device, 1) / (1 << 20)


def _others(runs: Runs) -> Iterator[tuple[str, Reading]]:
    """Read off the disk's rates, which its sheet leaves out, and the chips' times."""
    for where, share in (("outermost", 0.0), ("in the middle", 0.5)):
        for way, rw in (("reads", "read"), ("writes", "write")):
            target = _open(runs, "HDD_S", NO_TIME)
            offset = int(share * target.capacity_bytes) >> 20 << 20
            rate = _rate(target, rw, RATE_BYTES // 4, offset)
            yield f"disk, {way}: {where}", of(rate)
    for device in ("SSD_I", "SSD_A", "SSD_S"):
        nand = (runs.open(device).drive or {})["nand"]
        times = [nand[f"{what}_ns"] / 1e3 for what in ("read", "program", "erase")]
        text = ", ".join(f"{each:g}" for each in times)
        yield f"chips in order: {device}", Reading(f"{text} us", times == sorted(times))
        if device == "SSD_S":
            for what, each in zip(("read", "program", "erase"), times, strict=True):
                yield f"chips: {what}", of(each)
