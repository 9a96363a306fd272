"""No block device is written that might hold anybody's data.

Each case prepares a loop device of its own, tries to write to it with the right token and every
option that could help, and then compares the hash of its content and the words of the refusal.
"""

import hashlib
import os
import struct
import subprocess
import sys
import threading
import time
import uuid
import zlib
from collections.abc import Callable, Iterator
from contextlib import ExitStack, contextmanager
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import pytest
from tests.integration.loop_devices import NEEDS_LOOP_DEVICES, attached, done, mounted

from ssdscope.errors import UsageError

pytestmark = NEEDS_LOOP_DEVICES

MIB = 2**20
ALL = ("--allow-virtual", "--overwrite-existing")


PARTITIONS = ((2048, 16384), (18432, 8192))
"""First sector and sectors of two partitions."""


@dataclass
class Place:
    """Where a case does its work: an image, and what to undo in the end."""

    image: Path
    undo: ExitStack

    def loop(self, *options: str) -> str:
        return self.undo.enter_context(attached(self.image, *options))


@dataclass(frozen=True)
class Case:
    """What is prepared, and what the refusal says.

    ``prepare`` gives the target to try, and maybe a token; it may keep things open in the place.
    """

    prepare: Callable[[Place], str | tuple[str, str]]
    says: str
    options: tuple[str, ...] = ALL
    size_bytes: int = 16 * MIB


def write_at(image: Path, *pieces: tuple[int, bytes]) -> None:
    with image.open("r+b") as file:
        for offset, data in pieces:
            file.seek(offset if offset >= 0 else image.stat().st_size + offset)
            file.write(data)


def header(*pieces: tuple[int, bytes]) -> Callable[[Place], str]:
    """A device with these bytes at these offsets, from the end where negative."""

    def prepare(place: Place) -> str:
        write_at(place.image, *pieces)
        return place.loop()

    return prepare


def made_by(*words: str) -> Callable[[Place], str]:
    """A device whose image a tool has formatted."""

    def prepare(place: Place) -> str:
        done(*words, place.image)
        return place.loop()

    return prepare


def partitioned(place: Place, *, label: str = "dos") -> str:
    tables = {"dos": mbr(PARTITIONS), "gpt": gpt(PARTITIONS, place.image.stat().st_size)}
    write_at(place.image, *tables[label])
    device = place.loop("--partscan")
    if not Path(f"{device}p1").exists():  # a kernel that reads no tables takes partitions by hand
        done("partx", "--add", device)
    place.undo.callback(subprocess.run, ["partx", "--delete", device], timeout=30, check=False)
    return device


def mbr(parts: tuple[tuple[int, int], ...], kind: int = 0x83) -> list[tuple[int, bytes]]:
    """A partition table as PCs have had it since 1983."""
    entries = [struct.pack("<8xII", *part) for part in parts]
    entries = [bytes(4) + bytes([kind]) + bytes(3) + entry[8:] for entry in entries]
    return [(446, b"".join(entries)), (510, b"\x55\xaa")]


def gpt(parts: tuple[tuple[int, int], ...], size_bytes: int) -> list[tuple[int, bytes]]:
    """A GUID partition table with its backup and its protective MBR (UEFI 2.10, chapter 5)."""
    last = size_bytes // 512 - 1
    linux, table = uuid.UUID("0fc63daf-8483-4772-8e79-3d69d8477de4").bytes_le, bytearray(128 * 128)
    for number, (start, count) in enumerate(parts):
        own = uuid.UUID(int=number + 1).bytes_le
        table[128 * number : 128 * number + 56] = (
            linux + own + struct.pack("<QQQ", start, start + count - 1, 0)
        )

    def head(own: int, other: int, entries: int) -> bytes:
        def packed(crc: int) -> bytes:
            return struct.pack(
                "<8sIIIIQQQQ16sQIII", b"EFI PART", 0x10000, 92, crc, 0, own, other, 34, last - 33,
                uuid.UUID(int=99).bytes_le, entries, 128, 128, zlib.crc32(table),
            )  # fmt: skip

        return packed(zlib.crc32(packed(0)))

    return [
        *mbr(((1, last),), 0xEE),
        (512, head(1, last, 2)),
        (1024, bytes(table)),
        ((last - 32) * 512, bytes(table)),
        (last * 512, head(last, 1, last - 32)),
    ]


def mounted_whole(place: Place) -> str:
    done("mkfs.ext4", "-q", place.image)
    device = place.loop()
    place.undo.enter_context(mounted(device, place.image.parent / "mnt"))
    return device


def mounted_partition(place: Place, then: str = "") -> str:
    device = partitioned(place)
    done("mkfs.ext4", "-q", f"{device}p1")
    place.undo.enter_context(mounted(f"{device}p1", place.image.parent / "mnt"))
    return device + then


def other_name(prepare: Callable[[Place], str]) -> Callable[[Place], tuple[str, str]]:
    """The same device by a name that no table of mounts has."""

    def named(place: Place) -> tuple[str, str]:
        link = place.image.parent / "disk-by-id"
        link.symlink_to(prepare(place))
        return str(link), "LOOP:scratch.img"

    return named


def own_node(place: Place) -> tuple[str, str]:
    node = place.image.parent / "node"
    os.mknod(node, 0o600 | 0o060000, Path(mounted_whole(place)).stat().st_rdev)
    return str(node), "LOOP:scratch.img"


def swap(place: Place) -> str:
    done("mkswap", place.image)
    device = place.loop()
    tried = subprocess.run(["swapon", device], capture_output=True, text=True, timeout=30)
    if tried.returncode:
        pytest.skip(f"no swap here: {tried.stderr.strip()}")
    place.undo.callback(subprocess.run, ["swapoff", device], check=True, timeout=60)
    return device


def stacked(place: Place) -> str:
    device = place.loop()
    place.undo.enter_context(attached(Path(device)))
    return device


def on_top_of_a_mount(place: Place) -> tuple[str, str]:
    beneath = mounted_whole(place)
    top = place.undo.enter_context(attached(Path(beneath), "--read-only"))
    return top, f"LOOP:{Path(beneath).name}"


def twice_attached(place: Place) -> str:
    place.loop()
    return place.loop()


def opened_elsewhere(place: Place, device: str, how: str = "os.O_RDWR") -> None:
    """Let another process open a device, until the case is done."""
    program = f"import os, time; os.open({device!r}, {how}); print('open', flush=True); "
    holder = subprocess.Popen(
        [sys.executable, "-c", program + "time.sleep(60)"], stdout=subprocess.PIPE
    )
    place.undo.callback(holder.communicate)
    place.undo.callback(holder.kill)
    assert holder.stdout is not None
    assert holder.stdout.readline() == b"open\n"


def second_opener(place: Place) -> str:
    device = place.loop()
    opened_elsewhere(place, device)
    return device


def claimed_elsewhere(place: Place) -> str:
    device = place.loop()
    opened_elsewhere(place, device, "os.O_RDWR | os.O_EXCL")
    return device


def blank_partitions(place: Place) -> str:
    """Partitions that only the kernel knows: no table lies on the device."""
    device = place.loop()
    for number, (start, count) in enumerate(PARTITIONS, start=1):
        done("addpart", device, str(number), str(start), str(count))
        place.undo.callback(done, "delpart", device, str(number))
    return device


def opener_of_a_partition(place: Place) -> str:
    device = blank_partitions(place)
    opened_elsewhere(place, f"{device}p1")
    return device


def opener_of_the_disk(place: Place) -> tuple[str, str]:
    device = blank_partitions(place)
    opened_elsewhere(place, device)
    return f"{device}p2", "LOOP:scratch.img-part2"


def locked(place: Place) -> str:
    """A lock of ours on the node, as another run or udev holds it; not by an open of others."""
    import fcntl

    device = place.loop()
    handle = os.open(device, os.O_RDONLY)
    place.undo.callback(os.close, handle)
    fcntl.flock(handle, fcntl.LOCK_EX)
    return device


def claimed(place: Place) -> str:
    device = place.loop()
    place.undo.callback(os.close, os.open(device, os.O_RDONLY | os.O_EXCL))
    return device


def backup_gpt_only(place: Place) -> str:
    write_at(place.image, *gpt(PARTITIONS, place.image.stat().st_size), (0, bytes(34 * 512)))
    return place.loop()


def broken_ext4(place: Place) -> str:
    """A file system whose checksum is wrong: damaged, and so worth rescuing."""
    done("mkfs.ext4", "-q", "-O", "metadata_csum", place.image)
    write_at(place.image, (1024 + 120, b"renamed by hand\0"))
    return place.loop()


def in_a_partition(place: Place) -> tuple[str, str]:
    device = partitioned(place)
    done("mkfs.ext4", "-q", f"{device}p1")
    return f"{device}p1", "LOOP:scratch.img-part1"


def luks(version: int) -> bytes:
    return (
        b"LUKS\xba\xbe" + struct.pack(">H", version) + b"\0" * 160 + str(uuid.UUID(int=7)).encode()
    )


def lvm() -> tuple[tuple[int, bytes], ...]:
    """A label of LVM2 in sector 1: its CRC is LVM's own, of all behind the CRC."""
    rest = struct.pack("<I8s", 32, b"LVM2 001") + b"A" * 32 + bytes(512 - 64)
    crc = zlib.crc32(rest, 0xF597A6CF ^ 0xFFFFFFFF) ^ 0xFFFFFFFF
    return ((512, b"LABELONE" + struct.pack("<QI", 1, crc) + rest),)


def md(offset: int, minor: int) -> tuple[int, bytes]:
    """A superblock of Linux software RAID, version 1.x."""
    block = bytearray(512)
    struct.pack_into("<III", block, 0, 0xA92B4EFC, 1, 0)
    block[16:32] = uuid.UUID(int=9).bytes
    where = (offset if offset >= 0 else 16 * MIB + offset) // 512
    struct.pack_into("<Q", block, 144, where)
    total = sum(struct.unpack("<64I", bytes(block[:256])))
    struct.pack_into("<I", block, 216, ((total & 0xFFFFFFFF) + (total >> 32)) & 0xFFFFFFFF)
    assert minor in (0, 1, 2)
    return offset, bytes(block)


TEXT = b"years of work, without any signature. " * 4000
CASES = {
    "virtual": Case(lambda place: place.loop(), "is a loop device", ()),
    "virtual, although data may go": Case(
        lambda place: place.loop(), "is a loop device", ("--overwrite-existing",)
    ),
    "partition": Case(in_a_partition, "is a partition", ("--overwrite-existing",)),
    "read-only device": Case(lambda place: place.loop("--read-only"), "is read-only"),
    "mounted whole": Case(mounted_whole, "is mounted at"),
    "mounted partition, the disk": Case(mounted_partition, "p1 is mounted at"),
    "mounted partition, itself": Case(
        lambda place: (mounted_partition(place, "p1"), "LOOP:scratch.img-part1"), "is mounted at"
    ),
    "mounted partition, the one beside": Case(
        lambda place: (mounted_partition(place, "p2"), "LOOP:scratch.img-part2"), "is mounted at"
    ),
    "mounted, by a link": Case(other_name(mounted_whole), "is mounted at"),
    "mounted partition, by a link": Case(other_name(mounted_partition), "is mounted at"),
    "mounted, by another node": Case(own_node, "is mounted at"),
    "mounted beneath a loop device": Case(on_top_of_a_mount, "is read-only|is mounted at"),
    "swap in use": Case(swap, "is swap space"),
    "a loop device on it": Case(stacked, "is attached to it"),
    "its file behind another loop device": Case(twice_attached, "is attached to it"),
    "claimed by another open file": Case(claimed, "does not give it to anybody alone"),
    "ext4": Case(made_by("mkfs.ext4", "-q"), "carries ext4"),
    "ext2": Case(made_by("mkfs.ext2", "-q"), "carries ext2"),
    "ext4, damaged": Case(broken_ext4, "carries ext"),
    "xfs": Case(made_by("mkfs.xfs", "-q"), "carries xfs", size_bytes=512 * MIB),
    "btrfs": Case(made_by("mkfs.btrfs", "-q"), "carries btrfs", size_bytes=128 * MIB),
    "swap, unused": Case(made_by("mkswap"), "carries swap"),
    "FAT": Case(
        header((0, b"\xeb\x3c\x90mkfs.fat\0\x02\x04\x04\0\x02\0\x02\0\x80\xf8\x20\0\x20\0\x40\0"),
               (0x36, b"FAT16   "), (510, b"\x55\xaa")), "carries vfat",
    ),
    "ISO 9660": Case(header((32768, b"\x01CD001\x01" + bytes(2041))), "carries iso9660"),
    "squashfs": Case(
        header((0, b"hsqs" + bytes(24) + struct.pack("<HH", 4, 0) + bytes(64))), "carries squashfs"
    ),
    "ZFS": Case(
        header(*((131072 + 1024 * k, struct.pack("<QQ", 0x00BAB10C, 5000)) for k in range(8))),
        "carries zfs",
        size_bytes=64 * MIB,
    ),
    "bcache": Case(
        header(
            (4096 + 8, struct.pack("<Q", 8)),
            (4096 + 24, bytes.fromhex("c68573f64e1a45ca8265f57f48ba6d81")),
        ),
        "carries bcache",
    ),
    "LVM": Case(header(*lvm()), "carries LVM2_member"),
    "LUKS 1": Case(header((0, luks(1))), "carries crypto_LUKS"),
    "LUKS 2": Case(header((0, luks(2))), "carries crypto_LUKS"),
    "md 1.1, at the start": Case(header(md(0, 1)), "carries linux_raid_member"),
    "md 1.2, at 4 KiB": Case(header(md(4096, 2)), "carries linux_raid_member"),
    "md 1.0, at the end": Case(header(md(-8192, 0)), "carries linux_raid_member"),
    "MBR": Case(
        lambda place: partitioned(place, label="dos"), "carries a dos partition table"
    ),
    "GPT": Case(lambda place: partitioned(place, label="gpt"), "carries a gpt partition table"),
    "GPT, only its backup": Case(backup_gpt_only, "carries a gpt partition table"),
    "file system in a partition": Case(in_a_partition, "carries ext4"),
    "data at the start": Case(header((0, TEXT)), "holds data", ("--allow-virtual",)),
    "data at the end": Case(header((-len(TEXT), TEXT)), "holds data", ("--allow-virtual",)),
    "data in the middle": Case(
        header((2 * MIB, os.urandom(12 * MIB))), "holds data", ("--allow-virtual",)
    ),
    "open in another process": Case(second_opener, r"is open in process \d+ \("),
    "claimed by another process": Case(
        claimed_elsewhere, r"to anybody alone; it is open in process \d+ \(python"
    ),
    "its partition open in another process": Case(
        opener_of_a_partition, r"is open in process \d+ \(python.*\) as loop\d+p1"
    ),
    "its disk open in another process": Case(
        opener_of_the_disk, r"is open in process \d+ \(python.*\) as loop\d+\n"
    ),
    "wrong token": Case(
        lambda place: (place.loop(), "LOOP:other.img"), 'token "LOOP:other.img" is not this device'
    ),
    "the path as a token": Case(lambda place: (place.loop(),) * 2, "is not this device's"),
    "a file's token": Case(lambda place: (place.loop(), "FILE:scratch.img"), "is not this device"),
    "the disk's token for a partition": Case(
        lambda place: (f"{partitioned(place)}p1", "LOOP:scratch.img"), "is not this device's"
    ),
    "too small": Case(lambda place: place.loop(), "is too small", size_bytes=2 * MIB),
    "locked by another run": Case(locked, "is locked by another process"),
}  # fmt: skip


def digest(image: Path) -> str:
    """Of the content as the device shows it; a mount writes to the image by itself."""
    with image.open("rb") as file:
        return hashlib.file_digest(file, "sha256").hexdigest()


@contextmanager
def place_for(case: Case, folder: Path) -> Iterator[Place]:
    image = folder / "scratch.img"
    with image.open("wb") as file:
        file.truncate(case.size_bytes)
    with ExitStack() as undo:
        yield Place(image, undo)


ATTEMPTS = 3
"""The kernel itself may write to what is mounted, or swaps; whoever is refused would each time."""


@pytest.mark.parametrize("name", CASES)
def test_is_refused_and_unchanged(cli: Callable[..., Any], tmp_path: Path, name: str) -> None:
    import re

    case = CASES[name]
    with place_for(case, tmp_path) as place:
        prepared = case.prepare(place)
        target, token = prepared if isinstance(prepared, tuple) else (prepared, "LOOP:scratch.img")
        for _ in range(ATTEMPTS):
            os.sync()
            before = digest(place.image)
            said = cli(
                "run", target, "--rw", "randwrite", "--number-ios", "20", "--seed", "1",
                "--destroy-data", token, *case.options,
            )  # fmt: skip
            os.sync()
            after = digest(place.image)
            if after == before:
                break
    assert said.status == 2, said.err
    assert re.search(case.says, said.err), said.err
    assert said.err.count("hint: ") == 1, said.err
    assert after == before


def await_writes(device: str) -> None:
    """Wait until a run writes to it, as the kernel counts; a busy machine takes its time."""
    counts = Path("/sys/block") / Path(device).name / "stat"
    before, end = counts.read_text().split()[4], time.monotonic() + 60
    while counts.read_text().split()[4] == before and time.monotonic() < end:
        time.sleep(0.01)


def test_a_drive_of_another_size_is_an_error_and_what_was_measured_stays(
    cli: Callable[..., Any], tmp_path: Path
) -> None:
    """The kernel would let us go on, on another drive. (A cut file would be extended by writes.)"""
    image = tmp_path / "scratch.img"
    with image.open("wb") as file:
        file.truncate(16 * MIB)
    with attached(image) as device:

        def grow() -> None:
            await_writes(device)
            os.truncate(image, 18 * MIB)
            done("losetup", "--set-capacity", device)

        timer = threading.Thread(target=grow)
        timer.start()
        said = cli(
            "run", device, "--rw", "randwrite", "--runtime", "20s", "--seed", "1", "-o", "json",
            "--destroy-data", "LOOP:scratch.img", "--allow-virtual",
        )  # fmt: skip
        timer.join()
    assert said.status == 1
    assert f"its size was {16 * MIB} bytes, and is {18 * MIB} now" in said.err
    assert said.document["write"]["requests"] > 0


def test_every_case_is_one_of_thirty() -> None:
    assert len(CASES) >= 30
    assert len({(case.says, case.prepare) for case in CASES.values()}) >= 30


@pytest.mark.parametrize("sector_bytes", [512, 4096])
def test_a_scratch_device_is_written_in_its_last_quarter(
    cli: Callable[..., Any], tmp_path: Path, sector_bytes: int
) -> None:
    """All refusals would pass if nothing was ever written. On a 4Kn drive 512 bytes are refused."""
    image = tmp_path / "scratch.img"
    with image.open("wb") as file:
        file.truncate(16 * MIB)
    words = ("--rw", "randwrite", "--seed", "1", "-o", "json")
    with attached(image, "--sector-size", str(sector_bytes)) as device:
        identity = cli("doctor", "--identify", device, "-o", "json").document["identity"]
        assert identity["write_refusal"] is None
        allowed = ("--destroy-data", identity["token"], *identity["write_needs"])
        said = cli("run", device, "--rw", "write", *words[2:], "--bs", "4k", *allowed)
        assert said.status == 0, said.err
        assert said.document["write"]["bytes"] == 4 * MIB
        window = said.document["target"]["access"]["window"]
        assert window == identity["write_window"] == [12 * MIB, 4 * MIB]
        small = cli("run", device, *words, "--bs", "512", "--number-ios", "8", *allowed)
        assert (small.status == 0) == (sector_bytes == 512), small.err
        if sector_bytes == 4096:
            assert "4096-byte" in small.err
        asked = cli("run", device, *words, "--offset", "1m", "--size", "1m", *allowed)
        assert asked.status == 0, asked.err
        limited = cli("run", device, *words, "--write-limit", "64k", *allowed)
        assert limited.status == 1
        assert "--write-limit" in limited.err
        assert limited.document["write"]["bytes"] == 64 * 1024, "what was measured is kept"
    content = image.read_bytes()
    assert not any(content[:MIB])
    assert any(content[MIB : 2 * MIB])
    assert not any(content[2 * MIB : 12 * MIB])
    assert all(content[at : at + 16] != bytes(16) for at in range(12 * MIB, 16 * MIB, 4096))


def test_what_is_durable_and_what_is_discarded_stays_in_the_window(tmp_path: Path) -> None:
    from ssdscope.targets import open_target
    from ssdscope.targets.records import OP_DISCARD, OP_FLUSH, OP_WRITE_FUA

    image = tmp_path / "scratch.img"
    with image.open("wb") as file:
        file.truncate(16 * MIB)
    with attached(image) as device:
        opened = open_target(device, destroy_token="LOOP:scratch.img", allow_virtual=True).device
        assert opened.info.discard
        assert opened.info.capacity_bytes == 4 * MIB
        ops = [OP_WRITE_FUA] * 4 + [OP_FLUSH] + [OP_DISCARD] * 2
        offsets = [k * MIB for k in range(4)] + [0, 0, 2 * MIB]
        log = opened.run_list(ops, offsets, [MIB] * 4 + [0, MIB, MIB], iodepth=4)
        assert len(log) == 7
        assert not log.error.any()
        with pytest.raises(UsageError, match="reaches past the end"):
            opened.run_list([OP_WRITE_FUA], [4 * MIB], [4096])
        del opened
    content = image.read_bytes()
    held = [any(content[at : at + MIB]) for at in range(0, 16 * MIB, MIB)]
    assert held == [False] * 13 + [True, False, True]


def test_a_file_behind_a_loop_device_is_not_written(
    cli: Callable[..., Any], tmp_path: Path
) -> None:
    image = tmp_path / "scratch.img"
    image.write_bytes(bytes(MIB))
    with attached(image):
        said = cli(
            "run", str(image), "--rw", "write", "--destroy-data", "FILE:scratch.img",
            "--overwrite-existing",
        )  # fmt: skip
    assert said.status == 2
    assert "is the file behind loop" in said.err
    assert image.read_bytes() == bytes(MIB)


def test_a_file_system_that_copies_on_write_is_named(
    cli: Callable[..., Any], tmp_path: Path
) -> None:
    image = tmp_path / "scratch.img"
    with image.open("wb") as file:
        file.truncate(128 * MIB)
    done("mkfs.btrfs", "-q", image)
    with attached(image) as device, mounted(device, tmp_path / "mnt") as folder:
        (folder / "file").write_bytes(os.urandom(MIB))
        said = cli("run", str(folder / "file"), "--rw", "randread", "--number-ios", "9")
    assert said.status == 0, said.err
    assert "lies on btrfs" in said.err


def test_two_runs_on_one_device(cli: Callable[..., Any], tmp_path: Path) -> None:
    """The second is refused as long as the first has it, and not a moment longer."""
    from ssdscope.targets import open_target

    image = tmp_path / "scratch.img"
    with image.open("wb") as file:
        file.truncate(16 * MIB)
    words = ("--rw", "write", "--number-ios", "9", "--destroy-data", "LOOP:scratch.img")
    with attached(image) as device:
        first = open_target(device, destroy_token="LOOP:scratch.img", allow_virtual=True)
        second = cli("run", device, *words, "--allow-virtual")
        assert second.status == 2
        assert "is in use by the kernel" in second.err
        del first
        assert cli("run", device, *words, "--allow-virtual").status == 0


def test_a_page_says_which_part_was_measured(cli: Callable[..., Any], tmp_path: Path) -> None:
    image, page = tmp_path / "scratch.img", tmp_path / "page.html"
    with image.open("wb") as file:
        file.truncate(32 * MIB)
    with attached(image) as device:
        said = cli(
            "characterize", device, "-O", str(page), "--budget", "5s", "--seed", "1",
            "--destroy-data", "LOOP:scratch.img", "--allow-virtual", "-o", "json",
        )  # fmt: skip
    busy = "not to be trusted: the machine was busy" in said.err
    assert said.status == (3 if busy else 0), said.err
    assert said.document["target"]["access"]["window"] == [24 * MIB, 8 * MIB]
    assert f"bytes {24 * MIB:,} to {32 * MIB - 1:,}" in page.read_text(encoding="utf-8")
    assert not any(image.read_bytes()[: 24 * MIB])
