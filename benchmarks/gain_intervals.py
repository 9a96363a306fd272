"""Intervals of gains held to the drive: how many hold what the drive itself gains.

    python benchmarks/gain_intervals.py FOLDER [--seeds tuned|judged] [--drives sim:ryu-a,…]

Each preset is looked at as `characterize` does, in short, and gets a twin for each seed; reports
lie in FOLDER and are made once. Advice states its gains on the twin, as found and in use. The same
requests then run on the drive itself, from the same two states, with other seeds. Two claims are
judged:

- an interval that is stated holds the gain that is measured: at least 90 %, over all;
- where a setting is said to make no difference, it makes less than 2 %, or than is said.

The rule was made by the seeds ``tuned``, and by a look 71,000 at three drives. ``judged`` are three
others, which are run once, behind the last change to the rule; docs/advice.md has what came out.
Rows go to FOLDER/SEEDS.jsonl as they come. Exit code 1 if fewer intervals hold.
"""

import argparse
import json
import sys
from collections.abc import Callable, Iterator, Sequence
from dataclasses import asdict, replace
from pathlib import Path
from statistics import median
from typing import Any

from ssdscope.advise import Advice, Gain, Ground, of_document, of_twin
from ssdscope.advise.advice import facts_of, streams_of
from ssdscope.advise.gains import FOUND, LEAST_GAIN, USED
from ssdscope.advise.ground import NoGainError
from ssdscope.advise.knobs import KNOBS, Knob
from ssdscope.advise.twinned import WRITTEN_OVER, is_worn
from ssdscope.probes.budget import Budget, silent
from ssdscope.report import stages
from ssdscope.report.document import Report, read
from ssdscope.report.resuming import UNFINISHED
from ssdscope.results import envelope
from ssdscope.targets import open_target
from ssdscope.targets.presets import preset_names

SEEDS = {"tuned": (61_001, (62_001,)), "judged": (81_000, (81_001, 82_001, 83_001))}
"""Of the look at each drive; and of the twins, the streams, and the drive itself."""
APART = 500
"""Between the seeds of a report and those of the runs on the drive."""
HOLD = 0.9
BUDGET = "5s"
"""Of a report: short looks make poor twins, whose intervals have to be wide."""
SURVEY = ("performance", "sustained", "distribution")
PROBED = 61_000
"""The seed of the probes."""


def report_of(folder: Path, uri: str, look: int, seed: int) -> Report:
    """Give the report of a drive: one look at it, and a twin for each seed."""
    name = uri.removeprefix("sim:")
    findings = _kept(folder / f"{name}-findings.json", lambda: _run(uri, PROBED, {}, "findings"))
    looked = _kept(folder / f"{name}-{look}.json", lambda: _run(uri, look, findings, *SURVEY))
    path = folder / f"{name}-{look}-{seed}.json"
    _kept(path, lambda: _run(uri, seed, looked, "twin"))
    return read(path)


def _kept(path: Path, make: Callable[[], Any]) -> Any:
    """Read a file, which is made if there is none."""
    if not path.exists():
        part = path.with_suffix(".part")
        part.write_text(json.dumps(make(), default=float), encoding="utf-8")
        part.rename(path)
    return json.loads(path.read_text(encoding="utf-8"))


def _run(uri: str, seed: int, known: dict[str, Any], *names: str) -> dict[str, Any]:
    """Run stages of `characterize`, each on a copy of the drive; give the document."""
    job = _job(uri, seed)
    for key in ("findings", "performance"):
        job.document[key] = known.get(key) or job.document[key]
    whole = job.target
    for name in names:
        job.target = replace(whole, device=whole.device.fork())
        stages.RUN[name](job, silent)
    del job.document[UNFINISHED]
    return job.document


def _job(uri: str, seed: int) -> stages.Job:
    target = open_target(uri, seed=seed)
    described = target.describe() | {"info": asdict(target.device.info), "declared": None}
    document: dict[str, Any] = {
        **envelope(seed=seed),
        "target": described,
        "findings": [],
        "performance": {"points": [], "sustained": [], "distributions": [], "trace": None},
        "models": [],
        "twin": None,
        "advice": [],
        "studies": [],
        "provenance": {},
        UNFINISHED: {},
    }
    budget = Budget.parse(BUDGET)
    return stages.Job(target, target.device, budget, seed, None, document, lambda _text: None)


def drive_of(uri: str, seed: int) -> Ground:
    """Open the drive itself as a ground, in the state that it is found in."""
    target = open_target(uri, seed=seed)
    if is_worn(target.state):
        return Ground(target.device, seed, name="drive", state=USED)
    again = lambda: open_target(uri, seed=seed, state=WRITTEN_OVER).device  # noqa: E731
    return Ground(target.device, seed, name="drive", written_over=again)


def rows(uri: str, report: Report, seed: int) -> Iterator[dict[str, Any]]:
    """Judge every gain that is stated of a drive."""
    ground = of_twin(report.document.get("twin"), seed)
    if isinstance(ground, str):
        yield {"drive": uri, "seed": seed, "because": ground}
        return
    given = of_document(report.document, report.findings, ground=ground)
    facts = facts_of(report.document, report.findings)
    drive = drive_of(uri, seed + APART)
    for knob, advice in zip(KNOBS, given, strict=True):
        if knob.gain is not None or not advice.gains:
            continue
        worked = knob.setting(facts).value
        values = {knob.shown(value): value for value in knob.values(facts, worked)}
        value = worked if advice.value is None else values.get(advice.value, worked)
        compared = streams_of(knob, facts, value)
        if isinstance(compared, str):
            continue
        for gain in advice.gains:
            told = {"drive": uri, "seed": seed, "knob": f"{knob.tool} {knob.name}"}
            yield told | row(knob, advice, gain, drive, compared)


def row(knob: Knob, advice: Advice, gain: Gain, drive: Ground, compared: Any) -> dict[str, Any]:
    """Judge one gain: measure it on the drive in the same state."""
    told = {"outcome": advice.outcome, "state": gain.state, "stated": gain.to_json()}
    # A drive that is found in use has no other state.
    ground = drive if gain.state == FOUND else drive.in_use() or drive
    try:
        measured = ground.gain(compared[0], compared[1], knob.at_most)
    except NoGainError as reason:
        return told | {"because": str(reason)}
    return told | {"measured": measured.to_json()}


def holds(found: dict[str, Any]) -> bool | None:
    """Say whether a claim holds; None where there is nothing to judge."""
    if "measured" not in found:
        return None
    stated, measured = found["stated"], found["measured"]
    low, high = stated["low"], stated["high"]
    if Gain.from_json(stated).none:
        low, high = min(low, 1 - LEAST_GAIN), max(high, 1 + LEAST_GAIN)
    return bool(low <= measured["ratio"] <= high)


def line(found: dict[str, Any]) -> str:
    """Write a row for people."""
    head = f"{found['drive']:<22} {found['seed']} "
    if "stated" not in found:
        return f"{head} {found['because']}"
    stated = found["stated"]
    said = f"{stated['ratio']:6.3f} ({stated['low']:6.3f} to {stated['high']:6.3f})"
    head += f"{found['knob']:<36} {found['state']:<9} {found['outcome']:<9} {said}"
    if "measured" not in found:
        return f"{head} {found['because']}"
    sign = "ok" if holds(found) else "MISS"
    return f"{head} {found['measured']['ratio']:6.3f} {sign}"


def summary(every: Sequence[dict[str, Any]]) -> tuple[str, float]:
    """Say how many claims hold, by state and by setting, and how wide intervals are."""
    judged = [each for each in every if holds(each) is not None]
    said = [each for each in judged if each["outcome"] == "set"]
    parts = [f"intervals: {_share(said)}"]
    for key in ("state", "knob"):
        parts += [
            f"  {name:<40} {_share([each for each in said if each[key] == name])}"
            for name in sorted({each[key] for each in said})
        ]
    none = [each for each in judged if each["outcome"] == "no effect"]
    parts.append(f"no difference: {_share(none)}")
    held = sum(bool(holds(each)) for each in said)
    return "\n".join(parts), held / max(len(said), 1)


def _share(some: Sequence[dict[str, Any]]) -> str:
    held = sum(bool(holds(each)) for each in some)
    if not some:
        return "none"
    wide = median(each["stated"]["high"] / each["stated"]["low"] for each in some)
    return f"{held} of {len(some)} hold ({held / len(some):.1%}), median high/low {wide:.2f}"


def kept(path: Path) -> list[dict[str, Any]]:
    """Give the rows of an earlier run; a last line that was cut is left out."""
    lines = path.read_text(encoding="utf-8").splitlines() if path.exists() else []
    return [json.loads(each) for each in lines if each.endswith("}")]


def main() -> int:
    """Judge, and print."""
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("folder", type=Path)
    parser.add_argument("--seeds", choices=tuple(SEEDS), default="tuned")
    parser.add_argument("--drives", default=",".join(f"sim:{name}" for name in preset_names()))
    given = parser.parse_args()
    given.folder.mkdir(parents=True, exist_ok=True)
    journal = given.folder / f"{given.seeds}.jsonl"
    look, seeds = SEEDS[given.seeds]
    every = kept(journal)
    done = {(each["drive"], each["seed"]) for each in every}
    for uri in given.drives.split(","):
        for seed in seeds:
            if (uri, seed) in done:
                continue
            report = report_of(given.folder, uri, look, seed)
            new = list(rows(uri, report, seed)) or [
                {"drive": uri, "seed": seed, "because": "no gain is stated"}
            ]
            with journal.open("a", encoding="utf-8") as file:
                file.writelines(json.dumps(each) + "\n" for each in new)
            print(*map(line, new), sep="\n", flush=True)
            every += new
    text, held = summary(every)
    print(text)
    return int(held < HOLD)


if __name__ == "__main__":
    sys.exit(main())
