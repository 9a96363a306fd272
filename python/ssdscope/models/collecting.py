"""Workloads run on a drive for a model, each from the same state, in random order.

A simulated drive is brought into use once (`grid.use`) and copied for each run. A real one cannot
be copied. Where nothing is written nothing is worn. Where it is, the drive is written full and
settled first, and a short sentinel workload is measured now and then. If it has drifted from what
it was, the drive is settled again and the runs since the last good sentinel are marked, since
nobody knows what they saw.
"""

import math
from collections.abc import Callable, Iterator, Sequence
from contextlib import closing
from dataclasses import dataclass, replace
from pathlib import Path
from typing import Any

import numpy as np

from ssdscope.errors import DeviceError
from ssdscope.models import designs
from ssdscope.models.table import Collected, Runs, begun
from ssdscope.seeds import stream
from ssdscope.targets import Device, DeviceInfo
from ssdscope.workloads import Workload, grid, measuring
from ssdscope.workloads.filling import fill_bytes
from ssdscope.workloads.grid import FILLED_STOP, Drawn, Stop, Vector
from ssdscope.workloads.preconditioning import fill_sequentially, overwrite_randomly

StageProgress = Callable[[str, float], None]
REPEAT_SEED = 0x5EED
TEST_SEED = 0x7E57
SENTINEL_EVERY = 16
SENTINEL_REQUESTS = 256
SENTINEL_TIMES = 5
"""The median of so many counts: others that use the machine must not pass for the drive."""
SENTINEL_MAX = 0.20
"""By how much it may leave the first one's."""
SETTLE_REGIONS = 1.0
"""A drive is overwritten at random this often before the first run."""
ADAPTIVE_START = 0.25
ADAPTIVE_BATCHES = 6
BATCH = 32
"""Runs at a time, where they are counted: between two batches it is known what is left."""


@dataclass(frozen=True)
class Plan:
    """What is to be collected.

    Attributes
    ----------
    points, test, repeats
        Runs to learn from; off the grid, to be held to; of the first again, with other draws,
        which tell what no model can predict.
    stop
        When a run ends.
    jobs
        Runs at a time on copies of a simulated drive; -1 for all cores.
    prepare
        Whether a real drive is filled and settled first; not if it was just before.
    size_bytes
        Requests fall into so many bytes from the drive's start on; into all of it if None.
    """

    design: str
    points: int
    test: int
    repeats: int
    seed: int
    stop: Stop = FILLED_STOP
    jobs: int = -1
    prepare: bool = True
    size_bytes: int | None = None

    def header(self, target: dict[str, Any], skipped: int) -> dict[str, Any]:
        """Describe the collection for its file."""
        return {
            "design": self.design,
            "points": self.points,
            "test": self.test,
            "repeats": self.repeats,
            "skipped": skipped,
            "seed": self.seed,
            "until_ci": self.stop.until_ci,
            "runtime_ns": self.stop.runtime_ns,
            "fill_bytes": self.stop.fill_bytes,
            "size_bytes": self.size_bytes,
            **target,
        }


@dataclass(frozen=True)
class Task:
    """One run to be made."""

    split: str
    vector: Vector
    seed: int

    @property
    def drawn(self) -> Drawn:
        """What is run, and its seed: runs of one split are drawn together."""
        return Drawn(self.vector, self.seed)


@dataclass
class _Sentinel:
    """A workload that tells whether a real drive is still what it was."""

    device: Device
    seed: int
    first_ns: float = 0.0

    def typical_ns(self) -> float:
        return float(np.median([self._mean_ns(number) for number in range(SENTINEL_TIMES)]))

    def _mean_ns(self, number: int) -> float:
        found = self.device.run(
            Workload(
                rw="randwrite",
                block_bytes=max(4096, self.device.info.logical_block_bytes),
                iodepth=4,
                requests=SENTINEL_REQUESTS,
                seed=self.seed + number,
            )
        )
        return found.whole().only().latency_ns.mean

    def good(self) -> bool:
        return abs(self.typical_ns() / self.first_ns - 1) <= SENTINEL_MAX


def tasks(info: DeviceInfo, plan: Plan) -> tuple[list[Task], int]:
    """List the runs of a plan, as far as they are known before any is made.

    Returns
    -------
    tasks, skipped
        In the order of the design, and how many workloads the drive does not take. Of an
        adaptive design only the beginning is there.
    """
    skipped = 0
    if plan.design == "grid":
        train, skipped = designs.of_grid(info, plan.points, plan.seed)
    elif plan.design == "adaptive":
        train = designs.sobol(info, _begin(plan.points), plan.seed)
    else:
        train = designs.sobol(info, plan.points, plan.seed)
    train = list(dict.fromkeys(train))
    held = designs.off_grid(info, plan.test, plan.seed + TEST_SEED)
    rng = stream(plan.seed, "models.collecting.repeats")
    again = rng.permutation(len(train))[: plan.repeats]
    found = [Task("test", vector, plan.seed + TEST_SEED) for vector in dict.fromkeys(held)]
    found += [Task("train", vector, plan.seed) for vector in train]
    found += [Task("repeat", train[index], plan.seed + REPEAT_SEED) for index in sorted(again)]
    return found, skipped


def filled(plan: Plan, device: Device, path: str | Path) -> Plan:
    """Say how much its runs write before they count: as they began to, or as the drive needs."""
    header = begun(path)
    known = None if header is None else header.get("fill_bytes")
    fill = fill_bytes(device, plan.seed) if known is None else int(known)
    return replace(plan, stop=replace(plan.stop, fill_bytes=fill))


def _begin(points: int) -> int:
    return max(32, round(ADAPTIVE_START * points))


def collect(device: Device, plan: Plan, table: Runs, progress: StageProgress) -> None:
    """Make the runs of a plan that the table does not hold.

    Parameters
    ----------
    device
        The drive, open for writing if the runs shall write.
    plan
        What is wanted.
    table
        Where the runs go, each as soon as it has ended.
    progress
        Told what is done, and the share.

    Raises
    ------
    DeviceError
        If the drive as a whole fails.
    KeyboardInterrupt
        After Ctrl-C.
    """
    planned, _ = tasks(device.info, plan)
    count = len(planned) + (plan.points - _begin(plan.points)) * (plan.design == "adaptive")
    missing = _missing(planned, table)
    if not missing and plan.design != "adaptive":
        return
    runner = _copies if device.info.snapshot else _one_after_another
    progress("preparing the drive", 0.0)
    ready = _ready(device, plan, progress)

    def make(wanted: Sequence[Task]) -> None:
        order = stream((plan.seed, len(wanted)), "models.collecting.order").permutation(len(wanted))
        for row in runner(ready, [wanted[index] for index in order], plan):
            table.append(row)
            progress(f"{len(table.known)} of {count} runs", len(table.known) / count)

    make(missing)
    if plan.design == "adaptive":
        for batch in _batches(plan.points):
            make(_missing(_next(device.info, plan, table, batch), table))


def _missing(wanted: Sequence[Task], table: Runs) -> list[Task]:
    return [task for task in wanted if (task.split, task.vector) not in table.known]


def _batches(points: int) -> list[int]:
    """Say how many runs to learn from there are after each batch."""
    begin = _begin(points)
    ends = np.linspace(begin, points, ADAPTIVE_BATCHES + 1)[1:]
    return [round(end) for end in ends]


def _next(info: DeviceInfo, plan: Plan, table: Runs, until: int) -> list[Task]:
    rows = [each.row for each in table.rows if each.split == "train" and each.usable]
    held = sum(1 for split, _ in table.known if split == "train")
    if held >= until:
        return []
    known, latencies = [row.vector for row in rows], [row.latency_ns for row in rows]
    chosen = designs.least_sure(known, latencies, info, until - held, plan.seed + until)
    return [Task("train", vector, plan.seed) for vector in chosen]


def _ready(device: Device, plan: Plan, progress: StageProgress) -> Device:
    """Bring a drive into the state that runs begin in; a simulated one is left as it was."""
    if device.info.snapshot:
        copy = device.fork()
        if copy.info.writable:
            grid.use(copy, plan.seed)
        return copy
    if device.info.writable and plan.prepare:
        fill_sequentially(device)
        _settle(device, plan.seed, progress)
    return device


def _settle(device: Device, seed: int, progress: StageProgress) -> None:
    progress("settling the drive by random writes", 0.0)
    amount = round(SETTLE_REGIONS * device.info.capacity_bytes)
    overwrite_randomly(device, io_bytes=amount, seed=seed).whole()


def _copies(device: Device, wanted: Sequence[Task], plan: Plan) -> Iterator[Collected]:
    """Run each on a copy, several at a time."""
    wanted = [wanted[place] for place in measuring.alike_together([each.drawn for each in wanted])]
    for some in batches(wanted, device):
        drawn = [task.drawn for task in some]
        rows = measuring.on_copies(device, drawn, plan.stop, plan.size_bytes, plan.jobs)
        with closing(rows):
            for task, row in zip(some, rows, strict=True):
                yield Collected(task.split, row)


def batches(wanted: Sequence[Task], device: Device) -> Iterator[Sequence[Task]]:
    """Hand out tasks, some at a time, until what may be spent on the drive is used up."""
    size = BATCH if math.isfinite(device.left_s()) else max(len(wanted), 1)
    for begin in range(0, len(wanted), size):
        if not device.left_s():
            return
        yield wanted[begin : begin + size]


def _one_after_another(device: Device, wanted: Sequence[Task], plan: Plan) -> Iterator[Collected]:
    """Run all on the drive itself; where it is written, give rows once a sentinel vouches."""
    made = (
        Collected(task.split, measuring.measure(device, task.drawn, plan.stop, plan.size_bytes))
        for task in wanted
    )
    if not device.info.writable:
        yield from made
        return
    sentinel = _Sentinel(device, plan.seed)
    sentinel.first_ns = sentinel.typical_ns()
    held: list[Collected] = []
    try:
        for row in made:
            held.append(row)
            if len(held) == SENTINEL_EVERY:
                yield from _vouched(sentinel, held, plan.seed)
                held = []
    except (KeyboardInterrupt, DeviceError):
        # Nobody can vouch for these any more, and they are not thrown away.
        yield from _marked(held)
        raise
    yield from _vouched(sentinel, held, plan.seed)


def _vouched(sentinel: _Sentinel, held: list[Collected], seed: int) -> list[Collected]:
    if not held or sentinel.good():
        return held
    _settle(sentinel.device, seed, lambda _what, _share: None)
    if not sentinel.good():  # it will not come back: what follows is held to what it is now
        sentinel.first_ns = sentinel.typical_ns()
    return _marked(held)


def _marked(rows: Sequence[Collected]) -> list[Collected]:
    return [Collected(each.split, each.row, state_ok=False) for each in rows]
