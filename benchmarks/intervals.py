"""Intervals: how often those of the page hold the mean of a run a hundred times as long.

    python benchmarks/intervals.py [DRIVE ...] [--sort burst|sustained] [--seed N] [--sample N]

Of each drive some figures of the page are drawn: sustained ones, which the same workload then
goes on from where it had come to rest for a hundred times as many requests, and bursts, of which
a hundred others are run from the same state, with other seeds. At least 90 % of the intervals
of each sort are to hold what the long runs say. Where time ends before, a long run is as many times
as long as its line says; one of fewer than twenty times does not count.
"""

import argparse
import sys
from collections.abc import Iterator
from dataclasses import dataclass
from time import process_time

import numpy as np

from ssdscope.errors import DeviceError
from ssdscope.probes.budget import Budget, silent
from ssdscope.report import survey, sustaining
from ssdscope.report.performance import REQUESTS
from ssdscope.report.survey import Effort, Point
from ssdscope.report.sustaining import Course, Kept
from ssdscope.targets import Device, open_target
from ssdscope.targets.presets import preset_names
from ssdscope.workloads.figures import Figure, counted, run_stretch
from ssdscope.workloads.rounds import Rounds
from ssdscope.workloads.steady import WINDOW_ROUNDS

TIMES, LEAST_TIMES = 100, 20
BAR = 0.90
OTHER_SEEDS = 7_000_000
ROUNDING = 1e-9


@dataclass(frozen=True)
class Verdict:
    """An interval of the page, and what a run so many times as long says."""

    sort: str
    point: Point
    figure: Figure
    truth_ns: float
    times: float

    @property
    def holds(self) -> bool:
        """Whether the interval holds the long run, but for the rounding of sums."""
        low, high = self.figure.ci95_low_ns or 0.0, self.figure.ci95_high_ns or 0.0
        return low * (1 - ROUNDING) <= self.truth_ns <= high * (1 + ROUNDING)

    def __str__(self) -> str:
        """Write it in a line."""
        low, high = self.figure.ci95_low_ns or 0.0, self.figure.ci95_high_ns or 0.0
        mean, size = self.figure.mean_ns, self.point.block_bytes // 1024
        return (
            f"{self.sort:9} {f'{self.point.rw} {size}k x{self.point.iodepth}':22} "
            f"{mean / 1e3:11,.1f} us [{low / 1e3:,.1f}, {high / 1e3:,.1f}]  "
            f"{self.times:3.0f} times: {self.truth_ns / 1e3:11,.1f} us  "
            f"{mean / self.truth_ns - 1:+.2%}  {'holds' if self.holds else 'MISSES'}"
        )


class Clock:
    """Processor time for the long runs of a drive, shared out evenly among those to come."""

    def __init__(self, seconds: float, runs: int) -> None:
        self._left_s, self._runs, self._begun_s = seconds, runs, 0.0

    def begin(self) -> None:
        """Begin with the next run."""
        self._begun_s = process_time()

    @property
    def over(self) -> bool:
        """Whether the share of this run is used up."""
        return process_time() - self._begun_s > self._left_s / max(self._runs, 1)

    def end(self) -> None:
        """Leave what this run did not use to the others."""
        self._left_s -= process_time() - self._begun_s
        self._runs -= 1


def long_run(kept: Kept, course: Course, figure: Figure, seed: int, clock: Clock) -> Verdict | None:
    """Go on with a workload from where it came to rest; None where there is no time for it."""
    rounds = Rounds(
        kept.device.fork(), survey.workload_of(course.point, seed),
        written_bytes=kept.written_bytes,
    )  # fmt: skip
    for _ in range(WINDOW_ROUNDS):  # the way from the depth before to this one
        rounds.write()
    done, total_ns = 0, 0.0
    while done < TIMES * figure.requests and not clock.over:
        latency_ns = rounds.measure().latencies_ns("write")
        done += latency_ns.size
        total_ns += float(latency_ns.sum())
    times = done / figure.requests
    if times < LEAST_TIMES:
        return None
    return Verdict("sustained", course.point, figure, total_ns / done, times)


def sustained_of(
    device: Device, seed: int, sample: int, seconds: float, rng: np.random.Generator
) -> Iterator[Verdict]:
    """Hold sustained figures of the page to runs a hundred times as long."""
    budget = Budget.parse("default")
    settled = sustaining.settle(device, budget, seed=seed, progress=silent)
    reached = [each for each in settled.courses if each.reached]
    chosen = rng.permutation(len(reached))[:sample]
    clock = Clock(seconds, len(chosen))
    for place in chosen:
        course = reached[place]
        figure = course.found.figures["write"] if course.found else None
        if figure is None or figure.ci95_low_ns is None:
            continue
        kept = settled.drives[course.point.rw, course.point.block_bytes]
        clock.begin()
        verdict = long_run(kept, course, figure, seed + OTHER_SEEDS + int(place), clock)
        clock.end()
        if verdict is None:
            print(f"  {course.point.rw} {course.point.block_bytes // 1024}k: too long", flush=True)
        else:
            yield verdict


def bursts_of(
    device: Device, seed: int, sample: int, seconds: float, rng: np.random.Generator
) -> Iterator[Verdict]:
    """Hold bursts of the page to a hundred others."""
    points = [point for point in survey.grid(device.info) if point.writes]
    chosen = [points[place] for place in rng.permutation(len(points))[:sample]]
    clock = Clock(seconds, len(chosen))
    for row in survey.collect(device, chosen, Effort(REQUESTS, 0), seed=seed, progress=silent):
        clock.begin()
        if row.figure is not None and row.figure.ci95_low_ns is not None:
            verdict = _bursts(device, row.point, row.figure, seed + OTHER_SEEDS, clock)
            if verdict is not None:
                yield verdict
        clock.end()


def _bursts(
    device: Device, point: Point, figure: Figure, seed: int, clock: Clock
) -> Verdict | None:
    means: list[float] = []
    while len(means) < TIMES and not clock.over:
        plan = counted(
            survey.workload_of(point, seed + len(means)), figure.requests // figure.bursts
        )
        means.append(float(run_stretch(device.fork(), plan).latencies_ns("write").mean()))
    if len(means) < LEAST_TIMES:
        return None
    return Verdict("burst", point, figure, float(np.mean(means)), len(means))


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
            for verdict in each(device, seed, sample, seconds, rng):
                found.append(verdict)
                print(f"{name:18} {verdict}", flush=True)
        except DeviceError as error:
            print(f"{name:18} {error.message}", flush=True)
    return found


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
        held = [each.holds for each in found if each.sort == sort]
        print(
            f"{sort}: {sum(held)} of {len(held)} intervals hold the mean of {TIMES} times as much"
        )
        fine = fine and sum(held) >= BAR * len(held)
    return 0 if fine else 1


if __name__ == "__main__":
    sys.exit(main())
