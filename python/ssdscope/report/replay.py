"""A trace replayed, and its latency over time."""

from pathlib import Path
from typing import Any

import numpy as np

from ssdscope import stats
from ssdscope.errors import SsdscopeError
from ssdscope.probes.budget import StageProgress
from ssdscope.targets import Device, Log
from ssdscope.targets.records import Progress
from ssdscope.workloads import ReplayOptions

WINDOWS = 160
OPTIONS = ReplayOptions(align="expand", fit="compact")


def replay_trace(device: Device, path: Path, progress: StageProgress) -> dict[str, Any]:
    """Replay a trace at its own times, fitted to the drive; a refusal becomes the result."""
    times: list[tuple[np.ndarray, np.ndarray]] = []

    def keep(log: Log) -> None:
        times.append((log.submit_ns.astype(np.int64), log.latency_ns))

    def tell(report: Progress) -> None:
        progress(f"replaying {path.name}", report.fraction or 0.0)

    alone = device.fork() if device.info.snapshot else device
    try:
        result = alone.replay(str(path), OPTIONS, progress=tell, chunk=keep)
    except SsdscopeError as error:
        return {"name": path.name, "failure": error.message}
    if result.interrupted:
        raise KeyboardInterrupt
    summary = result.summary
    return {
        "name": path.name,
        "options": OPTIONS.to_dict(),
        "trace": summary.get("trace"),
        "requests": result.requests,
        "read": summary["read"],
        "write": summary["write"],
        "windows": _windows(times),
    }


def _windows(times: list[tuple[np.ndarray, np.ndarray]]) -> dict[str, Any] | None:
    """Median and 99th percentile of each window of the trace; windows without requests left out."""
    if not times:
        return None
    submit = np.concatenate([each[0] for each in times])
    latency = np.concatenate([each[1] for each in times])
    start = submit - submit.min()
    width = max(int(start.max()) // WINDOWS, 1) + 1
    window = start // width
    order = np.argsort(window, kind="stable")
    bounds = np.flatnonzero(np.diff(window[order])) + 1
    groups = np.split(latency[order], bounds)
    present = window[order][np.concatenate([[0], bounds])]
    return {
        "width_s": width / 1e9,
        "start_s": (present * width / 1e9).tolist(),
        "requests": [len(group) for group in groups],
        "p50_ns": [stats.nearest_rank(group, 50) for group in groups],
        "p99_ns": [stats.nearest_rank(group, 99) for group in groups],
    }
