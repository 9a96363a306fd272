"""What a trace file is, and its requests as columns, without a drive."""

from __future__ import annotations

import json
from collections.abc import Callable
from dataclasses import asdict, dataclass, field
from typing import TYPE_CHECKING, Any

from ssdscope import _native
from ssdscope.targets.device import translated_errors
from ssdscope.targets.names import options_json

if TYPE_CHECKING:
    import numpy as np
    import numpy.typing as npt

LATENCY_UNKNOWN = 2**64 - 1
SYNTHETIC_MARK = "synthetic:"
"""How the first comment of a trace begins that was made up."""

COLUMN_TYPES = {
    "arrival_ns": "uint64",
    "op": "uint8",
    "volume": "uint64",
    "offset_bytes": "uint64",
    "bytes": "uint64",
    "latency_ns": "uint64",
}


@dataclass(frozen=True)
class TraceOptions:
    """How a trace is read.

    Attributes
    ----------
    format
        Name of the format, or None to recognise it from the content.
    columns
        Where a named CSV has its columns, as ``time=us:3,op:1,offset:4,size:5``.
    volume
        Only this volume (ASU, device).
    skip_bad
        Count malformed lines, and leave out the unreadable rest of a damaged file.
    limit
        Only so many requests.
    spread_ties
        Spread requests of one instant evenly until the next.
    reads_only
        Leave out all that is no read.
    times
        Of a trace of events, which time a request has: ``queued``, ``issued``, ``completed``.
    overlay_volumes
        Lay all volumes over one another, as MQSim does, and not end to end.
    """

    format: str | None = None
    columns: str | None = None
    volume: int | None = None
    skip_bad: bool = False
    limit: int | None = None
    spread_ties: bool = False
    reads_only: bool = False
    times: str = "queued"
    overlay_volumes: bool = False


@dataclass(frozen=True)
class TraceRows:
    """Requests by time, in columns of shape (n,); each at the bytes of its own volume.

    Attributes
    ----------
    arrival_ns
        Counted from the first request of the trace.
    op
        What each does, as in a log.
    volume, offset_bytes, bytes
        Where, and how much.
    latency_ns
        How long the traced device took; `LATENCY_UNKNOWN` where the trace does not tell.
    """

    arrival_ns: npt.NDArray[np.uint64]
    op: npt.NDArray[np.uint8]
    volume: npt.NDArray[np.uint64]
    offset_bytes: npt.NDArray[np.uint64]
    bytes: npt.NDArray[np.uint64]
    latency_ns: npt.NDArray[np.uint64]

    def __len__(self) -> int:
        return len(self.op)


@dataclass(frozen=True)
class Trace:
    """A whole trace in memory.

    Attributes
    ----------
    rows
        Its requests.
    about
        What it is: ``format``, ``requests``, ``span_ns``, ``bad_lines``, ``first_bad_lines``,
        ``noted``, ``dropped``, ``remark``, ``volume_map``, ``latency_ns`` and more.
    """

    rows: TraceRows
    about: dict[str, Any] = field(repr=False)

    @property
    def synthetic(self) -> bool:
        """Whether it says of itself that it was made up."""
        return is_synthetic(self.about)


def is_synthetic(about: dict[str, Any]) -> bool:
    """Say whether a trace, described by `about`, says of itself that it was made up."""
    return str(about.get("remark") or "").startswith(SYNTHETIC_MARK)


def sniff_trace(path: str, options: TraceOptions | None = None) -> dict[str, Any]:
    """Say which format a trace is in.

    Parameters
    ----------
    path
        The trace, plain or compressed.
    options
        Its format, or its columns, where the content allows several readings.

    Raises
    ------
    TraceError
        If it cannot be read, is of no known format, or could be of several.
    """
    with translated_errors():
        told: dict[str, Any] = json.loads(
            _native.sniff_trace(path, options_json(asdict(options or TraceOptions())))
        )
    return told


def scan_trace(
    path: str, options: TraceOptions, chunk: Callable[[TraceRows], None]
) -> dict[str, Any]:
    """Read a trace in bounded memory.

    Parameters
    ----------
    path
        The trace, plain or compressed.
    options
        How to read it.
    chunk
        Called with 1,048,576 requests or fewer, in the order of their times.

    Returns
    -------
    dict
        What the trace is, as `Trace.about`.

    Raises
    ------
    TraceError
        If it cannot be read; nothing was handed out then.
    """
    with translated_errors():
        told: dict[str, Any] = json.loads(
            _native.read_trace(
                path, options_json(asdict(options)), lambda columns: chunk(TraceRows(**columns))
            )
        )
    return told


def read_trace(path: str, options: TraceOptions | None = None) -> Trace:
    """Read a trace into memory: some 41 bytes a request.

    Raises
    ------
    TraceError
        If it cannot be read.
    """
    import numpy as np  # here: what only parses shall start fast

    chunks: list[TraceRows] = []
    about = scan_trace(path, options or TraceOptions(), chunks.append)
    if len(chunks) == 1:
        return Trace(chunks[0], about)
    return Trace(
        TraceRows(
            **{
                name: np.concatenate(
                    [getattr(rows, name) for rows in chunks] or [np.empty(0, kind)]
                )
                for name, kind in COLUMN_TYPES.items()
            }
        ),
        about,
    )
