"""Presets that are arrays: read, opened, checked and shown."""

from pathlib import Path

import pytest

from ssdscope.errors import ConfigError
from ssdscope.targets import open_target
from ssdscope.targets.arrays import read_array
from ssdscope.targets.opening import check_drive, resolve_drive

FILE = """\
description = "two of them"
target = "raid0:sim:mqsim-8g,sim:mqsim-8g?chunk=128k" # as assumed
[set]
host.queue_depth = 4 # fitted
scheduler.read_first = false
"""


@pytest.fixture
def array(tmp_path: Path) -> str:
    path = tmp_path / "array.toml"
    path.write_text(FILE, encoding="utf-8")
    return str(path)


def test_a_single_drive_is_no_array() -> None:
    assert read_array("[nand]\nways = 1\n", "x.toml") is None
    assert read_array("[nand\n", "x.toml") is None


def test_the_file_is_read() -> None:
    array = read_array(FILE, "x.toml")
    assert array is not None
    assert array.target.startswith("raid0:")
    assert array.sets == ("host.queue_depth=4", "scheduler.read_first=false")


@pytest.mark.parametrize(
    ("text", "expected"),
    [
        ('target = "sim:mqsim-8g"\n', "no array"),
        ('target = "raid0:a,b"\nnand = 1\n', "not nand"),
        ("target = 3\n", "the keys description, target"),
    ],
)
def test_anything_else_in_it_is_refused(text: str, expected: str) -> None:
    with pytest.raises(ConfigError, match=expected):
        read_array(text, "x.toml")


def test_it_opens_as_what_it_is_made_of(array: str) -> None:
    single = open_target("sim:mqsim-8g")
    both = open_target(array, sets=("host.queue_depth=2",))
    assert both.uri == array
    assert both.kind == "raid0"
    assert both.capacity_bytes == pytest.approx(2 * single.capacity_bytes, rel=1e-3)
    for member in both.members:
        assert member.drive is not None
        assert member.drive["host"]["queue_depth"] == 2, "what is asked for comes over the file"
        assert member.drive["scheduler"]["read_first"] is False


def test_it_is_checked_and_resolved_as_a_member(array: str, tmp_path: Path) -> None:
    assert check_drive(array) == []
    assert resolve_drive(array)["host"]["queue_depth"] == 4
    bad = tmp_path / "bad.toml"
    bad.write_text(FILE.replace("queue_depth", "queue_dept"), encoding="utf-8")
    assert any("queue_dept" in fault for fault in check_drive(str(bad)))


def test_it_is_shown_with_both_files_speaking(cli, array: str) -> None:
    drawing = cli("drives", "show", array).out
    assert drawing.startswith("An array of 2: sim:mqsim-8g, sim:mqsim-8g. Each:")
    document = cli("drives", "show", array, "-o", "json").document
    values = {each["key"]: each for each in document["values"]}
    assert values["host.queue_depth"]["said"] == "fitted"
    assert values["nand.read_ns"]["said"] == "LSB and MSB alike"
