"""What is mounted, attached or swapped to in any namespace is not written, through any stack."""

import os
import subprocess
import time
from collections.abc import Callable, Iterator
from contextlib import ExitStack, contextmanager
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import pytest
from tests.integration.holders import OTHER_MOUNTS, holding, mounted_elsewhere
from tests.integration.kept_content import ALL, MIB, assert_refused, digest, holes, written
from tests.integration.loop_devices import NEEDS_LOOP_DEVICES, attached, done

pytestmark = NEEDS_LOOP_DEVICES


@dataclass
class Place:
    """An image of 16 MiB, and what to undo in the end."""

    image: Path
    undo: ExitStack

    @property
    def folder(self) -> Path:
        return self.image.parent

    def attach(self, file: str | Path, *options: str) -> str:
        return self.undo.enter_context(attached(Path(file), *options))

    def mount_elsewhere(self, device: str, *options: str) -> None:
        """Mount in another namespace, so that no table of ours has it."""
        at = self.folder / "mnt"
        at.mkdir()
        self.undo.enter_context(mounted_elsewhere(*options, device, at))


@dataclass(frozen=True)
class Case:
    """What is prepared, which gives the target and its token, and what the refusal says."""

    prepare: Callable[[Place], tuple[str, str]]
    says: tuple[str, ...] = ("is in use", "is mounted", "held")


def mkfs(device: str | Path, *words: str) -> None:
    # Nothing that writes by itself after the mount: no journal, no tables filled in later.
    still = ("-O", "^has_journal", "-E", "lazy_itable_init=0,nodiscard")
    done("mkfs.ext4", "-q", *still, *words, device)


def wiped(place: Place, device: str) -> None:
    """Let no signature give the mount away: its first blocks are lost beneath it."""
    with place.image.open("r+b") as file:
        file.write(bytes(64 * 1024))
    done("blockdev", "--flushbufs", device)


def mounted(place: Place) -> tuple[str, str]:
    mkfs(place.image)
    device = place.attach(place.image)
    place.mount_elsewhere(device)
    return device, "LOOP:scratch.img"


def mounted_and_wiped(place: Place) -> tuple[str, str]:
    target = mounted(place)
    wiped(place, target[0])
    return target


def partitioned(place: Place) -> str:
    device = place.attach(place.image)
    for number, start in (("1", "2048"), ("2", "16384")):
        done("addpart", device, number, start, "8192")
        place.undo.callback(done, "delpart", device, number)
    return device


def a_partition_mounted(place: Place) -> tuple[str, str]:
    """Partitions that only the kernel knows, so that no table gives the disk away."""
    device = partitioned(place)
    mkfs(f"{device}p1")
    place.mount_elsewhere(f"{device}p1")
    return device, "LOOP:scratch.img"


def the_mounted_partition(place: Place) -> tuple[str, str]:
    device = partitioned(place)
    mkfs(f"{device}p1")
    place.mount_elsewhere(f"{device}p1")
    return f"{device}p1", "LOOP:scratch.img-part1"


def lower_mounted(place: Place, depth: int = 1) -> tuple[str, str]:
    """The device at the bottom of a stack is mounted, read-only or it could not be stacked on."""
    mkfs(place.image)
    bottom = top = place.attach(place.image)
    for _ in range(depth):
        top = place.attach(top, "--offset", str(MIB))
    place.mount_elsewhere(bottom, "-o", "ro,noload")
    return top, f"LOOP:{backing(top)}"


def backing(device: str) -> str:
    return Path(f"/sys/block/{Path(device).name}/loop/backing_file").read_text().strip()[5:]


def lower_in_a_container(place: Place) -> tuple[str, str]:
    """As a container sees it: the lower device is attached and mounted in there."""
    note = place.folder / "note"
    (place.folder / "mnt").mkdir()
    mkfs(place.image)
    program = (
        "device = subprocess.check_output(['losetup', '-f', '--show', sys.argv[1]], text=True);"
        "open(sys.argv[2], 'w').write(device);"
        "mount = ['mount', '-o', 'ro,noload', device.strip(), sys.argv[3]];"
        "subprocess.run(mount, check=True)"
    )
    words = (place.image, note, place.folder / "mnt")
    place.undo.callback(lambda: done("losetup", "--detach", note.read_text().strip()))
    place.undo.enter_context(holding(program, *words, within=OTHER_MOUNTS))
    bottom = note.read_text().strip()
    top = place.attach(bottom, "--offset", str(MIB))
    return top, f"LOOP:{Path(bottom).name}"


def upper_mounted(place: Place) -> tuple[str, str]:
    """What lies on top is mounted; the target is beneath."""
    bottom = place.attach(place.image)
    top = place.attach(bottom, "--offset", str(8 * MIB))
    mkfs(top)
    place.mount_elsewhere(top)
    return bottom, "LOOP:scratch.img"


def swap_beneath(place: Place) -> tuple[str, str]:
    done("mkswap", place.image)
    bottom = place.attach(place.image)
    top = place.attach(bottom, "--offset", str(MIB))
    tried = subprocess.run(["swapon", bottom], capture_output=True, text=True, timeout=30)
    if tried.returncode:
        pytest.skip(f"no swap here: {tried.stderr.strip()}")
    place.undo.callback(done, "swapoff", bottom)
    return top, f"LOOP:{Path(bottom).name}"


def file_of_a_mounted_device(place: Place) -> tuple[str, str]:
    """The file beneath the mounted device is attached a second time, by another name of it."""
    mkfs(place.image)
    other = place.folder / "other.img"
    other.hardlink_to(place.image)
    place.mount_elsewhere(place.attach(other))
    return place.attach(place.image, "--offset", str(8 * MIB)), "LOOP:scratch.img"


def file_attached_by_a_deleted_name(place: Place) -> tuple[str, str]:
    other = place.folder / "other.img"
    other.hardlink_to(place.image)
    place.attach(other)
    other.unlink()
    return place.attach(place.image), "LOOP:scratch.img"


def file_attached_by_a_name_with_a_blank(place: Place) -> tuple[str, str]:
    other = place.folder / "scratch.img "
    other.hardlink_to(place.image)
    place.attach(other)
    return place.attach(place.image), "LOOP:scratch.img"


def file_held_open(place: Place) -> tuple[str, str]:
    """The loop device is ours alone; the file beneath it is a virtual machine's disk."""
    device = place.attach(place.image)
    program = "file = os.open(sys.argv[1], os.O_RDWR)"
    place.undo.enter_context(holding(program, place.image))
    return device, "LOOP:scratch.img"


def claimed_beneath(place: Place) -> tuple[str, str]:
    """Somebody claims the lower device: the kernel knows, no table does."""
    bottom = place.attach(place.image)
    top = place.attach(bottom, "--offset", str(MIB))
    program = "file = os.open(sys.argv[1], os.O_RDONLY | os.O_EXCL)"
    place.undo.enter_context(holding(program, bottom))
    return top, f"LOOP:{Path(bottom).name}"


def opened_beneath(place: Place) -> tuple[str, str]:
    bottom = place.attach(place.image)
    top = place.attach(bottom, "--offset", str(MIB))
    place.undo.enter_context(holding("file = os.open(sys.argv[1], os.O_RDWR)", bottom))
    return top, f"LOOP:{Path(bottom).name}"


def through_own_node(place: Place) -> tuple[str, str]:
    """A node that the table of mounts does not have, and a mount that it does not have either."""
    device, token = mounted(place)
    node = place.folder / "node"
    os.mknod(node, 0o600 | 0o060000, Path(device).stat().st_rdev)
    return str(node), token


def member_of_btrfs(place: Place) -> tuple[str, str]:
    """The second device of a file system: tables of mounts name the first alone."""
    images = [holes(place.folder / name, 128 * MIB) for name in ("one.img", "two.img")]
    devices = [place.attach(image) for image in images]
    done("mkfs.btrfs", "-q", "-d", "single", "-m", "raid1", *devices)
    done("btrfs", "device", "scan", *devices)
    place.mount_elsewhere(devices[0])
    return devices[1], "LOOP:two.img"


def log_of_xfs(place: Place) -> tuple[str, str]:
    """A file system keeps its journal on another device."""
    data = place.attach(holes(place.folder / "data.img", 320 * MIB))
    log = place.attach(holes(place.folder / "log.img", 64 * MIB))
    done("mkfs.xfs", "-q", "-l", f"logdev={log}", data)
    place.mount_elsewhere(data, "-o", f"logdev={log}")
    return log, "LOOP:log.img"


ON_TOP = ("is in use", "attached", "held")
OPEN = (r"is open in process \d+", "is in use", "is open elsewhere")
CASES = {
    "mounted in a container": Case(mounted),
    "mounted in a container, and its signature lost": Case(mounted_and_wiped),
    "a partition mounted in a container": Case(a_partition_mounted),
    "the mounted partition itself": Case(the_mounted_partition),
    "beneath a loop device, mounted in a container": Case(lower_mounted),
    "beneath two loop devices": Case(lambda place: lower_mounted(place, 2)),
    "beneath three loop devices": Case(lambda place: lower_mounted(place, 3)),
    "attached and mounted in a container": Case(lower_in_a_container),
    "on top, mounted in a container": Case(upper_mounted),
    "swap beneath": Case(swap_beneath),
    "its file mounted by another loop device": Case(file_of_a_mounted_device, ON_TOP),
    "its file attached by a deleted name": Case(file_attached_by_a_deleted_name, ON_TOP),
    "its file attached by a name with a blank": Case(file_attached_by_a_name_with_a_blank, ON_TOP),
    "its file open in another process": Case(file_held_open, OPEN),
    "claimed beneath": Case(claimed_beneath, (*ON_TOP, *OPEN)),
    "open beneath": Case(opened_beneath, OPEN),
    "by a node of our own": Case(through_own_node),
    "second device of a btrfs": Case(member_of_btrfs),
    "journal of an xfs": Case(log_of_xfs),
}


@contextmanager
def place_in(folder: Path) -> Iterator[Place]:
    with ExitStack() as undo:
        yield Place(holes(folder / "scratch.img"), undo)


def writes_to(device: str) -> str:
    """How many requests have written to a device, as the kernel counts."""
    return Path(f"/sys/class/block/{Path(device).resolve().name}/stat").read_text().split()[4]


@pytest.mark.parametrize("name", CASES)
def test_it_is_not_written(cli: Callable[..., Any], tmp_path: Path, name: str) -> None:
    """With every leave, and `wipefs` beforehand where a signature alone would refuse."""
    case = CASES[name]
    with place_in(tmp_path) as place:
        target, token = case.prepare(place)
        images = sorted(path for path in tmp_path.glob("*.img*") if path.is_file())
        os.sync()
        before = digest(*images)
        said = written(cli, target, token, *ALL)
        for _ in range(2):  # what was written to a stack goes down a step at a time
            os.sync()
        after = digest(*images)
    assert_refused(said, *case.says)
    assert after == before


def test_a_stack_that_nobody_uses_is_written(cli: Callable[..., Any], tmp_path: Path) -> None:
    """All refusals would pass if a stack was never written."""
    with place_in(tmp_path) as place:
        middle = place.attach(place.image)
        top = place.attach(middle, "--offset", str(MIB))
        said = written(cli, top, f"LOOP:{Path(middle).name}", "--allow-virtual")
        assert said.status == 0, said.err
        lower = written(cli, middle, "LOOP:scratch.img", "--allow-virtual")
        assert_refused(lower, "is attached to it")


def test_a_claim_of_the_stack_ends_with_the_run(cli: Callable[..., Any], tmp_path: Path) -> None:
    """While it is written nobody else gets the device beneath; afterwards it can be mounted."""
    with place_in(tmp_path) as place:
        middle = place.attach(place.image)
        top = place.attach(middle, "--offset", str(MIB))
        assert written(cli, top, f"LOOP:{Path(middle).name}", *ALL).status == 0
        done("wipefs", "--all", middle)
        with holding("file = os.open(sys.argv[1], os.O_RDONLY | os.O_EXCL)", middle):
            pass


def test_nobody_mounts_beneath_while_it_is_written(
    spawn: Callable[..., subprocess.Popen[str]], tmp_path: Path
) -> None:
    """The claim holds the whole stack: a mount that comes later fails."""
    with place_in(tmp_path) as place:
        bottom = place.attach(place.image)
        done("mkfs.ext4", "-q", "-b", "4096", place.image, "1024")
        top = place.attach(bottom, "--offset", str(8 * MIB))
        process = spawn(
            "run", top, "--rw", "write", "--number-ios", "30", "--thinktime", "50ms",
            "--destroy-data", f"LOOP:{Path(bottom).name}", *ALL, "-o", "json",
        )  # fmt: skip
        try:
            before, end = writes_to(top), time.monotonic() + 30
            while writes_to(top) == before and process.poll() is None:
                assert time.monotonic() < end
                time.sleep(0.01)
            if process.poll() is None:
                (tmp_path / "mnt").mkdir()
                tried = subprocess.run(
                    ["mount", "-o", "ro,noload", bottom, str(tmp_path / "mnt")],
                    capture_output=True, text=True, timeout=30,
                )  # fmt: skip
                if tried.returncode == 0:
                    done("umount", tmp_path / "mnt")
                assert tried.returncode != 0, "what is written was mounted"
        finally:
            _, err = process.communicate(timeout=30)
    assert process.returncode in (0, 2), err
