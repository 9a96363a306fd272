"""A trace replayed, and its latency over time."""

from dataclasses import dataclass, replace
from pathlib import Path
from typing import Any

import numpy as np

from ssdscope import stats
from ssdscope.errors import SsdscopeError
from ssdscope.probes.budget import Budget, Deadline, StageProgress
from ssdscope.targets import Device, Log, open_target
from ssdscope.targets.records import OP_READ, OP_WRITE, Progress
from ssdscope.targets.traces import TraceOptions, sniff_trace
from ssdscope.workloads import ReplayOptions

WINDOWS = 160
OPTIONS = ReplayOptions(align="expand", fit="compact")
DIRECTIONS = {"read": OP_READ, "write": OP_WRITE}


@dataclass(frozen=True)
class TraceFile:
    """A trace, and how it is read where its content does not tell.

    Attributes
    ----------
    path
        The file.
    format, columns
        As `--format` and `--columns` have them.
    shown
        What a page calls its path, if not by that.
    """

    path: Path
    format: str | None = None
    columns: str | None = None
    shown: str | None = None

    @property
    def name(self) -> str:
        """Its name without folders, as a page has it."""
        return Path(self.shown or self.path).name

    def require_readable(self) -> None:
        """Refuse what cannot be read as a trace.

        Raises
        ------
        TraceError
            If it is of no known format, or could be of several.
        """
        sniff_trace(str(self.path), TraceOptions(format=self.format, columns=self.columns))

    def words(self) -> list[str]:
        """Give the words of a command that name it."""
        given = (("--format", self.format), ("--columns", self.columns))
        told = [word for name, each in given if each is not None for word in (name, each)]
        return ["--trace", self.shown or str(self.path), *told]


def writes_bytes(trace: TraceFile, device: Device) -> int:
    """Count what a trace writes, by replaying it without the drive."""
    info = device.info
    nothing = open_target(f"null:{info.capacity_bytes}").device
    options = replace(OPTIONS, format=trace.format, columns=trace.columns, mode="asap", iodepth=64)
    try:
        result = nothing.replay(str(trace.path), options)
    except SsdscopeError:  # the stage itself tells of it
        return 0
    if result.write is None:
        return 0
    # Requests that lie across blocks are widened to them, at either end.
    return result.write.bytes + 2 * info.logical_block_bytes * result.write.requests


def replay_trace(
    device: Device, trace: TraceFile, budget: Budget, progress: StageProgress
) -> dict[str, Any]:
    """Replay a trace at its own times, fitted to the drive; a refusal becomes the result.

    On a real drive, where the trace's hours are hours, it is cut off when the budget is spent.
    """
    columns: list[np.ndarray] = []
    cut = Deadline(budget.wall_s) if device.info.clock == "wall" else None
    spent = False

    def keep(log: Log) -> None:
        columns.append(np.array([log.op, log.submit_ns, log.latency_ns], dtype=np.int64))

    def tell(report: Progress) -> None:
        nonlocal spent
        progress(f"replaying {trace.name}", report.fraction or 0.0)
        if cut is not None and cut.left_s == 0:
            spent = True
            raise KeyboardInterrupt  # as Ctrl-C does: what was served is kept

    options = replace(OPTIONS, format=trace.format, columns=trace.columns)
    alone = device.fork() if device.info.snapshot else device
    try:
        result = alone.replay(str(trace.path), options, progress=tell, chunk=keep)
    except SsdscopeError as error:
        return {"name": trace.name, "failure": error.message}
    if result.interrupted and not spent:
        raise KeyboardInterrupt
    summary = result.summary
    return {
        "name": trace.name,
        "options": options.to_dict(),
        "trace": summary.get("trace"),
        "cut_off": result.interrupted,
        "requests": result.requests,
        "read": summary["read"],
        "write": summary["write"],
        "windows": _windows(np.concatenate(columns, axis=1)) if columns else None,
    }


def _windows(rows: np.ndarray) -> dict[str, Any]:
    """Median and 99th percentile over time, by direction; empty windows left out.

    Windows of the percentile are as much longer as it takes for ten requests to lie beyond it.

    Parameters
    ----------
    rows
        Operation, submission and latency in ns; shape (3, n).
    """
    op, submit, latency = rows
    start = submit - submit.min()
    end = int(start.max()) + 1
    windows: dict[str, Any] = {"width_s": end / WINDOWS / 1e9}
    for name, code in DIRECTIONS.items():
        chosen = op == code
        if chosen.any():
            series = start[chosen], latency[chosen], end
            windows[name] = _by_window(*series, 50) | {"tail": _by_window(*series, 99)}
    return windows


def _by_window(start: np.ndarray, latency: np.ndarray, end: int, percent: int) -> dict[str, Any]:
    """Give a percentile in each of so many windows as the requests suffice for; None in others."""
    each = 2 * stats.least_count(percent)
    width = end / min(max(len(start) // each, 1), WINDOWS)
    window = (start // width).astype(np.int64)
    order = np.argsort(window, kind="stable")
    bounds = np.flatnonzero(np.diff(window[order])) + 1
    groups = np.split(latency[order], bounds)
    present = window[order][np.concatenate([[0], bounds])]
    return {
        "start_s": (present * width / 1e9).tolist(),
        "requests": [len(group) for group in groups],
        f"p{percent}_ns": [_rank(group, percent) for group in groups],
    }


def _rank(group: np.ndarray, percent: float) -> float | None:
    """Give a percentile if ten requests lie beyond it."""
    return stats.nearest_rank(group, percent) if stats.supported(percent, len(group)) else None
