"""The drawing of a drive: what is in it, in any width, for keys it never heard of."""

from typing import Any

import pytest

from ssdscope.cli.drawing import draw, shown
from ssdscope.targets.provenance import read_comments

FILE = """\
[nand]
channels = 3
ways = 6 # from the picture
dies = 1
planes = 2
blocks_per_plane = 8
pages_per_block = 16
page_bytes = 4096
read_ns = 25_000

[write_buffer] # fitted to figure 7, which shows a knee and little else of all this
bytes = 1_048_576
drain = "idle"
power_loss_protected = true
"""

DRIVE: dict[str, Any] = {
    "description": "a drive",
    "default_state": "fresh",
    "nand": {
        "channels": 3,
        "ways": 6,
        "dies": 1,
        "planes": 2,
        "blocks_per_plane": 8,
        "pages_per_block": 16,
        "page_bytes": 4096,
        "read_ns": 25_000,
    },
    "host": {"queue_depth": 32},
    "write_buffer": {
        "bytes": 1 << 20,
        "drain": "idle",
        "power_loss_protected": True,
        "unit_bytes": 4096,
    },
}


def drawn(width: int) -> list[str]:
    return draw(DRIVE, read_comments(FILE), 16 << 20, width).splitlines()


@pytest.mark.parametrize("width", [1, 60, 80, 200])
def test_no_line_is_wider_than_the_terminal(width: int) -> None:
    assert max(map(len, drawn(width))) <= max(width, 60)


def test_the_shape_of_the_flash_is_drawn() -> None:
    lines = drawn(80)
    assert "exports 16.78 MB of 18.87 MB of flash, 12.5 % spare; opened fresh" in lines
    assert "   ├───────────┬───────────┐" in lines
    assert "   ch 0        ch 1        ch 2" in lines
    assert sum("├─[chip" in line for line in lines) == 3
    assert "   └─[chip 5]  └─[chip 5]  └─[chip 5]" in lines
    assert "   a chip: 1 die x 2 planes x 8 blocks x 16 pages of 4 KiB = 1 MiB" in lines


def test_a_new_table_is_drawn_under_its_name() -> None:
    text = "\n".join(drawn(80))
    assert "│ write buffer  1 MiB, drain idle, power loss protected" in text
    assert "  drain                 idle   fitted to figure 7, which shows a knee" in text
    assert "  default  unit_bytes 4 KiB" in text
    assert "  ways              6      from the picture" in text
    assert "  read_ns           25 us  not said" in text
    assert "  default  queue_depth 32" in text


@pytest.mark.parametrize(
    ("key", "value", "text"),
    [
        ("page_bytes", 6144, "6 KiB"),
        ("page_bytes", 1000, "1,000 B"),
        ("bytes", 0, "0 B"),
        ("read_by_type_ns", [50_000, 90_000], "50 us, 90 us"),
        ("read_by_type_ns", [], "none"),
        ("low_water_ratio", 0.055, "5.5 %"),
        ("lane_bytes_per_second", 985e6, "985 MB/s"),
        ("ns_per_byte", 2.5, "2.5 ns/byte"),
        ("multi_plane", False, "no"),
        ("blocks_per_plane", 4096, "4,096"),
    ],
)
def test_values_are_shown_with_their_units(key: str, value: Any, text: str) -> None:
    assert shown(key, value) == text
