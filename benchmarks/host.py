"""Our way to the kernel beside fio's io_uring engine: rates, and processor time per request.

    python benchmarks/host.py [TARGET] [--seconds 10] [--pairs 9]

Random reads of 4 KiB on a file or a block device, read only; without one, on a loop device over
a file in memory where that may be made (root), else on a file in the temporary folder. Both
have the same core, registered buffers and a registered file, and run in turns. What passes or
not is the upper 95 % bound of the median ratio, fio's rate over ours; processor time is net of
start-up on either side.
"""

import argparse
import json
import os
import shutil
import subprocess
import sys
from collections.abc import Iterator
from contextlib import contextmanager, nullcontext
from pathlib import Path
from statistics import median
from tempfile import TemporaryDirectory

from harness import Figure, fill, interpreted, loop_device, show
from serving import (
    CLIENT_CORE,
    RATIO_BAR,
    SHORT_PAIRS,
    SHORT_SECONDS,
    in_short,
    pinned,
    upper_bound,
)

DEPTHS = (1, 32, 128)
CPU_BAR = 1.05
FILE_BYTES = 512 << 20
OURS = """
import json, resource, sys
import ssdscope
target, depth, seconds = sys.argv[1:]
drive = ssdscope.open(target)
before = resource.getrusage(resource.RUSAGE_SELF)
run = ssdscope.run(drive, rw="randread", bs="4k", iodepth=int(depth), runtime=f"{seconds}s", seed=1)
after = resource.getrusage(resource.RUSAGE_SELF)
used = after.ru_utime + after.ru_stime - before.ru_utime - before.ru_stime
print(json.dumps([run.read.iops, used / run.requests * 1e6]))
"""

Measured = tuple[float, float]
"""Requests per second, and microseconds of the processor per request."""


def ours(target: str, depth: int, seconds: int) -> Measured:
    """Run ours once."""
    command = pinned(CLIENT_CORE, sys.executable, "-c", OURS, target, str(depth), str(seconds))
    done = subprocess.run(command, capture_output=True, text=True, check=True)
    iops, cpu_us = json.loads(done.stdout)
    return iops, cpu_us


def fios(target: str, depth: int, seconds: int) -> Measured:
    """Run fio once."""
    command = pinned(
        CLIENT_CORE, "fio", "--name=peer", f"--filename={target}", "--ioengine=io_uring",
        "--direct=1", "--fixedbufs=1", "--registerfiles=1", "--norandommap", "--readonly",
        "--rw=randread", "--bs=4k", f"--iodepth={depth}", f"--runtime={seconds}", "--time_based",
        "--randseed=1", "--output-format=json",
    )  # fmt: skip
    done = subprocess.run(command, capture_output=True, text=True, check=True)
    job = json.loads(done.stdout[done.stdout.index("{") :])["jobs"][0]
    used_s = (job["usr_cpu"] + job["sys_cpu"]) / 100 * job["job_runtime"] / 1e3
    return job["read"]["iops"], used_s / job["read"]["total_ios"] * 1e6


@contextmanager
def scratch() -> Iterator[str]:
    """Make something to read: a loop device over memory, or a file."""
    in_memory = os.geteuid() == 0 and shutil.which("losetup") and Path("/dev/shm").is_dir()
    with TemporaryDirectory(dir="/dev/shm" if in_memory else None) as folder:
        file = Path(folder) / "data.bin"
        fill(file, FILE_BYTES)
        with loop_device(file) if in_memory else nullcontext(str(file)) as target:
            yield target


def figures() -> list[Figure]:
    """Measure shortly: half a minute, for the table of all."""
    if shutil.which("fio") is None:
        return [Figure("rate beside fio", None, "ratio", note="fio is not installed")]
    with scratch() as target:
        return in_short(beside_fio(target, SHORT_SECONDS, SHORT_PAIRS), "benchmarks/host.py")


def beside_fio(target: str, seconds: int, pairs: int) -> list[Figure]:
    """Measure both in turns, at each depth."""
    found = []
    for depth in DEPTHS:
        mine: list[Measured] = []
        theirs: list[Measured] = []
        for pair in range(pairs):
            turns = [(ours, mine), (fios, theirs)]
            for run, into in turns if pair % 2 else reversed(turns):
                into.append(run(target, depth, seconds))
        rates = [fio[0] / us[0] for us, fio in zip(mine, theirs, strict=True)]
        costs = [us[1] / fio[1] for us, fio in zip(mine, theirs, strict=True)]
        for what, ratios, bar, column, unit in (
            ("fio / ours, rate", rates, RATIO_BAR, 0, "requests/s"),
            ("ours / fio, processor time", costs, CPU_BAR, 1, "us"),
        ):
            us, fio = (median(each[column] for each in side) for side in (mine, theirs))
            note = f"median {median(ratios):.2f} of {pairs}; ours {us:,.4g}, fio {fio:,.4g} {unit}"
            bound = upper_bound(ratios)
            figure = Figure(
                f"{what}, depth {depth}", bound, "ratio", bar=bar, note=note, by=interpreted()
            )
            found.append(figure)
    return found


def main() -> int:
    """Measure and print."""
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0] if __doc__ else None)
    parser.add_argument("target", nargs="?", help="a file or block device; read only")
    parser.add_argument("--seconds", type=int, default=10, help="of each run")
    parser.add_argument("--pairs", type=int, default=9, help="runs of each")
    given = parser.parse_args()
    if shutil.which("fio") is None:
        return show([Figure("rate beside fio", None, "ratio", note="fio is not installed")])
    if given.target:
        return show(beside_fio(given.target, given.seconds, given.pairs))
    with scratch() as target:
        return show(beside_fio(target, given.seconds, given.pairs))


if __name__ == "__main__":
    sys.exit(main())
