"""How often the models' 90 % intervals hold, on drives drawn at random that nobody tuned.

``python benchmarks/coverage.py FOLDER --seed 77003 --drives 9`` draws drives as the recovery study
does, makes 256 runs of each to learn from and 256 others to be held to, and prints what the
intervals of `service` and `guide` cover: of each drive, and pooled. Runs stay in FOLDER, so that
the same command goes on where it stopped. Bars: 88 to 92 % pooled, 84 to 96 % on each.
"""

import argparse
import os
from pathlib import Path

# Before numpy is loaded: threads of BLAS wait for each other longer than they compute.
os.environ |= {"OPENBLAS_NUM_THREADS": "1", "OMP_NUM_THREADS": "1"}

import numpy as np

from ssdscope.models import collecting, evaluation
from ssdscope.models.samples import Sample
from ssdscope.models.table import Table, load
from ssdscope.recovery.generator import draw
from ssdscope.targets import open_target
from ssdscope.workloads.grid import Stop

MODELS = (("service", "service"), ("guide", "extended"))
POINTS = TEST = 256
REPEATS = 16
RUNS_SEED = 101
STOP = Stop(0.05, 10_000_000_000)
FIT_SEED = 1
POOLED, EACH = (0.88, 0.92), (0.84, 0.96)


def collected(folder: Path, seed: int, index: int) -> Path:
    """Make the runs of a drive, as far as they are not there."""
    drive, runs = (folder / f"d{seed}-{index}{ending}" for ending in (".toml", ".parquet"))
    if not runs.exists():
        drive.write_text(draw(seed, index).noisy_toml())
        device = open_target(str(drive), seed=RUNS_SEED).device
        plan = collecting.Plan("sobol", POINTS, TEST, REPEATS, RUNS_SEED, STOP)
        plan = collecting.filled(plan, device, runs)
        with Table(runs, plan.header({"target": str(drive)}, 0)) as rows:
            collecting.collect(device, plan, rows, lambda _what, _share: None)
    return runs


def covered(runs: Path, model: str, features: str) -> tuple[float, float, int]:
    """Give what the intervals of a model cover, its mean error, and of how many runs."""
    rows = load(runs)[1]
    train, test = (Sample.of(rows, split, "latency") for split in ("train", "test"))
    found = evaluation.scores(model, features, train, test, FIT_SEED)
    row = next(each for each in found if each["split"] == "off-grid")
    return row["coverage90"], row["mre"], row["n_test"]


def main() -> None:
    """Print a line per drive, and the sums."""
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("folder", type=Path)
    parser.add_argument("--seed", type=int, required=True)
    parser.add_argument("--drives", type=int, default=10)
    given = parser.parse_args()
    given.folder.mkdir(parents=True, exist_ok=True)
    found = []
    for index in range(given.drives):
        runs = collected(given.folder, given.seed, index)
        found.append([covered(runs, *each) for each in MODELS])
        told = (
            f"{name} {share:.1%} (off by {mre:.1%})"
            for (name, _), (share, mre, _) in zip(MODELS, found[-1], strict=True)
        )
        print(f"{given.seed}:{index}: {', '.join(told)}", flush=True)
    for place, (name, _) in enumerate(MODELS):
        shares = np.array([drive[place][0] for drive in found])
        runs_of = np.array([drive[place][2] for drive in found])
        pooled = (shares * runs_of).sum() / runs_of.sum()
        within = ((EACH[0] <= shares) & (shares <= EACH[1])).sum()
        holds = "holds" if POOLED[0] <= pooled <= POOLED[1] else "fails"
        print(
            f"{name}: pooled {pooled:.1%} of {runs_of.sum():,} runs ({holds}), "
            f"{shares.min():.1%} to {shares.max():.1%}, {within} of {len(found)} within the bar"
        )


if __name__ == "__main__":
    main()
