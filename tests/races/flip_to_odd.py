"""A link that flips between a file and something that is none: no try may hang, or end in a fault.

``python tests/races/flip_to_odd.py --kind fifo --seconds 10`` prints what came of it. An open of a
named pipe waits for its other side for ever, unless that is excluded; a read of ``/dev/null`` gives
nothing, however often it is repeated. Whoever runs this gives it a limit of time.
"""

import argparse
import os
import socket
import sys
import tempfile
from collections.abc import Callable
from pathlib import Path

sys.path.insert(0, str(Path(__file__).parents[2]))

from tests.races.trying import Tally, race

MIB = 2**20


def null(place: Path) -> None:
    os.mknod(place, 0o600 | 0o020000, os.makedev(1, 3))


def listening(place: Path) -> None:
    with socket.socket(socket.AF_UNIX) as server:
        server.bind(str(place))


KINDS: dict[str, Callable[[Path], None]] = {
    "fifo": os.mkfifo,
    "null": null,
    "socket": listening,
    "folder": Path.mkdir,
}


def tries(folder: Path, kind: str, seconds: float, *, write: bool) -> Tally:
    scratch, odd = folder / "scratch.img", folder / "odd"
    scratch.write_bytes(bytes(MIB))
    KINDS[kind](odd)
    link, other = folder / "link", folder / "other"
    link.symlink_to(scratch)
    other.symlink_to(odd)
    words = ["run", str(link), "--number-ios", "1", "--seed", "1"]
    if write:
        words += ["--rw", "write", "--destroy-data", "FILE:scratch.img"]
    return race(words, (link, other), lambda: True, seconds)


def main() -> int:
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--kind", choices=KINDS, required=True)
    parser.add_argument("--seconds", type=float, default=30)
    parser.add_argument("--write", action="store_true", help="try to write, too")
    asked = parser.parse_args()
    with tempfile.TemporaryDirectory() as folder:
        tally = tries(Path(folder), asked.kind, asked.seconds, write=asked.write)
    print(*tally.lines(), sep="\n")
    return int(not set(tally.exits) <= {0, 2})


if __name__ == "__main__":
    sys.exit(main())
