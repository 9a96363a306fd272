"""Streams in turn wait for merges, and for nothing on a page-mapped drive."""

from __future__ import annotations

from pathlib import Path
from typing import Any

import pytest
from tests.integration.collecting_drives import NOISE, bench_with, log_block, page_mapped, told

from ssdscope.findings import Detected, Reason, Undetectable
from ssdscope.probes import many_streams, reclaim_unit

PAGE = 4096


def goes_on(tmp_path: Path, toml: str, **known: Any) -> bool:
    bench = bench_with(tmp_path, toml, **known)
    with bench.allowance(many_streams.declared_writes_bytes(bench.info)):
        return many_streams.streams_go_on(bench)


@pytest.mark.parametrize("noise", ["", NOISE])
@pytest.mark.parametrize("allocation", ["address", "order"])
def test_a_page_mapped_drive_copies_nothing(tmp_path: Path, allocation: str, noise: str) -> None:
    """Planes that are out of step wait for their erases one after the other: short ones."""
    toml = page_mapped(allocation=allocation).replace("2_500_000", "600_000") + noise
    assert goes_on(tmp_path, toml, rmw_unit_bytes=PAGE, over_provisioning_ratio=0.25)


@pytest.mark.parametrize("logs", [6, 20])
@pytest.mark.parametrize("association", ["one-to-one", "many-to-one"])
def test_log_blocks_are_merged(tmp_path: Path, association: str, logs: int) -> None:
    """Whatever was taken for spare space: what they hold, or more, or less."""
    for spare in (0.5, 1, 2):
        toml = log_block(association=association, logs=logs, blocks=240)
        known = {"rmw_unit_bytes": PAGE, "over_provisioning_ratio": spare * logs / 220}
        assert not goes_on(tmp_path, toml, **known)


def test_nothing_is_said_where_room_is_never_short(tmp_path: Path) -> None:
    toml = page_mapped()
    assert not goes_on(tmp_path, toml, rmw_unit_bytes=PAGE)
    assert not goes_on(tmp_path, toml, rmw_unit_bytes=PAGE, over_provisioning_ratio=0.1)


def test_the_reclaim_unit_is_told_then(tmp_path: Path) -> None:
    known = {"rmw_unit_bytes": PAGE, "pslc_bytes": None, "map_cache_bytes": None}
    toml = page_mapped(allocation="address")
    bench = bench_with(tmp_path, toml, over_provisioning_ratio=0.25, **known)
    bench.known["merge_unit_bytes"] = Undetectable(
        name="merge_unit_bytes", probe="test", reason=Reason.EFFECT_BELOW_NOISE
    )
    assert isinstance(told("reclaim_unit", bench)[reclaim_unit.RECLAIM], Detected)
