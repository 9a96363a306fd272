"""What the requests of a trace are like, minute by minute: one row of features per window.

`window_features` is a pure function of columns. It never loops over requests. Every feature
has a slow, literal twin in the tests.

`segments`
    Sums, shares and percentiles by window.
`arrival`
    Arrival, concurrency and idle time.
`shape`
    Mix of directions, sizes, alignment, sequentiality, stride, control.
`blocks`
    Locality, overwriting, reads of what was just written: of blocks of 4 KiB.
`history`
    What the windows before leave behind: bytes written, and how the drive was then.
"""

import numpy as np
import numpy.typing as npt

from ssdscope.errors import UsageError
from ssdscope.targets.traces import TraceRows
from ssdscope.workloads.windows import arrival, blocks, history, shape
from ssdscope.workloads.windows.segments import Windows

MINUTE_NS = 60_000_000_000
BUFFER_BYTES = 16 * 2**20
WINDOWS_MAX = 10_000_000
SECOND_NS = 1_000_000_000

GROUPS = {
    "arrival": arrival.FEATURES,
    "concurrency": arrival.CONCURRENCY,
    "mix": shape.MIX,
    "size": shape.SIZE,
    "alignment": shape.ALIGNMENT,
    "sequentiality": shape.SEQUENTIALITY,
    "stride": shape.STRIDE,
    "locality": blocks.LOCALITY,
    "overwrite": blocks.OVERWRITE,
    "interplay": blocks.INTERPLAY,
    "control": shape.CONTROL,
    "state": history.STATE,
    "history": history.HISTORY,
}
"""Names of the features by group, in the order of the columns."""

FEATURES = tuple(name for names in GROUPS.values() for name in names)

Table = dict[str, npt.NDArray[np.float64]]


def window_features(
    rows: TraceRows,
    *,
    window_ns: int = MINUTE_NS,
    buffer_bytes: int = BUFFER_BYTES,
    measured_latency_ns: npt.NDArray[np.float64] | None = None,
) -> Table:
    """Describe each window of a trace.

    Parameters
    ----------
    rows
        Requests by time.
    window_ns
        How long a window is: whole seconds.
    buffer_bytes
        A read of a block counts as a read of what was just written if the block was among
        the last so many bytes written before it.
    measured_latency_ns
        What each request took on the drive that is to be predicted, shape (n,), NaN where
        unknown. It enters only by what it was in the window before. Without it the trace's
        own latencies stand there.

    Returns
    -------
    dict
        Columns of shape (windows,): ``start_s``, ``covered`` (the share of the window that
        the trace covers, below 1 only in the last), ``requests``, then `FEATURES`. Windows
        without requests have rates of 0 and NaN where nothing can be said.

    Raises
    ------
    UsageError
        If windows are not whole seconds, or too many.
    """
    if window_ns <= 0 or window_ns % SECOND_NS:
        raise UsageError(f"windows of {window_ns} ns are not whole seconds")
    if len(rows) and int(rows.arrival_ns[-1]) // window_ns >= WINDOWS_MAX:
        raise UsageError(
            f"the trace has more than {WINDOWS_MAX:,} windows", hint="take longer windows"
        )
    windows = Windows(rows.arrival_ns, window_ns)
    # From here on the trace's own latency, or none.
    traced = np.where(rows.latency_ns == np.iinfo(np.uint64).max, np.nan, rows.latency_ns)
    measured = traced if measured_latency_ns is None else measured_latency_ns
    table: Table = {
        "start_s": windows.starts_ns / SECOND_NS,
        "covered": windows.covered,
        "requests": windows.counts.astype(np.float64),
    }
    found = arrival.arrival(windows)
    found |= shape.mix(windows, rows)
    found |= shape.sizes(windows, rows)
    found |= shape.alignment(windows, rows)
    found |= shape.sequentiality(windows, rows)
    found |= shape.strides(windows, rows)
    found |= shape.control(windows, rows)
    found |= blocks.blocks(windows, rows, buffer_bytes)
    found |= history.state(windows, rows)
    found |= history.before(windows, found["iops"], measured)
    found |= arrival.concurrency(windows, traced, found["iops"], found["previous_latency_ns"])
    return table | {name: found[name] for name in FEATURES}
