"""Twins against their drives, on workloads that neither was fitted to.

    python benchmarks/twins.py FOLDER [--drives NAME,…] [--drawn N] [--workloads N]

The twin is that of the drive's report in FOLDER, which `ssdscope characterize` makes with its
default budget if there is none. Both run the same workloads from their default states: Sobol points
over pattern, size and depth, inside what was characterised, each as long as a user runs it, and 64
times as long. A twin passes with a median error of at most 5 %, nine of ten errors of at most 15 %,
and a settled rate of random writes within 10 %. Then the twin is probed as the drive was, and what
is found of it is held to what was found of the drive.

Results go to FOLDER/twins.jsonl as drives are done; drives that stand there are left out, so that a
run that was broken off goes on. Without drives it is the ten of the papers and the four modern
ones; ``--drawn`` takes instead as many of the recovery study's two generators, in turn, from seeds
kept for this.
"""

import argparse
import itertools
import os
import sys
from collections.abc import Iterator, Sequence
from pathlib import Path
from subprocess import CalledProcessError
from typing import Any

# Before numpy is loaded: threads of BLAS wait for each other longer than they compute.
os.environ |= {"OPENBLAS_NUM_THREADS": "1", "OMP_NUM_THREADS": "1"}

import numpy as np
from journal import Journal
from reports import MODERN, PAPER, report_of
from scipy.stats import qmc

from ssdscope import stats, twin
from ssdscope.errors import SsdscopeError
from ssdscope.findings import Finding, Findings
from ssdscope.probes import session
from ssdscope.probes.budget import Budget, silent
from ssdscope.probes.reconcile import reconciled
from ssdscope.recovery.arrays import DrawnArray
from ssdscope.recovery.generator import Drawn, draw
from ssdscope.recovery.second import draw_second
from ssdscope.report import survey
from ssdscope.seeds import stream
from ssdscope.targets import Device, open_target
from ssdscope.twin.rows import Row, fitted_rows
from ssdscope.workloads.figures import Stretch, counted, figures_of, run_stretch
from ssdscope.workloads.sustained import sustain

DRAWN_SEEDS = tuple(range(43_001, 43_021))
"""Fixed before any twin was judged; those of 5000 and above are for tuning."""
SEED, TWIN_SEED, JUDGED_SEED = 1, 2, 9_000_000
WORKLOADS = 64
LEAST_REQUESTS, LENGTHS = 400, (1, 64)
"""Of a workload, and times as many."""
MOST_BYTES = 2 << 30
"""Of one workload: what would write more is run so far."""
MOST_COST = 30e9
"""Nanoseconds of counted work until writes of a twin come to rest."""
MEDIAN_MAX, P90_MAX, SUSTAINED_MAX = 0.05, 0.15, 0.10
BUDGET = Budget.parse("default")


def workloads(device: Device, count: int) -> list[survey.Point]:
    """Draw workloads inside what was characterised."""
    names, allowed = survey.patterns(device.info), survey.sizes(device.info)
    unit = max(4096, device.info.logical_block_bytes)
    drawn = qmc.Sobol(3, rng=stream(JUDGED_SEED, "benchmarks.twins")).random(count)
    points = []
    for pattern, size, depth in drawn:
        span = np.log2([allowed[0], allowed[-1]])
        wanted = 2 ** (span[0] + size * (span[1] - span[0]))
        block = max(unit, unit * round(wanted / unit))
        queue = round(2 ** (depth * np.log2(survey.DEPTHS[-1])))
        points.append(survey.Point(names[int(pattern * len(names))], block, queue))
    return points


def judged(drive: Device, copy: Device, point: survey.Point) -> Iterator[dict[str, Any]]:
    """Run a workload on both from the state they are in, for as long as a user and for longer."""
    plan = survey.workload_of(point, JUDGED_SEED)
    where = {"rw": point.rw, "block_bytes": point.block_bytes, "iodepth": point.iodepth}
    usual = max(LEAST_REQUESTS, 8 * point.iodepth)
    for count in dict.fromkeys(
        min(usual * each, MOST_BYTES // point.block_bytes) for each in LENGTHS
    ):
        figures = [_figure([_run(each, plan, count)]) for each in (drive, copy)]
        one, other = (each["mean_ns"] for each in figures)
        far = max(each["relative_half_width"] for each in figures)
        yield where | {"drive_ns": one, "twin_ns": other, "requests": count, "half_width": far}


def _run(device: Device, plan: Any, count: int) -> Stretch:
    return run_stretch(device.fork(), counted(plan, count))


def _figure(stretches: list[Stretch]) -> dict[str, Any]:
    (figure,) = figures_of(stretches).values()
    low, high = figure.ci95_low_ns, figure.ci95_high_ns
    half = float("inf") if low is None or high is None else (high - low) / 2 / figure.mean_ns
    return {"mean_ns": figure.mean_ns, "relative_half_width": half}


def smallest_at_rest(rows: Sequence[Row]) -> Row | None:
    """Choose the smallest random write that the drive was brought to rest with."""
    rest = [row for row in rows if row.sort == "rest" and row.rw == "randwrite"]
    return min(rest, key=lambda row: row.block_bytes, default=None)


def kept_up(copy: Device, row: Row | None) -> float | None:
    """Bring the smallest random write to rest on the twin; its rate over the drive's, less 1."""
    if row is None:
        return None
    plan = survey.workload_of(survey.Point(row.rw, row.block_bytes, row.iodepth), JUDGED_SEED)
    figure = sustain(copy.fork(), plan, most_cost=MOST_COST).figures.get("write")
    return None if figure is None else row.mean_ns / figure.mean_ns - 1


def judge(folder: Path, uri: str, count: int) -> dict[str, Any]:
    """Hold the twin of a drive's report to the drive."""
    report = report_of(folder, uri, SEED)
    seconds = report.document["provenance"]["seconds"]
    result: dict[str, Any] = {"characterize_s": seconds}
    told = report.document["twin"]
    if not told.get("toml"):
        return result | {"passes": False, "reason": told["reason"]}
    drive = open_target(uri, seed=SEED).device
    copy = twin.open_twin(told["toml"], TWIN_SEED)
    rows = [row for point in workloads(drive, count) for row in judged(drive, copy, point)]
    errors = stats.prediction_errors(
        [row["drive_ns"] for row in rows], [row["twin_ns"] for row in rows]
    )
    rate = kept_up(copy, smallest_at_rest(fitted_rows(report.performance)))
    near = errors.median_ape <= MEDIAN_MAX and errors.p90_ape <= P90_MAX
    said = told["errors"] or {}
    return result | {
        "passes": bool(near and (rate is None or abs(rate) <= SUSTAINED_MAX)),
        "median": errors.median_ape,
        "p90": errors.p90_ape,
        "sustained": rate,
        "said_median": said.get("median_ape"),
        "said_p90": said.get("p90_ape"),
        "found_again": list(found_again(report.findings, copy)),
        "rows": rows,
    }


def found_again(of_drive: Findings, copy: Device) -> Iterator[dict[str, Any]]:
    """Probe the twin, and say of each finding of the drive whether the twin's is the same.

    Discrete values are to be equal, and intervals to overlap.
    """
    of_twin = Findings(reconciled(list(session.each(["all"], copy, BUDGET, SEED, silent))))
    for name, one in of_drive.items():
        other = of_twin.get(name)
        if one.outcome not in ("detected", "absent") or other is None:
            continue
        same = one.outcome == other.outcome and _agree(one, other)
        yield {"property": name, "drive": one.value, "twin": other.value, "same": same,
               "outcomes": [one.outcome, other.outcome]}  # fmt: skip


def _agree(one: Finding, other: Finding) -> bool:
    if one.interval is None or other.interval is None:
        return bool(one.value == other.value)
    low, high = max(one.interval[0], other.interval[0]), min(one.interval[1], other.interval[1])
    return bool(low <= high)


def line(name: str, result: dict[str, Any]) -> str:
    """Write a result in a line."""
    verdict = "passes" if result["passes"] else "FAILS"
    took = f"page in {result['characterize_s']:.0f} s"
    if "reason" in result:
        return f"{name:20} {verdict}  {took}  {result['reason']}"
    rate = "not reached" if result["sustained"] is None else f"{result['sustained']:+.1%}"
    again = result["found_again"]
    same = f"{sum(each['same'] for each in again)} of {len(again)} found again"
    return (
        f"{name:20} {verdict}  median {result['median']:6.1%}  p90 {result['p90']:6.1%}  "
        f"sustained {rate}  {same}  {took}"
    )


def drawn(folder: Path, count: int) -> Iterator[tuple[str, str]]:
    """Write drawn drives to files; name and target of each."""
    for seed in DRAWN_SEEDS[:count]:
        path = folder / f"drawn-{seed}.toml"
        path.write_text(_drawn(seed).toml())
        yield path.stem, str(path)


def _drawn(seed: int) -> Drawn:
    """Draw a drive; of odd seeds the first of the second generator that is no array."""
    if seed % 2 == 0:
        return draw(seed)
    every = (draw_second(seed, index) for index in itertools.count())
    return next(each for each in every if not isinstance(each, DrawnArray))


def main(arguments: Sequence[str] | None = None) -> int:
    """Judge the drives that are asked for; 1 if one fails."""
    parser = argparse.ArgumentParser(description=__doc__.partition("\n")[0])
    parser.add_argument("folder", type=Path)
    parser.add_argument("--drives", default=",".join((*PAPER, *MODERN)), help="presets")
    parser.add_argument("--drawn", type=int, default=0, help="drives of the recovery generator")
    parser.add_argument("--workloads", type=int, default=WORKLOADS)
    options = parser.parse_args(arguments)
    options.folder.mkdir(parents=True, exist_ok=True)
    journal = Journal(options.folder / "twins.jsonl")
    if options.drawn:
        every = list(drawn(options.folder, options.drawn))
    else:
        every = [(name, f"sim:{name}") for name in options.drives.split(",")]
    for name, uri in every:
        if name not in journal.done:
            try:
                journal.add(name, judge(options.folder, uri, options.workloads))
            except (SsdscopeError, CalledProcessError) as error:
                print(f"{name}: {error}", file=sys.stderr)
                continue
        print(line(name, journal.done[name]), flush=True)
    passed = sum(journal.done[name]["passes"] for name, _ in every if name in journal.done)
    print(f"{passed} of {len(every)} pass")
    return 0 if passed == len(every) else 1


if __name__ == "__main__":
    sys.exit(main())
