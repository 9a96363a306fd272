"""The paper's configurations and runs: 300 synchronous requests of one size, one pattern."""

from collections.abc import Callable, Iterator, Mapping, Sequence
from dataclasses import dataclass, fields, replace
from typing import Any

from ssdscope.errors import DeviceError, UsageError
from ssdscope.probes.budget import StageProgress
from ssdscope.studies.running import columns_of
from ssdscope.targets import Device, RunResult, Target, open_target
from ssdscope.workloads import Workload

REQUESTS = 300
SIZES_BYTES = tuple(8 * 1024 << step for step in range(10))
PATTERNS = ("read", "randread", "write", "randwrite")
CLEARED = "randread-as-writes"
"""The list of the random reads with its read bit cleared, so that it is run as writes."""
REGION_BYTES = 3 << 29
"""Random requests fall into the first 1.5 GiB: it is exported in every configuration."""
READS_DRAW = 1 << 20
"""Added to the seed, since random reads and random writes had a trace each."""

RESERVE_PERCENT = {5: 15, 50: 51, 90: 91}
"""The paper does not say what share is reserved. 15 % is the simulator's default, with which 50 or
90 % of the blocks cannot be kept free; there it is the smallest whole reserve that can. For 5 %
that would be 6 %, with which 32 GB collect too (figure ``collection``)."""


@dataclass(frozen=True)
class Setting:
    """What a trial or a refutation changes of the whole study.

    Attributes
    ----------
    requests
        Of each point of figure 1.
    reserve_5, reserve_50, reserve_90
        The share reserved, in percent, where so much is kept free.
    region_mib
        Where random requests of figure 1 fall.
    reads_as_writes
        Whether the list of random reads has its read bit cleared, so that it is run as writes.
    independent
        Whether the requests of a run are taken as independent, as papers mostly do.
    sectors
        Whether the printed organisation is taken as the simulator's file counts.
    disk_buffer
        Whether the disks' buffers are on.
    wear_blocks
        Blocks per plane of the drive that is worn out.
    """

    requests: int = REQUESTS
    reserve_5: float = RESERVE_PERCENT[5]
    reserve_50: float = RESERVE_PERCENT[50]
    reserve_90: float = RESERVE_PERCENT[90]
    region_mib: int = REGION_BYTES >> 20
    reads_as_writes: bool = False
    independent: bool = False
    sectors: bool = False
    disk_buffer: bool = True
    wear_blocks: int = 128


AS_IT_IS = Setting()


@dataclass(frozen=True)
class Line:
    """One line of a picture: its name, and what opens its drive for a seed."""

    label: str
    open: Callable[[int], Target]


@dataclass(frozen=True)
class Configuration:
    """One line of figure 1.

    Attributes
    ----------
    reserve_percent
        None for that of `RESERVE_PERCENT`.
    """

    policy: str
    min_free_percent: int
    size_gb: int
    reserve_percent: float | None = None

    @property
    def label(self) -> str:
        """The line's name in the paper."""
        policy = {"greedy": "Greedy", "wear-aware": "Wear-Aware"}[self.policy]
        return f"{policy}/{self.min_free_percent}% min/{self.size_gb}GB"

    @property
    def reserve_ratio(self) -> float:
        """The share of the blocks that is not exported."""
        return (self.reserve_percent or RESERVE_PERCENT[self.min_free_percent]) / 100

    def open(self, seed: int, sets: Sequence[str] = ()) -> Target:
        """Open the simulated drive, with changes to its file."""
        own = (
            f"gc.policy={self.policy}",
            f"gc.low_water_ratio={self.min_free_percent / 100}",
            f"msr.reserve_ratio={self.reserve_ratio}",
        )
        return open_target(f"sim:msr-{self.size_gb}gb", sets=(*own, *sets), seed=seed)

    def line(self) -> Line:
        """Give the line of figure 1."""
        return Line(self.label, self.open)


CONFIGURATIONS = tuple(
    Configuration(policy, percent, size)
    for size, percents in ((32, (5, 50, 90)), (4, (5, 50)))
    for policy in ("greedy", "wear-aware")
    for percent in percents
)


@dataclass(frozen=True)
class Cell:
    """One point of figure 1; `failure` tells why there is none."""

    line: str
    pattern: str
    size_bytes: int
    requests: int = 0
    mean_ns: float = float("nan")
    stddev_ns: float = float("nan")
    ci95_low_ns: float = float("nan")
    ci95_high_ns: float = float("nan")
    p50_ns: int | None = None
    max_ns: int = 0
    block_erases: int = 0
    gc_pages_moved: int = 0
    failure: str = ""


Cells = Mapping[tuple[str, str, int], Cell]
"""Points by line, pattern and size."""


def configurations(setting: Setting = AS_IT_IS) -> list[Configuration]:
    """Return the ten, with the reserves that are set."""
    reserves = {5: setting.reserve_5, 50: setting.reserve_50, 90: setting.reserve_90}
    return [
        replace(each, reserve_percent=reserves[each.min_free_percent]) for each in CONFIGURATIONS
    ]


def figure_1(
    seed: int, setting: Setting, progress: StageProgress, min_free_percent: int | None = None
) -> Cells:
    """Run all patterns and sizes of the ten configurations, or of those of one limit."""
    lines = [
        each.line()
        for each in configurations(setting)
        if min_free_percent in (None, each.min_free_percent)
    ]
    cells = run_lines(lines, seed, progress, setting=setting)
    if not setting.reads_as_writes:
        return cells
    as_reads = {
        (line, "randread", size): replace(cell, pattern="randread")
        for (line, pattern, size), cell in cells.items()
        if pattern == CLEARED
    }
    return {**cells, **as_reads}


def run_lines(
    lines: Sequence[Line],
    seed: int,
    progress: StageProgress,
    patterns: Sequence[str] = (*PATTERNS, CLEARED),
    sizes: Sequence[int] = SIZES_BYTES,
    setting: Setting = AS_IT_IS,
) -> dict[tuple[str, str, int], Cell]:
    """Run patterns and sizes of every line, on all cores.

    Every point starts from the same state, and all lines run the same requests.
    """
    from joblib import Parallel, delayed

    # A run is one call into Rust that lets go of Python, so threads are enough.
    workers = Parallel(n_jobs=-1, prefer="threads", return_as="generator_unordered")
    tasks = [(each, pattern) for each in lines for pattern in patterns]
    outcomes = workers(
        delayed(_column)(each, pattern, sizes, seed, setting) for each, pattern in tasks
    )
    cells: dict[tuple[str, str, int], Cell] = {}
    try:
        for done, column in enumerate(outcomes, start=1):
            cells |= {(cell.line, cell.pattern, cell.size_bytes): cell for cell in column}
            progress(f"{setting.requests} requests: {column[0].line}", done / len(tasks))
    finally:
        outcomes.close()
    # In the order of the tasks, whichever ended first.
    order = [(line.label, pattern, size) for line, pattern in tasks for size in sizes]
    return {key: cells[key] for key in order}


def _column(
    line: Line, pattern: str, sizes: Sequence[int], seed: int, setting: Setting
) -> list[Cell]:
    device = line.open(seed).device
    unit = device.info.logical_block_bytes
    return [
        measure(device.fork(), line.label, pattern, size, seed, setting)
        if size % unit == 0
        else Cell(line.label, pattern, size, failure=f"no whole number of pages of {unit} bytes")
        for size in sizes
    ]


def run_target(
    target: Target, seed: int, progress: StageProgress
) -> tuple[dict[tuple[str, str, int], Cell], bool]:
    """Run the same procedure on any drive: reads alone where writing is not allowed.

    Returns
    -------
    cells, interrupted
        The points, and whether Ctrl-C came before the last.
    """
    cells: dict[tuple[str, str, int], Cell] = {}
    plan = list(_plan(target.device))
    if not plan:
        raise UsageError(
            f"target {target.uri!r} holds {target.capacity_bytes} bytes: too few for two requests "
            f"of {SIZES_BYTES[0]}"
        )
    try:
        for done, (pattern, size) in enumerate(plan, start=1):
            device = target.device.fork() if target.device.info.snapshot else target.device
            cells[target.uri, pattern, size] = measure(device, target.uri, pattern, size, seed)
            progress(f"{pattern} {size // 1024} KB", done / len(plan))
    except KeyboardInterrupt:
        if not cells:
            raise
        return cells, True
    return cells, False


def _plan(device: Device) -> Iterator[tuple[str, int]]:
    """List the points; reads first, for on a real drive writes change what would be read."""
    info = device.info
    for pattern in PATTERNS:
        if "write" in pattern and not info.writable:
            continue
        for size in SIZES_BYTES:
            if size % info.logical_block_bytes == 0 and 2 * size <= info.capacity_bytes:
                yield pattern, size


def left_out(target: Target) -> list[str]:
    """Say what of the procedure this drive does not take."""
    notes = []
    if not target.device.info.writable:
        notes.append("writes are left out: the target is open for reading only")
    if target.capacity_bytes < REGION_BYTES:
        notes.append(
            f"requests fall into {target.capacity_bytes} bytes, all there are, instead of 1.5 GiB"
        )
    return notes


def workload(
    device: Device, pattern: str, size_bytes: int, seed: int, setting: Setting = AS_IT_IS
) -> Workload:
    """Return the requests of one point."""
    region = min(setting.region_mib << 20, device.info.capacity_bytes) // size_bytes * size_bytes
    return Workload(
        rw="randwrite" if pattern == CLEARED else pattern,
        block_bytes=size_bytes,
        size_bytes=region,
        requests=setting.requests,
        seed=seed + READS_DRAW * (pattern in {"randread", CLEARED}),
    )


def measure(
    device: Device,
    line: str,
    pattern: str,
    size_bytes: int,
    seed: int,
    setting: Setting = AS_IT_IS,
) -> Cell:
    """Run one point. A drive that gets stuck is a gap with a reason, as it was in 2015."""
    try:
        result = device.run(workload(device, pattern, size_bytes, seed, setting))
    except DeviceError as error:
        return Cell(line, pattern, size_bytes, failure=error.message)
    return _cell(line, pattern, size_bytes, result.whole())


def _cell(line: str, pattern: str, size_bytes: int, result: RunResult) -> Cell:
    direction = result.only()
    latency = direction.latency_ns
    counters = result.counters or {}
    return Cell(
        line,
        pattern,
        size_bytes,
        requests=direction.requests,
        mean_ns=latency.mean,
        stddev_ns=latency.stddev,
        ci95_low_ns=latency.mean if latency.ci95_low is None else latency.ci95_low,
        ci95_high_ns=latency.mean if latency.ci95_high is None else latency.ci95_high,
        p50_ns=latency.p50,
        max_ns=latency.max,
        block_erases=counters.get("block_erases", 0),
        gc_pages_moved=counters.get("gc_pages_moved", 0),
    )


def gaps(cells: Cells) -> list[str]:
    """Name the points that could not be measured; lines and sizes of one reason share a note."""
    lines: dict[tuple[str, int, str], list[str]] = {}
    for cell in cells.values():
        if cell.failure:
            lines.setdefault((cell.pattern, cell.size_bytes, cell.failure), []).append(cell.line)
    sizes: dict[tuple[str, str, str], list[str]] = {}
    for (pattern, size, failure), stuck in lines.items():
        key = (" and ".join(stuck), pattern, failure)
        sizes.setdefault(key, []).append(f"{size // 1024} KB")
    return [
        f"{stuck}, {pattern} at {', '.join(at)}: {failure}"
        for (stuck, pattern, failure), at in sizes.items()
    ]


def columns(cells: Cells) -> dict[str, list[Any]]:
    """Return every point's numbers as columns."""
    return columns_of(list(cells.values()), [each.name for each in fields(Cell)])
