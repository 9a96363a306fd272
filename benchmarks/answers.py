"""Answers that do not wander: the same probe, ten times, on real targets of this machine.

    python benchmarks/answers.py [--runs 10] [--load] [--target file|tmpfs|loop]

A file on the disk, a file in memory and a loop device (with root), each read only. Of every two
runs that answer, each one's value should lie in the other's interval; ``--load`` runs two
programs beside it that keep the cores and the disk busy. Exit code 1 if fewer than nine of ten
pairs agree.
"""

import argparse
import itertools
import os
import subprocess
import sys
import time
from collections.abc import Iterator, Sequence
from contextlib import ExitStack, contextmanager
from pathlib import Path
from tempfile import TemporaryDirectory

from harness import fill, loop_device

from ssdscope.findings import Detected, Finding
from ssdscope.probes import session
from ssdscope.probes.budget import Budget
from ssdscope.targets import open_target

PROBE = "latency"
KINDS = ("file", "tmpfs", "loop")
FILE_BYTES = 256 << 20
BAR = 0.9
BUSY = (
    "import sys\nat = open(sys.argv[1], 'rb', 0)\n"
    "while True:\n at.seek(0)\n while at.read(1 << 16): sum(range(2000))\n"
)


@contextmanager
def targets(kinds: Sequence[str]) -> Iterator[dict[str, str]]:
    """Make them, and take them away again."""
    with ExitStack() as undo:
        places = {}
        for kind in kinds:
            beside = "/dev/shm" if kind == "tmpfs" else None
            path = Path(undo.enter_context(TemporaryDirectory(dir=beside))) / "data.img"
            fill(path, FILE_BYTES)
            places[kind] = str(path)
            if kind == "loop":
                places[kind] = undo.enter_context(loop_device(path, "--direct-io=on"))
        yield places


@contextmanager
def load(places: dict[str, str]) -> Iterator[None]:
    """Keep the cores and the disk busy meanwhile."""
    reads = next(iter(places.values()))
    busy = [subprocess.Popen([sys.executable, "-c", BUSY, reads]) for _ in range(2)]
    try:
        yield
    finally:
        for each in busy:
            each.kill()
            each.wait()


def agree(one: Finding, other: Finding) -> bool:
    """Say whether each one's value lies in the other's interval."""
    pair = [each for each in (one, other) if isinstance(each, Detected) and each.interval]
    if len(pair) < 2:
        return False
    intervals = [each.interval or (0.0, 0.0) for each in reversed(pair)]
    return all(
        low <= float(each.value) <= high for each, (low, high) in zip(pair, intervals, strict=True)
    )


def line(kind: str, name: str, answers: list[Finding]) -> tuple[int, int]:
    """Print one property of one target; give the pairs that agree, and all."""
    told = [each for each in answers if isinstance(each, Detected)]
    pairs = list(itertools.combinations(told, 2))
    good = sum(itertools.starmap(agree, pairs))
    values = sorted(float(each.value) for each in told)
    widths = sorted(
        (each.interval[1] - each.interval[0]) / float(each.value) for each in told if each.interval
    )
    untold = [each for each in answers if not isinstance(each, Detected)]
    reasons = ", ".join(sorted({str(each.reason or each.outcome) for each in untold}))
    span = f"{values[0]:,.6g} to {values[-1]:,.6g}" if values else "-"
    width = f"{widths[len(widths) // 2]:.0%}" if widths else "-"
    print(
        f"{kind:8}{name:32}{len(told):4} of {len(answers):<4}{span:>28}{width:>8}"
        f"{good:6} of {len(pairs):<4} {reasons}",
        flush=True,
    )
    return good, len(pairs)


def main() -> int:
    """Probe, compare, and print."""
    parser = argparse.ArgumentParser(description=(__doc__ or "").splitlines()[0])
    parser.add_argument("--runs", type=int, default=10)
    parser.add_argument("--budget", default="60s", help="of each run")
    parser.add_argument("--load", action="store_true", help="with other programs beside it")
    parser.add_argument("--target", choices=KINDS, action="append")
    given = parser.parse_args()
    begun, good, all_pairs = time.monotonic(), 0, 0
    print(f"{'target':8}{'property':32}{'answered':12}{'values':>28}{'width':>8}  pairs that agree")
    kinds = given.target or (KINDS if os.geteuid() == 0 else KINDS[:2])
    with targets(kinds) as places, ExitStack() as beside:
        if given.load:
            beside.enter_context(load(places))
        for kind, uri in places.items():
            runs = []
            for seed in range(1, given.runs + 1):
                budget = Budget.parse(given.budget)
                told = session.run([PROBE], open_target(uri, seed=seed).device, budget, seed)
                runs.append({each.name: each for each in told})
            for name in runs[0]:
                pairs = line(kind, name, [run[name] for run in runs])
                good, all_pairs = good + pairs[0], all_pairs + pairs[1]
    share = good / all_pairs if all_pairs else 1.0
    print(f"{good} of {all_pairs} pairs agree ({share:.0%}); {time.monotonic() - begun:.0f} s")
    return 0 if share >= BAR else 1


if __name__ == "__main__":
    sys.exit(main())
