"""DiskSim's files: parameter files of whole machines, and those of disks alone.

Of the machine one drive is taken: the first SSD of Microsoft's extension, disk, or flash of
FlashSim's. The buses before it say how fast its link is.
"""

import re

from ssdscope.errors import ConfigError
from ssdscope.targets.imports import disksim_disk, disksim_flash, disksim_ssd
from ssdscope.targets.imports.parv import Block, blocks
from ssdscope.targets.imports.reading import Account
from ssdscope.targets.imports.writing import written

DRIVES = {
    "ssdmodel_ssd": disksim_ssd.ssd,
    "disksim_disk": disksim_disk.disk,
    "dm_disk": disksim_disk.model_alone,
    "disksim_simpleflash": disksim_flash.flash,
}
REFUSED = {
    "disksim_simpledisk": "has no mechanics: every access takes the same time",
    "memsmodel_mems": "is a probe array of MEMS, which is not simulated here",
    "dm_layout_g1": "is a layout only: the disk's file names it",
    "dm_layout_g4": "is a layout only: the disk's file names it",
}


def is_one(text: str) -> bool:
    """Say whether a text is a file of DiskSim."""
    return (
        re.search(
            r"^\s*(disksim_\w+|ssdmodel_ssd|dm_disk|dm_layout_g\d|instantiate)\b",
            text,
            re.MULTILINE,
        )
        is not None
    )


def drive(text: str, path: str, account: Account) -> str:
    """Write the drive file.

    Raises
    ------
    ConfigError
        If there is no drive in it, or one that works in a way that is not simulated here.
    """
    found = blocks(text, path)
    drives = [each for each in found if each.module in DRIVES]
    if not drives:
        raise ConfigError(_no_drive(path, found), hint=f"known are {', '.join(DRIVES)}")
    first = drives[0]
    values = DRIVES[first.module](first, _slowest_bus_ms(found), account)
    for each in drives[1:]:
        account.note(f"{each.module} {each.name}: a further drive, left out")
    others = sorted({each.module for each in found} - set(DRIVES))
    if others:
        account.note(f"{', '.join(others)}: the rest of a machine; only the drive is taken")
    return written(
        {"description": f"imported from DiskSim's {first.name}", **values}, account, path
    )


def _no_drive(path: str, found: list[Block]) -> str:
    for each in found:
        if each.module in REFUSED:
            return f"{each.where}: {REFUSED[each.module]}"
    return f"{path}: there is no drive in it"


def _slowest_bus_ms(found: list[Block]) -> float:
    """Return the time of a sector on the slowest of the buses."""
    times = [
        _number(each.texts().get(f"{way} block transfer time", "0"))
        for each in found
        for way in ("Read", "Write")
    ]
    return max(times, default=0.0)


def _number(text: str) -> float:
    try:
        return max(float(text), 0.0)
    except ValueError:
        return 0.0
