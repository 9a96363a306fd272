"""What two cores gain on a sweep: the same plan one run at a time, and two, in turns.

    python benchmarks/sweeps.py [--pairs 5] [--runs 24]

Each time is of the whole command, start and end included. Points take a second of a core
each. The bar, 1.8 times as fast, is for a machine that has two cores to spare; processor
time tells what the engine adds to the work, whoever else is busy.
"""

import argparse
import os
import subprocess
import sys
import time
from dataclasses import dataclass
from pathlib import Path
from statistics import median
from tempfile import TemporaryDirectory

from harness import COMMAND, Figure, interpreted, show

PAIRS, RUNS = 5, 24
BRIEF_PAIRS, BRIEF_RUNS = 1, 12
"""In the table of all benchmarks."""
SLOWEST = 1 / 1.8
PLAN = """
targets = ["sim:mqsim-8g"]
seed = 1
repeats = {runs}
[workload]
rw = "randread"
iodepth = 8
number_ios = 2_500_000
"""


@dataclass(frozen=True)
class Taken:
    """What a sweep took.

    Attributes
    ----------
    wall_s, cpu_s
        Time that went by, and time of processors, of all processes.
    """

    wall_s: float
    cpu_s: float


def swept(folder: Path, jobs: int) -> Taken:
    """Run the plan from its beginning."""
    out = folder / "out.jsonl"
    out.unlink(missing_ok=True)
    words = ("sweep", str(folder / "plan.toml"), "-O", str(out), "--jobs", str(jobs))
    before, begun = os.times(), time.monotonic()
    subprocess.run([*COMMAND, *words], capture_output=True, check=True)
    after = os.times()
    spent = [
        getattr(after, name) - getattr(before, name)
        for name in ("children_user", "children_system")
    ]
    return Taken(time.monotonic() - begun, sum(spent))


def figures(pairs: int = BRIEF_PAIRS, runs: int = BRIEF_RUNS) -> list[Figure]:
    """Measure; in full this takes five minutes."""
    walls, cpus = [], []
    with TemporaryDirectory() as name:
        folder = Path(name)
        (folder / "plan.toml").write_text(PLAN.format(runs=runs), encoding="utf-8")
        for pair in range(pairs):
            taken = {jobs: swept(folder, jobs) for jobs in ((1, 2), (2, 1))[pair % 2]}
            walls.append(taken[2].wall_s / taken[1].wall_s)
            cpus.append(taken[2].cpu_s / taken[1].cpu_s)
    busy = f"load {os.getloadavg()[0]:.1f} on {os.cpu_count()} cores"
    what = f"a sweep of {runs} runs, two at a time"
    return [
        Figure(
            f"{what}: wall time", median(walls), "of one at a time", SLOWEST,
            note=f"{1 / median(walls):.2f} times as fast; {busy}", by=interpreted(),
        ),
        Figure(
            f"{what}: processor time", median(cpus), "of one at a time",
            note=f"at most {2 / median(cpus):.2f} times as fast", by=interpreted(),
        ),
    ]  # fmt: skip


if __name__ == "__main__":
    parser = argparse.ArgumentParser(description="What two cores gain on a sweep.")
    parser.add_argument("--pairs", type=int, default=PAIRS)
    parser.add_argument("--runs", type=int, default=RUNS)
    given = parser.parse_args()
    sys.exit(show(figures(given.pairs, given.runs)))
