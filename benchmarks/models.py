"""GUIDE trees: seconds to fit and time per prediction, beside scikit-learn's CART in the same run.

The bars are 2 s for 9,600 rows of 8 features and 1 us per row, on one core. Rows are a study's
grid (few distinct values per feature), and points spread evenly, which offer more cuts. Besides,
the 256 runs that `characterize` fits its model to, whose bar is 20 s on two cores.
"""

import os
import sys
from collections.abc import Callable, Iterator
from dataclasses import replace
from itertools import product
from statistics import median
from time import perf_counter, process_time
from typing import Any

# Before numpy is loaded: one core, as the bars have it.
os.environ |= {"OPENBLAS_NUM_THREADS": "1", "OMP_NUM_THREADS": "1"}

import numpy as np
from harness import Figure, interpreted, show
from sklearn.tree import DecisionTreeRegressor

from ssdscope.models import collecting
from ssdscope.models.guide.estimators import GuideRegressor
from ssdscope.models.table import Runs
from ssdscope.probes.budget import Budget
from ssdscope.report import modelling
from ssdscope.targets import open_target

ROWS = 9_600
FIT_BAR_S = 2.0
PREDICT_BAR_US = 1.0
TIMES = 3
COLLECT_BAR_S = 20.0
DRIVES = ("huang-ssd-i", "huang-ssd-s", "huang-ssd-a")


def grid_rows(rng: np.random.Generator) -> np.ndarray:
    """Draw rows from a grid of 12,000 workloads: shares, sizes, depths and access patterns."""
    shares = (0, 50, 100)
    strides = (0, 6, 7, 8)
    patterns = [(*both, 0, 0) for both in product(shares, shares)]
    patterns += [(0, 0, *both) for both in product(strides, strides) if both != (0, 0)]
    sizes = (0, 2, 4, 6, 8)
    rows = [
        (*head, *pattern)
        for head in product((0, 25, 50, 75, 100), sizes, sizes, (0, 2, 4, 6))
        for pattern in patterns
    ]
    return np.array(rows, dtype=float)[rng.permutation(len(rows))[:ROWS]]


def spread_rows(rng: np.random.Generator) -> np.ndarray:
    """Draw rows evenly over the ranges of the grid."""
    return rng.uniform(0, 1, (ROWS, 8)) * [100, 8, 8, 6, 100, 100, 8, 8]


def log_latency(rows: np.ndarray, rng: np.random.Generator) -> np.ndarray:
    """Make up latencies with knees, interactions and 4 % noise."""
    share, write, read, depth = rows[:, 0] / 100, 2 ** rows[:, 1], 2 ** rows[:, 2], 2 ** rows[:, 3]
    reads = (60 + 8 * read) * np.where(rows[:, 7] >= 6, 1.5, 1) * (1 + rows[:, 5] / 200)
    writes = (90 + 20 * np.maximum(write, 4)) * (1 + 2 * (rows[:, 4] > 25) * (write < 64))
    served = (1 - share) * reads + share * writes * (1 + 1.5 * share * (1 - share))
    return np.log(served * np.maximum(1, depth / 10)) + rng.normal(0, 0.04, len(rows))


def seconds(run: Callable[[], Any]) -> float:
    """Measure processor time, which others on the machine do not lengthen much."""
    started = process_time()
    run()
    return process_time() - started


def of_rows(kind: str, rows: np.ndarray, target: np.ndarray) -> Iterator[Figure]:
    """Fit and predict, ours and CART in turns."""
    guide, cart = GuideRegressor(random_state=0), DecisionTreeRegressor(min_samples_leaf=2)
    pairs = [
        [seconds(lambda m=model: m.fit(rows, target)) for model in (guide, cart)]
        for _ in range(TIMES)
    ]
    fit_s, ratio = median(pair[0] for pair in pairs), median(pair[0] / pair[1] for pair in pairs)
    note = f"{ratio:.0f} x CART, {guide.model_.trees[0].leaves} leaves"
    yield Figure(f"GUIDE fit, {ROWS:,} x 8 {kind}", fit_s, "s", FIT_BAR_S, note=note)
    batch = np.vstack([rows] * 10)
    pairs = [
        [seconds(lambda m=model: m.predict(batch)) for model in (guide, cart)] for _ in range(TIMES)
    ]
    each_us = median(pair[0] for pair in pairs) / len(batch) * 1e6
    ratio = median(pair[0] / pair[1] for pair in pairs)
    note = f"{ratio:.1f} x CART"
    yield Figure(f"GUIDE prediction, {kind}", each_us, "us/row", PREDICT_BAR_US, note=note)


def collected(name: str) -> Figure:
    """Make the runs that a page's model learns from, and then those that it is held to."""
    device = open_target(f"sim:{name}", seed=1).device
    runs = Runs()
    started = perf_counter()
    plan = modelling.filled_plan(device, Budget.parse("default"), 1)
    ends: list[float] = []
    for part in (replace(plan, test=0, repeats=0), plan):
        collecting.collect(device, part, runs, lambda _what, _share: None)
        ends.append(perf_counter() - started)
    held_to = len(runs.rows) - plan.points
    note = f"and {ends[1] - ends[0]:.1f} s for {held_to} that it is held to"
    return Figure(f"{plan.points} runs of {name}", ends[0], "s", COLLECT_BAR_S, note=note)


def figures() -> list[Figure]:
    """Measure; this takes about a minute."""
    rng = np.random.default_rng(1)
    found: list[Figure] = []
    for kind, rows in (("grid", grid_rows(rng)), ("spread evenly", spread_rows(rng))):
        found += of_rows(kind, rows, log_latency(rows, rng))
    found += [collected(name) for name in DRIVES]
    return [replace(figure, by=interpreted()) for figure in found]


if __name__ == "__main__":
    sys.exit(show(figures()))
