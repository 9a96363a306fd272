"""A link that flips between scratch space and a loop device with a mounted ext4.

``python tests/races/flip_to_mount.py --seconds 30`` prints what came of it; the exit code is 1 if
anything was ever written to the mounted device, as the kernel counts. Needs root.
"""

import subprocess
import sys
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from pathlib import Path

sys.path.insert(0, str(Path(__file__).parents[2]))

from tests.races.trying import Tally, by_hand, race

MIB = 2**20


def image(path: Path, size_bytes: int = 16 * MIB) -> Path:
    with path.open("wb") as file:
        file.truncate(size_bytes)
    return path


@contextmanager
def attached(path: Path, *options: str) -> Iterator[Path]:
    device = subprocess.check_output(
        ["losetup", "--find", "--show", *options, str(path)], text=True, timeout=30
    ).strip()
    try:
        yield Path(device)
    finally:
        subprocess.run(["losetup", "--detach", device], check=True, timeout=30)


@contextmanager
def mounted_ext4(folder: Path) -> Iterator[Path]:
    """A device whose file system does not write by itself."""
    precious = image(folder / "precious.img")
    subprocess.run(["mkfs.ext4", "-q", str(precious)], check=True, timeout=30)
    (folder / "mnt").mkdir()
    with attached(precious) as device:
        words = ["mount", "-o", "ro,noload", str(device), str(folder / "mnt")]
        subprocess.run(words, check=True, timeout=30)
        try:
            yield device
        finally:
            subprocess.run(["umount", str(folder / "mnt")], check=True, timeout=30)


class Writes:
    """Whether the kernel has counted no write to a device since the last time."""

    def __init__(self, device: Path) -> None:
        self.counts = Path("/sys/block") / device.name / "stat"
        self.last = self.count()

    def count(self) -> list[str]:
        fields = self.counts.read_text().split()
        return [fields[4], fields[6], fields[11]]

    def __call__(self) -> bool:
        before, self.last = self.last, self.count()
        return self.last == before


def words(target: Path, token: str) -> list[str]:
    return [
        "run", str(target), "--rw", "write", "--number-ios", "4", "--seed", "1",
        "--destroy-data", token, "--overwrite-existing", "--allow-virtual",
    ]  # fmt: skip


def from_a_file(folder: Path, seconds: float) -> Tally:
    scratch = image(folder / "scratch.img")
    return flips(folder, scratch, words(folder / "link", "FILE:scratch.img")[:-1], seconds)


def from_a_loop_device(folder: Path, seconds: float) -> Tally:
    with attached(image(folder / "scratch.img")) as scratch:
        return flips(folder, scratch, words(folder / "link", "LOOP:scratch.img"), seconds)


def flips(folder: Path, scratch: Path, asked: list[str], seconds: float) -> Tally:
    with mounted_ext4(folder) as precious:
        link, other = folder / "link", folder / "other"
        link.symlink_to(scratch)
        other.symlink_to(precious)
        return race(asked, (link, other), Writes(precious), seconds)


WAYS: dict[str, Callable[[Path, float], Tally]] = {
    "from a file": from_a_file,
    "from a loop device": from_a_loop_device,
}


if __name__ == "__main__":
    sys.exit(by_hand(__doc__, WAYS, "to a mounted ext4"))
