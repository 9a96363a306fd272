"""Drive files of others' simulators, and of what a data sheet alone can tell: `simulators`.

Each value of a file says where it is from. *Data sheet*: table I has it, or it follows from what
table I has and the other values of the file. *Typical*: no data sheet says it, and a simulator has
to have it; then it is the same in all files of a kind. Nothing is fitted to a measurement, and the
host takes no time, since a data sheet says nothing of it.

SSDs are what simulators of their time take for one: mapped by pages, 16 chips on 8 channels, pages
of 4 KB and blocks of 128 of them, 7 % spare, and 1 MiB of write buffer where none is told (a write
of 115 us is shorter than any program). Their programs take as long as makes the written bandwidth,
and their reads as long as is left of the latency by the transfers; without a latency in the sheet,
as long as is usual for the kind of cell. The disk has the seek times of another maker's disk of
its class and year (Hitachi Travelstar 5K320).

FlashSim and SSDsim have the geometry, the times and the mechanism of the configuration that comes
with them, whichever drive is predicted.
"""

from pathlib import Path

from ssdscope.results.files import write_text

FILES = Path(__file__).parent.parent / "simulators"
STRIPE = "64k"
SSDS = ("SSD_I", "SSD_A", "SSD_S")
MSR = "the same by the firmware of DiskSim's SSD extension"
PUBLISHED = {
    "FlashSim with DFTL": "flashsim-dftl",
    "FlashSim with FAST": "flashsim-fast",
    "SSDsim": "ssdsim",
}


def write(device: str, folder: Path) -> str:
    """Write the drive file of a device into a folder; give the target to open."""
    if device == "Array_I":
        member = _write("datasheet-SSD_I", folder)
        return f"raid0:{member},{member}?chunk={STRIPE}"
    return _write(f"datasheet-{device}", folder)


def write_others(device: str, folder: Path) -> dict[str, str]:
    """Write the files of others' simulators for an SSD, by who simulates; none for the rest."""
    if device not in SSDS:
        return {}
    names = {MSR: f"datasheet-{device}-msr", **PUBLISHED}
    return {who: _write(name, folder) for who, name in names.items()}


def _write(name: str, folder: Path) -> str:
    path = folder / f"huang2011-{name}.toml"
    write_text(path, (FILES / f"{name}.toml").read_text(encoding="utf-8"))
    return str(path)
