"""What writing back a mapping table adds where its entries are loaded one by one.

An entry that gives way and differs from what is in flash is written with all such of the same page
of the table. Each write at random drives one out, so that a page of the table is programmed for as
many writes as entries of one page are kept: the share of the drive that the cache covers, times the
entries of a page, of 8 bytes as usual. A page is taken to be as large as the RMW unit. That is the
most, as such pages are soon stale, and collection hardly copies them.

But where entries are kept for longer than data are left alone, collection changes entries that are
in memory, of any age: the next of a page to give way may be such a one, and all of the page is
written again. With E entries on a page, a share k of all kept, and A programs for each write, one
in E / (1 - k) writes at random drives out an entry of a given page, and it has been changed since
the page was written t writes ago with the probability t (A - 1) / units. The mean t that follows
makes the square root of 2 (1 - k) (A - 1) / (pi E) pages for each write. (Data are left alone until
-ln(1 - 1/A) of the drive was overwritten, entries are kept for k / (1 - k).)
"""

from __future__ import annotations

import math
from typing import TYPE_CHECKING

from ssdscope.findings import Absent
from ssdscope.probes.overwriting import unit_or_base

if TYPE_CHECKING:
    from ssdscope.probes.bench import Bench

CACHE, ZONE = "map_cache_bytes", "map_zone_bytes"
ENTRY_BYTES = 8
LEFT_ALONE = 0.6
"""Times the mean: so soon some data are collected. Entries that are kept for 0.74 times as long are
changed as often as if they were kept for longer."""


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


def of_collection(bench: Bench, amplification: float) -> float:
    """Say about what is programmed of the table for a unit, as collection changes its entries."""
    kept = _kept(bench)
    if not by_entries(bench) or not kept < 1 or amplification <= 1:
        return 0.0
    if kept / (1 - kept) < LEFT_ALONE * -math.log1p(-1 / amplification):
        return 0.0
    entries = unit_or_base(bench).size_bytes / ENTRY_BYTES
    return math.sqrt(2 * (1 - kept) * (amplification - 1) / (math.pi * entries))


def _kept(bench: Bench) -> float:
    """Give the share of all entries that is in memory."""
    return float(bench.found(CACHE) or 0) / bench.info.capacity_bytes


def first_written_back(bench: Bench) -> float:
    """Say how much of the capacity is overwritten until entries that changed have to give way.

    All in memory have changed then; until then it costs nothing to drop one.
    """
    kept = _kept(bench)
    return -math.log1p(-kept) if by_entries(bench) and kept < 1 else 0.0


def most_share(bench: Bench) -> float:
    """Say what is programmed of the table for a unit of data, at most."""
    if not by_entries(bench):
        return 0.0
    kept = _kept(bench)
    return 1 / max(kept * unit_or_base(bench).size_bytes / ENTRY_BYTES, 1.0)
