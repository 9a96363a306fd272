"""Lines for a shell, each tried by its tool on a loop device, and then read back from there."""

import json
import re
from pathlib import Path

from tests.lines.devices import RefusedError, loop, mounted, need, ran, typed
from tests.lines.line import Line

KIB, MIB = 1 << 10, 1 << 20
QUICK = "--batch-mode --pbkdf pbkdf2 --pbkdf-force-iterations 1000"
"""Only the passphrase's derivation is made cheap."""
UNITS = {"KiB": KIB, "MiB": MIB, "k": KIB, "K": KIB, "s": 512, "": 1}


def stands(line: Line, name: str, wanted: int, found: str | int) -> None:
    """Require that a tool did what the line says.

    Raises
    ------
    RefusedError
        If it did something else.
    """
    if int(found) != wanted:
        raise RefusedError(f"{line.text}: {name} is {found}, not {wanted}")


def amount(text: str, before: str, block_bytes: int) -> int:
    """Read what stands behind a word of a line, in bytes; a bare number of sfdisk counts blocks."""
    found = re.search(rf"{re.escape(before)}(\d+)([A-Za-z]*)", text)
    assert found, (text, before)
    unit = UNITS[found[2]] if found[2] else block_bytes
    return int(found[1]) * unit


def matched(pattern: str, text: str) -> str:
    """Find a number in what a tool says."""
    found = re.search(pattern, text)
    if found is None:
        raise RefusedError(f"no {pattern!r} in: {text.strip()[:300]}")
    return found[1]


def on(line: Line, device: str, text: str | None = None) -> str:
    """Return the line for a device of this machine."""
    name = device.removeprefix("/dev/")
    put = (text or line.text).replace("/dev/DEVICE", device)
    return put.replace("/sys/block/DEVICE/", f"/sys/block/{name}/")


def sfdisk(line: Line) -> None:
    """Partition it, and see where the partition begins."""
    need("sfdisk")
    with loop(line.block_bytes, line.capacity_bytes) as device:
        typed(on(line, device))
        _partition(line, device)


def _partition(line: Line, device: str) -> int:
    """See that the partition begins where the line says; give where it ends."""
    table = json.loads(ran("sfdisk", "--json", device))["partitiontable"]
    (only,) = table["partitions"]
    wanted = amount(line.text, "start=", line.block_bytes)
    stands(line, "start", wanted, only["start"] * table["sectorsize"])
    return int(only["start"] + only["size"]) * int(table["sectorsize"])


def spare_area(line: Line) -> None:
    """Partition it; data in front, in the partition and behind are gone, the tables are not.

    Raises
    ------
    RefusedError
        If data are left, or if a drive that is too small loses any.
    """
    need("sfdisk", "blkdiscard")
    length = amount(line.text, "--length ", 1)
    exact = re.search(r"size=(\d+)'", line.text)
    inside = (
        int(exact[1]) * line.block_bytes if exact else int(matched(r"\(\((\d+) ", line.text)) * MIB
    )
    with loop(line.block_bytes, length + 2 * MIB) as device:
        places = (MIB, length // 2, length)
        _write(device, places)
        typed(on(line, device))
        end = _partition(line, device)
        stands(line, "end", MIB + inside, end)
        if any(_reads(device, place) for place in places):
            raise RefusedError(f"{line.text}: what was discarded reads as data")
    with loop(line.block_bytes, inside) as device:
        _write(device, (MIB,))
        try:
            typed(on(line, device))
        except RefusedError:
            if _reads(device, MIB):
                return
        raise RefusedError(f"{line.text}: a drive that is too small lost its data")


def _write(device: str, places: tuple[int, ...]) -> None:
    with Path(device).open("r+b", buffering=0) as file:
        for place in places:
            file.seek(place)
            file.write(b"data" * KIB)


def _reads(device: str, place: int) -> bool:
    with Path(device).open("rb") as file:
        file.seek(place)
        return any(file.read(4 * KIB))


def lvm(line: Line) -> None:
    """Make a physical volume, and see where its first extent begins."""
    need("pvcreate", "pvs")
    with loop(line.block_bytes, line.capacity_bytes) as device:
        # Nothing of this machine's own volumes is looked at.
        only = ["--devices", device]
        typed(on(line, device).replace("pvcreate ", f"pvcreate --devices {device} "))
        options = ["--noheadings", "--nosuffix", "--units", "b", "-o", "pe_start"]
        found = ran("pvs", *only, *options, device)
        wanted = amount(line.text, "--dataalignment ", 1)
        stands(line, "pe_start", wanted, matched(r"(?m)^\s*(\d+)\s*$", found))


def luks(line: Line) -> None:
    """Format it with a passphrase, and see the sector size."""
    need("cryptsetup")
    with loop(line.block_bytes, line.capacity_bytes) as device:
        typed(f"{on(line, device)} {QUICK}", stdin="passphrase")
        found = matched(r"sector: (\d+)", ran("cryptsetup", "luksDump", device))
        stands(line, "sector", amount(line.text, "--sector-size ", 1), found)


def ext4(line: Line) -> None:
    """Make a file system that mkfs.ext4 does not warn of, and see its stripe.

    Raises
    ------
    RefusedError
        If it warns.
    """
    need("mkfs.ext4", "dumpe2fs")
    with loop(line.block_bytes, line.capacity_bytes) as device:
        said = typed(on(line, device))
        if "warning" in said.lower():
            raise RefusedError(f"{line.text}: {said.strip()}")
        found = ran("dumpe2fs", "-h", device)
        options = {
            "Block size": "-b ",
            "RAID stride": "stride=",
            "RAID stripe width": "stripe_width=",
        }
        for name, option in options.items():
            stands(line, name, amount(line.text, option, 1), matched(rf"{name}:\s+(\d+)", found))


def xfs(line: Line) -> None:
    """Make a file system, and see the units of its data and its log."""
    need("mkfs.xfs", "xfs_db")
    with loop(line.block_bytes, line.capacity_bytes) as device:
        typed(on(line, device))
        words = ["-c", "sb 0", "-c", "print unit width logsunit"]
        found = ran("xfs_db", "-r", *words, device)
        data = amount(line.text, "-d su=", 1)
        stands(line, "su", data // 4096, matched(r"unit = (\d+)", found))
        stands(line, "width", data // 4096, matched(r"width = (\d+)", found))
        stands(line, "log su", amount(line.text, "-l su=", 1), matched(r"logsunit = (\d+)", found))


def f2fs(line: Line) -> None:
    """Make a file system, and see its sections."""
    need("mkfs.f2fs", "dump.f2fs")
    with loop(line.block_bytes, line.capacity_bytes) as device:
        typed(on(line, device))
        found = matched(r"segs_per_sec\s+\[0x\s*\w+ : (\d+)\]", ran("dump.f2fs", "-d", "1", device))
        stands(line, "segs_per_sec", amount(line.text, "-s ", 1), found)


def btrfs(line: Line) -> None:
    """Make a file system, and see its nodes."""
    need("mkfs.btrfs", "btrfs")
    with loop(line.block_bytes, line.capacity_bytes) as device:
        typed(on(line, device))
        shown = ran("btrfs", "inspect-internal", "dump-super", device)
        stands(line, "nodesize", amount(line.text, "-n ", 1), matched(r"nodesize\s+(\d+)", shown))


def read_ahead(line: Line) -> None:
    """Set it, and see it."""
    need("blockdev")
    with loop(line.block_bytes, 16 * MIB) as device:
        typed(on(line, device))
        stands(
            line, "read-ahead", amount(line.text, "--setra ", 1), ran("blockdev", "--getra", device)
        )


def nr_requests(line: Line) -> None:
    """Lower it, and see it: the queue takes no more than it has."""
    with loop(line.block_bytes, 16 * MIB) as device:
        file = Path(on(line, device, "/sys/block/DEVICE/queue/nr_requests"))
        file.write_text("128")  # as it begins; what was set stays with the node
        before = int(file.read_text())
        typed(on(line, device))
        stands(line, "nr_requests", min(before, amount(line.text, "echo ", 1)), file.read_text())


def fstrim(line: Line) -> None:
    """Trim a mounted ext4 and a mounted XFS."""
    need("fstrim")
    for kind in ("ext4", "xfs"):
        with loop(line.block_bytes, line.capacity_bytes) as device, mounted(device, kind) as at:
            typed(line.text.replace("/MOUNTPOINT", str(at)))


def ashift(line: Line) -> None:
    """Hold it to the rules of OpenZFS, which Debian has no binary of.

    From 9 to 16, and no less than the logical block (zpoolprops(7), vdev_open).

    Raises
    ------
    RefusedError
        If it breaks one.
    """
    value = amount(line.text, "ashift=", 1)
    if not 9 <= value <= 16 or 1 << value < line.block_bytes:
        raise RefusedError(f"{line.text}: no ashift for blocks of {line.block_bytes}")
