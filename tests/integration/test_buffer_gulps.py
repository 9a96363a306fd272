"""Write buffers that single blocks never fill, and a few long writes do."""

from __future__ import annotations

import re
from importlib.resources import files
from typing import TYPE_CHECKING

import pytest
from tests.integration.collecting_drives import bench_with, told

from ssdscope.probes import Detected, Undetectable
from ssdscope.probes.write_buffer import SIZE

if TYPE_CHECKING:
    from pathlib import Path

BEHIND_SLOW_COMMANDS = (files("ssdscope") / "drives" / "ryu-c.toml").read_text()
PROTECTED = "[write_buffer]\npower_loss_protected = true\nswitchable = false"
KIB = 1024


@pytest.mark.always(1)
@pytest.mark.parametrize("kib", [80, 112])
def test_long_writes_fill_what_blocks_do_not(tmp_path: Path, kib: int) -> None:
    toml = BEHIND_SLOW_COMMANDS.replace("bytes = 114_688", f"bytes = {kib * KIB}")
    found = told("write_buffer", bench_with(tmp_path, toml))[SIZE]
    assert isinstance(found, Detected)
    assert found.value == kib * KIB


def test_nothing_is_told_where_it_drains_before_it_is_full(tmp_path: Path) -> None:
    fast = re.sub("(?m)^program_ns = .*$", "program_ns = 200_000", BEHIND_SLOW_COMMANDS)
    assert fast != BEHIND_SLOW_COMMANDS
    assert isinstance(told("write_buffer", bench_with(tmp_path, fast))[SIZE], Undetectable)


def test_nothing_is_told_of_a_protected_one(tmp_path: Path) -> None:
    toml = BEHIND_SLOW_COMMANDS.replace("[write_buffer]", PROTECTED)
    assert isinstance(told("write_buffer", bench_with(tmp_path, toml))[SIZE], Undetectable)
