"""Traces: seconds per million lines of SPC into columns, windows of features, made-up ones.

    python benchmarks/traces.py

The bar is 1.5 million lines a second on one core, both passes and the numpy columns included.
Beside it, in turns, pyarrow's reader of CSV on one thread, which checks nothing, knows no
volumes and sorts nothing, and numpy's ``loadtxt``.
"""

import sys
from collections.abc import Callable
from dataclasses import replace
from pathlib import Path
from statistics import median
from tempfile import TemporaryDirectory
from time import process_time
from typing import Any

import numpy as np
import pyarrow.csv as arrow
from harness import Figure, interpreted, show

from ssdscope.targets.traces import TraceOptions, read_trace, scan_trace
from ssdscope.workloads.synthetic import PROFILES, spc_text, synthesise
from ssdscope.workloads.windows import window_features

LINES = 1_000_000
TIMES = 3
BAR_S = 1 / 1.5
SPC_TYPES = [("asu", "u8"), ("lba", "u8"), ("bytes", "u8"), ("op", "U1"), ("s", "f8")]


def seconds(run: Callable[[], Any]) -> float:
    """Measure processor time, which others on the machine do not lengthen much."""
    started = process_time()
    run()
    return process_time() - started


def by_arrow(path: str) -> Any:
    """Read the columns with pyarrow, on this thread."""
    options = arrow.ReadOptions(use_threads=False, column_names=[name for name, _ in SPC_TYPES])
    read = arrow.read_csv(path, options)
    return [column.to_numpy() for column in read.columns]


def by_numpy(path: str) -> Any:
    """Read the columns with numpy."""
    return np.loadtxt(path, dtype=np.dtype(SPC_TYPES), delimiter=",")


def figures() -> list[Figure]:
    """Measure; this takes about half a minute."""
    rate = PROFILES["financial1"].requests / PROFILES["financial1"].span_s
    span_s = LINES / rate

    def make() -> Any:
        return synthesise(PROFILES["financial1"], seconds=span_s, seed=1)

    rows = make()
    millions = len(rows) / 1e6
    with TemporaryDirectory() as folder:
        path = str(Path(folder) / "synthetic.spc")
        Path(path).write_text(spc_text(rows), encoding="utf-8")
        readers = (read_trace, by_arrow, by_numpy)
        turns = [[seconds(lambda r=read: r(path)) for read in readers] for _ in range(TIMES)]
        scanned = median(
            seconds(lambda: scan_trace(path, TraceOptions(), lambda rows: None))  # noqa: ARG005
            for _ in range(TIMES)
        )
    ours, arrow_ratio, numpy_ratio = (
        median(turn[0] for turn in turns) / millions,
        median(turn[0] / turn[1] for turn in turns),
        median(turn[0] / turn[2] for turn in turns),
    )
    times = f"{arrow_ratio:.1f} x pyarrow's time, {numpy_ratio:.1f} x numpy's"
    note = f"{1 / ours:.1f} M lines/s; {times}"
    described = median(seconds(lambda: window_features(rows)) for _ in range(TIMES))
    made = median(seconds(make) for _ in range(TIMES))
    found = [
        Figure("SPC trace into columns", ours, "s/M lines", BAR_S, note=note),
        Figure("SPC trace, a chunk at a time", scanned / millions, "s/M lines", BAR_S),
        Figure("features of its windows", described / millions, "s/M requests"),
        Figure("a trace made up", made / millions, "s/M requests"),
    ]
    return [replace(figure, by=interpreted()) for figure in found]


if __name__ == "__main__":
    sys.exit(show(figures()))
