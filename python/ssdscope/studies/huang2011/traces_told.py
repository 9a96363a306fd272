"""What is read off the replayed traces: errors of table VII, and ours beside baselines.

Only whole traces of the paper's are held to its table. What it says of them in words is asked of
the beginnings that are shipped, too, by intervals of a few seconds.
"""

from collections.abc import Iterator, Sequence
from typing import Any

import numpy as np

from ssdscope.models.minutes.result import Forecast
from ssdscope.studies.huang2011.claims import every, of
from ssdscope.studies.huang2011.traces import (
    DRIVES,
    PAPER_TRACES,
    TEST_MINUTES,
    TRAIN_MINUTES,
    Replayed,
    split,
)
from ssdscope.studies.paper import Paper
from ssdscope.studies.record import Reading, Table
from ssdscope.targets.records import OP_WRITE
from ssdscope.workloads.windows import MINUTE_NS, SECOND_NS

ALL_OF = {"websearch1": 40}
"""So many minutes a trace must have to be judged; any other two hours and a third."""
BEHIND = 0.5
"""From this share of late minutes on a drive cannot follow the trace."""
UNITS = {
    "latency_ns": ("latency", "ms", 1e6),
    "bandwidth_bytes_per_s": ("bandwidth", "MB/s", 1e6),
    "iops": ("throughput", "IO/s", 1.0),
}
COLUMNS = (
    "trace", "drive", "setting", "target", "model", "paper %", "MRE %", "MAE", "R2", "median APE %",
    "train-median %", "last-value %", "skill/median", "skill/last", "in 90 %",
)  # fmt: skip


WRITE_HEAVY, READ_INTENSIVE = ("financial1", "financial2"), ("websearch1", "websearch2")


def readings(found: Sequence[Replayed]) -> dict[str, Reading]:
    """Read off each error of table VII, of traces that are the paper's, and what is said of all."""
    read = dict(_errors(found))
    own = [each for each in found if each.trace in PAPER_TRACES and not each.scenario.synthetic]
    for each in {each.trace: each for each in own}.values():
        share = 100 * (1 - float(np.mean(each.scenario.rows.op == OP_WRITE)))
        kind = "read intensive" if each.trace in READ_INTENSIVE else "write heavy"
        read[f"{kind}: {each.trace}"] = of(share, "% reads")
    drives = list(dict.fromkeys(each.drive for each in own))
    return read | dict(_of_drives(own, drives))


def _of_drives(own: Sequence[Replayed], drives: Sequence[str]) -> Iterator[tuple[str, Reading]]:
    for drive in drives:
        errors = {
            (each.trace, made.target): 100 * made.to_dict()["mre"]
            for each in own
            if each.drive == drive
            for made in each.forecasts
            if made.setting == "paper"
        }
        skills = [_latency_skill(each, "paper") for each in own if each.drive == drive]
        yield f"skill: {drive}", every(skills, "over the better baseline, trace by trace")
        both = [
            [error for (trace, _), error in errors.items() if trace in kind]
            for kind in (READ_INTENSIVE, WRITE_HEAVY)
        ]
        if all(both):
            text = (
                f"{max(both[0]):.1f} % at most for web searches, else at least {min(both[1]):.1f}"
            )
            yield f"web searches: {drive}", Reading(text, max(both[0]) / max(min(both[1]), 1e-9))


def judged(each: Replayed) -> bool:
    """Whether it is a trace of the paper, and as much of it as the paper speaks of."""
    minutes = len(each.minutes) * each.scenario.interval_ns / MINUTE_NS
    least = ALL_OF.get(each.trace, TRAIN_MINUTES + TEST_MINUTES)
    return each.trace in PAPER_TRACES and not each.scenario.synthetic and minutes >= least


def _errors(found: Sequence[Replayed]) -> Iterator[tuple[str, Reading]]:
    for each in (each for each in found if judged(each)):
        for made in each.forecasts:
            if made.setting == "paper" and each.drive in DRIVES:
                ours = 100 * made.to_dict()["mre"]
                name = f"trace: {each.trace} on {each.drive}: {UNITS[made.target][0]}"
                yield name, Reading(round(ours, 2), ours, why=_why(each))


def _why(each: Replayed) -> str:
    if each.behind > BEHIND:
        late = f"in {each.behind:.0%} of the minutes requests were late by more than a second"
        return f"the drive cannot follow, and requests wait ever longer: {late}"
    train, test = split(len(each.minutes))
    if train < TRAIN_MINUTES:
        return f"the trace has no third hour: {train} minutes are learnt from, {test} predicted"
    return ""


def table(found: Sequence[Replayed], paper: Paper) -> Table:
    """Return every error beside the paper's and those of the baselines."""
    known = paper.rows["trace"].paper
    rows = []
    for each in found:
        rows += [_row(each, made, made.setting, known) for made in each.forecasts]
        rows += [_row(each, made, f"{made.setting}, rolling", known) for made in each.rolled]
    return Table(COLUMNS, tuple(rows))


def _row(each: Replayed, made: Forecast, setting: str, known: Any) -> list[str]:
    errors = made.to_dict()
    name, unit, scale = UNITS[made.target]
    percent = ("mre_median", "mre_last")
    paper = known.get(f"{each.trace} on {each.drive}: {name}") if setting == "paper" else None
    return [
        f"synthetic {each.trace}" if each.scenario.synthetic else each.trace,
        each.drive,
        setting,
        name,
        made.chosen,
        "-" if paper is None else f"{paper}",
        f"{100 * errors['mre']:.2f}",
        f"{errors['mae'] / scale:.3g} {unit}",
        f"{errors['r2']:.3f}",
        f"{100 * errors['median_ape']:.2f}",
        *(f"{100 * errors[key]:.1f}" for key in percent),
        f"{errors['skill_median']:.2f}",
        f"{errors['skill_last']:.2f}",
        f"{100 * errors['coverage90']:.0f}",
    ]


def notes(found: Sequence[Replayed]) -> list[str]:
    """Say what was replayed, and on how many drives the latency was predicted with skill."""
    lines = []
    for trace in dict.fromkeys(each.trace for each in found):
        of = [each for each in found if each.trace == trace]
        lines += [_about(of[0]), *_late(of), _skilful(of, "arrivals"), _skilful(of, "online")]
    lines.append(
        "settings: paper has the eight characteristics (queue depth: rate times the last minute's "
        "latency) and GUIDE; arrivals has all that the requests tell and nothing measured; online "
        "is that, corrected by the last minute's error"
    )
    lines.append(
        "arrivals and online know the rate of requests, which bandwidth and throughput are as "
        "long as the drive follows: only their latency says how good a model is"
    )
    lines.append(
        "model: what was chosen on the minutes learnt from; a number before it is how far the "
        "forecast goes from their median to it"
    )
    lines.append("skill is the share of a baseline's mean relative error that the model takes away")
    return lines


def _about(each: Replayed) -> str:
    rows, (train, test) = each.scenario.rows, split(len(each.minutes))
    kind = "synthetic, not the trace itself; " if each.scenario.synthetic else ""
    seconds = each.scenario.interval_ns // SECOND_NS
    unit = "minutes" if seconds == 60 else f"intervals of {seconds} s"
    text = (
        f"{each.trace}: {kind}{len(rows):,} requests, {len(each.minutes)} {unit}; {train} are "
        f"learnt from, the next {test} predicted"
    )
    if each.trace not in PAPER_TRACES or judged(each):
        return text
    whole = f"--trace {each.trace}=FILE takes the whole trace"
    return f"{text}. That is too little to be held to table VII: {whole}"


def _late(of: Sequence[Replayed]) -> list[str]:
    text = []
    for each in of:
        if each.wrapped:
            text.append(
                f"{each.trace} on {each.drive}: {each.wrapped:,} requests past the drive's end "
                "were wrapped"
            )
        if each.behind > BEHIND:
            text.append(
                f"{each.trace} on {each.drive}: the drive cannot follow, {each.behind:.0%} of the "
                "minutes end with requests that wait for more than a second"
            )
    return text


def _skilful(of: Sequence[Replayed], setting: str) -> str:
    good = [each.drive for each in of if _latency_skill(each, setting) > 0]
    return (
        f"{of[0].trace}, {setting}: latency is predicted better than by both baselines on "
        f"{len(good)} of {len(of)} drives" + (f" ({', '.join(good)})" if good else "")
    )


def _latency_skill(each: Replayed, setting: str) -> float:
    """Give the skill over the better baseline."""
    for made in each.forecasts:
        if (made.setting, made.target) == (setting, "latency_ns"):
            errors = made.to_dict()
            return float(min(errors["skill_median"], errors["skill_last"]))
    raise LookupError(setting)
