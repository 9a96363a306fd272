"""Whether small writes all over a drive cost no more than small writes to one place.

A drive that keeps one log block for each unit being written has none left after so many random
writes, and merges for each of them; a page-mapped drive writes what comes to where there is room.
The checks keep a probe from taking log blocks for pages where the merge unit was overlooked.
"""

from __future__ import annotations

from functools import partial
from typing import TYPE_CHECKING

import numpy as np

from ssdscope.probes.discipline import in_peace
from ssdscope.probes.overwriting import Granule, fill_afresh, latencies_ns, write_through

if TYPE_CHECKING:
    from numpy.typing import NDArray

    from ssdscope.probes.bench import Bench

WRITES = 256
"""Random ones; more than there are log blocks, of which the last quarter counts."""
DEARER = 5.0
SHUFFLED_BYTES, WINDOW_SHARE = 128 * 1024, 0.1
"""Written as one, whose ends may lie within RMW units; and the share of the capacity in random
order, of which log blocks hold little at a time."""
SHUFFLED_SHARE = 0.2
"""Of the capacity, in order and in random order each; the first fifth fills a buffer."""
FREELY = 1.45
"""Times what writes in order take: more than partial units at both ends come to, less than merges,
which copy as much as was written at least."""


def merges_for_each(bench: Bench, unit: Granule) -> bool:
    """Say whether random writes of a unit take several times as long as rewriting one.

    Writes stay within what the mapping table in memory covers, where that is known.
    """
    capacity = bench.info.capacity_bytes
    covered = min(capacity, int(float(bench.found("map_cache_bytes") or capacity)))
    rng = bench.rng("page_mapped")
    places = unit.places(WRITES, covered, rng)
    scattered = write_through(bench, places, unit.size_bytes)[-WRITES // 4 :]
    same = np.full(WRITES // 4, places[0], np.uint64)
    one_place = write_through(bench, same, unit.size_bytes)[1:]
    return bool(np.median(scattered) > DEARER * np.median(one_place))


def shuffles_freely(bench: Bench, unit: Granule) -> bool:
    """Say whether stretches whose parts are overwritten in random order cost as in order.

    Where writes go to wherever there is room, either leaves whole blocks stale, and nothing is
    copied. A log block takes the place of what it was written over only if that was written in
    order; else all of it is merged, once for each log block that holds a part at the worst. It
    shows through a protected buffer, too, which takes as long as what is behind it.

    Parameters
    ----------
    unit
        The RMW unit, if it is known: with partial ones nothing is written in order.
    """
    capacity = bench.info.capacity_bytes
    size = max(SHUFFLED_BYTES // unit.size_bytes, 1) * unit.size_bytes
    part = Granule(size, unit.phase_bytes, unit.exact)
    fill_afresh(bench, part)
    count = int(SHUFFLED_SHARE * capacity) // size
    held = float(bench.found("map_cache_bytes") or capacity)
    window = int(min(WINDOW_SHARE * capacity, held / 2)) // size
    rng = bench.rng("shuffles_freely")
    places = np.arange(1, 2 * count + 1)
    shuffled = [rng.permutation(places[i : i + window]) for i in range(count, 2 * count, window)]
    took = []
    for each in (places[:count], np.concatenate(shuffled)):
        latencies = in_peace(bench, partial(_written_ns, bench, part, each))
        took.append(float(latencies[count // 5 :].mean()))
    return took[1] < FREELY * took[0]


def _written_ns(bench: Bench, part: Granule, each: NDArray[np.int64]) -> NDArray[np.float64]:
    places = (each * part.size_bytes - part.phase_bytes).astype(np.uint64)
    return latencies_ns(bench.write(places, part.size_bytes))
