"""Advice held to a sweep of every setting, on the drive that it is about.

    python benchmarks/advice.py FOLDER [--drives sim:kuo-samsung-slc,…] [--seed N] [--on twin|drive]

For each drive a report lies in FOLDER, as `ssdscope characterize DRIVE --json FOLDER/NAME.json`
writes it; what is missing is made. Advice is computed from the report and its twin, or with
``--on drive`` on the drive itself, which tries the formulas without the twin. Then every setting
is swept on the drive, with other seeds. A row says:

- by how much the advised setting misses the best of the sweep (at most 3 %; where the advice is
  that it makes no difference, this is asked of the default), and
- by how many points the stated gain misses the measured one, as a share of the time (at most 10).

Rows go to FOLDER/advice.jsonl as they come, and are not measured again. Exit code 1 if one misses.
"""

import argparse
import json
import sys
from collections.abc import Iterator, Sequence
from pathlib import Path
from typing import Any

from reports import MODERN, PAPER, report_of

from ssdscope import advise
from ssdscope.advise import Advice, Ground
from ssdscope.advise.advice import facts_of
from ssdscope.advise.facts import Facts
from ssdscope.advise.ground import NoGainError
from ssdscope.advise.knobs import KNOBS, Knob
from ssdscope.report.document import Report
from ssdscope.targets import open_target

NEAR, POINTS = 0.03, 10.0
MEASURABLE = 0.03
"""A setting has an effect on a drive if the worst of its sweep is so much worse than the best."""


def rows(uri: str, report: Report, seed: int, on: str) -> Iterator[dict[str, Any]]:
    """Judge every setting of a drive that changes requests."""
    drive = Ground(open_target(uri, seed=seed).device, seed=seed, name="drive")
    ground: Ground | str = drive
    if on == "twin":
        ground = advise.of_twin(report.document.get("twin"), seed + 1)
    else:
        ground = Ground(open_target(uri, seed=seed + 1).device, seed=seed + 1, name="drive")
    given = advise.of_document(report.document, report.findings, ground=ground)
    facts = facts_of(report.document, report.findings)
    for knob, advice in zip(KNOBS, given, strict=True):
        if knob.stream is not None and knob.before is None:
            yield {"drive": uri, "on": on, "knob": f"{knob.tool} {knob.name}"} | row(
                knob, advice, facts, drive
            )


def row(knob: Knob, advice: Advice, facts: Facts, drive: Ground) -> dict[str, Any]:
    """Judge one setting."""
    told: dict[str, Any] = {"outcome": advice.outcome, "remark": advice.gain_remark}
    stream = knob.stream
    if advice.outcome == "not known" or stream is None:
        return told | {"because": advice.because}
    values = knob.values(facts, knob.setting(facts).value)
    named = {knob.shown(value): value for value in values}
    chosen = advice.value if advice.value is not None else advice.default
    if chosen is None or chosen not in named:
        return told | {"because": "its default is not known"}
    try:
        times = drive.ns_per_byte([stream(facts, value) for value in values])
    except NoGainError as reason:
        return told | {"because": str(reason)}
    costs = dict(zip(values, times, strict=True))
    best = min(costs, key=lambda value: costs[value])
    told |= {
        "advised": chosen,
        "best": knob.shown(best),
        "miss": costs[named[chosen]] / costs[best] - 1,
        "effect": max(times) / min(times) - 1,
        "stated": None,
        "measured": None,
    }
    if advice.gain is not None and advice.default in named and advice.outcome == "set":
        before, after = stream(facts, named[advice.default]), stream(facts, named[chosen])
        told["stated"] = advice.gain.saved
        told["measured"] = drive.gain(before, after).saved
    return told


def verdict(found: dict[str, Any]) -> bool | None:
    """Say whether a row holds; None where there is nothing to judge."""
    if "miss" not in found:
        return None
    if found["stated"] is not None:
        points = 100 * abs(found["stated"] - found["measured"])
        return bool(found["miss"] <= NEAR and points <= POINTS)
    return bool(found["miss"] <= NEAR)


def line(found: dict[str, Any]) -> str:
    """Write a row for people."""
    head = f"{found['drive']:<22} {found['knob']:<40} {found['outcome']:<9}"
    if "miss" not in found:
        return f"{head}       {found['because'][:60]}"
    gain = ""
    if found["stated"] is not None:
        gain = f"  saves {found['stated']:.1%} stated, {found['measured']:.1%} measured"
    sign = {True: "ok", False: "MISS", None: ""}[verdict(found)]
    return (
        f"{head} {sign:<5} {found['advised']} misses {found['best']} by {found['miss']:.1%}{gain}"
    )


def summary(every: Sequence[dict[str, Any]]) -> str:
    """Say over all rows how many hold, and on how many drives each setting has an effect."""
    judged = [each for each in every if verdict(each) is not None]
    parts = [f"{sum(bool(verdict(each)) for each in judged)} of {len(judged)} rows hold"]
    for name in dict.fromkeys(each["knob"] for each in judged):
        mine = [each for each in judged if each["knob"] == name]
        felt = sum(each["effect"] >= MEASURABLE for each in mine)
        good = sum(bool(verdict(each)) for each in mine)
        parts.append(f"{name:<40} {good} of {len(mine)} hold, an effect on {felt}")
    return "\n".join(parts)


def kept(path: Path) -> list[dict[str, Any]]:
    """Give the rows of an earlier run; a last line that was cut is left out."""
    lines = path.read_text(encoding="utf-8").splitlines() if path.exists() else []
    whole = (each for each in lines if each.endswith("}"))
    return [json.loads(each) for each in whole]


def main() -> int:
    """Judge, and print."""
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("folder", type=Path)
    parser.add_argument("--drives", default=",".join(f"sim:{name}" for name in (*PAPER, *MODERN)))
    parser.add_argument("--seed", type=int, default=35001)
    parser.add_argument("--on", choices=("twin", "drive"), default="twin")
    given = parser.parse_args()
    given.folder.mkdir(parents=True, exist_ok=True)
    journal = given.folder / "advice.jsonl"
    every = [each for each in kept(journal) if each["on"] == given.on]
    done = {each["drive"] for each in every}
    for uri in given.drives.split(","):
        if uri in done:
            continue
        report = report_of(given.folder, uri, given.seed)
        new = list(rows(uri, report, given.seed, given.on))
        with journal.open("a", encoding="utf-8") as file:
            file.writelines(json.dumps(each) + "\n" for each in new)
        every += new
    every = [each for each in every if each["drive"] in given.drives.split(",")]
    print(*map(line, every), sep="\n")
    print(summary(every))
    return int(any(verdict(each) is False for each in every))


if __name__ == "__main__":
    sys.exit(main())
