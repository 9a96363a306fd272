"""The runs that models learn from, on each of the five drives; they are kept and gone on with.

Of every drive there are two files of the form that `model collect` writes, so that all other
commands read them:

``huang2011-grid-DEVICE.parquet``
    The paper's 12,000 workloads; one in twenty of them run again with other draws, for the noise;
    and a quarter as many of the law of the Sobol design, drawn first and from a seed of their
    own, to which all models of the drive are held.
``huang2011-sobol-DEVICE.parquet``
    4,096 of a Sobol design, one in sixteen run again.

Every run begins on a copy of a drive that was in use and ends as the paper's do: when the mean
latency is known to 1 %, or after a minute of the drive's time. What is counted begins once 4 MiB
were written, or as much as fills the drive's buffer (`filling`), which tells nothing of a minute.
What is there is not run again; a file of another drive, another seed or a preset that was changed
since is refused.

A part of the grid may be taken. It goes into the same files, and counts for all of it later.
"""

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field, replace
from hashlib import sha256
from pathlib import Path

from ssdscope.errors import UsageError, nearest
from ssdscope.models import collecting, designs
from ssdscope.models.collecting import Plan
from ssdscope.models.table import Collected, Table, begun
from ssdscope.probes.budget import StageProgress
from ssdscope.studies.huang2011.procedure import PRESETS
from ssdscope.studies.record import Measured
from ssdscope.targets import Target, open_target
from ssdscope.workloads.grid import FILLED_STOP, Stop

DEVICES = tuple(PRESETS)
GRID, SOBOL = "grid", "sobol"
POINTS = {GRID: designs.GRID_POINTS, SOBOL: 4096}
TEST_SHARE = {GRID: 1 / 4, SOBOL: 0.0}
REPEAT_SHARE = {GRID: 1 / 20, SOBOL: 1 / 16}
LEAST = 240
"""Runs of the grid that a quick look has at least: fewer say nothing of a tree."""
JUDGED = 3600
"""With fewer of them nothing is judged: errors depend on how many there are (`docs/studies.md`)."""


@dataclass(frozen=True)
class Part:
    """Which of the runs are wanted.

    Attributes
    ----------
    folder
        Where the files are.
    seed
        Of all that is drawn.
    count
        How many workloads of the grid; the other counts shrink with it.
    devices
        On which drives.
    jobs
        Runs at a time; -1 for all cores.
    stop
        When a run ends.
    sets
        By drive, what is set on its preset; such runs have files of their own.
    """

    folder: Path
    seed: int
    count: int = designs.GRID_POINTS
    devices: tuple[str, ...] = DEVICES
    jobs: int = -1
    stop: Stop = FILLED_STOP
    sets: Mapping[str, Sequence[str]] = field(default_factory=dict)

    @property
    def whole(self) -> bool:
        """Whether nothing of the paper's grid is left out."""
        return self.count >= designs.GRID_POINTS

    @property
    def judged(self) -> bool:
        """Whether there are enough runs to say if the paper's models are as good."""
        return self.count >= JUDGED and self.stop == FILLED_STOP

    def path(self, device: str, design: str) -> Path:
        """Name the file of a drive's runs."""
        sets = self.sets.get(device)
        mark = f"-{sha256(repr(sets).encode()).hexdigest()[:8]}" if sets else ""
        return self.folder / f"huang2011-{design}-{device}{mark}.parquet"

    def open(self, device: str) -> Target:
        """Open a device's preset."""
        sets = tuple(self.sets.get(device, ()))
        return open_target(f"sim:{PRESETS[device]}", sets=sets, seed=self.seed)

    def plan(self, design: str) -> Plan:
        """Say what is to be run."""
        points = min(POINTS[design], round(POINTS[design] * self.count / POINTS[GRID]))
        return Plan(
            design=design,
            points=points,
            test=round(points * TEST_SHARE[design]),
            repeats=round(points * REPEAT_SHARE[design]),
            seed=self.seed,
            stop=self.stop,
            jobs=self.jobs,
        )


def part(folder: Path, seed: int, count: int | None, only: str | None, jobs: int | None) -> Part:
    """Read what the user asks for.

    Raises
    ------
    UsageError
        If there is no such device, or there are too few runs.
    """
    wanted = designs.GRID_POINTS if count is None else count
    if not LEAST <= wanted <= designs.GRID_POINTS:
        raise UsageError(
            f"--count: {wanted} is not between {LEAST} and {designs.GRID_POINTS:,}",
            hint="it is the number of workloads of the grid that models learn from",
        )
    devices = DEVICES if only is None else tuple(each.strip() for each in only.split(","))
    for device in devices:
        if device not in DEVICES:
            raise UsageError(
                f"--only: {device!r} is no device of the paper", hint=nearest(device, DEVICES)
            )
    return Part(folder, seed, wanted, devices, -1 if jobs is None else jobs)


def collect(
    wanted: Part, device: str, design: str, progress: StageProgress, *, held_only: bool = False
) -> list[Collected]:
    """Return the runs of a drive in the order of the design; those that are missing are made.

    Parameters
    ----------
    held_only
        Make those alone that models are held to, not the grid that some learn from.

    Raises
    ------
    UsageError
        If the file holds runs of something else.
    KeyboardInterrupt
        After Ctrl-C; what there is is in the file.
    """
    target = wanted.open(device)
    path = wanted.path(device, design)
    plan = collecting.filled(wanted.plan(design), target.device, path)
    if held_only:
        plan = replace(plan, points=0, repeats=0)
    tasks, skipped = collecting.tasks(target.device.info, plan)
    header = plan.header(_about(target, wanted.sets.get(device, ())), skipped)
    stage = f"{design} on {device}"
    with Table(path, header) as table:
        collecting.collect(
            target.device, plan, table, lambda what, share: progress(f"{stage}: {what}", share)
        )
        there = {each.key: each for each in table.rows}
        asked = ((task.split, task.vector) for task in tasks)
        return [there[key] for key in asked if key in there]


def as_judged(made: Measured, wanted: Part) -> Measured:
    """Say of how many workloads a figure is, and take its readings off if they are too few."""
    if wanted.whole:
        return made
    said = f"Models learn from {wanted.count:,} of the grid's {designs.GRID_POINTS:,} workloads"
    if wanted.judged:
        return replace(made, notes=[said, *made.notes])
    few = f"{said}. So few say little of the paper's: nothing is judged with fewer than {JUDGED:,}"
    return replace(made, readings={}, notes=[few, *made.notes])


def stop_of(wanted: Part, device: str) -> Stop:
    """Say when the runs that were made of a drive ended."""
    header = begun(wanted.path(device, GRID)) or {}
    return replace(wanted.stop, fill_bytes=header.get("fill_bytes", wanted.stop.fill_bytes))


def _about(target: Target, sets: Sequence[str]) -> dict[str, object]:
    return {
        "target": target.uri,
        "state": target.state,
        "sets": list(sets),
        "capacity_bytes": target.capacity_bytes,
        "writable": target.device.info.writable,
        "fingerprint": target.fingerprint(),
    }
