"""What the comments of a drive file say of its values."""

import tomllib
from typing import Any

import pytest

from ssdscope.targets.presets import preset_names, preset_text
from ssdscope.targets.provenance import read_comments

FILE = """\
# Drive X,
# as its paper has it.
description = "a # in text" # named by us
default_state = "fresh"

[nand] # data sheet
channels = 4
# counted
# by eye
ways = 2 # and by hand
read_by_type_ns = [
    50_000, # LSB
    90_000, # MSB
]

# of its own
[write_buffer]
# fitted to figure 7
bytes = 1024
unit_bytes = 512 # guess
gc.policy = 'gre#edy' # dotted
host = { queue_depth = 1 } # inline

# between tables, of nothing
[channel]
ns_per_byte = 1
"""


@pytest.mark.parametrize(
    ("key", "source", "said", "line"),
    [
        ("description", "line", "named by us", 3),
        ("default_state", "head", "Drive X, as its paper has it.", 4),
        ("nand.channels", "table", "data sheet", 7),
        ("nand.ways", "line", "counted by eye and by hand", 10),
        ("nand.read_by_type_ns", "line", "LSB MSB", 11),
        ("write_buffer.bytes", "table", "of its own fitted to figure 7", 19),
        ("write_buffer.unit_bytes", "line", "guess", 20),
        ("write_buffer.gc.policy", "line", "dotted", 21),
        ("write_buffer.host.queue_depth", "line", "inline", 22),
        ("channel.ns_per_byte", "table", "between tables, of nothing", 26),
        ("nand.dies", "default", "", None),
    ],
)
def test_a_comment_speaks_for_what_it_stands_at(
    key: str, source: str, said: str, line: int | None
) -> None:
    origin = read_comments(FILE).origin(key)
    assert (origin.source, origin.said, origin.line) == (source, said, line)


def test_a_file_without_comments_says_nothing() -> None:
    origin = read_comments("[nand]\nways = 2\n").origin("nand.ways")
    assert (origin.source, origin.said, origin.line) == ("head", "", 2)


@pytest.mark.parametrize("name", preset_names())
def test_every_value_of_a_preset_is_found_and_spoken_for(name: str) -> None:
    text = preset_text(name)
    comments = read_comments(text)
    lines = text.splitlines()
    for key in leaves(tomllib.loads(text)):
        origin = comments.origin(key)
        assert origin.line is not None, key
        assert lines[origin.line - 1].split(" =")[0] in key
        assert origin.said, f"{name}: {key} has no provenance"


def leaves(table: dict[str, Any], prefix: str = "") -> list[str]:
    """Dotted keys of all values that are in a table."""
    found: list[str] = []
    for key, value in table.items():
        if isinstance(value, dict):
            found += leaves(value, f"{prefix}{key}.")
        elif prefix:
            found.append(f"{prefix}{key}")
    return found


def test_the_intel_is_one_drive_behind_three_hosts() -> None:
    names = [name for name in ("ryu-c", "kuo-intel-mlc", "huang-ssd-i") if name in preset_names()]
    assert len(names) >= 2
    drives = [tomllib.loads(preset_text(name)) for name in names]
    tables = [
        {key: value for key, value in drive.items() if isinstance(value, dict) and key != "host"}
        for drive in drives
    ]
    assert all(each == tables[0] for each in tables)
