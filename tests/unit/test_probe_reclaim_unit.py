"""The probe `reclaim_unit`: a block on every plane, whatever is collected as one."""

from __future__ import annotations

from pathlib import Path
from typing import Any

import pytest
from tests.unit.collecting_drives import FLAT, NOISE, bench_with, log_block, page_mapped, told

from ssdscope.probes import Absent, Detected, Finding, Reason, Undetectable, reclaim_unit

PAGE = 4096


def found_on(tmp_path: Path, toml: str, **known: Any) -> Finding:
    usual = {"rmw_unit_bytes": PAGE, "merge_unit_bytes": None, "pslc_bytes": None}
    return told("reclaim_unit", bench_with(tmp_path, toml, **(usual | known)))[reclaim_unit.RECLAIM]


@pytest.mark.parametrize("noise", ["", NOISE])
@pytest.mark.parametrize(
    ("keys", "planes"),
    [
        ({"allocation": "address"}, 2),
        ({"allocation": "order", "planes": 2}, 4),
        ({"allocation": "address", "channels": 3, "pages": 96}, 3),
        ({"allocation": "address", "policy": "fifo"}, 2),
        ({"allocation": "address", "channels": 4, "more": "reclaim_unit_bytes = 393_216"}, 4),
    ],
)
def test_a_block_on_every_plane(
    tmp_path: Path, keys: dict[str, Any], planes: int, noise: str
) -> None:
    found = found_on(tmp_path, page_mapped(**keys) + noise)
    assert isinstance(found, Detected)
    assert found.value == pytest.approx(planes * keys.get("pages", 48) * PAGE, rel=0.02)
    assert found.interval is not None
    assert found.interval[0] < found.value < found.interval[1]


def test_it_is_a_multiple_of_what_one_place_fills(tmp_path: Path) -> None:
    """A finding of `gc_period` that contradicts what is seen leaves no answer."""
    one_block = 48 * PAGE
    found = found_on(tmp_path, page_mapped(allocation="address"), gc_period_bytes=one_block)
    assert isinstance(found, Detected)
    assert found.value == 2 * one_block
    odd = found_on(tmp_path, page_mapped(allocation="address"), gc_period_bytes=1.4 * one_block)
    assert isinstance(odd, Undetectable)


def test_log_blocks_have_none(tmp_path: Path) -> None:
    merge = 2 * 48 * PAGE
    assert isinstance(found_on(tmp_path, log_block(), merge_unit_bytes=merge), Absent)


def test_merging_and_folding_must_be_ruled_out(tmp_path: Path) -> None:
    """Log blocks, too, are erased once per round of writes in order."""
    bench = bench_with(tmp_path, log_block(), rmw_unit_bytes=PAGE)
    assert isinstance(told("reclaim_unit", bench)[reclaim_unit.RECLAIM], Undetectable)
    bench = bench_with(tmp_path, page_mapped(), rmw_unit_bytes=PAGE, merge_unit_bytes=None)
    refused = told("reclaim_unit", bench)[reclaim_unit.RECLAIM]
    assert isinstance(refused, Undetectable)
    assert refused.reason is Reason.MASKED


@pytest.mark.parametrize("probe", ["reclaim_unit", "open_units", "gc_knee"])
def test_log_blocks_that_were_overlooked_are_noticed(tmp_path: Path, probe: str) -> None:
    """Even where a merge unit was said to be absent."""
    known = {"rmw_unit_bytes": PAGE, "merge_unit_bytes": None, "pslc_bytes": None}
    for finding in told(probe, bench_with(tmp_path, log_block() + NOISE, **known)).values():
        assert isinstance(finding, Undetectable)


def test_a_drive_without_collection_has_none(tmp_path: Path) -> None:
    assert isinstance(found_on(tmp_path, FLAT), Undetectable)
