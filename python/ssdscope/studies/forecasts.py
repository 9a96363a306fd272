"""Minutes of traces predicted beside the median of those before: how much better, how often worse.

Traces are made up after six patterns (`workloads.patterns`), two hours each, and those that the
user names come beside them. Each is replayed on five drives, or on the user's. The first two thirds
of the minutes are learnt from, the last third's latency is predicted. What is said of a forecast
is the median's mean relative error over its own: above 1 it is better.
"""

import csv
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import numpy as np

from ssdscope.errors import UsageError
from ssdscope.models.minutes.forecasting import LEAST_MINUTES, SETTINGS, forecasts
from ssdscope.probes.budget import StageProgress
from ssdscope.results.files import creating
from ssdscope.studies.huang2011 import traces
from ssdscope.studies.making import make_figures
from ssdscope.studies.record import Claim, FigureResult, StudyInfo, StudyResult, Table, Verdict
from ssdscope.targets import Device, Target, open_target
from ssdscope.targets.traces import sniff_trace
from ssdscope.workloads import grid
from ssdscope.workloads.minutes import WHOLE, Scenario, measure
from ssdscope.workloads.patterns import PATTERNS

KEY = "forecasts"
FIGURES = {"latency": "Latency of minutes to come, beside the median of those before"}
DRIVES = ("huang-ssd-i", "huang-ssd-s", "huang-hdd-s", "mqsim-8g", "nvme-tlc")
SPAN_S = 7200
TRAIN_SHARE = 2 / 3
WORSE = 1.05
"""An error that is so many times the median's is worse."""
MOST_WORSE = 0.1
EXACT = 1e-6
"""Errors below this are none: both are exact."""
COLUMNS = (
    "trace", "drive", "setting", "model", "expected skill", "MRE %", "train-median %",
    "times better",
)  # fmt: skip


@dataclass(frozen=True)
class Held:
    """A forecast held to what came: its place, and what `Forecast.to_dict` says."""

    trace: str
    drive: str
    told: Mapping[str, Any]

    @property
    def better(self) -> float:
        """How many times the forecast's error the median's is."""
        return float((self.told["mre_median"] + EXACT) / (self.told["mre"] + EXACT))


def run(
    wanted: Sequence[str],
    target: Target | None,
    folder: Path,
    seed: int,
    progress: StageProgress,
    *,
    trace: Sequence[str] = (),
) -> StudyResult:
    """Make up traces, replay them with the user's, and predict.

    Raises
    ------
    TraceError
        If a trace cannot be read.
    UsageError
        If one is too short.
    """
    files = traces.named(trace)

    def make(name: str, stage: StageProgress) -> FigureResult:
        drives = {target.uri: target.device} if target else dict.fromkeys(DRIVES)
        found = hold(files, PATTERNS, drives, folder, seed, stage)
        return figure(name, found, folder)

    uri = target.uri if target else None
    return make_figures(KEY, wanted, make, seed, progress, uri)


def hold(
    files: Mapping[str, str],
    patterns: Sequence[str] | Mapping[str, Any],
    drives: Mapping[str, Device | None],
    folder: Path,
    seed: int,
    progress: StageProgress,
    *,
    span_s: float | None = None,
) -> list[Held]:
    """Replay every trace on every drive and hold forecasts to it; presets where none is opened."""
    for path in files.values():
        sniff_trace(path)
    names = [*files, *patterns]
    found = []
    for place, name in enumerate(names):
        path = files.get(name) or str(traces.made_up(folder, seed, name, span_s or SPAN_S))
        scenario = Scenario.read(path, traces.OPTIONS)
        train, test = _parts(name, scenario)
        for number, (drive, opened) in enumerate(drives.items()):
            progress(f"{name} on {drive}", (place + number / len(drives)) / len(names))
            device = _in_use(drive, seed) if opened is None else opened
            minutes, _ = measure(device, scenario)
            found += [
                Held(name, drive, each.to_dict())
                for each in forecasts(
                    minutes,
                    settings=SETTINGS,
                    target="latency_ns",
                    train=train,
                    test=test,
                    seed=seed,
                )
            ]
    return found


def _parts(name: str, scenario: Scenario) -> tuple[int, int]:
    """Say how many minutes are learnt from and how many predicted; refuse too few."""
    minutes = int((scenario.table["covered"] >= WHOLE).sum())
    train = int(TRAIN_SHARE * minutes)
    if train < LEAST_MINUTES:
        raise UsageError(
            f"the trace {name} has {minutes} whole minutes, too few to learn from two thirds",
            hint=f"take one of {int(np.ceil(LEAST_MINUTES / TRAIN_SHARE))} minutes or more",
        )
    return train, minutes - train


def _in_use(drive: str, seed: int) -> Device:
    device = open_target(f"sim:{drive}", seed=seed).device
    grid.use(device, seed)
    return device


def figure(name: str, found: Sequence[Held], folder: Path) -> FigureResult:
    """Say how forecasts did: in short by setting, then one by one."""
    cells = [_cells(each) for each in found]
    data = folder / f"{KEY}-{name}.csv"
    with creating(data) as file:
        table = csv.writer(file, lineterminator="\n")
        table.writerow(COLUMNS)
        table.writerows(cells)
    rows = [claim for setting in SETTINGS for claim in claims(setting, found)]
    notes = [
        "times better: the median's mean relative error over the forecast's",
        "model: a number before it is how far the forecast goes from the median to it",
        "model and expected skill are told by the minutes learnt from alone",
    ]
    return FigureResult(name, FIGURES[name], rows, None, data, notes, Table(COLUMNS, tuple(cells)))


def claims(setting: str, found: Sequence[Held]) -> list[Claim]:
    """Hold the forecasts of a setting to what is asked of them all."""
    better = np.array([each.better for each in found if each.told["setting"] == setting])
    mean = float(np.exp(np.log(better).mean()))
    worse = float((better * WORSE < 1).mean())
    over = f"{setting}, {len(better)} forecasts"
    return [
        _claim(f"{over}: times better than the median (geometric mean)", "> 1", mean, mean > 1),
        _claim(
            f"{over}: share that is worse than the median by more than 5 %",
            f"<= {MOST_WORSE}",
            worse,
            worse <= MOST_WORSE,
        ),
    ]


def _claim(what: str, asked: str, ours: float, holds: bool) -> Claim:
    verdict = Verdict.AGREES if holds else Verdict.DIFFERS
    why = "" if holds else "what was learnt from is not like what came"
    return Claim(what, asked, round(ours, 3), "", verdict, why)


def _cells(each: Held) -> list[str]:
    told = each.told
    return [
        each.trace,
        each.drive,
        told["setting"],
        told["chosen"],
        f"{told['expected_skill_median']:.2f}",
        f"{100 * told['mre']:.2f}",
        f"{100 * told['mre_median']:.2f}",
        f"{each.better:.2f}",
    ]


STUDY = StudyInfo(
    KEY,
    "latency of traces' minutes predicted, beside the plain median",
    FIGURES,
    run,
    extras=frozenset({"trace"}),
)
