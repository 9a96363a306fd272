"""What heavy probes see behind a buffer that is protected: neither RMW nor merge unit is known."""

from __future__ import annotations

from pathlib import Path
from typing import Any

import numpy as np
import pytest
from tests.integration.collecting_drives import bench_with, log_block, page_mapped, told

from ssdscope.findings import Detected, Reason, Undetectable
from ssdscope.probes import reclaim_unit, rounds
from ssdscope.probes.bench import Bench
from ssdscope.probes.overwriting import Granule

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


def test_the_spare_space_is_not_told_without_the_unit(tmp_path: Path) -> None:
    """Nobody knows how much of a write is its own."""
    for toml in (page_mapped(**LARGE), log_block(**LARGE, logs=20, merge=2 * 192 * 4096)):
        for finding in told("spare", unknown(bench_with(tmp_path, toml + PROTECTED))).values():
            assert isinstance(finding, Undetectable)
            assert finding.reason is Reason.MASKED


def test_a_reclaim_unit_of_few_requests_that_may_be_padded_is_not_told(tmp_path: Path) -> None:
    bench = unknown(bench_with(tmp_path, page_mapped(**LARGE) + PROTECTED))
    found = told("reclaim_unit", bench)[reclaim_unit.RECLAIM]
    assert isinstance(found, Undetectable)


SORTING = PROTECTED.replace("262_144", "25_165_824").replace('"eager"', '"full"')
SORTING += 'order = "sequential-runs"\n'
LONG: dict[str, Any] = {"pages": 1024, "blocks": 120}
MAPPED = {"map_cache_bytes": None}


@pytest.mark.parametrize("buffer", [PROTECTED, SORTING])
def test_the_reclaim_unit_without_a_known_merge_unit(tmp_path: Path, buffer: str) -> None:
    bench = unknown(bench_with(tmp_path, page_mapped(**LONG) + buffer, **MAPPED))
    found = told("reclaim_unit", bench)[reclaim_unit.RECLAIM]
    assert isinstance(found, Detected)
    assert found.value == pytest.approx(2 * 1024 * 4096, rel=0.1)


@pytest.mark.parametrize("held", [25_165_824, None])
def test_no_buffer_holds_two_turns_of_a_stream(
    tmp_path: Path, held: int | None, monkeypatch: pytest.MonkeyPatch
) -> None:
    """It would sort streams in turns of a quarter of a merge unit into whole units again."""
    size, period, places = 131_072, 8_388_608, []

    def written(_bench: Bench, where: Any, _size: int) -> Any:
        places.append(where.astype(np.int64))
        return np.ones(where.size)

    monkeypatch.setattr(rounds, "write_through", written)
    known = MAPPED if held is None else MAPPED | {"write_buffer_bytes": held}
    bench = unknown(bench_with(tmp_path, page_mapped(**LONG) + SORTING, **known))
    assert rounds.Rounds(bench, Granule(size, 0, True), 1 << 40).written(size, 1, period)
    turns = places[0][:: period // 4 // size]
    held = bench.info.capacity_bytes // 16 if held is None else held
    within = 2 * held // (period // 4)
    for start in range(0, turns.size - within, within):
        near = np.sort(turns[start : start + within])
        assert near.size < 2 or np.diff(near).min() > period // 4


def test_without_room_for_so_many_streams_there_is_no_answer(tmp_path: Path) -> None:
    known = {"write_buffer_bytes": 25_165_824, "map_cache_bytes": 150_994_944}
    bench = unknown(bench_with(tmp_path, page_mapped(**LONG) + SORTING, **known))
    passed = rounds.Rounds(bench, Granule(131_072, 0, True), 1 << 40)
    assert passed.written(131_072, 1, 8_388_608) is None


@pytest.mark.parametrize("association", ["one-to-one", "many-to-one"])
def test_log_blocks_have_no_reclaim_unit(tmp_path: Path, association: str) -> None:
    toml = log_block(association=association) + PROTECTED
    found = told("reclaim_unit", unknown(bench_with(tmp_path, toml)))[reclaim_unit.RECLAIM]
    assert isinstance(found, Undetectable)
