"""What writing back a mapping table adds where its entries are loaded one by one.

An entry that gives way and differs from what is in flash is written with all such of the same page
of the table. Each write at random drives one out, so that a page of the table is programmed for as
many writes as entries of one page are kept: the share of the drive that the cache covers, times the
entries of a page, of 8 bytes as usual. A page is taken to be as large as the RMW unit. That is the
most, as such pages are soon stale, and collection hardly copies them.
"""

from __future__ import annotations

from typing import TYPE_CHECKING

from ssdscope.probes.finding import Absent
from ssdscope.probes.overwriting import unit_or_base

if TYPE_CHECKING:
    from ssdscope.probes.bench import Bench

CACHE, ZONE = "map_cache_bytes", "map_zone_bytes"
ENTRY_BYTES = 8


def by_entries(bench: Bench) -> bool:
    """Whether the mapping table is loaded entry by entry, rather than in zones."""
    if bench.found(CACHE) is None:
        return False
    zone = bench.found(ZONE)
    return zone is None or zone == unit_or_base(bench).size_bytes


def takes_no_place(bench: Bench) -> bool:
    """Whether the table is in memory, or loaded in zones, and so not among the data."""
    if isinstance(bench.known.get(CACHE), Absent):
        return True
    return bench.found(ZONE) is not None and not by_entries(bench)


def most_share(bench: Bench) -> float:
    """Say what is programmed of the table for a unit of data, at most."""
    if not by_entries(bench):
        return 0.0
    kept = float(bench.found(CACHE) or 0) / bench.info.capacity_bytes
    return 1 / max(kept * unit_or_base(bench).size_bytes / ENTRY_BYTES, 1.0)
