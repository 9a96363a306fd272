"""What the paper says of how SSDs work, and what it supposes behind its figures.

Each is asked of the paper's drives by a run or two: as they are, without the mechanism, or with
another one. Requests are random ones of 4 KB, one at a time, unless said otherwise.
"""

import tomllib
from collections.abc import Callable, Iterator, Sequence

import numpy as np

from ssdscope.probes.budget import StageProgress
from ssdscope.studies.huang2011.claims import Found, every, of
from ssdscope.studies.huang2011.procedure import SIZES, SSDS, Runs
from ssdscope.studies.record import Columns, Measured, Reading
from ssdscope.targets import Target, open_target
from ssdscope.targets.presets import preset_text
from ssdscope.workloads import Workload, grid
from ssdscope.workloads.grid import KIB

REQUESTS = 2000
LARGE = 256 * KIB
SKEWED, COLD = 8, 40_000
FILL = Workload(rw="randwrite", block_bytes=LARGE, requests=256)
"""What fills a buffer before anything counts."""


def measure(runs: Runs, progress: StageProgress) -> Measured:
    """Make all runs."""
    found: dict[str, Reading] = {}
    for done, part in enumerate(_PARTS):
        progress("mechanisms", done / len(_PARTS))
        found |= dict(part(runs))
    columns: Columns = {"row": list(found), "ours": [each.ours for each in found.values()]}
    return Measured(found, None, columns)


def _open(runs: Runs, device: str, sets: Sequence[str] = (), state: str | None = None) -> Target:
    """Open a drive with something set on it."""
    uri = runs.open(device).uri
    every_set = (*runs.sets.get(device, ()), *sets)
    return open_target(uri, sets=every_set, state=state, seed=runs.seed)


def _us(target: Target, rw: str, size: int = 4 * KIB, requests: int = REQUESTS) -> float:
    """Mean latency of requests in the region of figures 3 to 7, on a copy."""
    plan = Workload(
        rw=rw, block_bytes=size, requests=requests, size_bytes=min(32 << 30, target.capacity_bytes),
        random_start=True, seed=1,
    )  # fmt: skip
    drive = target.device.fork()
    if "write" in rw:
        drive.run(FILL).whole()
    return float(drive.run(plan).whole().only().latency_ns.mean) / 1e3


def _used(target: Target, seed: int) -> Target:
    grid.use(target.device, seed)
    return target


def _pages(runs: Runs) -> Found:
    """Compare requests of less than a page with those of one."""
    for device in SSDS:
        target = _used(_open(runs, device), runs.seed)
        drive = target.drive or {}
        ns_per_byte = 1e9 / drive["host"]["bytes_per_second"] + drive["channel"]["ns_per_byte"]
        spared_us = 3 * KIB * ns_per_byte / 1e3
        reads, writes = (
            [_us(target, rw, size) for size in (KIB, 4 * KIB)] for rw in ("randread", "randwrite")
        )
        yield f"page, reads: {device}", of(reads[0] / (reads[1] - spared_us), "times as long")
        yield f"page, writes: {device}", of(writes[0] / writes[1], "times as long")


def _penalty(runs: Runs) -> Found:
    """Ask why random writes are slower: as it is, without erases, and on an empty drive."""
    for device in SSDS:
        over = {}
        for name, sets, state in (
            ("as it is", (), None),
            ("erases cost nothing", ("nand.erase_ns=0",), None),
            ("nothing to collect", (), "fresh"),
        ):
            target = _open(runs, device, sets, state)
            if state is None:
                _used(target, runs.seed)
            ratios = [
                _us(target, "randwrite", size, 400) / _us(target, "write", size, 400)
                for size in (4 * KIB, LARGE)
            ]
            over[name] = float(np.exp(np.mean(np.log(ratios)))) - 1
        text = ", ".join(f"{name} {100 * each:.0f} %" for name, each in over.items())
        left = over["nothing to collect"] / over["as it is"]
        yield f"penalty: {device}", Reading(f"random over sequential: {text}", 1 - left)


def _copies(runs: Runs) -> Found:
    """Count the pages that are programmed for one written: in order, and at random."""
    chips = ("default_state=sequential", "nand.blocks_per_plane=128")
    for name, rw, size in (("in order", "write", LARGE), ("at random", "randwrite", 4 * KIB)):
        drive = _open(runs, "SSD_I", chips, "sequential").device
        capacity = drive.info.capacity_bytes
        drive.run(Workload(rw=rw, block_bytes=size, io_bytes=capacity, seed=1)).whole()
        before = dict(drive.counters() or {})
        drive.run(Workload(rw=rw, block_bytes=size, io_bytes=capacity // 2, seed=2)).whole()
        after = drive.counters() or {}
        grown = [
            after[key] - before[key] for key in ("flash_bytes_programmed", "host_bytes_written")
        ]
        yield f"copies, {name}", of(grown[0] / grown[1], "pages programmed for one written")


def _levelling(runs: Runs) -> Found:
    """Choose blocks by wear, on a small SSD_I of which a fiftieth is written most."""
    chips = (
        "default_state=sequential", "nand.channels=1", "nand.ways=1", "nand.blocks_per_plane=128",
    )  # fmt: skip
    most, copied = {}, {}
    for policy in ("greedy", "wear-aware"):
        drive = _open(runs, "SSD_I", (*chips, f"gc.policy={policy}"), "sequential").device
        hot = drive.info.capacity_bytes // 50 >> 12 << 12
        plan = Workload(rw="randwrite", requests=COLD, size_bytes=hot, iodepth=SKEWED, seed=1)
        rest = Workload(rw="randwrite", requests=COLD // 50, iodepth=SKEWED, seed=2)
        for _ in range(8):
            drive.run(plan).whole()
            drive.run(rest).whole()
        counters = drive.counters() or {}
        histogram = np.array(counters["erase_histogram"])
        erases = np.repeat(np.arange(len(histogram)), histogram)
        most[policy] = float(erases.max() / max(erases.mean(), 1e-9))
        copied[policy] = counters["gc_pages_moved"] + counters["wear_pages_moved"]
    text = ", ".join(
        f"{policy} {most[policy]:.2f} times the mean and {copied[policy]:,} pages copied"
        for policy in most
    )
    yield "levelling", Reading(f"most erased block: {text}", most["wear-aware"] / most["greedy"])


def _mapped_by_pages(runs: Runs, device: str) -> Target:
    """Return SSD_I's firmware with the chips, the link and the host of another drive."""
    tables = tomllib.loads(preset_text(str(runs.open(device).uri).removeprefix("sim:")))
    sets = [
        f"{table}.{key}={value}"
        for table in ("nand", "channel", "host")
        for key, value in tables[table].items()
        if not isinstance(value, str)
    ]
    sets.append(f"over_provisioning_ratio={tables['over_provisioning_ratio']}")
    return _open(runs, "SSD_I", sets)


def _firmware(runs: Runs) -> Found:
    """Run the same chips by another FTL, and SSD_S beside the disk."""
    blocks = _used(_open(runs, "SSD_S"), runs.seed)
    pages = _used(_mapped_by_pages(runs, "SSD_S"), runs.seed)
    disk = _used(_open(runs, "HDD_S"), runs.seed)
    us = [_us(each, "randwrite") for each in (blocks, pages)]
    yield "firmware, throughput", of(us[1] / us[0], "times the IOPS of mapping by pages")
    worn = []
    for target in (blocks, pages):
        drive = target.device.fork()
        before = (drive.counters() or {})["block_erases"]
        drive.run(Workload(rw="randwrite", requests=4 * REQUESTS, seed=1)).whole()
        nand = (target.drive or {})["nand"]
        unit = nand["pages_per_block"] * nand["page_bytes"]
        worn.append(((drive.counters() or {})["block_erases"] - before) * unit)
    yield "firmware, erases", of(worn[0] / max(worn[1], 1), "times the bytes erased")
    faster = [
        _us(disk, "randwrite", size, 300) / _us(pages, "randwrite", size, 300) for size in SIZES
    ]
    yield "a better FTL", every(faster)


def _buffer(runs: Runs) -> Found:
    """Share SSD_I's lead over SSD_S in writes of 256 KB between a buffer and the mapping."""
    ms = [
        _us(_used(target, runs.seed), "randwrite", LARGE, 400) / 1e3
        for target in (
            _open(runs, "SSD_S"),
            _open(runs, "SSD_S", ("write_buffer.bytes=16777216", "write_buffer.unit_bytes=4096")),
            _mapped_by_pages(runs, "SSD_S"),
            _open(runs, "SSD_I"),
        )
    ]
    lead = ms[0] - ms[3]
    buffer, mapping = (ms[0] - ms[1]) / lead, (ms[0] - ms[2]) / lead
    text = f"of {lead:.1f} ms a buffer takes {100 * buffer:.0f} %, mapping by pages "
    yield "control logic", Reading(f"{text}{100 * mapping:.0f} %", mapping)
    yield "larger buffer", of(100 * buffer, "% of the lead")


def _array(runs: Runs) -> Found:
    """Run two drives side by side, and one behind the same host."""
    host = tomllib.loads(preset_text("huang-array-i"))["set"]["host"]
    sets = tuple(f"host.{key}={value}" for key, value in host.items())
    array = _open(runs, "Array_I").device
    member = _open(runs, "SSD_I", sets, "sequential").device
    for name, rw, size, depth in (
        ("reads of 256 KB", "randread", LARGE, 16),
        ("writes of 256 KB", "randwrite", LARGE, 16),
        ("reads of 4 KB", "randread", 4 * KIB, 16),
    ):
        plan = Workload(rw=rw, block_bytes=size, iodepth=depth, requests=REQUESTS, seed=1)
        rates = [each.fork().run(plan).whole().only().iops for each in (array, member)]
        yield f"array: {name}", of((rates[0] or 0.0) / (rates[1] or 1.0), "times")


def _ssd_a(runs: Runs) -> Found:
    """Compare random writes of SSD_A with those in order, which figure 6 leaves out."""
    target = _used(_open(runs, "SSD_A"), runs.seed)
    ratios = []
    for size in (4 * KIB, 64 * KIB):
        took = []
        for rw in ("randwrite", "write"):
            drive = target.device.fork()
            drive.run(Workload(rw=rw, block_bytes=size, io_bytes=96 << 20, seed=2)).whole()
            plan = Workload(rw=rw, block_bytes=size, requests=400, seed=1)
            took.append(drive.run(plan).whole().only().latency_ns.mean)
        ratios.append(took[0] / took[1])
    mean = float(np.exp(np.mean(np.log(ratios))))
    yield "dramatically, SSD_A", of(mean, "times as long")


_PARTS: tuple[Callable[[Runs], Iterator[tuple[str, Reading]]], ...] = (
    _pages, _penalty, _copies, _levelling, _firmware, _buffer, _array, _ssd_a,
)  # fmt: skip
