"""The probe `open_units`: log blocks of one unit each, and common ones."""

from __future__ import annotations

from pathlib import Path
from typing import Any
from unittest.mock import Mock

import numpy as np
import pytest
from tests.integration.collecting_drives import (
    FLAT,
    NOISE,
    bench_with,
    log_block,
    page_mapped,
    told,
)

from ssdscope.findings import Absent, Detected, Finding, Reason, Undetectable
from ssdscope.probes import open_units, session, unit_streams
from ssdscope.probes.bench import Bench, Stopped
from ssdscope.probes.budget import Budget
from ssdscope.studies.recovery.generator import draw
from ssdscope.targets.drive_writer import open_drive

MERGE = 2 * 48 * 4096
BUFFER = """
[write_buffer]
bytes = 262_144
switchable = {switchable}
power_loss_protected = {protected}
"""


def found_on(tmp_path: Path, toml: str, merge: int = MERGE, **known: Any) -> Finding:
    known = {"rmw_unit_bytes": 4096, "merge_unit_bytes": merge} | known
    return told("open_units", bench_with(tmp_path, toml, **known))[open_units.OPEN]


@pytest.mark.parametrize("logs", [3, 5, 8, 13])
@pytest.mark.parametrize("noise", ["", NOISE])
def test_one_log_block_for_each_stream(tmp_path: Path, logs: int, noise: str) -> None:
    found = found_on(tmp_path, log_block(logs=logs) + noise)
    assert isinstance(found, Detected)
    assert found.value == logs


@pytest.mark.parametrize("more", ['log_victim = "fifo"', 'log_victim = "lru"'])
def test_whichever_is_merged_first(tmp_path: Path, more: str) -> None:
    merge = 2 * 96 * 4096
    found = found_on(tmp_path, log_block(pages=96, merge=merge, logs=6, more=more), merge)
    assert isinstance(found, Detected)
    assert found.value == 6


@pytest.mark.parametrize("logs", [3, 9])
@pytest.mark.parametrize("noise", ["", NOISE])
def test_common_log_blocks_leave_one_stream(tmp_path: Path, logs: int, noise: str) -> None:
    found = found_on(tmp_path, log_block(association="many-to-one", logs=logs) + noise)
    assert isinstance(found, Detected)
    assert found.value == 1


@pytest.mark.parametrize(("association", "expected"), [("one-to-one", 8), ("many-to-one", 1)])
def test_streams_between_the_bursts_of_others(
    tmp_path: Path, association: str, expected: int
) -> None:
    others = (
        "[disturbance]\nforeign_iops = 47\nforeign_bytes = 16_384\n"
        "foreign_on_ns = 400_000_000\nforeign_off_ns = 1_500_000_000\n"
    )
    found = found_on(tmp_path, log_block(association=association, logs=8) + others)
    assert isinstance(found, Detected)
    assert found.value == expected


@pytest.mark.parametrize("logs", [8, 14])
def test_what_others_write_takes_no_log_block_of_the_count(tmp_path: Path, logs: int) -> None:
    """Streams that just fit merge one another for a round for each write of another user."""
    others = (
        "[disturbance]\nforeign_iops = 20\nforeign_bytes = 16_384\nforeign_write_ratio = 1.0\n"
        "foreign_on_ns = 200_000_000\nforeign_off_ns = 2_400_000_000\n"
    )
    found = found_on(tmp_path, log_block(logs=logs) + others)
    assert isinstance(found, Detected)
    assert found.value == logs


@pytest.mark.parametrize("logs", [5, 13])
def test_what_others_read_takes_no_log_block(tmp_path: Path, logs: int) -> None:
    """Somebody reads whenever streams write, and keeps the drive busy for a tenth at most."""
    others = (
        "[disturbance]\nforeign_iops = 27\nforeign_bytes = 4096\nforeign_write_ratio = 0.0\n"
        "foreign_on_ns = 250_000_000\nforeign_off_ns = 50_000_000\n"
    )
    found = found_on(tmp_path, log_block(logs=logs) + others)
    assert isinstance(found, Detected)
    assert found.value == logs


def test_planes_that_have_their_turn_every_four_units_make_two_streams_no_dearer(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    """Two of four units take two pages of a die: always those in turn, if their order is fixed."""
    written = 0

    def whole(_streams: unit_streams.Streams, count: int) -> float:
        nonlocal written
        units = np.arange(written, written + count)
        written += count
        return float(np.mean(np.where(units % 4 < 2, 0.9e6, 1.7e6)))

    monkeypatch.setattr(unit_streams.Streams, "_whole", whole)
    bench = bench_with(tmp_path, log_block(), rmw_unit_bytes=4096, merge_unit_bytes=MERGE)
    for _ in range(4):
        assert open_units._streams(bench, MERGE).pair_over_one() is False
        written += 1


@pytest.mark.parametrize(("share", "dearer"), [(0.35, False), (0.95, None)])
def test_others_may_have_taken_what_two_streams_left_free(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, share: float, dearer: bool | None
) -> None:
    """Of many log blocks, all full of what others wrote, one stream leaves one free."""
    rng, free, others_bytes = np.random.default_rng(5), 0, 0

    def whole(_streams: unit_streams.Streams, count: int) -> float:
        nonlocal free, others_bytes
        if rng.random() < share:
            free, others_bytes = max(free - 1, 0), others_bytes + 65_536
        merges = max(count - free, 0)
        free = max(free, count)
        return float(rng.normal(1e6, 1e4) * (1 + merges / count))

    bench = bench_with(tmp_path, log_block(), rmw_unit_bytes=4096, merge_unit_bytes=MERGE)
    monkeypatch.setattr(unit_streams.Streams, "_whole", whole)
    monkeypatch.setattr(Bench, "foreign", property(lambda _: Mock(written_bytes=others_bytes)))
    streams = open_units._streams(bench, MERGE)
    if dearer is None:
        with pytest.raises(Stopped):
            streams.pair_over_one()
    else:
        assert streams.pair_over_one() is dearer


@pytest.mark.calibration
def test_streams_that_merge_each_other_after_others_wrote_are_not_too_many() -> None:
    """Of 21 log blocks the oldest goes first: 19 streams did so for two rounds, not for one."""
    drawn = draw(2980922379, 1)
    names = ["buffer", "units", "merge_unit", "open_units"]
    device = open_drive(drawn.toml(), "drawn", 1)
    found = {each.name: each for each in session.run(names, device, Budget.parse("full"), 1)}
    assert found[open_units.OPEN].value in (None, 21)


def test_parts_of_the_table_that_are_loaded_are_no_merges(tmp_path: Path) -> None:
    zones = f"""
[map]
kind = "zones"
zone_bytes = {2 * MERGE}
resident_zones = 2
load_ns = 2_000_000
write_back_ns = 2_000_000
"""
    found = found_on(tmp_path, log_block(logs=9, more=zones))
    assert isinstance(found, Detected)
    assert found.value == 9


def test_two_streams_that_load_a_part_of_the_table_each_are_no_merges(tmp_path: Path) -> None:
    """Nor if it is not known how much of the table is held."""
    zones = f"""
[map]
kind = "zones"
zone_bytes = {MERGE}
resident_zones = 1
load_ns = 2_000_000
write_back_ns = 2_000_000
"""
    found = found_on(tmp_path, log_block(logs=9, more=zones))
    assert not (isinstance(found, Detected) and found.value == 1)


@pytest.mark.parametrize("switchable", ["true", "false"])
def test_a_buffer_is_switched_off_or_flushed(tmp_path: Path, switchable: str) -> None:
    buffer = BUFFER.format(switchable=switchable, protected="false")
    found = found_on(tmp_path, log_block(logs=5, more=buffer))
    assert isinstance(found, Detected)
    assert found.value == 5


def test_page_mapped_drives_have_none(tmp_path: Path) -> None:
    bench = bench_with(tmp_path, page_mapped(), merge_unit_bytes=None)
    assert isinstance(told("open_units", bench)[open_units.OPEN], Absent)


@pytest.mark.parametrize("merge", [MERGE, 10 * MERGE])
def test_a_drive_without_log_blocks_shows_no_limit(tmp_path: Path, merge: int) -> None:
    """Even if a merge unit was found where there is none."""
    bench = bench_with(tmp_path, FLAT, merge_unit_bytes=merge)
    assert isinstance(told("open_units", bench)[open_units.OPEN], Undetectable)


def test_an_unknown_merge_unit_is_not_guessed(tmp_path: Path) -> None:
    found = told("open_units", bench_with(tmp_path, log_block()))[open_units.OPEN]
    assert isinstance(found, Undetectable)
    few = bench_with(tmp_path, log_block(), merge_unit_bytes=1 << 23)
    refused = told("open_units", few)[open_units.OPEN]
    assert isinstance(refused, Undetectable)
    assert refused.reason is Reason.RANGE_TOO_SMALL
