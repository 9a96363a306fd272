"""What is written of a mapping table that is kept entry by entry."""

from __future__ import annotations

from pathlib import Path
from typing import Any

import pytest
from tests.integration.collecting_drives import bench_with, page_mapped

from ssdscope.probes import Detected, Reason, gc_knee, table_writes
from ssdscope.probes.bench import Stopped

PAGE = 4096
CACHED = 2560
ON_DEMAND = f"""
[map]
kind = "demand"
cache_bytes = {CACHED}
cached_entry_bytes = 8
load_bytes = 512
"""


def detected(name: str, value: float) -> Detected:
    return Detected(name=name, probe="test", value=value, interval=None, effect=1.0)


def test_a_table_in_memory_or_in_zones_takes_no_place(tmp_path: Path) -> None:
    zones: dict[str, Any] = {"map_cache_bytes": 8 << 20, "map_zone_bytes": 1 << 20}
    for known in ({"map_cache_bytes": None}, zones):
        bench = bench_with(tmp_path, page_mapped(), rmw_unit_bytes=PAGE, **known)
        assert table_writes.takes_no_place(bench)
        assert table_writes.most_share(bench) == 0
    unknown = bench_with(tmp_path, page_mapped(), rmw_unit_bytes=PAGE)
    assert not table_writes.takes_no_place(unknown)


def test_what_is_written_of_entries_is_bounded(tmp_path: Path) -> None:
    """By the counters of a drive whose spare space is not used up yet."""
    kept = CACHED // 8 * PAGE
    known = {"rmw_unit_bytes": PAGE, "map_cache_bytes": kept, "map_zone_bytes": PAGE}
    bench = bench_with(tmp_path, page_mapped(blocks=320) + ON_DEMAND, **known)
    units, count = bench.info.capacity_bytes // PAGE, 2000
    device = bench._device
    before = device.counters()["flash_bytes_programmed"]
    with bench.allowance(count * PAGE):
        bench.write(bench.rng("test").integers(0, units, count) * PAGE, PAGE)
    programmed = (device.counters()["flash_bytes_programmed"] - before) / (count * PAGE)
    assert not table_writes.takes_no_place(bench)
    most = table_writes.most_share(bench)
    assert 0.5 * most < programmed - 1 < 1.1 * most
    assert most == pytest.approx(units / (CACHED // 8) / (PAGE // 8))


def test_collection_changes_entries_that_are_kept_for_long(tmp_path: Path) -> None:
    """Of few that are kept data are younger than what is collected."""
    shares = {}
    for kept in (0.02, 0.3):
        bench = bench_with(tmp_path, page_mapped(), rmw_unit_bytes=PAGE)
        size = kept * bench.info.capacity_bytes
        for name, value in (("map_cache_bytes", size), ("map_zone_bytes", PAGE)):
            bench.known[name] = detected(name, value)
        shares[kept] = table_writes.of_collection(bench, 4.0)
    assert shares[0.02] == 0
    # 2 x 0.7 x 3 / pi over 512 entries, and its root.
    assert shares[0.3] == pytest.approx(0.051, abs=0.001)


def test_spare_space_does_not_end_where_entries_begin_to_be_written_back(tmp_path: Path) -> None:
    bench = bench_with(tmp_path, page_mapped(), rmw_unit_bytes=PAGE, map_zone_bytes=PAGE)
    bench.known["map_cache_bytes"] = detected("map_cache_bytes", 0.19 * bench.info.capacity_bytes)
    assert table_writes.first_written_back(bench) == pytest.approx(0.2107, abs=0.0001)
    knee = detected("over_provisioning_ratio", 0.25)
    assert gc_knee._unless_written_back(bench, knee) is knee
    with pytest.raises(Stopped) as stopped:
        gc_knee._unless_written_back(bench, detected("over_provisioning_ratio", 0.21))
    assert stopped.value.reason is Reason.MASKED
    with pytest.raises(Stopped):  # nor where as many have changed once more
        gc_knee._unless_written_back(bench, detected("over_provisioning_ratio", 0.424))
    bench.known["map_cache_bytes"] = detected("map_cache_bytes", bench.info.capacity_bytes)
    assert table_writes.first_written_back(bench) == 0
