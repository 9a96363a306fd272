"""Whether what is written in order reaches its blocks by way of a region of one bit per cell.

On a drive that was discarded nothing has to be copied for room: neither collection, however it
chooses, nor merges make writes in order wait, and erases come beside many programs. Only blocks of
one bit per cell that are always full have to be folded all the same, so that the mean of the writes
is far longer than the usual one. A stretch as long as a quarter of the drive leaves behind what
such a region takes at first. A drive that cannot discard is filled afresh instead: then the end of
the drive is in the region, and nothing that is written.
"""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import replace
from typing import TYPE_CHECKING

import numpy as np

from ssdscope.probes.overwriting import (
    FILL_BYTES,
    UNKNOWN_UNIT_BYTES,
    Granule,
    discard_all,
    fill_afresh,
)

if TYPE_CHECKING:
    from numpy.typing import NDArray

    from ssdscope.probes.bench import Bench

SHARE, PARTS, LEFT_OUT = 0.25, 5, 2
"""Of the capacity, written in order; in parts, of which so many may go into an empty region."""
REQUEST_BYTES, OF_BLOCK = 64 * 1024, 1 / 64
"""At most, and of what is collected as one: else too many of them would meet a fold."""
FOLDS_FROM = 1.4
"""Times the median, the mean of such writes: erases alone make it 1.1, folding twice and more."""

Write = Callable[["NDArray[np.uint64]", int], "NDArray[np.float64]"]


def emptied(bench: Bench, unit: Granule, most_foreign_share: float) -> None:
    """Discard everything; of a drive that cannot, fill it afresh."""
    if bench.info.discard:
        discard_all(bench)
    else:
        fill_afresh(bench, unit, most_foreign_share)


def folds(bench: Bench, unit: Granule, collected_bytes: float, write: Write) -> bool:
    """Say whether writes in order wait as if blocks were folded.

    Parameters
    ----------
    unit
        The RMW unit, if that is known.
    collected_bytes
        After so much one write waits, whether for collection or a fold.
    write
        Writes to places, so many bytes each, one by one; gives latencies.
    """
    # Of writes that are padded, the first to a unit would take longer than the others.
    most = int(min(REQUEST_BYTES, OF_BLOCK * collected_bytes))
    size = max(most // unit.size_bytes, 1) * unit.size_bytes
    unit = replace(unit, size_bytes=size if unit.exact else UNKNOWN_UNIT_BYTES)
    emptied(bench, unit, 1.0)
    count = max(int(SHARE * bench.info.capacity_bytes) // unit.size_bytes, PARTS)
    steps = np.arange(count) * unit.size_bytes
    latencies = write((unit.nearest(FILL_BYTES) + steps).astype(np.uint64), unit.size_bytes)
    parts = np.array_split(latencies, PARTS)[LEFT_OUT:]
    return bool(np.median([part.mean() / np.median(part) for part in parts]) > FOLDS_FROM)


def writes_bytes(capacity_bytes: int) -> int:
    """Give what it writes at most."""
    return int((1 + SHARE) * capacity_bytes)
