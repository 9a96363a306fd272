"""The families `types` and `array`: pages of a word line, and members that are told apart."""

from __future__ import annotations

from pathlib import Path
from typing import Any

import pytest
from tests.integration.small_drives import LOG_BLOCK, NOISE, opened, probed

from ssdscope.findings import Absent, Detected, Finding, Reason, Undetectable
from ssdscope.probes import session
from ssdscope.probes.budget import Budget
from ssdscope.recovery.second import draw_second
from ssdscope.targets import Device
from ssdscope.targets.drive_writer import open_striped

TIMES = {2: [32_000, 48_000], 3: [30_000, 40_000, 50_000], 4: [28_000, 36_000, 44_000, 52_000]}
ORDER = {"ftl.allocation": '"order"'}
IN_ROWS = {"ftl.map_unit_bytes": 3 << 14, "ftl.placement_pages": 12, "nand.pages_per_block": 60}


SHIFTED = {"ftl.map_unit_bytes": 1 << 14, "ftl.phase_bytes": 4096}


def types(number: int) -> dict[str, Any]:
    return {"nand.read_by_type_ns": TIMES[number]} if number > 1 else {}


@pytest.mark.parametrize("number", [2, 3, 4])
@pytest.mark.parametrize("more", [{}, ORDER, IN_ROWS, NOISE])
def test_types_are_counted(tmp_path: Path, number: int, more: dict[str, Any]) -> None:
    """Pages in rows of a number of types keep them, whatever the order of writing is."""
    found = probed("types", opened(tmp_path, types(number), more))["page_types"]
    assert isinstance(found, Detected), found
    assert found.value == number


@pytest.mark.parametrize("more", [{}, LOG_BLOCK, NOISE, SHIFTED])
def test_one_type_is_none(tmp_path: Path, more: dict[str, Any]) -> None:
    found = probed("types", opened(tmp_path, more))["page_types"]
    assert isinstance(found, Absent), found
    assert found.bound < 0.03


def test_what_is_read_again_from_a_cache_says_nothing(tmp_path: Path) -> None:
    cache = {"read_cache.bytes": 1 << 20, "read_cache.switchable": False}
    found = probed("types", opened(tmp_path, types(3), cache))["page_types"]
    assert isinstance(found, Undetectable)
    assert found.reason is Reason.CACHE_NOT_CONTROLLABLE


def answers(device: Device, *names: str) -> dict[str, Finding]:
    return {each.name: each for each in session.run(names, device, Budget.parse("default"), 1)}


def striped(folder: Path, *members: dict[str, Any], chunk_bytes: int = 1 << 16) -> Device:
    drives = []
    for number, keys in enumerate(members):
        place = folder / str(number)
        place.mkdir()
        drives.append(opened(place, NOISE, keys))
    return open_striped(drives, chunk_bytes)


@pytest.mark.parametrize(("slower", "chunk_bytes"), [(1.1, 1 << 16), (1.4, 96 << 10), (3, 4096)])
def test_members_that_differ_are_told_first(
    tmp_path: Path, slower: float, chunk_bytes: int
) -> None:
    reads = [{"nand.read_ns": int(slower**power * 60_000)} for power in range(3)]
    found = answers(striped(tmp_path, *reads, chunk_bytes=chunk_bytes), "array", "types")
    array = found["array_members"]
    assert isinstance(array, Detected), array
    assert (array.value, array.evidence.figures["chunk_bytes"]) == (3, chunk_bytes)
    assert found["page_types"].reason is Reason.MASKED


def test_members_that_are_alike_look_like_one_drive(tmp_path: Path) -> None:
    assert isinstance(answers(striped(tmp_path, {}, {}), "array")["array_members"], Absent)
    (pages := tmp_path / "types").mkdir()
    found = answers(striped(pages, types(3), types(3)), "array", "types")
    assert isinstance(found["page_types"], Detected)
    assert found["page_types"].value == 3


@pytest.mark.parametrize("more", [{}, ORDER, IN_ROWS])
def test_types_of_pages_are_no_members(tmp_path: Path, more: dict[str, Any]) -> None:
    found = probed("array", opened(tmp_path, types(3), more))["array_members"]
    assert isinstance(found, Undetectable), found
    assert found.reason is Reason.MODEL_MISFIT


def test_members_that_pass_for_types_are_not_told() -> None:
    """Of two members that take 7 % longer few neighbours lie on both."""
    drawn = draw_second(54_500, 11)
    found = answers(drawn.open(), "types")["page_types"]
    assert isinstance(found, Undetectable), found
