"""Twins against their drives, on workloads that neither was fitted to.

    python benchmarks/twins.py [DRIVE ...] [--drawn N] [--out FILE.jsonl] [--workloads N]

Each drive is characterised with the default budget: findings, performance, what it keeps up. From
that a twin is built, and both run the same workloads from their default states: Sobol points over
pattern, size and depth, inside what was characterised, each until both means are known within 2 %.
A twin passes with a median error of at most 5 %, nine of ten errors of at most 15 %, and a settled
rate of random writes within 10 %.

Results go to FILE line by line as drives are done; drives that stand there are left out, so that a
run that was broken off goes on. Without drives it is the ten of the papers and the four modern
ones; ``--drawn`` adds as many of the recovery study's generator, from seeds kept for this.
"""

import argparse
import json
import os
import sys
import tempfile
import time
from collections.abc import Iterator, Sequence
from pathlib import Path
from typing import Any

# Before numpy is loaded: threads of BLAS wait for each other longer than they compute.
os.environ |= {"OPENBLAS_NUM_THREADS": "1", "OMP_NUM_THREADS": "1"}

import numpy as np
from scipy.stats import qmc

from ssdscope import probes, stats, twin
from ssdscope.errors import SsdscopeError
from ssdscope.findings import Findings
from ssdscope.probes import Budget, silent
from ssdscope.report import performance, survey, sustaining
from ssdscope.seeds import stream
from ssdscope.studies.recovery.generator import draw
from ssdscope.targets import Device, Target, open_target
from ssdscope.targets.spare import spare_bytes
from ssdscope.twin.settling import Settled, settled, told_apart
from ssdscope.workloads.figures import Stretch, counted, figures_of, run_stretch
from ssdscope.workloads.sustained import sustain

PAPERS = (
    "ryu-a", "ryu-b", "ryu-c", "kuo-transcend-slc", "kuo-samsung-slc", "kuo-mtron-slc",
    "kuo-intel-mlc", "huang-ssd-i", "huang-ssd-a", "huang-ssd-s",
)  # fmt: skip
MODERN = ("sata-tlc", "nvme-tlc", "nvme-dramless", "nvme-datacentre")
DRAWN_SEEDS = tuple(range(41_001, 41_021))
"""Fixed before any twin was judged; those of 5000 and above are for tuning."""
SEED, TWIN_SEED, JUDGED_SEED = 1, 2, 9_000_000
WORKLOADS = 64
CI_MAX = 0.02
LEAST_REQUESTS, MOST_REQUESTS = 400, 25_600
MOST_BYTES = 2 << 30
"""Of one workload; what is not known by then is judged as far as it is."""
MEDIAN_MAX, P90_MAX, SUSTAINED_MAX = 0.05, 0.15, 0.10
BUDGET = Budget.parse("default")


def measured(target: Target, sustained: bool) -> tuple[Findings, dict[str, Any]]:
    """Measure a drive as `characterize` does, as far as a twin needs it."""
    device = target.device
    findings = Findings(probes.reconciled(list(probes.each(["all"], device, BUDGET, SEED, silent))))
    rng = stream(SEED, "report.characterize.held_out")
    plan = survey.planned(device.info, performance.HELD_OUT, rng)
    points = [point for point, _ in plan]
    effort = performance.effort(BUDGET, len(points))
    rows = survey.collect(device, points, effort, seed=SEED, progress=silent)
    told = [row.to_json() | {"split": each} for (_, each), row in zip(plan, rows, strict=True)]
    found: dict[str, Any] = {"points": told, "sustained": []}
    if sustained:
        kept = sustaining.settle(
            device, BUDGET, seed=SEED, progress=silent, spare_bytes=spare_bytes(target)
        )
        found["sustained"] = list(sustaining.rows(kept))
    return findings, found


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


def judged(drive: Device, copy: Device, point: survey.Point) -> dict[str, Any]:
    """Run a workload on both from the state they are in, until both means are known."""
    plan = survey.workload_of(point, JUDGED_SEED)
    count = max(LEAST_REQUESTS, 8 * point.iodepth)
    while True:
        figures = [_figure([_run(each, plan, count)]) for each in (drive, copy)]
        far = max(each["relative_half_width"] for each in figures)
        more = 4 * count
        if far <= CI_MAX or more > MOST_REQUESTS or more * point.block_bytes > MOST_BYTES:
            break
        count = more
    one, other = (each["mean_ns"] for each in figures)
    where = {"rw": point.rw, "block_bytes": point.block_bytes, "iodepth": point.iodepth}
    return where | {"drive_ns": one, "twin_ns": other, "requests": count, "half_width": far}


def _run(device: Device, plan: Any, count: int) -> Stretch:
    return run_stretch(device.fork(), counted(plan, count))


def _figure(stretches: list[Stretch]) -> dict[str, Any]:
    (figure,) = figures_of(stretches).values()
    low, high = figure.ci95_low_ns, figure.ci95_high_ns
    half = float("inf") if low is None or high is None else (high - low) / 2 / figure.mean_ns
    return {"mean_ns": figure.mean_ns, "relative_half_width": half}


def kept_up(copy: Device, row: Settled | None) -> float | None:
    """Bring the smallest random write to rest on the twin; its rate over the drive's, less 1."""
    if row is None:
        return None
    plan = survey.workload_of(survey.Point(row.rw, row.block_bytes, row.iodepth), JUDGED_SEED)
    figure = sustain(copy.fork(), plan, most_cost=sustaining.MOST_COST).figures.get("write")
    return None if figure is None else row.mean_ns / figure.mean_ns - 1


def judge(uri: str, count: int, sustained: bool) -> dict[str, Any]:
    """Characterise a drive, build its twin, and hold the two against each other."""
    begun = time.process_time()
    target = open_target(uri, seed=SEED)
    drive = target.device
    findings, found = measured(target, sustained)
    characterised = time.process_time()
    built = twin.build(findings, drive.info, found, name=uri, seed=TWIN_SEED)
    result: dict[str, Any] = {
        "measuring_s": characterised - begun,
        "building_s": time.process_time() - characterised,
    }
    if isinstance(built, str):
        return result | {"passes": False, "reason": built}
    copy = twin.open_twin(built.toml, TWIN_SEED)
    rows = [judged(drive, copy, point) for point in workloads(drive, count)]
    errors = stats.prediction_errors(
        [row["drive_ns"] for row in rows], [row["twin_ns"] for row in rows]
    )
    rate = kept_up(copy, told_apart(settled(found["sustained"]))[0])
    near = errors.median_ape <= MEDIAN_MAX and errors.p90_ape <= P90_MAX
    told = built.errors()
    return result | {
        "passes": near and (rate is None or abs(rate) <= SUSTAINED_MAX),
        "median": errors.median_ape,
        "p90": errors.p90_ape,
        "sustained": rate,
        "said_median": None if told is None else told.median_ape,
        "said_p90": None if told is None else told.p90_ape,
        "rows": rows,
        "toml": built.toml,
    }


def line(name: str, result: dict[str, Any]) -> str:
    """Write a result in a line."""
    verdict = "passes" if result["passes"] else "FAILS"
    took = f"{result['measuring_s']:.0f} + {result['building_s']:.0f} s"
    if "reason" in result:
        return f"{name:20} {verdict}  {took}  {result['reason']}"
    rate = "not reached" if result["sustained"] is None else f"{result['sustained']:+.1%}"
    return (
        f"{name:20} {verdict}  median {result['median']:6.1%}  p90 {result['p90']:6.1%}  "
        f"sustained {rate}  {took}"
    )


def drawn(folder: Path, count: int) -> Iterator[tuple[str, str]]:
    """Write drawn drives to files; name and target of each."""
    for seed in DRAWN_SEEDS[:count]:
        path = folder / f"drawn-{seed}.toml"
        path.write_text(draw(seed).toml())
        yield path.stem, str(path)


def main(arguments: Sequence[str] | None = None) -> int:
    """Judge the drives that are asked for; 1 if one fails."""
    parser = argparse.ArgumentParser(description=__doc__.partition("\n")[0])
    parser.add_argument("drives", nargs="*", metavar="DRIVE", help="presets")
    parser.add_argument("--drawn", type=int, default=0, help="drives of the recovery generator")
    parser.add_argument("--out", type=Path, default=Path("twins.jsonl"))
    parser.add_argument("--workloads", type=int, default=WORKLOADS)
    parser.add_argument("--no-sustained", action="store_true", help="leave out what takes longest")
    options = parser.parse_args(arguments)
    lines = options.out.read_text().splitlines() if options.out.exists() else []
    done = {each["drive"]: each for each in map(json.loads, lines)}
    with tempfile.TemporaryDirectory() as folder:
        named = options.drives or ([] if options.drawn else [*PAPERS, *MODERN])
        every = [(name, f"sim:{name}") for name in named]
        every += drawn(Path(folder), options.drawn)
        for name, uri in every:
            if name not in done:
                try:
                    done[name] = judge(uri, options.workloads, not options.no_sustained)
                except SsdscopeError as error:
                    print(f"{name}: {error.message}", file=sys.stderr)
                    continue
                with options.out.open("a") as file:
                    file.write(json.dumps({"drive": name} | done[name]) + "\n")
            print(line(name, done[name]), flush=True)
    passed = sum(done[name]["passes"] for name, _ in every if name in done)
    print(f"{passed} of {len(every)} pass")
    return 0 if passed == len(every) else 1


if __name__ == "__main__":
    sys.exit(main())
