"""Table VII: traces replayed, models of their first two hours held to the third.

In the paper the eight characteristics and three metrics of every minute of a replay feed a model;
it learns from the first two hours, and its mean relative error in the third is printed. Here the
replay is an open loop on a drive that was in use (`grid.use`). A row of the table is that of the
setting ``paper`` (`models.minutes.settings`): the eight characteristics, GUIDE. Beside it are
models of all that the requests tell, with and without the last minute's error (``online``,
``arrivals``), each held to the median of the training and to the minute before.

A trace of less than three hours is cut at four fifths. So is WebSearch1, whose 1,055,448 requests
last 43 to 53 minutes at its own speed: it has no third hour, and the paper does not say what was
replayed instead. Financial2 is called write-heavy in the paper; 82 % of its requests read.

Without files of the user the beginnings of two of the traces are replayed, which may be shipped
(`slices`), and the other two are made up. A beginning of a minute or four is cut into intervals of
a second or more in place of minutes.
"""

import gzip
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Any

from ssdscope.errors import UsageError
from ssdscope.models.minutes.forecasting import LEAST_MINUTES, SETTINGS, forecasts, rolling
from ssdscope.models.minutes.result import Forecast
from ssdscope.probes.budget import StageProgress
from ssdscope.results.files import write_bytes
from ssdscope.results.marks import MADE_BY
from ssdscope.studies.huang2011.procedure import PRESETS
from ssdscope.studies.record import Columns
from ssdscope.targets import Device, open_target
from ssdscope.targets.traces import sniff_trace
from ssdscope.workloads import ReplayOptions, grid
from ssdscope.workloads.minutes import TARGETS, WHOLE, Minutes, Scenario, measure
from ssdscope.workloads.patterns import recipe_of
from ssdscope.workloads.synthetic import spc_text
from ssdscope.workloads.windows import SECOND_NS

DRIVES = ("HDD_S", "SSD_I", "SSD_S", "Array_I")
PAPER_TRACES = ("financial1", "financial2", "websearch1", "websearch2")
SYNTHETIC_S = 1800
"""How much of a trace is made up where the user names no file."""
SLICES = Path(__file__).parent / "slices"
LEAST_INTERVALS = 25
SHORTER_NS = tuple(seconds * SECOND_NS for seconds in (20, 5, 2, 1))
"""What a trace of fewer minutes is cut into: the longest of these that it has so many of."""
TRAIN_MINUTES, TEST_MINUTES = 120, 60
OPTIONS = ReplayOptions(align="expand", fit="wrap")


@dataclass(frozen=True, eq=False)
class Replayed:
    """A trace on a drive, and what was predicted of it.

    Attributes
    ----------
    trace, drive
        Their names.
    scenario
        The trace.
    minutes
        How it went.
    wrapped
        Requests that lay past the drive's end.
    forecasts
        One per setting and target.
    rolled
        Of the latency, by setting: every part of the trace after the first, each predicted from
        all minutes before it.
    """

    trace: str
    drive: str
    scenario: Scenario
    minutes: Minutes
    wrapped: int
    forecasts: Sequence[Forecast]
    rolled: Sequence[Forecast]

    @property
    def behind(self) -> float:
        """The share of minutes whose requests were not served in time."""
        return 1 - float(self.minutes.settled.mean())


def named(texts: Sequence[str]) -> dict[str, str]:
    """Read ``NAME=FILE`` of the user.

    Raises
    ------
    UsageError
        If one is not of this form, or two have one name.
    """
    found: dict[str, str] = {}
    for text in texts:
        name, sign, path = text.partition("=")
        name = name.strip().lower()
        if not (sign and name and path) or name in found:
            raise UsageError(
                f"--trace: {text!r} is not a new NAME=FILE",
                hint="as in --trace financial1=Financial1.spc.gz",
            )
        found[name] = path
    return found


def split(minutes: int) -> tuple[int, int]:
    """Say how many minutes are learnt from, and how many predicted."""
    if minutes >= TRAIN_MINUTES + TEST_MINUTES:
        return TRAIN_MINUTES, TEST_MINUTES
    test = max(1, minutes // 5)
    return minutes - test, test


def by_default(folder: Path, seed: int, name: str) -> Path:
    """Name the file of one of the paper's traces where the user names none."""
    shipped = SLICES / f"{name}.spc.zst"
    return shipped if shipped.exists() else made_up(folder, seed, name)


def made_up(folder: Path, seed: int, name: str, seconds: float = SYNTHETIC_S) -> Path:
    """Write a synthetic trace, after one of the paper's or a pattern."""
    recipe = recipe_of(name)
    head = f"# {recipe.label}\n# {MADE_BY} reproduce\n"
    text = head + spc_text(recipe.make(seconds, seed))
    path = folder / f"synthetic-{recipe.name}.spc.gz"
    # No time and no name inside, so that the same seed gives the same file.
    write_bytes(str(path), gzip.compress(text.encode(), 6, mtime=0))
    return path


def run(
    files: Mapping[str, str],
    devices: Mapping[str, Device] | None,
    folder: Path,
    seed: int,
    progress: StageProgress,
) -> list[Replayed]:
    """Replay traces and predict.

    Parameters
    ----------
    files
        Traces by name; without any, beginnings of the paper's, or synthetic ones after them.
    devices
        Drives by name, as they are; the paper's if None.
    folder
        Where synthetic traces are written.
    seed
        Of drives, synthetic traces and fits.
    progress
        Told what is done, and the share.

    Raises
    ------
    TraceError
        If a trace cannot be read; then nothing was replayed, unless it is damaged further on.
    UsageError
        If one is too short.
    """
    for path in files.values():
        sniff_trace(path)
    paths = dict(files) or {name: str(by_default(folder, seed, name)) for name in PAPER_TRACES}
    found = []
    drives = list(devices or DRIVES)
    for place, (name, path) in enumerate(paths.items()):
        scenario = Scenario.read(path, OPTIONS, LEAST_INTERVALS, SHORTER_NS)
        require_long_enough(name, scenario)
        for number, drive in enumerate(drives):
            progress(f"{name} on {drive}", (place + number / len(drives)) / len(paths))
            device = devices[drive] if devices else in_use(drive, seed)
            minutes, replayed_shown = measure(device, scenario)
            found.append(predicted(name, drive, scenario, minutes, replayed_shown["wrapped"], seed))
    return found


def require_long_enough(name: str, scenario: Scenario) -> None:
    """Refuse a trace of too few minutes before it is replayed."""
    intervals = int((scenario.table["covered"] >= WHOLE).sum())
    if intervals < 1 or split(intervals)[0] < LEAST_MINUTES:
        raise UsageError(
            f"the trace {name} has {intervals} whole intervals of "
            f"{scenario.interval_ns // SECOND_NS} s, and {LEAST_MINUTES} are needed to learn from",
            hint="take a longer one",
        )


def in_use(drive: str, seed: int) -> Device:
    """Open one of the paper's drives as one that has been measured for a while."""
    device = open_target(f"sim:{PRESETS[drive]}", seed=seed).device
    grid.use(device, seed)
    return device


def predicted(
    trace: str, drive: str, scenario: Scenario, minutes: Minutes, wrapped: int, seed: int
) -> Replayed:
    """Learn from the first part of a replay, predict the second, and then part by part."""
    train, test = split(len(minutes))
    made = [
        each
        for target in TARGETS
        for each in forecasts(
            minutes, settings=SETTINGS, target=target, train=train, test=test, seed=seed
        )
    ]
    made.sort(key=lambda each: SETTINGS.index(each.setting))
    rolled = []
    if train + 2 * test <= len(minutes):
        rolled = rolling(
            minutes,
            settings=("arrivals", "online"),
            target="latency_ns",
            train=train,
            test=test,
            seed=seed,
        )
    return Replayed(trace, drive, scenario, minutes, wrapped, made, rolled)


def columns(found: Sequence[Replayed]) -> Columns:
    """Return every predicted minute as columns."""
    names = (
        "trace", "synthetic", "interval_s", "drive", "setting", "target", "origins", "interval",
        "measured", "predicted", "low", "high", "median", "last",
    )  # fmt: skip
    rows: list[tuple[Any, ...]] = []
    for each in found:
        for origins, made_so in (("one", each.forecasts), ("rolling", each.rolled)):
            for made in made_so:
                interval_s = each.scenario.interval_ns // SECOND_NS
                head = (
                    *(each.trace, each.scenario.synthetic, interval_s, each.drive),
                    *(made.setting, made.target, origins),
                )
                rows += [(*head, *row) for row in _minutes(made)]
    return {name: [row[place] for row in rows] for place, name in enumerate(names)}


def _minutes(made: Forecast) -> list[tuple[Any, ...]]:
    low, high = made.interval.T
    values = (made.minutes, made.measured, made.predicted, low, high, made.median, made.last)
    return list(zip(*(column.tolist() for column in values), strict=True))
