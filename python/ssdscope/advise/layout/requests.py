"""Requests as columns, and the objects that they make up."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, replace
from typing import TYPE_CHECKING, Any

import numpy as np

from ssdscope.advise.addresses import end_to_end, packed, widened
from ssdscope.errors import TraceError
from ssdscope.targets.records import OP_READ, OP_WRITE

if TYPE_CHECKING:
    import numpy.typing as npt

    from ssdscope.targets.traces import TraceRows

FITS = {
    "refuse": "the command stops, and says by how much",
    "compact": "the megabytes that the trace touches are packed in address order",
}
"""What to do with requests beyond the end of the drive."""


@dataclass(frozen=True)
class Requests:
    """Reads and writes in the order in which they come.

    Attributes
    ----------
    op, offset_bytes, bytes
        What each does, where, and how much; shapes (n,).
    """

    op: npt.NDArray[Any]
    offset_bytes: npt.NDArray[np.int64]
    bytes: npt.NDArray[np.int64]

    @classmethod
    def writes(cls, spans: Sequence[tuple[int, int]]) -> Requests:
        """Make writes of first bytes and lengths."""
        offsets, lengths = np.asarray(spans, np.int64).reshape(-1, 2).T
        return cls(np.full(len(offsets), OP_WRITE), offsets, lengths)

    def __len__(self) -> int:
        return len(self.op)

    @property
    def end_bytes(self) -> npt.NDArray[np.int64]:
        """The byte behind each."""
        return self.offset_bytes + self.bytes

    @property
    def is_write(self) -> npt.NDArray[np.bool_]:
        """Which of them write."""
        return np.asarray(self.op == OP_WRITE)

    def first(self, count: int) -> Requests:
        """Give the first of them, up to so many."""
        if len(self) <= count:
            return self
        return Requests(self.op[:count], self.offset_bytes[:count], self.bytes[:count])

    def placed(self, offsets: npt.NDArray[Any], lengths: npt.NDArray[Any]) -> Requests:
        """Give the same requests elsewhere; those that are empty then are left out."""
        kept = lengths > 0
        return Requests(self.op[kept], offsets[kept], lengths[kept])

    def spans(self) -> list[tuple[int, int]]:
        """Give first bytes and lengths."""
        return list(zip(self.offset_bytes.tolist(), self.bytes.tolist(), strict=True))


@dataclass(frozen=True)
class Objects:
    """Stretches of addresses that requests touch without a gap, by address.

    Attributes
    ----------
    start_bytes, end_bytes
        Of each; shapes (k,).
    of
        The object of each request; shape (n,).
    """

    start_bytes: npt.NDArray[np.int64]
    end_bytes: npt.NDArray[np.int64]
    of: npt.NDArray[np.int64]

    def moved(self, requests: Requests, start_bytes: npt.NDArray[Any]) -> npt.NDArray[Any]:
        """Give the first bytes of requests whose objects begin elsewhere."""
        shift = start_bytes - self.start_bytes
        return np.asarray(requests.offset_bytes + shift[self.of])


def objects_of(requests: Requests, gap_bytes: int) -> Objects:
    """Find the objects; parts less than `gap_bytes` apart belong to one.

    What lies in such a gap is not touched, and yet it is part of the same page.
    """
    order = np.argsort(requests.offset_bytes, kind="stable")
    starts, ends = requests.offset_bytes[order], requests.end_bytes[order]
    reach = np.maximum.accumulate(ends)
    begins = np.ones(len(order), dtype=bool)
    begins[1:] = starts[1:] >= reach[:-1] + gap_bytes
    begins[1:] &= starts[1:] > reach[:-1]
    firsts = np.flatnonzero(begins)
    of = np.empty(len(order), np.int64)
    of[order] = np.cumsum(begins) - 1
    lasts = np.append(firsts[1:], len(order)) - 1
    return Objects(starts[firsts], reach[lasts], of)


def of_trace(rows: TraceRows, unit_bytes: int) -> Requests:
    """Take reads and writes of a trace, widened to whole sectors; volumes lie end to end.

    Raises
    ------
    TraceError
        If nothing in it writes.
    """
    taken = np.isin(rows.op, (OP_READ, OP_WRITE)) & (rows.bytes > 0)
    if not (rows.op[taken] == OP_WRITE).any():
        raise TraceError(
            "nothing in the trace writes: there is no layout to advise on",
            hint="reads take the same time wherever their pages are",
        )
    offsets = rows.offset_bytes[taken].astype(np.int64)
    offsets, lengths = widened(offsets, rows.bytes[taken].astype(np.int64), unit_bytes)
    return Requests(rows.op[taken], end_to_end(rows.volume[taken], offsets, lengths), lengths)


def fitted(requests: Requests, capacity_bytes: int, fit: str) -> Requests:
    """Make requests fit a drive.

    Raises
    ------
    TraceError
        If they do not, with the hint what would help.
    """
    reach = int(requests.end_bytes.max())
    if fit == "compact" and reach > capacity_bytes:
        requests = replace(requests, offset_bytes=packed(requests.offset_bytes, requests.bytes))
        reach = int(requests.end_bytes.max())
    if reach <= capacity_bytes:
        return requests
    beyond = int((requests.end_bytes > capacity_bytes).sum())
    hint = "--fit compact packs the megabytes that it touches"
    if fit == "compact":
        hint = "--limit N takes the first requests only"
    raise TraceError(
        f"the trace does not fit the drive: {beyond:,} of {len(requests):,} requests lie beyond "
        f"its {capacity_bytes:,} bytes, the last at {reach:,}",
        hint=hint,
    )
