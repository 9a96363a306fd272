"""Intervals: how often those of the page hold the mean of a run a hundred times as long.

    python benchmarks/intervals.py [DRIVE ...] [--sort burst|sustained] [--seed N] [--sample N]

Of each drive some figures of the page are drawn: sustained ones, which the same workload then
goes on from where it had come to rest for a hundred times as many requests, and bursts, of which
a hundred others are run from the same state, with other seeds. At least 90 % of the intervals
of each sort are to hold what the long runs say. A drive whose long runs would take longer than
the limit is tried on fewer figures, and says so.
"""

import argparse
import sys
from collections.abc import Iterator
from dataclasses import replace
from time import process_time

import numpy as np

from ssdscope.errors import DeviceError
from ssdscope.probes import Budget, silent
from ssdscope.report import survey, sustaining
from ssdscope.report.performance import REQUESTS
from ssdscope.report.survey import Effort, Measurement, Point
from ssdscope.targets import Device, open_target
from ssdscope.targets.presets import preset_names
from ssdscope.workloads.figures import counted, run_stretch
from ssdscope.workloads.sustained import settled_plan

TIMES = 100
BAR = 0.90
OTHER_SEEDS = 7_000_000
PIECE = 20_000
"""Requests between two looks at the clock."""
ROUNDING = 1e-9
Verdict = tuple[str, Point, float, float, float, float]
"""Sort, workload, mean, both ends of the interval, and what the long run says."""


class TooLongError(Exception):
    """A long run would take more time than there is."""


class Clock:
    """Processor time for the long runs of a drive, from the first on."""

    def __init__(self, seconds: float) -> None:
        self._left_s = seconds

    def check(self, share_done: float, begun: float) -> None:
        """Give up as soon as the end is foreseen to be too late."""
        took = process_time() - begun
        if took / share_done > self._left_s:
            self._left_s -= took
            raise TooLongError
        if share_done == 1:
            self._left_s -= took


def long_mean_ns(device: Device, point: Point, requests: int, seed: int, clock: Clock) -> float:
    """Run a workload on from where a drive is, for so many requests, after a hundredth of them."""
    plan = settled_plan(survey.workload_of(point, seed), 0)
    done, total_ns, begun = 0, 0.0, process_time()
    pieces = max(requests // max(PIECE, 64 * point.iodepth), 1)
    for piece in range(pieces + 1):
        each = replace(plan, requests=requests // pieces + point.iodepth,
                       ramp_requests=point.iodepth, seed=plan.seed + piece)  # fmt: skip
        served = device.run(each).only()
        if piece:  # the first is the way from the depth before to this one
            done += served.requests
            total_ns += served.requests * served.latency_ns.mean
        clock.check((piece + 1) / (pieces + 1), begun)
    return total_ns / done


def burst_mean_ns(device: Device, point: Point, requests: int, seed: int, clock: Clock) -> float:
    """Run a hundred bursts from one state."""
    begun, means = process_time(), []
    for number in range(TIMES):
        plan = counted(survey.workload_of(point, seed + number), requests)
        means.append(float(run_stretch(device.fork(), plan).latencies_ns("write").mean()))
        clock.check((number + 1) / TIMES, begun)
    return float(np.mean(means))


def sustained_of(
    device: Device, seed: int, sample: int, clock: Clock, rng: np.random.Generator
) -> Iterator[Verdict]:
    """Hold sustained figures of the page to runs a hundred times as long."""
    budget = Budget.parse("default")
    settled = sustaining.settle(device, budget, seed=seed, progress=silent)
    reached = [each for each in settled.courses if each.reached]
    for place in rng.permutation(len(reached))[:sample]:
        course = reached[place]
        figure = course.found.figures["write"] if course.found else None
        kept = settled.drives[course.point.rw, course.point.block_bytes]
        if figure is None or figure.ci95_low_ns is None or figure.ci95_high_ns is None:
            continue
        try:
            other = seed + OTHER_SEEDS + int(place) * PIECE
            requests = TIMES * figure.requests
            truth = long_mean_ns(kept.device.fork(), course.point, requests, other, clock)
        except (TooLongError, DeviceError) as error:
            print(f"  {course.point.rw} x{course.point.iodepth}: {error or 'too long'}", flush=True)
            continue
        yield (
            "sustained", course.point, figure.mean_ns, figure.ci95_low_ns, figure.ci95_high_ns,
            truth,
        )  # fmt: skip


def bursts_of(
    device: Device, seed: int, sample: int, clock: Clock, rng: np.random.Generator
) -> Iterator[Verdict]:
    """Hold bursts of the page to a hundred others."""
    points = [point for point in survey.grid(device.info) if point.writes]
    chosen = [points[place] for place in rng.permutation(len(points))[:sample]]
    effort = Effort(REQUESTS, 0)
    for row in survey.collect(device, chosen, effort, seed=seed, progress=silent):
        verdict = _burst(device, row, seed, clock)
        if verdict is not None:
            yield verdict


def _burst(device: Device, row: Measurement, seed: int, clock: Clock) -> Verdict | None:
    figure = row.figure
    if figure is None or figure.ci95_low_ns is None or figure.ci95_high_ns is None:
        return None
    requests = figure.requests // figure.bursts
    try:
        truth = burst_mean_ns(device, row.point, requests, seed + OTHER_SEEDS, clock)
    except TooLongError:
        return None
    return "burst", row.point, figure.mean_ns, figure.ci95_low_ns, figure.ci95_high_ns, truth


def judge(name: str, sorts: str, seed: int, sample: int, seconds: float) -> list[Verdict]:
    """Try the intervals of one drive, and print each."""
    state = "random" if name == "mqsim-8g" else None
    device = open_target(f"sim:{name}", state=state, seed=seed).device
    rng = np.random.default_rng([seed, *name.encode()])
    found: list[Verdict] = []
    for sort, each in (("burst", bursts_of), ("sustained", sustained_of)):
        if sorts not in (sort, "all"):
            continue
        try:
            for verdict in each(device, seed, sample, Clock(seconds), rng):
                found.append(verdict)
                print(f"{name:18} {text(verdict)}", flush=True)
        except DeviceError as error:
            print(f"{name:18} {error.message}", flush=True)
    return found


def text(verdict: Verdict) -> str:
    """Write a verdict in a line."""
    sort, point, mean, low, high, truth = verdict
    mark = "holds" if holds(verdict) else "MISSES"
    where = f"{point.rw} {point.block_bytes // 1024}k x{point.iodepth}"
    return (
        f"{sort:9} {where:22} {mean / 1e3:11,.0f} us [{low / 1e3:,.0f}, {high / 1e3:,.0f}]  "
        f"long {truth / 1e3:11,.0f}  {mean / truth - 1:+.1%}  {mark}"
    )


def holds(verdict: Verdict) -> bool:
    """Whether the interval holds the long run, but for the rounding of sums."""
    _, _, _, low, high, truth = verdict
    return low * (1 - ROUNDING) <= truth <= high * (1 + ROUNDING)


def share(found: list[Verdict], sort: str) -> tuple[int, int]:
    """Count the intervals of a sort, and those that hold."""
    chosen = [each for each in found if each[0] == sort]
    return len(chosen), sum(map(holds, chosen))


def main() -> int:
    """Try drives, and say how many intervals held."""
    parser = argparse.ArgumentParser(description=(__doc__ or "").splitlines()[0])
    parser.add_argument("drives", nargs="*", default=preset_names())
    parser.add_argument("--sort", choices=("all", "burst", "sustained"), default="all")
    parser.add_argument("--seed", type=int, default=1)
    parser.add_argument("--sample", type=int, default=4, help="figures of each sort and drive")
    parser.add_argument("--seconds", type=float, default=60, help="of each sort and drive")
    asked = parser.parse_args()
    found = [
        verdict
        for name in asked.drives
        for verdict in judge(name, asked.sort, asked.seed, asked.sample, asked.seconds)
    ]
    fine = True
    for sort in ("sustained", "burst"):
        count, held = share(found, sort)
        print(f"{sort}: {held} of {count} intervals hold the mean of {TIMES} times as much")
        fine = fine and held >= BAR * count
    return 0 if fine else 1


if __name__ == "__main__":
    sys.exit(main())
