"""What heavy probes see behind a buffer that is protected: neither RMW nor merge unit is known."""

from __future__ import annotations

from pathlib import Path
from typing import Any

import pytest
from tests.unit.collecting_drives import NOISE, bench_with, log_block, page_mapped, told

from ssdscope.probes import Absent, Bench, Detected, Reason, Undetectable, gc_knee, reclaim_unit

PROTECTED = """
[write_buffer]
bytes = 262_144
unit_bytes = 4096
drain = "eager"
ns_per_byte = 0.1
power_loss_protected = true
switchable = false
"""
LARGE: dict[str, Any] = {"blocks": 240, "pages": 192}


def unknown(bench: Bench) -> Bench:
    """Let the usual probes have failed for the buffer."""
    for name in ("rmw_unit_bytes", "merge_unit_bytes", "pslc_bytes"):
        reason = Reason.PLP_NO_FLUSH_EFFECT
        bench.known[name] = Undetectable(name=name, probe="test", reason=reason)
    return bench


@pytest.mark.parametrize("noise", ["", NOISE])
@pytest.mark.parametrize("unit", [4096, 16_384])
def test_the_spare_space_without_its_padding(tmp_path: Path, unit: int, noise: str) -> None:
    """Of thousands of the largest requests, so that each of three knees is as sharp as is asked."""
    blocks = 1920
    toml = (
        page_mapped(blocks=blocks, pages=192, more=f"map_unit_bytes = {unit}") + PROTECTED + noise
    )
    found = told("gc_knee", unknown(bench_with(tmp_path, toml)))[gc_knee.SPARE]
    assert isinstance(found, Detected)
    visible = 1.3 * (1 - 5 / blocks) - 1
    assert found.value == pytest.approx(visible, rel=0.1)
    assert found.interval is not None
    assert found.interval[0] < visible < found.interval[1]


def test_entries_of_a_table_that_are_written_back_would_count_as_padding(tmp_path: Path) -> None:
    bench = unknown(bench_with(tmp_path, page_mapped(**LARGE) + PROTECTED))
    cache = {"value": 42_576 * 512.0, "interval": None, "effect": 1.0}
    bench.known["map_cache_bytes"] = Detected(name="map_cache_bytes", probe="test", **cache)
    bench.known["map_zone_bytes"] = Absent(name="map_zone_bytes", probe="test", bound=0, reason="")
    found = told("gc_knee", bench)[gc_knee.SPARE]
    assert isinstance(found, Undetectable)
    assert found.reason is Reason.MASKED


def test_log_blocks_of_one_unit_each_are_no_spare_space(tmp_path: Path) -> None:
    """They are used up after as many requests of either size."""
    toml = log_block(**LARGE, logs=20, merge=2 * 192 * 4096) + PROTECTED
    found = told("gc_knee", unknown(bench_with(tmp_path, toml)))[gc_knee.SPARE]
    assert isinstance(found, Undetectable)


def test_a_reclaim_unit_of_few_requests_that_may_be_padded_is_not_told(tmp_path: Path) -> None:
    bench = unknown(bench_with(tmp_path, page_mapped(**LARGE) + PROTECTED))
    found = told("reclaim_unit", bench)[reclaim_unit.RECLAIM]
    assert isinstance(found, Undetectable)


def test_the_reclaim_unit_without_a_known_merge_unit(tmp_path: Path) -> None:
    bench = unknown(bench_with(tmp_path, page_mapped(pages=1024, blocks=120) + PROTECTED))
    found = told("reclaim_unit", bench)[reclaim_unit.RECLAIM]
    assert isinstance(found, Detected)
    assert found.value == pytest.approx(2 * 1024 * 4096, rel=0.1)


@pytest.mark.parametrize("association", ["one-to-one", "many-to-one"])
def test_log_blocks_have_no_reclaim_unit(tmp_path: Path, association: str) -> None:
    toml = log_block(association=association) + PROTECTED
    found = told("reclaim_unit", unknown(bench_with(tmp_path, toml)))[reclaim_unit.RECLAIM]
    assert isinstance(found, Undetectable)
