"""The kinds of block devices that cases are tried on, and how each is set up inside the guest."""

import os
import signal
import subprocess
import tempfile
import time
from collections.abc import Callable, Iterator
from contextlib import ExitStack, contextmanager
from dataclasses import dataclass
from pathlib import Path
from typing import Any

from tests.lab.cases import Skipped
from tests.lab.tools import (
    KERNEL,
    MIB,
    Running,
    cli,
    digest_here,
    done,
    forget_cached,
    host,
    module,
    wait_until,
)  # fmt: skip


@dataclass(frozen=True)
class Device:
    """A block device that may be lost.

    Attributes
    ----------
    path
        Its node.
    images
        Files of the host beneath it: all that is hashed from outside.
    start
        Where its first byte lies in the one image, if its bytes lie there in one piece.
    bottom
        The device beneath it, on which a file system can be mounted; itself if there is none.
    """

    path: str
    images: tuple[str, ...] = ()
    start: int | None = None
    bottom: str = ""

    @property
    def name(self) -> str:
        """The kernel's name."""
        number = Path(self.path).stat().st_rdev
        return Path(f"/sys/dev/block/{os.major(number)}:{os.minor(number)}").resolve().name

    @property
    def size_bytes(self) -> int:
        """How large it is now."""
        return int(Path(f"/sys/class/block/{self.name}/size").read_text()) * 512

    def queue(self, attribute: str) -> str:
        """Read an attribute of its queue; a partition has that of its disk."""
        described = Path(f"/sys/class/block/{self.name}").resolve()
        owner = described if (described / "queue").exists() else described.parent
        return (owner / "queue" / attribute).read_text().strip()

    def digest(self, without: tuple[int, int] | None = None) -> str:
        """Hash what must not change: all, or all but a window (start and length).

        From the host wherever the bytes lie in images there; of memory inside the guest.
        """
        if without is None and self.images:
            forget_cached(self.path)
            return " ".join(host().ask("digest", image=image) for image in self.images)
        start, length = without or (self.size_bytes, 0)
        if self.start is None:
            return digest_here(self.path, [(0, start), (start + length, self.size_bytes)])
        forget_cached(self.path)
        first, last = self.start + start, self.start + start + length
        parts = [(0, first), (last, 2**60)]
        return str(host().ask("digest", image=self.images[0], parts=parts))

    def fill(self, seed: int = 1) -> None:
        """Let it hold somebody's data everywhere."""
        if self.start is not None:
            host().ask(
                "fill", image=self.images[0], start=self.start, length=self.size_bytes, seed=seed
            )
            forget_cached(self.path)
            return
        data = os.urandom(MIB)
        with Path(self.path).open("r+b", buffering=0) as file:
            file.writelines(data for _ in range(self.size_bytes // MIB))
            os.fsync(file.fileno())


@dataclass(frozen=True)
class Kind:
    """A kind of device: its name in tables, how it is set up, what is true of it.

    Attributes
    ----------
    named
        It has what a token needs. The others may never be written.
    cache
        It has a volatile write cache that can be switched.
    virtual
        It is made of something else, so writing needs ``--allow-virtual``.
    """

    name: str
    make: Callable[[ExitStack], Device]
    named: bool = True
    cache: bool = False
    virtual: bool = False
    block_bytes: int = 512
    writable: bool = True

    @contextmanager
    def device(self) -> Iterator[Device]:
        """Set one up, whose content is zeros, and take it down afterwards."""
        with ExitStack() as undo:
            yield self.make(undo)


def blank(image: str) -> None:
    """Let an image of the host read as zeros."""
    host().ask("blank", image=image)


def by_serial(serial: str, nsid: int = 1, lun: int = 0) -> str:
    """Find the node of a disk of the machine."""
    for block in sorted(Path("/sys/block").iterdir()):
        if (block / "hidden").exists() and (block / "hidden").read_text().strip() == "1":
            continue  # one path of a namespace that several controllers share
        serials = [block / "device/serial", block / "serial"]
        if any(file.exists() and file.read_text().strip() == serial for file in serials):
            if (block / "nsid").exists() and int((block / "nsid").read_text()) != nsid:
                continue
            return f"/dev/{block.name}"
        page = block / "device/vpd_pg80"
        own = page.read_bytes()[4:].decode(errors="replace").strip() if page.exists() else ""
        if own == serial and (block / "device").resolve().name.endswith(f":{lun}"):
            return f"/dev/{block.name}"
    raise Skipped(f"no disk with the serial number {serial}")


def disk(image: str, serial: str, nsid: int = 1, lun: int = 0) -> Callable[[ExitStack], Device]:
    """Take a disk of the machine."""

    def make(_undo: ExitStack) -> Device:
        path = by_serial(serial, nsid, lun)
        blank(image)
        forget_cached(path)
        return Device(path, (image,), 0, path)

    return make


nvme = disk("nvme", "LAB-NVME-0001")
sata = disk("sata", "LAB-SATA-0004")


def second_path(_undo: ExitStack) -> Device:
    """Give one of two disks that are the same, by their WWN."""
    first, *_others = both_paths()
    blank("path")
    forget_cached(first)
    return Device(first, ("path",), 0, first)


def both_paths() -> list[str]:
    """Give the nodes of the disk with two paths."""
    found = [
        f"/dev/{block.name}"
        for block in sorted(Path("/sys/block").iterdir())
        if (block / "device/vpd_pg80").exists()
        and b"LAB-PATH-0007" in (block / "device/vpd_pg80").read_bytes()
    ]
    if len(found) != 2:
        raise Skipped(f"{len(found)} paths to the disk")
    return found


def partition(undo: ExitStack) -> Device:
    """A partition that only the kernel knows, with no table on the disk."""
    beneath = nvme(undo)
    done("addpart", beneath.path, "1", "16384", "32768")  # 8 MiB, and 16 MiB of it
    undo.callback(done, "delpart", beneath.path, "1")
    return Device(f"{beneath.path}p1", ("nvme",), 8 * MIB, beneath.path)


def mapped(undo: ExitStack) -> Device:
    """A linear volume of device-mapper over the first half of a disk."""
    module("dm_mod")
    beneath = nvme(undo)
    table = f"0 32768 linear {beneath.path} 0"
    done("dmsetup", "create", "lab-linear", "--table", table)
    undo.callback(_retried, "dmsetup", "remove", "lab-linear")
    return Device("/dev/mapper/lab-linear", ("nvme",), 0, beneath.path)


def encrypted(undo: ExitStack) -> Device:
    """A volume of dm-crypt: what lies on the disk is another thing than what is read."""
    for name in ("dm_crypt", "aes_generic", "ecb", "xts"):
        module(name)
    beneath = nvme(undo)
    key = "00112233445566778899aabbccddeeff" * 2
    table = f"0 32768 crypt aes-xts-plain64 {key} 0 {beneath.path} 0"
    done("dmsetup", "create", "lab-crypt", "--table", table)
    undo.callback(_retried, "dmsetup", "remove", "lab-crypt")
    device = Device("/dev/mapper/lab-crypt", ("nvme",), None, beneath.path)
    _zeroed(device)
    return device


def _retried(*words: str) -> None:
    for _ in range(50):
        if subprocess.run(words, capture_output=True, timeout=60).returncode == 0:
            return
        time.sleep(0.1)
    done(*words)


def _zeroed(device: Device) -> None:
    with Path(device.path).open("r+b", buffering=0) as file:
        file.writelines(bytes(MIB) for _ in range(device.size_bytes // MIB))
        os.fsync(file.fileno())


def array(level: int) -> Callable[[ExitStack], Device]:
    """An md array of two disks."""

    def make(undo: ExitStack) -> Device:
        module(f"raid{level}")
        parts = [by_serial("LAB-RAID-0008"), by_serial("LAB-RAID-0009")]
        for image, part in zip(("raid1", "raid2"), parts, strict=True):
            blank(image)
            forget_cached(part)
        words = ["--run", *(["--assume-clean", "--bitmap=none"] if level == 1 else [])]
        done(
            "mdadm", "--create", "/dev/md77", f"--level={level}", "--raid-devices=2",
            "--metadata=1.2", "--homehost=lab", *words, *parts,
        )  # fmt: skip
        undo.callback(_retried, "mdadm", "--stop", "/dev/md77")
        # Its superblocks change by themselves, so what is hashed is what the array shows.
        device = Device("/dev/md77", bottom=parts[0])
        wait_until(lambda: Path("/dev/md77").exists(), "the node of the array")
        return device

    return make


def loop(undo: ExitStack) -> Device:
    """A loop device on a file of the guest."""
    folder = undo.enter_context(tempfile.TemporaryDirectory())
    image = Path(folder) / "scratch.img"
    with image.open("wb") as file:
        file.truncate(32 * MIB)
    path = done("losetup", "--find", "--show", str(image))
    undo.callback(done, "losetup", "--detach", path)
    return Device(path, bottom=path)


def loop_on_a_disk(undo: ExitStack) -> Device:
    """A loop device whose backing is a disk: the kernel lets both be used side by side.

    It begins behind what a file system of the disk has at its start.
    """
    beneath = nvme(undo)
    path = done("losetup", "--find", "--show", "--offset", str(4 * MIB), beneath.path)
    undo.callback(done, "losetup", "--detach", path)
    return Device(path, ("nvme",), 4 * MIB, beneath.path)


def volume_on_a_loop(undo: ExitStack) -> Device:
    """A volume of device-mapper on a loop device on a disk."""
    module("dm_mod")
    beneath = loop_on_a_disk(undo)
    table = f"0 {beneath.size_bytes // 512} linear {beneath.path} 0"
    done("dmsetup", "create", "lab-stack", "--table", table)
    undo.callback(_retried, "dmsetup", "remove", "lab-stack")
    return Device("/dev/mapper/lab-stack", ("nvme",), 4 * MIB, beneath.bottom)


def array_on_a_loop(undo: ExitStack) -> Device:
    """An md array with one disk, which is a loop device on a disk."""
    module("raid1")
    beneath = loop_on_a_disk(undo)
    done(
        "mdadm", "--create", "/dev/md76", "--level=1", "--raid-devices=2", "--metadata=1.2",
        "--homehost=lab", "--bitmap=none", "--run", beneath.path, "missing",
    )  # fmt: skip
    undo.callback(_retried, "mdadm", "--stop", "/dev/md76")
    return Device("/dev/md76", bottom=beneath.bottom)


def scsi_debug(undo: ExitStack) -> Device:
    """A SCSI disk in the guest's memory, with a serial number of its own."""
    module("scsi_debug", "dev_size_mb=32", "delay=0", "lbpu=1", "lbpws=1", "opts=0")
    undo.callback(_retried, "modprobe", "-r", "-d", str(KERNEL), "scsi_debug")

    def found() -> list[Path]:
        models = Path("/sys/block").glob("sd*/device/model")
        return [each for each in models if each.read_text().strip() == "scsi_debug"]

    wait_until(lambda: bool(found()), "the disk of scsi_debug")
    path = f"/dev/{found()[0].parts[3]}"
    wait_until(lambda: Path(path).exists(), "its node")
    return Device(path, bottom=path)


def null_blk(**attributes: str) -> Callable[[ExitStack], Device]:
    """A disk of null_blk that keeps its data in memory."""

    def make(undo: ExitStack) -> Device:
        module("configfs")
        module("null_blk", "nr_devices=0")
        configs = Path("/sys/kernel/config")
        if not (configs / "nullb").exists():
            done("mount", "-t", "configfs", "config", str(configs))
        own = configs / "nullb/lab"
        own.mkdir()
        undo.callback(own.rmdir)
        for name, value in {"memory_backed": "1", "size": "32", **attributes}.items():
            (own / name).write_text(value)
        (own / "power").write_text("1")
        undo.callback((own / "power").write_text, "0")
        number = (own / "index").read_text().strip()
        names = [f"/dev/nullb{number}", "/dev/lab"]
        wait_until(lambda: any(Path(each).exists() for each in names), "the node of null_blk")
        path = next(each for each in names if Path(each).exists())
        return Device(path, bottom=path)

    return make


def zram(undo: ExitStack) -> Device:
    """Compressed memory."""
    module("zram", "num_devices=1")
    undo.callback(_retried, "modprobe", "-r", "-d", str(KERNEL), "zram")
    wait_until(lambda: Path("/dev/zram0").exists(), "/dev/zram0")
    Path("/sys/block/zram0/disksize").write_text(str(32 * MIB))
    undo.callback(Path("/sys/block/zram0/reset").write_text, "1")
    return Device("/dev/zram0", bottom="/dev/zram0")


def nbd(undo: ExitStack) -> Device:
    """The kernel's own NBD client on our own server, which serves a file of the guest."""
    module("nbd", "nbds_max=1")
    undo.callback(_retried, "modprobe", "-r", "-d", str(KERNEL), "nbd")
    folder = undo.enter_context(tempfile.TemporaryDirectory())
    with Path(f"{folder}/scratch.img").open("wb") as file:
        file.truncate(32 * MIB)
    server = Running(
        (
            "serve", f"{folder}/scratch.img", "--socket", f"{folder}/s", "--seed", "1",
            "--destroy-data", "FILE:scratch.img",
        )
    )  # fmt: skip
    undo.callback(server.wait)
    undo.callback(server.signal, signal.SIGTERM)
    wait_until(lambda: Path(f"{folder}/s").exists(), "the server's socket")
    done("nbd-client", "-unix", f"{folder}/s", "/dev/nbd0", "-name", "")
    undo.callback(done, "nbd-client", "-d", "/dev/nbd0")
    return Device("/dev/nbd0", bottom="/dev/nbd0")


KINDS = {
    kind.name: kind
    for kind in (
        Kind("nvme", nvme, cache=True),
        Kind("nvme-namespace", disk("space2", "LAB-NVME-0002", nsid=2), cache=True),
        Kind("nvme-multipath", disk("shared", "LAB-SHARED-13"), cache=True),
        Kind("sata", sata, cache=True),
        Kind("scsi-4kn", disk("scsi4k", "LAB-4K-0005"), cache=True, block_bytes=4096),
        Kind("scsi-lun", disk("lun2", "LAB-LUNS-0006", lun=2), cache=True),
        Kind("two-paths", second_path),
        Kind("scsi_debug", scsi_debug),
        Kind("null_blk", null_blk(), named=False),
        Kind("null_blk-4k", null_blk(blocksize="4096"), named=False, block_bytes=4096),
        Kind("null_blk-zoned", null_blk(zoned="1", zone_size="8"), named=False, writable=False),
        Kind("nvme-zoned", disk("zoned", "LAB-ZONED-003"), writable=False, block_bytes=512),
        Kind("loop", loop, virtual=True),
        Kind("loop-on-disk", loop_on_a_disk, virtual=True),
        Kind("partition", partition, virtual=True),
        Kind("dm-linear", mapped, virtual=True),
        Kind("dm-crypt", encrypted, virtual=True),
        Kind("md-raid0", array(0), virtual=True),
        Kind("md-raid1", array(1), virtual=True),
        Kind("dm-on-loop", volume_on_a_loop, virtual=True),
        Kind("md-on-loop", array_on_a_loop, virtual=True),
        Kind("zram", zram, named=False, virtual=True, block_bytes=4096),
        Kind("nbd", nbd, named=False, virtual=True),
    )
}


def identity(device: Device) -> dict[str, Any]:
    """Ask `doctor --identify`."""
    said = cli("doctor", "--identify", device.path, "-o", "json")
    assert said.status == 0, said.why
    known: dict[str, Any] = said.document["identity"]
    return known


def allowed(device: Device) -> tuple[str, ...]:
    """Give the options that allow writing, as `doctor --identify` says them."""
    known = identity(device)
    assert known["token"], f"no token: {known}"
    assert known["write_refusal"] is None, f"refused: {known['write_refusal']}"
    return ("--destroy-data", known["token"], *known["write_needs"])
