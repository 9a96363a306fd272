"""What the windows before leave behind: bytes written, and how the drive was then."""

import numpy as np

from ssdscope.targets.records import OP_WRITE
from ssdscope.targets.traces import TraceRows
from ssdscope.workloads.windows.segments import Floats, Windows
from ssdscope.workloads.windows.shape import OP_DISCARD

STATE = (
    "written_1min", "written_10min", "written_60min", "written_since_discard",
    "idle_before_s",
)  # fmt: skip
HISTORY = ("previous_iops", "previous_latency_ns", "previous_p99_ns")

MINUTE_NS = 60_000_000_000


def state(windows: Windows, rows: TraceRows) -> dict[str, Floats]:
    """Describe the drive at the beginning of the window, as far as its host knows it.

    ``written_*``: bytes written in the time before, or since the last discard (since the
    beginning, where there was none). Divide by spare area or cache to compare drives.
    ``idle_before_s``: the time since the last request.
    """
    times = windows.arrival_ns
    written = np.append(0, np.cumsum(np.where(rows.op == OP_WRITE, rows.bytes, 0), dtype=np.int64))
    before = np.searchsorted(times, windows.starts_ns, "left")
    total = written[before]
    found = {}
    for minutes in (1, 10, 60):
        since = np.searchsorted(times, windows.starts_ns - minutes * MINUTE_NS, "left")
        found[f"written_{minutes}min"] = (total - written[since]).astype(np.float64)
    index = np.arange(len(times))
    discard = np.where(rows.op == OP_DISCARD, index, -1)
    latest = np.append(-1, np.maximum.accumulate(discard) if len(discard) else discard)[before]
    last = np.append(0, times)[before]
    return found | {
        "written_since_discard": (total - written[latest + 1]).astype(np.float64),
        "idle_before_s": (windows.starts_ns - last) / 1e9,
    }


def before(windows: Windows, iops: Floats, measured_ns: Floats) -> dict[str, Floats]:
    """Rate, mean and 99th percentile of the window before; NaN for the first."""
    known = np.isfinite(measured_ns)
    values, of = measured_ns[known], windows.of[known]
    columns = {
        "previous_iops": iops,
        "previous_latency_ns": windows.mean(values, of),
        "previous_p99_ns": windows.percentile(values, of, 99),
    }
    return {
        name: np.append(np.nan, column[:-1])[: windows.count] for name, column in columns.items()
    }
