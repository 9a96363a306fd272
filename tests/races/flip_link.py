"""A link that flips between a scratch file and somebody's database, while runs write through it.

``python tests/races/flip_link.py --seconds 30`` prints what came of it; the exit code is 1 if the
database was ever written. The token is that of the scratch file, and the leave to lose data is
given: for the scratch file, and for nothing else.
"""

import hashlib
import sys
from pathlib import Path

sys.path.insert(0, str(Path(__file__).parents[2]))

from tests.races.trying import Tally, by_hand, race

MIB = 2**20


def digest(path: Path) -> str:
    return hashlib.sha256(path.read_bytes()).hexdigest()


class Watch:
    """Whether a file still holds what it held the last time."""

    def __init__(self, path: Path) -> None:
        self.path, self.last = path, digest(path)

    def __call__(self) -> bool:
        before, self.last = self.last, digest(self.path)
        return self.last == before


def prepare(folder: Path) -> tuple[Path, Path]:
    scratch, precious = folder / "scratch.img", folder / "precious.db"
    scratch.write_bytes(bytes(MIB))
    precious.write_bytes(hashlib.shake_256(b"years of work").digest(MIB))
    return scratch, precious


def words(target: Path) -> list[str]:
    return [
        "run", str(target), "--rw", "write", "--number-ios", "4", "--seed", "1",
        "--destroy-data", "FILE:scratch.img", "--overwrite-existing",
    ]  # fmt: skip


def last_part(folder: Path, seconds: float) -> Tally:
    """The link is what the user names."""
    scratch, precious = prepare(folder)
    link, other = folder / "link", folder / "other"
    link.symlink_to(scratch)
    other.symlink_to(precious)
    return race(words(link), (link, other), Watch(precious), seconds)


def middle_part(folder: Path, seconds: float) -> Tally:
    """A folder on the way is exchanged; in the other one the same name leads to the database."""
    scratch, precious = prepare(folder)
    here, there = folder / "here", folder / "there"
    here.mkdir()
    there.mkdir()
    scratch.rename(here / "scratch.img")
    (there / "scratch.img").symlink_to(precious)
    return race(words(here / "scratch.img"), (here, there), Watch(precious), seconds)


def the_files(folder: Path, seconds: float) -> Tally:
    """The files themselves are exchanged: only what they hold tells them, so no leave is given."""
    scratch, precious = prepare(folder)
    always_precious = folder / "always-precious"
    always_precious.hardlink_to(precious)
    asked = [word for word in words(scratch) if word != "--overwrite-existing"]
    return race(asked, (scratch, precious), Watch(always_precious), seconds)


WAYS = {"last part": last_part, "middle part": middle_part, "the files": the_files}


if __name__ == "__main__":
    sys.exit(by_hand(__doc__, WAYS, "flips"))
