"""Designs run what the drive ran, from the states it ran it in."""

from __future__ import annotations

import math
import sys
from collections.abc import Callable, Iterator, Sequence, Set
from dataclasses import dataclass, field
from typing import TYPE_CHECKING, Literal, TypeAlias

import numpy as np

from ssdscope.errors import SsdscopeError
from ssdscope.targets import work
from ssdscope.targets.copies import Course, Outcome, run_on_copies
from ssdscope.targets.crew import Crew
from ssdscope.targets.drive_writer import drive_toml, open_drive
from ssdscope.twin.noise import without_spikes
from ssdscope.twin.rows import Row, stacked
from ssdscope.twin.smaller import at_rest, for_bursts, written_over
from ssdscope.workloads import Workload
from ssdscope.workloads.figures import counted, stretch_latencies_ns

if TYPE_CHECKING:
    from collections.abc import Mapping

    import numpy.typing as npt

    from ssdscope.targets import Device
    from ssdscope.twin.design import Design, Value

Which: TypeAlias = Literal["all", "quick", "slow", "cheap"]
LABEL = "twin"
READS_BYTES, READS_LEAST = 16 << 20, 128
"""Reads change nothing, so fewer than were measured do for a search."""
SMALL_BYTES, SMALL_SHARES, SMALL_MOST = 4096, (1 / 16, 1 / 4), 10_000
"""Random writes up to that size run on a drive that such brought to rest: what they write of it
before and while they count, as shares; and requests, that are enough on any drive."""
LARGE_SHARES = (5 / 4, 1 / 4)
"""Likewise of all other writes: they bring a drive to rest that was filled in order."""
LEAST_REQUESTS = 200
AT_ONCE = 4
"""Designs that are open at a time: they take memory."""
OPEN_S, REST_BYTE_S = 5e-3, 2.5e-10
"""What it costs on one core to open a drive, and more by byte of one that was written over."""


def opened(values: Mapping[str, Value], state: str | None, seed: int) -> Device | None:
    """Open a drive with these values; None if no drive can have them."""
    try:
        return open_drive(drive_toml(values, []), LABEL, seed, state=state)
    except SsdscopeError:
        return None


@dataclass
class Runner:
    """Runs designs on rows, counts what that took, and remembers what came out.

    Attributes
    ----------
    rows
        What they are held to.
    seed
        Of drives and workloads.
    spent_s
        What it took, counted, in seconds of one core.
    progress
        Told that, after each few designs.
    most_s
        What it may take; it goes on all the same for whoever does not ask if that is `over`.
    all_reads
        Whether as many reads are run as were measured.
    """

    rows: Sequence[Row]
    seed: int
    spent_s: float = 0.0
    progress: Callable[[float], object] | None = None
    most_s: float = math.inf
    all_reads: bool = False
    _seen: dict[str, npt.NDArray[np.float64]] = field(default_factory=dict)

    @property
    def over(self) -> bool:
        """Whether it took all that it may."""
        return self.spent_s >= self.most_s

    def logs(
        self, designs: Sequence[Design], which: Which = "all"
    ) -> list[npt.NDArray[np.float64]]:
        """Return the logarithms of what each takes, row by row as `Row.logs`.

        Not a number where it does not come to an end, and all of one that no drive can be.

        Parameters
        ----------
        designs
            What is run.
        which
            Rows that are run: ``quick`` ones, ``slow`` ones, of the quick the ``cheap`` ones, or
            all. The others are not numbers.
        """
        if which == "quick" and not any(row.slow for row in self.rows):
            which = "all"
        keys = [f"{which} {each.key}" for each in designs]
        new = {key: each for key, each in zip(keys, designs, strict=True) if key not in self._seen}
        names, every = list(new), list(new.values())
        for at in range(0, len(every), AT_ONCE):
            ran = self._run(every[at : at + AT_ONCE], which)
            self._seen |= dict(zip(names[at : at + AT_ONCE], ran, strict=True))
            if self.progress is not None:
                self.progress(self.spent_s)
        return [self._seen[key] for key in keys]

    def _run(self, designs: Sequence[Design], which: Which) -> list[npt.NDArray[np.float64]]:
        """Run designs side by side; those rows first that take longest."""
        asked_of = [at for at, row in enumerate(self.rows) if _is_asked(row, which)]
        needed = {_form(self.rows[at]) for at in asked_of}
        forms = [dict(self._forms(each, needed)) for each in designs]
        with Crew() as crew:
            waiting = [
                {name: crew.submit(opened, without_spikes(form.file())[0], state, self.seed)
                 for name, (form, state) in each.items()}
                for each in forms
            ]  # fmt: skip
            devices = [{name: task.result() for name, task in each.items()} for each in waiting]
        order = sorted(asked_of, key=lambda at: _effort(self.rows[at]), reverse=True)
        asked = [
            (number, at, device, self._plans(at, device))
            for number, each in enumerate(devices)
            for at in order
            if (device := each[_form(self.rows[at])]) is not None
        ]
        parts = [[np.full(row.logs().size, np.nan) for row in self.rows] for _ in designs]
        courses = [Course(device, plans, logged=True) for _, _, device, plans in asked]
        for (number, at, _, plans), outcome in zip(asked, run_on_copies(courses), strict=True):
            self.spent_s += sum(work.of_run(each) for each in outcome.results)
            held_ns = without_spikes(designs[number].values)[1]
            parts[number][at] = _logs(self.rows[at], outcome, plans[-1], held_ns)
        self.spent_s += sum(
            _opening_s(device, forms[number][name][1])
            for number, each in enumerate(devices)
            for name, device in each.items()
        )
        return [stacked(each) for each in parts]

    def _plans(self, at: int, device: Device) -> list[Workload]:
        """Return what a row runs: what counts is the last."""
        row, seed = self.rows[at], self.seed + at
        plan = Workload(rw=row.rw, block_bytes=row.block_bytes, iodepth=row.iodepth, seed=seed)
        if row.sort == "rest":
            small = _form(row) == "steady"
            shares, most = (SMALL_SHARES, SMALL_MOST) if small else (LARGE_SHARES, sys.maxsize)
            whole = device.info.capacity_bytes // row.block_bytes
            warm, count = (min(max(round(each * whole), LEAST_REQUESTS), most) for each in shares)
            return [counted(plan, warm), counted(plan.seeded(seed + 1), count)]
        if row.sort == "read" and not self.all_reads:
            most = max(READS_BYTES // row.block_bytes, READS_LEAST)
            return [counted(plan, min(row.requests, most))]
        return [counted(plan, row.requests)]

    def _forms(self, design: Design, needed: Set[str]) -> Iterator[tuple[str, tuple[Design, str]]]:
        """Return the drives that rows need: as it was found, and at rest."""
        longest = max((row.burst_bytes for row in self.rows), default=0)
        state = str(design.values.get("default_state", "sequential"))
        if "found" in needed:
            yield "found", (for_bursts(design, longest), state)
        if needed - {"found"}:
            small = at_rest(design)
            yield from ((name, (small, name)) for name in sorted(needed - {"found"}))


def _is_asked(row: Row, which: Which) -> bool:
    kinds = {"slow": row.slow, "quick": not row.slow, "cheap": row.cheap}
    return kinds.get(which, True)


def _form(row: Row) -> str:
    if row.sort != "rest":
        return "found"
    small = row.rw == "randwrite" and row.block_bytes <= SMALL_BYTES
    return "steady" if small else "sequential"


def _opening_s(device: Device | None, state: str) -> float:
    if device is None:
        return OPEN_S
    return OPEN_S + REST_BYTE_S * device.info.capacity_bytes * written_over(state)


def _effort(row: Row) -> float:
    """Tell which rows take longest: what is written at random moves more than itself."""
    if row.sort == "rest":
        return float("inf")
    return row.burst_bytes * (4 if row.rw == "randwrite" else 1)


def _logs(row: Row, outcome: Outcome, plan: Workload, held_ns: float) -> npt.NDArray[np.float64]:
    """Take what came out, in the parts that the drive was told in.

    Where requests wait for each other, what holds up single ones does not show.
    """
    count = row.logs().size
    try:
        latencies = stretch_latencies_ns(outcome.last_log, plan)
    except SsdscopeError:
        return np.full(count, np.nan)
    if latencies.size < count:
        return np.full(count, np.nan)
    more_ns = held_ns if row.iodepth == 1 else 0.0
    if count == 1:
        return np.log([latencies.mean() + more_ns])
    ends = np.rint(row.shares * latencies.size).astype(int)
    return np.log([part.mean() + more_ns for part in np.split(latencies, ends[1:-1])])


def means_ns(runner: Runner, design: Design) -> npt.NDArray[np.float64]:
    """Return the mean latency of each row; not a number where it does not come to an end."""
    (logs,) = runner.logs([design])
    ends = np.cumsum([row.logs().size for row in runner.rows])[:-1]
    parts = zip(runner.rows, np.split(logs, ends), strict=True)
    return np.array([float(np.exp(part) @ np.diff(row.shares)) for row, part in parts])
