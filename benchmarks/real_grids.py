"""How models do on grids of real drives, beside a line in logarithms drawn through them.

``python benchmarks/real_grids.py --seed 11 [DRIVE ...]`` leaves out a fifth of the workloads of
each drive in ../shared/real/real-grids.csv at a time, fits the best kind of model to the rest,
choice and interval included, and prints what both are off by on the fifth, and what the intervals
cover. Bars, over all drives: the median error a fifth below that of the line, intervals cover 88 to
92 %.
"""

import argparse
import collections
import csv
import os

# Before numpy is loaded: threads of BLAS wait for each other longer than they compute.
os.environ |= {"OPENBLAS_NUM_THREADS": "1", "OMP_NUM_THREADS": "1"}

import numpy as np
from tests.unit.real_grids import HEADER, REAL, drive

from ssdscope.models import evaluation, fitting
from ssdscope.models.intervals import covered
from ssdscope.models.samples import Sample
from ssdscope.seeds import stream

FOLDS = 5


def folds(sample: Sample, seed: int) -> np.ndarray:
    """Assign each row to a fold; workloads that are the same share one."""
    _, kind = np.unique(sample.inputs, axis=0, return_inverse=True)
    order = stream(seed, "benchmarks.real_grids.folds").permutation(int(kind.max()) + 1)
    return order[kind.ravel()] % FOLDS


def tried(name: str, seed: int) -> tuple[np.ndarray, np.ndarray, np.ndarray]:
    """Return errors of the chosen model and of the line, and whether intervals hold; per cell."""
    rows = drive(name)
    whole, chosen = Sample.of(rows, "train", "latency"), collections.Counter()
    fold = folds(whole, seed)
    found = []
    for each in range(FOLDS):
        out = fold == each
        known = whole.without(out)
        fitted = fitting.fit(
            [row for row, left in zip(rows, out, strict=True) if not left],
            HEADER,
            tails=False,
            seed=seed,
        )
        chosen[fitted.model] += 1
        truth, predicted = whole.values[out], fitted.rows(whole.inputs[out])
        line, _ = evaluation.interpolated(known, whole.inputs[out])
        errors = [np.abs(guess / truth - 1) for guess in (predicted[:, 0], line)]
        found.append([*errors, covered(predicted[:, 1:], truth)])
    model, line, inside = (np.concatenate(each) for each in zip(*found, strict=True))
    said = ", ".join(f"{kind} {count}" for kind, count in chosen.most_common())
    print(f"{name:20} {_errors(model)} | line {_errors(line)} | {inside.mean():5.1%} | {said}")
    return model, line, inside


def _errors(off: np.ndarray) -> str:
    return f"{np.median(off):6.2%} mean {off.mean():6.2%} p90 {np.quantile(off, 0.9):6.2%}"


def main() -> None:
    """Print a line per drive, and the sums."""
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("drives", nargs="*")
    parser.add_argument("--seed", type=int, required=True)
    given = parser.parse_args()
    with (REAL / "real-grids.csv").open(encoding="utf-8") as file:
        names = given.drives or sorted({each["drive"] for each in csv.DictReader(file)})
    found = [tried(name, given.seed) for name in names]
    medians = np.array([[np.median(model), np.median(line)] for model, line, _ in found])
    model, line = np.median(medians, axis=0)
    inside = np.concatenate([each for _, _, each in found])
    print(f"median over drives: {model:.2%}, line {line:.2%}; intervals cover {inside.mean():.1%}")


if __name__ == "__main__":
    main()
