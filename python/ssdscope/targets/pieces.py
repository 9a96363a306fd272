"""Long steps in pieces: between two of them a budget can end, which within one call nothing can.

What a simulated drive takes is counted, and known only when a call has ended. So what writes much
is cut, where that changes nothing of what the drive is asked.
"""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

import numpy as np

from ssdscope.targets.records import OP_READ, Log
from ssdscope.targets.work import Work

if TYPE_CHECKING:
    from collections.abc import Mapping, Sequence

    from numpy.typing import NDArray

__all__ = ["PIECE_BYTES", "cut", "joined", "rest_s", "work_of"]

PIECE_BYTES = 16 << 30
"""Written in a piece: at 4 KiB each some ten seconds of work, a sixth of the usual budget."""


def cut(written_bytes: NDArray[np.uint64], pacing: Mapping[str, Any]) -> list[slice]:
    """Cut a list of requests into pieces that follow each other as the requests did.

    Parameters
    ----------
    written_bytes : ndarray, shape (n,)
        By each request.
    pacing
        As `Device.run_list` takes it. Several requests at once, or at given times, stay together.
    """
    whole = [slice(0, written_bytes.size)]
    if not {*pacing} <= {"iodepth", "pauses_ns"} or pacing.get("iodepth", 1) != 1:
        return whole
    number = np.maximum(np.cumsum(written_bytes, dtype=np.int64) - 1, 0) // PIECE_BYTES
    ends = [*(np.flatnonzero(np.diff(number)) + 1).tolist(), written_bytes.size]
    if written_bytes.size == 0 or len(ends) == 1:
        return whole
    return [slice(first, last) for first, last in zip([0, *ends[:-1]], ends, strict=True)]


def joined(logs: Sequence[Log], parts: Sequence[slice]) -> Log:
    """Return the log of all pieces, as one call would have given it."""
    if len(logs) == 1:
        return logs[0]
    columns = {
        name: np.concatenate([each.columns[name] for each in logs]) for name in logs[0].columns
    }
    columns["index"] = np.concatenate(
        [each.index + part.start for each, part in zip(logs, parts, strict=True)]
    )
    return Log(columns)


def rest_s(worked_s: float, done_bytes: int, planned_bytes: int) -> float:
    """Foresee what is left of a step, by what it took so far; 0 if it has not begun, or ended."""
    if done_bytes <= 0 or done_bytes >= planned_bytes:
        return 0.0
    return worked_s / done_bytes * (planned_bytes - done_bytes)


def work_of(
    ops: NDArray[np.uint8], lengths: NDArray[np.uint64], written_bytes: NDArray[np.uint64]
) -> Work:
    """Count what requests ask for; what neither reads nor writes counts as a read of nothing."""
    written, read_bytes = int(np.count_nonzero(written_bytes)), int(lengths[ops == OP_READ].sum())
    return Work(ops.size - written, read_bytes, written, int(written_bytes.sum()))
