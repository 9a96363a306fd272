"""Three papers measured one model of drive, the Intel X25-M 80 GB: its presets share an inside."""

import pytest

from ssdscope.targets.opening import resolve_drive
from ssdscope.targets.presets import preset_names

FIRST = "ryu-c"
OTHERS = [name for name in ("kuo-intel-mlc", "huang-ssd-i") if name in preset_names()]
OWN = {"description", "host", "default_state"}
"""What each has by itself: the way to the drive was another one every time, and its past."""


@pytest.mark.parametrize("name", OTHERS)
def test_only_the_way_to_the_drive_differs(name: str) -> None:
    one, other = (resolve_drive(f"sim:{each}") for each in (FIRST, name))
    assert one.keys() == other.keys()
    for key in one.keys() - OWN:
        assert one[key] == other[key], key
    assert one["host"] != other["host"]


def test_there_is_more_than_one() -> None:
    assert "kuo-intel-mlc" in OTHERS
