"""The NBD server: how late its replies are, and its rates beside nbdkit's null plugin.

    python benchmarks/serving.py [--seconds 10] [--pairs 9] [--only late|rates]

Server and client have a core each. Replies are late by what the server itself has seen; the
client, which is ours, says from outside that none came before the drive was done: each of its
percentiles is at least the drive's. Rates are those of fio, on both servers in turns; the ratio
is nbdkit's rate over ours, and what passes or not is the upper 95 % bound of its median.
"""

import argparse
import json
import math
import shutil
import subprocess
import sys
import time
from collections.abc import Iterator
from contextlib import ExitStack, contextmanager
from dataclasses import replace
from pathlib import Path
from statistics import median
from tempfile import TemporaryDirectory
from typing import Any

from harness import COMMAND, Figure, interpreted, show

from ssdscope.targets.told import IN_THOUSANDTHS

DRIVE = "sim:mqsim-8g"
RATE_IOPS = 10_000
LATE_BAR_US = 150
RATIO_BAR = 1 / 0.95
DEPTHS = (16, 64)
SHORT_SECONDS, SHORT_PAIRS = 2, 3
"""Of the table of all figures, where the shape counts and not the last percent."""
SERVER_CORE, CLIENT_CORE = "0", "1"
UNPINNED = "" if shutil.which("taskset") else "not pinned: taskset is missing"


def pinned(core: str, *words: str) -> list[str]:
    """Give a command line that runs on one core."""
    return [*(() if UNPINNED else ("taskset", "-c", core)), *words]


@contextmanager
def running(words: list[str], socket: Path) -> Iterator[None]:
    """Run a server until the block ends."""
    process = subprocess.Popen(words, stdout=subprocess.DEVNULL, stderr=subprocess.DEVNULL)
    try:
        while not socket.exists():
            if process.poll() is not None:
                raise SystemExit(f"ended at once: {' '.join(words)}")
            time.sleep(0.02)
        yield
    finally:
        process.terminate()
        process.wait(timeout=60)


def ours(socket: Path, target: str, *more: str) -> list[str]:
    """Give the command line of our server."""
    return pinned(SERVER_CORE, *COMMAND, "serve", target, "--socket", str(socket), *more)


def run_client(socket: Path, *words: str) -> dict[str, Any]:
    """Run our client, and give its document."""
    uri = f"nbd+unix:///?socket={socket}"
    command = pinned(CLIENT_CORE, *COMMAND, "run", uri, "--seed", "1", "-o", "json", *words)
    done = subprocess.run(command, capture_output=True, text=True, check=True)
    document: dict[str, Any] = json.loads(done.stdout)
    return document


def lateness(seconds: int) -> list[Figure]:
    """Measure how late replies leave at a fixed rate, and whether any came early."""
    with TemporaryDirectory() as folder:
        socket, stats = Path(folder) / "s", Path(folder) / "seen.json"
        with running(ours(socket, DRIVE, "--seed", "1", "--stats", str(stats)), socket):
            seen = run_client(
                socket, "--rw", "randread", "--bs", "4k", "--arrival", "fixed",
                "--rate-iops", str(RATE_IOPS), "--runtime", f"{seconds}s",
            )  # fmt: skip
        served = json.loads(stats.read_text(encoding="utf-8"))
    late, by = served["lateness_ns"], interpreted()
    rate = f"at {seen['read']['iops']:,.0f} requests/s, {DRIVE}"
    drive, client = served["read"]["latency_ns"], seen["read"]["latency_ns"]
    early = [
        name
        for name in (*IN_THOUSANDTHS, "min", "mean")
        if client[name] is not None and client[name] < drive[name]
    ]
    added_us = {name: (client[name] - drive[name]) / 1e3 for name in ("p50", "p99")}
    return [
        Figure("reply late, p50", late["p50"] / 1e3, "us", note=rate, by=by),
        Figure("reply late, p99", late["p99"] / 1e3, "us", bar=LATE_BAR_US, note=UNPINNED, by=by),
        Figure("reply late, max", late["max"] / 1e3, "us", by=by),
        Figure("client sees more than the drive says, p50", added_us["p50"], "us", by=by),
        Figure("client sees more than the drive says, p99", added_us["p99"], "us", by=by),
        Figure("percentiles before the drive's", len(early), "of 7", bar=0, binds=True, by=by),
    ]


def fio_iops(socket: Path, depth: int, seconds: int) -> float:
    """Measure a server's rate of random reads of 4 KiB."""
    command = pinned(
        CLIENT_CORE, "fio", "--name=rate", "--ioengine=nbd", f"--uri=nbd+unix:///?socket={socket}",
        "--rw=randread", "--bs=4k", f"--iodepth={depth}", f"--runtime={seconds}", "--time_based",
        "--size=1g", "--randseed=1", "--output-format=json",
    )  # fmt: skip
    done = subprocess.run(command, capture_output=True, text=True, check=True)
    rate: float = json.loads(done.stdout[done.stdout.index("{") :])["jobs"][0]["read"]["iops"]
    return rate


def upper_bound(ratios: list[float]) -> float:
    """Give the 95 % upper bound of the median: an order statistic, whatever the distribution."""
    count, beyond, dropped = len(ratios), 0.0, 0
    while (beyond := beyond + math.comb(count, dropped) / 2**count) <= 0.05:
        dropped += 1
    return sorted(ratios, reverse=True)[max(dropped - 1, 0)]


def rates(seconds: int, pairs: int) -> list[Figure]:
    """Measure our server and nbdkit's in turns."""
    missing = [tool for tool in ("nbdkit", "fio") if shutil.which(tool) is None]
    if missing:
        note = f"{' and '.join(missing)} not installed"
        return [Figure("rate beside nbdkit null", None, "ratio", note=note)]
    figures = []
    with TemporaryDirectory() as folder, ExitStack() as stack:
        mine, theirs = Path(folder) / "ours", Path(folder) / "nbdkit"
        stack.enter_context(running(ours(mine, "null:1g", "--seed", "1"), mine))
        peer = pinned(SERVER_CORE, "nbdkit", "-f", "-U", str(theirs), "null", "1G")
        stack.enter_context(running(peer, theirs))
        for depth in DEPTHS:
            found: dict[Path, list[float]] = {mine: [], theirs: []}
            for pair in range(pairs):
                for server in (mine, theirs) if pair % 2 else (theirs, mine):
                    found[server].append(fio_iops(server, depth, seconds))
            ratios = [b / a for a, b in zip(found[mine], found[theirs], strict=True)]
            note = (
                f"median {median(ratios):.2f} of {pairs} pairs; ours "
                f"{median(found[mine]):,.0f}, nbdkit {median(found[theirs]):,.0f} requests/s"
            )
            what = f"nbdkit null / serve null:, depth {depth}"
            bound = upper_bound(ratios)
            figures.append(Figure(what, bound, "ratio", bar=RATIO_BAR, note=note, by=interpreted()))
    return figures


def in_short(found: list[Figure], command: str) -> list[Figure]:
    """Say beside figures that were taken shortly what takes them in full."""
    note = f"short; in full: python {command}"
    return [replace(each, note=f"{each.note}; {note}" if each.note else note) for each in found]


def figures() -> list[Figure]:
    """Measure shortly: half a minute, for the table of all."""
    found = [*lateness(SHORT_SECONDS), *rates(SHORT_SECONDS, SHORT_PAIRS)]
    return in_short(found, "benchmarks/serving.py")


def main() -> int:
    """Measure and print."""
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0] if __doc__ else None)
    parser.add_argument("--seconds", type=int, default=10, help="of each run")
    parser.add_argument("--pairs", type=int, default=9, help="runs of each server")
    parser.add_argument("--only", choices=("late", "rates"))
    given = parser.parse_args()
    found = [] if given.only == "rates" else lateness(given.seconds)
    found += [] if given.only == "late" else rates(given.seconds, given.pairs)
    return show(found)


if __name__ == "__main__":
    sys.exit(main())
