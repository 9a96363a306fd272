"""What a layout costs by its addresses alone: pages written, pages read first, log blocks."""

from __future__ import annotations

from dataclasses import asdict, dataclass
from typing import Any

import numpy as np

from ssdscope.advise.layout.requests import Requests


@dataclass(frozen=True)
class Count:
    """What the writes of a layout come to.

    Attributes
    ----------
    writes
        Requests that write.
    page_writes
        Pages (RMW units) that they touch.
    read_first
        Of these not covered as a whole: read, modified and written.
    blocks
        Blocks (merge units) that they touch, each of which takes a log block; None where nothing
        is merged.
    """

    writes: int
    page_writes: int
    read_first: int
    blocks: int | None

    def to_json(self) -> dict[str, Any]:
        """Give it as plain data."""
        return asdict(self)


def count(requests: Requests, page_bytes: int, block_bytes: int | None = None) -> Count:
    """Count what writes come to.

    Parameters
    ----------
    requests
        Reads among them cost nothing here.
    page_bytes, block_bytes
        The RMW unit, and the merge unit if there is one.
    """
    writes = requests.is_write
    first, end = requests.offset_bytes[writes], requests.end_bytes[writes]
    pages = -(-end // page_bytes) - first // page_bytes
    head, tail = first % page_bytes != 0, end % page_bytes != 0
    cut = head.astype(np.int64) + tail
    read_first = np.where(pages == 1, np.minimum(cut, 1), cut)
    blocks = None if block_bytes is None else _touched(first, end, block_bytes)
    return Count(int(writes.sum()), int(pages.sum()), int(read_first.sum()), blocks)


def _touched(first: Any, end: Any, unit_bytes: int) -> int:
    """Count the units that stretches touch, each once."""
    low, high = first // unit_bytes, -(-end // unit_bytes)
    order = np.argsort(low, kind="stable")
    low, reach = low[order], np.maximum.accumulate(high[order])
    before = np.concatenate([[0], reach[:-1]])
    return int(np.maximum(reach - np.maximum(low, before), 0).sum())
