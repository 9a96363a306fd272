"""Searches against random search of twice the trials, on three problems fixed beforehand.

    python benchmarks/search.py            # the ten judged seeds, minutes
    python benchmarks/search.py --seeds 3 --first 1000   # others, to try changes on

Each problem is a plan of `ssdscope search` on a small drive. Both searches see the same simulated
drives with the same seeds, look at configurations for free that cannot work or are too dear, and
never run one twice. Ours has N trials and stops hopeless ones early. Random search has 2N, and
runs each whole. A seed is won by the better best value, or hypervolume of two figures; a search
that found nothing within the limits has no value, and lost.

Changes are tried on seeds from 1000 on. The seeds 1 to 10 judge, once.
"""

import argparse
import sys
import tempfile
import time
from collections.abc import Sequence
from contextlib import closing
from dataclasses import dataclass, replace
from pathlib import Path
from statistics import median

from ssdscope.search import Found, Plan, read_plan, search
from ssdscope.search.fronts import hypervolume
from ssdscope.search.trials import STOPPED_EARLY, values_of
from ssdscope.sweep import Journal

TRIALS = 40
JUDGED = range(1, 11)
DRIVE = "examples/drives/classroom.toml"
TAIL = f"""
target = "{DRIVE}"
state = "random"
minimise = ["read.latency_ns.p99"]

[workload] # reads and writes that come by themselves
rw = "randrw"
rwmixread = 70
bs = "16k"
arrival = "poisson"
rate_iops = 3000
number_ios = 6000

[space]
over_provisioning_ratio = {{from = 0.07, to = 0.6}}
nand.channels = [1, 2, 4, 8]
nand.ways = [1, 2, 4]
ftl.map_unit_bytes = ["4k", "8k", "16k"]
gc.policy = ["greedy", "wear-aware", "cost-benefit", "fifo", "random", "d-choices"]
gc.low_water_ratio = {{from = 0.02, to = 0.2, log = true}}
gc.preemptible = [false, true]
scheduler.suspend = ["none", "erase", "program-and-erase"]
"write_buffer.bytes" = "256k:16m"

[limits]
cost = 20

[cost]
raw_bytes = "10 per 1g"
nand.channels = 1.5
"write_buffer.bytes" = "0.5 per 1m"
"""
FRONT = f"""
target = "{DRIVE}"
state = "random"
minimise = ["waf", "cost"]

[workload]
rw = "randwrite"
bs = "16k"
random_distribution = "zipf:1.1"
number_ios = 8000

[space]
over_provisioning_ratio = {{from = 0.07, to = 0.6}}
nand.channels = [2, 4, 8]
nand.blocks_per_plane = [128, 192, 256, 384]
nand.pages_per_block = [32, 64, 128]
ftl.map_unit_bytes = ["4k", "8k", "16k"]
gc.policy = ["greedy", "wear-aware", "cost-benefit", "fifo", "random", "d-choices"]
gc.low_water_ratio = {{from = 0.02, to = 0.2, log = true}}
"write_buffer.bytes" = "256k:4m"

[cost]
raw_bytes = "10 per 1g"
nand.channels = 1.5
"write_buffer.bytes" = "0.5 per 1m"
"""
BURST = f"""
target = "{DRIVE}"
state = "random"
minimise = ["write.latency_ns.mean"]

[workload] # bursts of 8 MiB with pauses between them
rw = "randwrite"
bs = "16k"
iodepth = 8
thinktime = "200ms"
thinktime_blocks = 512
number_ios = 8000

[space]
over_provisioning_ratio = {{from = 0.07, to = 0.6}}
nand.channels = [1, 2, 4, 8]
nand.ways = [1, 2, 4]
ftl.map_unit_bytes = ["4k", "8k", "16k"]
gc.background = [false, true]
gc.idle_ns = {{from = 1_000_000, to = 200_000_000, log = true}}
gc.policy = ["greedy", "wear-aware", "cost-benefit", "fifo", "random", "d-choices"]
gc.low_water_ratio = {{from = 0.02, to = 0.2, log = true}}
"write_buffer.bytes" = "256k:32m"
write_buffer.drain = ["eager", "high-water", "idle"]

[limits]
cost = 20
waf = 3

[cost]
raw_bytes = "10 per 1g"
nand.channels = 1.5
"write_buffer.bytes" = "0.5 per 1m"
"""
PROBLEMS = {"tail": TAIL, "front": FRONT, "burst": BURST}
CORNER = (4.0, 30.0)
"""Of the front: as much is amplified, and costs, where nothing is won."""


@dataclass(frozen=True)
class Result:
    """What a search came to: its value, and the processor time of it."""

    value: float
    cpu_s: float
    stopped: int


def main() -> int:
    """Print a table of each problem."""
    parser = argparse.ArgumentParser(description="Searches against random search.")
    parser.add_argument("--seeds", type=int, default=len(JUDGED), help="how many")
    parser.add_argument("--first", type=int, default=JUDGED[0], help="the first of them")
    parser.add_argument("--problem", choices=PROBLEMS, action="append", help="only these")
    given = parser.parse_args()
    seeds = range(given.first, given.first + given.seeds)
    print(f"{TRIALS} trials against {2 * TRIALS} of random search, {len(seeds)} seeds")
    print(f"{'problem':8} {'ours':>10} {'random':>10} {'ratio':>6} {'won':>6} {'stopped':>8} CPU s")
    for name in given.problem or PROBLEMS:
        print(row(name, seeds), flush=True)
    return 0


def row(name: str, seeds: Sequence[int]) -> str:
    """Run a problem with each seed, both ways; a line of the table."""
    ours, theirs = [], []
    for seed in seeds:
        ours.append(run(name, seed, TRIALS, "tpe", 0.1))
        theirs.append(run(name, seed, 2 * TRIALS, "random", 0.0))
    sign = -1 if name == "front" else 1
    won = sum(sign * a.value < sign * b.value for a, b in zip(ours, theirs, strict=True))
    level = sum(a.value == b.value for a, b in zip(ours, theirs, strict=True))
    ratio = median(a.value / b.value for a, b in zip(ours, theirs, strict=True))
    values = [median(each.value for each in side) for side in (ours, theirs)]
    spent = [sum(each.cpu_s for each in side) for side in (ours, theirs)]
    stopped = sum(each.stopped for each in ours) / len(seeds)
    tied = f"={level}" * bool(level)
    return (
        f"{name:8} {values[0]:10.4g} {values[1]:10.4g} {ratio:6.3f} {f'{won}{tied}':>6} "
        f"{stopped:8.1f} {spent[0]:.0f} : {spent[1]:.0f}"
    )


def run(name: str, seed: int, trials: int, sampler: str, part: float) -> Result:
    """Search once, in a folder of its own."""
    with tempfile.TemporaryDirectory() as folder:
        path = Path(folder, "plan.toml")
        path.write_text(PROBLEMS[name], encoding="utf-8")
        plan = replace(read_plan(str(path)), trials=trials, sampler=sampler, part=part)
        began = time.process_time()
        with closing(Journal(Path(folder, "search.jsonl"))) as journal:
            found = search(plan, journal, seed, jobs=1, again=False)
        spent = time.process_time() - began
    return Result(value_of(plan, found), spent, found.count(STOPPED_EARLY))


def value_of(plan: Plan, found: Found) -> float:
    """Give the best value, or the hypervolume of two figures."""
    points = [values_of(plan, each.trial) for each in found.best]
    if len(plan.minimise) > 1:
        return hypervolume(points, CORNER)
    return points[0][0] if points else float("inf")


if __name__ == "__main__":
    sys.exit(main())
