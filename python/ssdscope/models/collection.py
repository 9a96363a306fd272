"""A collection from what a user asks for to its file: options read, runs made, and counted."""

from collections.abc import Callable, Sequence
from dataclasses import dataclass, replace
from typing import Any

from ssdscope.errors import UsageError, nearest
from ssdscope.models import designs
from ssdscope.models.collecting import Plan, StageProgress, collect, filled, tasks
from ssdscope.models.designs import DESIGNS, GRID_POINTS, SMALLEST_DRIVE_BYTES
from ssdscope.models.table import LITTLE_MAX, SPLITS, Collected, Table
from ssdscope.targets import Device
from ssdscope.units import parse_percent, parse_seconds, parse_size
from ssdscope.workloads.grid import FILLED_STOP, Stop

DOUBTFUL_SHARE_MAX = 0.20
LARGEST = 1 << 20
POINTS = 1024
"""Runs to learn from, if nothing else is said."""


@dataclass(frozen=True)
class Options:
    """What is to be collected, in the words of the command line.

    Attributes
    ----------
    points, test, repeats
        Runs to learn from, to test with, and to measure the noise with; None for the usual.
    """

    design: str = "sobol"
    points: int | None = None
    test: int | None = None
    repeats: int | None = None
    until_ci: str = "1%"
    runtime: str = "60s"
    size: str | None = None
    jobs: int = -1

    def plan(self, seed: int) -> Plan:
        """Read them, but for the size.

        Raises
        ------
        UsageError
            If one cannot be meant.
        """
        if self.design not in DESIGNS:
            unknown = f"--design: {self.design!r} is not a design"
            raise UsageError(unknown, hint=nearest(self.design, DESIGNS))
        usual = GRID_POINTS if self.design == "grid" else POINTS
        wanted = usual if self.points is None else self.points
        counts = {
            "points": wanted,
            "test": wanted // 4 if self.test is None else self.test,
            "repeats": wanted // 16 if self.repeats is None else self.repeats,
        }
        for name, count in counts.items():
            least = 1 if name == "points" else 0
            if not least <= count <= LARGEST:
                raise UsageError(f"--{name}: {count} is not between {least} and {LARGEST:,}")
        if self.jobs == 0 or self.jobs < -1:
            unknown = f"--jobs: {self.jobs} is no number of runs"
            raise UsageError(unknown, hint="use 1 or more, or -1")
        points, test, repeats = counts.values()
        return Plan(self.design, points, test, repeats, seed, self._stop(), self.jobs)

    def require(self) -> None:
        """Refuse what cannot be meant, before a drive is opened.

        Raises
        ------
        UsageError
            If an option cannot be.
        """
        self.plan(seed=0)

    def _stop(self) -> Stop:
        stop = Stop(
            _typed("--until-ci", parse_percent, self.until_ci),
            _typed("--runtime", parse_seconds, self.runtime),
            FILLED_STOP.fill_bytes,
        )
        if not 0 < stop.until_ci < 1:
            raise UsageError(f"--until-ci: {self.until_ci} is not between 0% and 100%")
        if stop.runtime_ns <= 0:
            raise UsageError("--runtime: must be more than 0")
        return stop

    def region(self, capacity_bytes: int) -> int | None:
        """Read how much of a drive is used; None for all of it."""
        if self.size is None:
            return None
        found: int = _typed("--size", parse_size, self.size)
        if not SMALLEST_DRIVE_BYTES <= found <= capacity_bytes:
            raise UsageError(
                f"--size: {self.size} is not between {SMALLEST_DRIVE_BYTES} bytes and the drive's "
                f"{capacity_bytes}"
            )
        return found


def _typed(option: str, parse: Callable[[str], Any], text: str) -> Any:
    try:
        return parse(text)
    except UsageError as error:
        raise UsageError(f"{option}: {error.message}", hint=error.hint) from error


@dataclass(frozen=True)
class Job:
    """A collection that can begin.

    Attributes
    ----------
    plan
        What is wanted.
    runs
        How many there are in all.
    skipped
        Workloads that the drive does not take.
    """

    plan: Plan
    runs: int
    skipped: int

    @classmethod
    def of(cls, plan: Plan, options: Options, device: Device, uri: str) -> "Job":
        """Hold a plan against a drive.

        Raises
        ------
        UsageError
            If the drive takes none of it.
        """
        designs.require(device.info)
        sized = replace(plan, size_bytes=options.region(device.info.capacity_bytes))
        planned, skipped = tasks(device.info, sized)
        if not planned:
            raise UsageError(f"target {uri!r} takes none of these workloads")
        return cls(sized, len(planned), skipped)


@dataclass(frozen=True)
class Collection:
    """The runs of a collection, as far as it got.

    Attributes
    ----------
    rows
        All there are.
    out
        The file.
    skipped
        Workloads that the drive does not take.
    before
        How many of the runs were there already.
    interrupted
        Whether Ctrl-C ended it early.
    """

    rows: Sequence[Collected]
    out: str
    skipped: int
    before: int = 0
    interrupted: bool = False

    def summary(self) -> dict[str, Any]:
        """Count runs by what they are for, and by what is wrong with them."""
        fine = [each for each in self.rows if not each.row.failure]
        return {
            **{split: sum(each.split == split for each in self.rows) for split in SPLITS},
            "skipped": self.skipped,
            "failed": len(self.rows) - len(fine),
            "ended_by_time": sum(not each.row.ci_reached for each in fine),
            "against_little": sum(each.row.little_deviation > LITTLE_MAX for each in fine),
            "drifted": sum(not each.state_ok for each in fine),
            "usable": sum(each.usable for each in self.rows),
            "out": self.out,
        }

    @property
    def doubtful(self) -> int:
        """How many failed or are doubtful: no model learns from them."""
        return sum(not each.usable for each in self.rows)

    @property
    def trustworthy(self) -> bool:
        """Whether at most a fifth of the runs are doubtful."""
        return self.doubtful <= DOUBTFUL_SHARE_MAX * len(self.rows)

    def remarks(self) -> list[str]:
        """Say what is doubtful, a sentence each."""
        told = []
        if against := self.summary()["against_little"]:
            told.append(
                f"{against} runs against Little's law: latency times rate is not what was in "
                "flight; something else keeps the host busy, or it answers without the drive"
            )
        if self.doubtful:
            told.append(
                f"{self.doubtful} of {len(self.rows)} runs failed or are doubtful; no model learns "
                "from them"
            )
        return told


def run(
    job: Job, device: Device, out: str, target: dict[str, Any], progress: StageProgress
) -> Collection:
    """Make the runs that a file does not hold, each on disk as soon as it has ended.

    Parameters
    ----------
    job
        What is wanted.
    device
        The drive.
    out
        The file, ending in ``.parquet``; what it holds of the same collection is not run again.
    target
        What the file says of the drive.
    progress
        Told what is done, and the share.

    Raises
    ------
    UsageError
        If the file holds another collection.
    DeviceError
        If the drive as a whole fails.
    """
    plan = filled(job.plan, device, out)
    interrupted = False
    with Table(out, plan.header(target, job.skipped)) as rows:
        before = len(rows.known)
        try:
            collect(device, plan, rows, progress)
        except KeyboardInterrupt:
            interrupted = True
    return Collection(list(rows.rows), out, job.skipped, before, interrupted)
