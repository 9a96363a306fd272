"""A small drive that has no large buffer: its runs are over at once."""

from ssdscope.targets import open_target
from ssdscope.targets.device import Device

SMALL = (
    "nand.channels=2",
    "nand.ways=1",
    "nand.blocks_per_plane=64",
    "over_provisioning_ratio=0.5",
)


def quick_drive() -> Device:
    """Open it, written full in order."""
    return open_target("sim:mqsim-8g", state="sequential", sets=SMALL, seed=1).device
