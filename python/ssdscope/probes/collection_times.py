"""Times of many overwrites at once while a drive uses up its spare space and collects."""

from __future__ import annotations

from typing import TYPE_CHECKING

import numpy as np

from ssdscope.findings import Reason
from ssdscope.probes import write_buffer
from ssdscope.probes.bench import Stopped
from ssdscope.probes.overwriting import Granule, completions_ns, fill_afresh
from ssdscope.probes.states import State

if TYPE_CHECKING:
    from numpy.typing import NDArray

    from ssdscope.probes.bench import Bench

DEPTH = 64
PIECES = 50


def held_share(bench: Bench) -> float:
    """Give the share of the capacity that a buffer holds which stays on.

    As much less than was written has used up spare space.

    Raises
    ------
    Stopped
        If there is one of which that is not known.
    """
    if write_buffer.may_stay(bench) and write_buffer.about_bytes(bench) is None:
        raise Stopped(Reason.WRITE_ACKED_FROM_BUFFER, "what the buffer holds is not known")
    return write_buffer.staying_bytes(bench) / bench.info.capacity_bytes


def return_to_full(bench: Bench, unit: Granule) -> None:
    """Return to a drive that is full of data in order."""
    if not bench.renew(State.AS_FOUND):
        fill_afresh(bench, unit)


def timed(
    bench: Bench, unit: Granule, places: NDArray[np.uint64]
) -> tuple[list[tuple[int, int]], list[float]] | None:
    """Write many at once; give pieces by number of writes, and mean times; None if disturbed."""
    try:
        with bench.without_caches():
            log = bench.write(places, unit.size_bytes, iodepth=DEPTH)
    except Stopped as stop:
        if stop.reason is not Reason.INTERFERENCE:
            raise
        return None
    done = np.concatenate([[0.0], completions_ns(log)])
    pieces = int(np.clip(places.size // (2 * DEPTH), 1, PIECES))
    ends = np.linspace(0, places.size, pieces + 1).astype(int)
    means = np.diff(done[ends]) / np.diff(ends)
    return list(zip(ends[:-1].tolist(), ends[1:].tolist(), strict=True)), means.tolist()


def starts_of(unit: Granule, steps: NDArray[np.int64]) -> NDArray[np.uint64]:
    """Give the first bytes of units by their number."""
    return np.asarray((steps * unit.size_bytes - unit.phase_bytes).astype(np.uint64))
