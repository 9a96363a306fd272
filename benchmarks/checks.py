"""What it costs to read every block before it is first written: whole runs with and without.

    python benchmarks/checks.py [--seconds 60] [--pairs 3] [--gib 4]

Random writes of 4 KiB to the last quarter of a loop device (root) whose blocks hold data of
ssdscope, so that they are read from the disk and compared. Runs with ``--overwrite-existing`` read
nothing. Both take turns; their wall times are those of whole commands, and rates those that they
report.
"""

import argparse
import json
import os
import subprocess
import sys
import time
from collections.abc import Iterator
from contextlib import contextmanager
from dataclasses import dataclass
from pathlib import Path
from statistics import median
from tempfile import TemporaryDirectory

from harness import COMMAND, Figure, interpreted, loop_device, show

TIME_BAR = 1.05
"""A run of a minute may take so many times as long."""
RATE_BAR = 1.05
"""The rate that it reports may be lower by so much: reading lies outside the time that counts."""


@dataclass(frozen=True)
class Ran:
    """A run: how long the whole command took, and the writes per second that it reports."""

    seconds: float
    iops: float


def ran(device: str, seconds: int, *more: str) -> Ran:
    """Write for a while."""
    words = ("run", device, "--rw", "randwrite", "--bs", "4k", "--iodepth", "4", "--seed", "1")
    allowed = ("--destroy-data", "LOOP:scratch.img", "--allow-virtual")
    command = [*COMMAND, *words, "--runtime", f"{seconds}s", *allowed, "-o", "json", *more]
    begun = time.monotonic()
    done = subprocess.run(command, capture_output=True, text=True, check=True)
    return Ran(time.monotonic() - begun, json.loads(done.stdout)["write"]["iops"])


@contextmanager
def scratch(gib: int) -> Iterator[str]:
    """Make a loop device that is full of our data."""
    with TemporaryDirectory() as folder:
        image = Path(folder) / "scratch.img"
        with image.open("wb") as file:
            file.truncate(gib << 30)
        with loop_device(image, "--direct-io=on") as device:
            words = ("run", device, "--rw", "write", "--bs", "1m", "--offset", "0", "--seed", "1")
            allowed = ("--destroy-data", "LOOP:scratch.img", "--allow-virtual")
            command = [*COMMAND, *words, *allowed]
            subprocess.run(command, capture_output=True, check=True)
            yield device


def checked(device: str, seconds: int, pairs: int) -> list[Figure]:
    """Run with and without the checks in turns."""
    with_them: list[Ran] = []
    without: list[Ran] = []
    for pair in range(pairs):
        for overwrites in (True, False) if pair % 2 else (False, True):
            more = ("--overwrite-existing",) if overwrites else ()
            (without if overwrites else with_them).append(ran(device, seconds, *more))
    both = list(zip(with_them, without, strict=True))
    times = [one.seconds / other.seconds for one, other in both]
    rates = [other.iops / one.iops for one, other in both]
    return [
        _figure(f"time of a run of {seconds} s, with checks / without", times, TIME_BAR),
        _figure("reported rate, without checks / with", rates, RATE_BAR),
    ]


def _figure(what: str, ratios: list[float], bar: float) -> Figure:
    note = f"median of {len(ratios)}, from {min(ratios):.3f} to {max(ratios):.3f}"
    return Figure(what, median(ratios), "ratio", bar=bar, note=note, by=interpreted())


def main() -> int:
    """Measure and print."""
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0] if __doc__ else None)
    parser.add_argument("--seconds", type=int, default=60, help="of each run")
    parser.add_argument("--pairs", type=int, default=3, help="runs of each")
    parser.add_argument("--gib", type=int, default=4, help="size of the device")
    given = parser.parse_args()
    if os.geteuid() != 0:
        return show([Figure("cost of checks", None, "ratio", note="a loop device needs root")])
    with scratch(given.gib) as device:
        return show(checked(device, given.seconds, given.pairs))


if __name__ == "__main__":
    sys.exit(main())
