"""Lines whose outcome the kernel decides: md, bcache and device-mapper take what tools wrote."""

import os
import subprocess
import time
from collections.abc import Iterator
from contextlib import ExitStack, contextmanager
from pathlib import Path

from tests.lines.devices import NotHereError, RefusedError, loop, need, ran, typed
from tests.lines.line import Line
from tests.lines.shell import KIB, MIB, QUICK, amount, on, stands

LAB_KERNEL = Path(__file__).parents[2] / "out/lab/kernel"
LEAST_MEMBER_BYTES = 256 * MIB


def driver(*names: str) -> None:
    """Load drivers, from the laboratory's kernel inside its guest.

    Raises
    ------
    NotHereError
        If this kernel has them not.
    """
    need("modprobe")
    for name in names:
        for where in ([], ["-d", str(LAB_KERNEL)]):
            words = ["modprobe", *where, name]
            if subprocess.run(words, capture_output=True, timeout=120).returncode == 0:
                break
        else:
            raise NotHereError(f"this kernel has no {name}: make lab ONLY=lines has")


def _shown(path: Path) -> str:
    """Wait for a file of the kernel, and read it."""
    for _ in range(300):
        if path.exists():
            return path.read_text().strip()
        time.sleep(0.1)
    raise RefusedError(f"{path} never appears")


def array(line: Line) -> None:
    """Create the array, and see its chunk."""
    need("mdadm")
    level = amount(line.text, "--level=", 1)
    driver("md_mod", {0: "raid0", 5: "raid456"}[level])
    with ExitStack() as undo:
        count = amount(line.text, "--raid-devices=", 1)
        size = max(LEAST_MEMBER_BYTES, min(line.capacity_bytes, 1 << 30))
        members = [undo.enter_context(loop(line.block_bytes, size)) for _ in range(count)]
        text = on(line, members[0])
        for number, member in enumerate(members[1:], start=1):
            text = text.replace(f"/dev/OTHER{number}", member)
        undo.callback(subprocess.run, ["mdadm", "--stop", "/dev/md0"], capture_output=True)
        typed(text)
        chunk = _shown(Path("/sys/block/md0/md/chunk_size"))
        stands(line, "chunk", amount(line.text, "--chunk=", 1), chunk)


def bcache(line: Line) -> None:
    """Make the cache, let the kernel take it, and see its bucket and its block."""
    need("make-bcache")
    driver("bcache")
    with loop(line.block_bytes, line.capacity_bytes) as device:
        typed(on(line, device))
        with _registered(device) as cache:
            for name, option in (("bucket_size", "--bucket "), ("block_size", "--block ")):
                found = _bytes(_shown(cache / name))
                stands(line, name, amount(line.text, option, 1), found)


@contextmanager
def _registered(device: str) -> Iterator[Path]:
    """Register a cache; udev may have done it before."""
    own = Path(f"/sys/block/{device.removeprefix('/dev/')}/bcache")
    if not own.exists():
        try:
            Path("/sys/fs/bcache/register").write_text(device)
        except OSError as why:
            raise RefusedError(f"the kernel does not register it: {why}") from None
    _shown(own / "bucket_size")
    try:
        yield own
    finally:
        (own / "set/stop").write_text("1")
        for _ in range(300):
            if not own.exists():
                break
            time.sleep(0.1)


def _bytes(shown: str) -> int:
    """Read a size as bcache writes it: 4.0k, 512.0k, 16.0M."""
    units = {"k": KIB, "M": MIB}
    return round(float(shown[:-1]) * units[shown[-1]]) if shown[-1] in units else int(shown)


def thin(line: Line) -> None:
    """Create a thin pool, and see its chunks."""
    need("lvcreate", "vgcreate", "pvcreate")
    driver("dm_mod", "dm_thin_pool")
    with loop(line.block_bytes, 8 << 30) as device, _group(device) as group:
        only = f"lvcreate --devices {device} --yes "
        pool = line.text.replace("--size SIZE VG", f"--size 1g {group}")
        typed(pool.replace("lvcreate ", only, 1))
        options = ["--noheadings", "--nosuffix", "--units", "b", "-o", "chunk_size"]
        found = ran("lvs", "--devices", device, *options, group)
        wanted = amount(line.text, "--chunksize ", 1)
        stands(line, "chunk_size", wanted, found.split()[-1])


@contextmanager
def _group(device: str) -> Iterator[str]:
    group = f"lines{os.getpid()}"
    ran("pvcreate", "--devices", device, device)
    ran("vgcreate", "--devices", device, group, device)
    try:
        yield group
    finally:
        ran("vgremove", "--devices", device, "--force", "--force", "--yes", group)


def opened(line: Line) -> None:
    """Format and open an encrypted volume, and see its blocks."""
    need("cryptsetup", "blockdev")
    driver("dm_mod", "dm_crypt", "aes_generic", "ecb", "xts")
    with loop(line.block_bytes, 64 * MIB) as device:
        typed(f"{on(line, device)} {QUICK}", stdin="passphrase")
        name = f"lines{os.getpid()}"
        ran("cryptsetup", "open", device, name, stdin="passphrase")
        try:
            found = ran("blockdev", "--getss", f"/dev/mapper/{name}")
            stands(line, "block", amount(line.text, "--sector-size ", 1), found)
        finally:
            ran("cryptsetup", "close", name)


def f2fs_mounted(line: Line) -> None:
    """Make the file system and mount it: the kernel looks at its sections, too."""
    need("mkfs.f2fs", "mount")
    driver("f2fs")
    with loop(line.block_bytes, line.capacity_bytes) as device:
        typed(on(line, device))
        at = Path(f"/tmp/lines{os.getpid()}")
        at.mkdir(exist_ok=True)
        ran("mount", "-t", "f2fs", device, str(at))
        ran("umount", str(at))
