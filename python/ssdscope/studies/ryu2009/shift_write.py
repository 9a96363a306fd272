"""Figure 7: response time of a write by how far it is shifted; the raw sweep of figure 6.

The paper draws A alone and says of the others that they show their blocks as well. The runs are
those of the detector (`management_block.SWEEPS`), here on the presets as they are: over the host of
figure 13, A's blocks not where the drive begins, B with all its log blocks. The block is found by
folding: the shortest period that explains the points about as well as any does.
"""

import csv
from collections.abc import Sequence
from dataclasses import dataclass, replace
from pathlib import Path

import numpy as np
import numpy.typing as npt

from ssdscope.probes.budget import StageProgress
from ssdscope.probes.literal.shift_write import Sweep
from ssdscope.results.files import creating
from ssdscope.studies.judging import claim
from ssdscope.studies.record import Claim
from ssdscope.studies.ryu2009.detecting import A, B, C, Detecting, Subject
from ssdscope.studies.ryu2009.management_block import SWEEPS

EXPLAINED = 0.7
"""There is a period if one explains this share of the variance, adjusted for its phases."""
AS_GOOD = 0.05
"""Multiples of a period explain as much: the shortest within this of the best is it."""
FLAT = 0.02
"""Points that differ by less than this share have no period."""
LONGEST = 64
"""Positions of the longest period that is looked for."""
SETTLING = 16
"""The first positions are written but do not count: log blocks remember what was before."""

DRAWN = tuple(
    (replace(subject, sets=()), sweep)
    for subject in (A, B, C)
    for sweep in sorted(SWEEPS[subject], key=lambda sweep: sweep.write_bytes)
)
"""Each drive as its preset is, with the sweeps of the detector."""


@dataclass(frozen=True)
class Points:
    """Mean response time at every position of both passes, and the period found in them.

    Attributes
    ----------
    mean_ns
        Over the chunks; the second pass follows the first, shape (2 * positions,).
    """

    subject: Subject
    sweep: Sweep
    mean_ns: npt.NDArray[np.float64]

    @property
    def settled_ns(self) -> npt.NDArray[np.float64]:
        """What counts."""
        return self.mean_ns[min(SETTLING, len(self.mean_ns) // 2) :]

    @property
    def period_bytes(self) -> int | None:
        """The shortest period that explains the points; None if there is none."""
        values = np.log(self.settled_ns)
        if np.ptp(values) < FLAT:
            return None
        periods = range(2, min(len(values) // 2, LONGEST) + 1)
        explained = [_explained(values, steps) for steps in periods]
        best = max(explained)
        if best < EXPLAINED:
            return None
        pairs = zip(periods, explained, strict=True)
        steps = next(steps for steps, share in pairs if share >= best - AS_GOOD)
        return steps * self.sweep.shift_bytes


def _explained(values: npt.NDArray[np.float64], steps: int) -> float:
    """Give the share of the variance between phases, adjusted for how many there are."""
    total = float(np.sum((values - values.mean()) ** 2))
    if total == 0:
        return 0.0
    folded = [values[phase::steps] for phase in range(steps)]
    rest = sum(float(np.sum((each - each.mean()) ** 2)) for each in folded)
    return 1 - rest / (len(values) - steps) / (total / (len(values) - 1))


def measure(seed: int, progress: StageProgress) -> list[Points]:
    """Run every sweep, each on a copy of its drive."""
    detecting = Detecting(seed)
    points = []
    for subject, sweep in DRAWN:
        points.append(run_sweep(detecting, subject, sweep))
        progress(f"figure 7: {subject.label}", len(points) / len(DRAWN))
    return points


def run_sweep(detecting: Detecting, subject: Subject, sweep: Sweep) -> Points:
    """Write every position in every chunk, twice, one request at a time."""
    tried = detecting.bench(subject)
    with tried.allowance(sweep.planned_writes_bytes(printed=False)):
        passes = sweep.run(tried, printed=False)
    return Points(subject, sweep, passes.mean(axis=2).ravel())


def compare(points: Sequence[Points]) -> list[Claim]:
    """Give the period of each sweep, and on which side of the median its exceptions are."""
    return [*map(period, points), *(shape(each) for each in points if each.subject.label == "A")]


def period(points: Points) -> Claim:
    """Compare the period found with the management block that the paper found."""
    sweep, found = points.sweep, points.period_bytes
    paper = points.subject.paper_bytes or 0
    return claim(
        f"{points.subject.label}: writes of {sweep.write_bytes // 1024} KB shifted by "
        f"{sweep.shift_bytes // 1024} KB repeat every",
        paper // 1024,
        "nothing" if found is None else found // 1024,
        "" if found is None else "KB",
        holds=found == paper,
    )


def shape(points: Points) -> Claim:
    """4 KB writes rise where they straddle; 16 and 32 KB writes fall where they are aligned."""
    mean = points.settled_ns
    rises = mean.max() - np.median(mean) > np.median(mean) - mean.min()
    small = points.sweep.write_bytes < (points.subject.paper_bytes or 0)
    return claim(
        f"{points.subject.label}: writes of {points.sweep.write_bytes // 1024} KB "
        + ("are slower once a block" if small else "are faster once a block"),
        "yes",
        f"{mean.min() / 1e3:,.0f} to {mean.max() / 1e3:,.0f} us, "
        f"median {np.median(mean) / 1e3:,.0f} us",
        "",
        holds=bool(rises) == small and points.period_bytes is not None,
    )


def write_table(points: Sequence[Points], path: Path) -> Path:
    """Write every point as CSV."""
    with creating(path) as file:
        table = csv.writer(file)
        table.writerow(["drive", "write_bytes", "pass", "offset_bytes", "mean_ns"])
        for each in points:
            for turn, means in enumerate(np.split(each.mean_ns, 2)):
                for position, value in enumerate(means):
                    offset = position * each.sweep.shift_bytes
                    row = [each.subject.label, each.sweep.write_bytes, turn, offset, float(value)]
                    table.writerow(row)
    return path
