"""Whether small writes all over a drive cost no more than small writes to one place.

A drive that keeps one log block for each unit being written has none left after so many random
writes, and merges for each of them; a page-mapped drive writes what comes to where there is room.
The check keeps a probe from taking log blocks for pages where the merge unit was overlooked.
"""

from __future__ import annotations

from typing import TYPE_CHECKING

import numpy as np

from ssdscope.probes.overwriting import write_through

if TYPE_CHECKING:
    from ssdscope.probes.bench import Bench
    from ssdscope.probes.overwriting import Granule

WRITES = 256
"""Random ones; more than there are log blocks, of which the last quarter counts."""
DEARER = 5.0


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
