"""The guest's first file system: busybox, a few modules, and a script that leads to the host's."""

import gzip
import shutil
import subprocess
from collections.abc import Iterator
from dataclasses import dataclass
from pathlib import Path

MODULES = ("virtio_pci", "9pnet_virtio", "9p", "overlay", "virtio_console")
"""What the guest needs to reach the host's file system and its channel; more is loaded inside."""
APPLETS = ("sh", "mount", "mkdir", "insmod", "chroot", "poweroff", "echo")

INIT = """#!/bin/sh
# Lays a file system in memory over the host's, which stays as it is, and runs /script there.
mount -t proc proc /proc
mount -t sysfs sys /sys
mount -t devtmpfs dev /dev
{insert}
mount -t 9p -o trans=virtio,version=9p2000.L,msize=262144,cache=loose,ro host /host
mount -t tmpfs -o size=70% tmpfs /over
mkdir -p /over/upper /over/work
mount -t overlay -o lowerdir=/host,upperdir=/over/upper,workdir=/over/work overlay /guest
mount -t proc proc /guest/proc
mount -t sysfs sys /guest/sys
mount -t debugfs debug /guest/sys/kernel/debug
mount -t devtmpfs dev /guest/dev
mount -t tmpfs tmpfs /guest/run
mount -t tmpfs tmpfs /guest/tmp
chroot /guest /bin/sh -s < /script
poweroff -f
"""


@dataclass(frozen=True)
class Entry:
    """A file, a folder (``data`` is None) or a link (``link``) of the archive."""

    name: str
    data: bytes | None = None
    mode: int = 0o755
    link: str | None = None


def modules_of(kernel: Path, version: str) -> list[Path]:
    """Give the files of `MODULES` and what they need, in the order in which they are inserted."""
    found: dict[Path, None] = {}
    for module in MODULES:
        shown = subprocess.run(
            ["modprobe", "-d", kernel, "-S", version, "--show-depends", module],
            capture_output=True, text=True, timeout=60, check=True,
        )  # fmt: skip
        for line in shown.stdout.splitlines():
            word, _, path = line.partition(" ")
            if word == "insmod":
                found[Path(path.strip())] = None
    return list(found)


def manifest(busybox: Path, modules: list[Path], script: str) -> Iterator[Entry]:
    """Give all that the archive holds."""
    for folder in ("bin", "dev", "proc", "sys", "host", "over", "guest", "modules"):
        yield Entry(folder)
    yield Entry("bin/busybox", busybox.read_bytes())
    for applet in APPLETS:
        yield Entry(f"bin/{applet}", link="busybox")
    for module in modules:
        yield Entry(f"modules/{module.name}", module.read_bytes(), 0o644)
    insert = "\n".join(f"insmod /modules/{module.name}" for module in modules)
    yield Entry("script", script.encode(), 0o644)
    yield Entry("init", INIT.format(insert=insert).encode())


def archive(entries: Iterator[Entry]) -> bytes:
    """Pack them as the kernel wants it ("newc", Documentation/driver-api/early-userspace)."""
    packed = bytearray()
    for number, entry in enumerate([*entries, Entry("TRAILER!!!", b"", 0)], start=1):
        data, kind = entry.data or b"", 0o100000
        if entry.link is not None:
            data, kind = entry.link.encode(), 0o120000
        elif entry.data is None:
            kind = 0o040000
        name = entry.name.encode() + b"\0"
        fields = (number, kind | entry.mode, 0, 0, 1, 0, len(data), 0, 0, 0, 0, len(name), 0)
        packed += b"070701" + b"".join(b"%08x" % field for field in fields) + name
        packed += bytes(-len(packed) % 4) + data
        packed += bytes(-len(packed) % 4)
    return bytes(packed)


def build(kernel: Path, version: str, script: str, into: Path) -> None:
    """Write the archive for a script that the guest runs as root on the host's file system."""
    busybox = shutil.which("busybox")
    if busybox is None:
        raise FileNotFoundError("busybox is not installed (scripts/setup-lab.sh)")
    entries = manifest(Path(busybox), modules_of(kernel, version), script)
    into.write_bytes(gzip.compress(archive(entries), compresslevel=6))
