"""What is said of the replayed traces: table VII beside ours, and our errors beside baselines."""

from collections.abc import Iterator, Sequence

from ssdscope.models.minutes.result import Forecast
from ssdscope.studies import judging
from ssdscope.studies.huang2011.traces import (
    PAPER_TRACES,
    TEST_MINUTES,
    TRAIN_MINUTES,
    Replayed,
    split,
)
from ssdscope.studies.record import Claim, Table
from ssdscope.workloads.windows import MINUTE_NS, SECOND_NS

PUBLISHED: dict[str, dict[str, tuple[int, ...]]] = {
    "latency_ns": {
        "HDD_S": (16, 12, 1, 3),
        "SSD_I": (7, 19, 1, 1),
        "SSD_S": (18, 15, 2, 1),
        "Array_I": (19, 11, 1, 1),
    },
    "bandwidth_bytes_per_s": {
        "HDD_S": (18, 30, 5, 5),
        "SSD_I": (11, 38, 1, 1),
        "SSD_S": (17, 14, 2, 1),
        "Array_I": (26, 25, 2, 2),
    },
    "iops": {
        "HDD_S": (15, 26, 5, 5),
        "SSD_I": (9, 37, 1, 1),
        "SSD_S": (15, 14, 2, 1),
        "Array_I": (25, 12, 1, 1),
    },
}
"""Mean relative errors of table VII in percent, in the order of `PAPER_TRACES`."""
TIMES, POINTS = 1.5, 2.0
"""An error agrees that is at most so many times the paper's, or so many points above it."""
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


def compare(found: Sequence[Replayed]) -> list[Claim]:
    """Give each error of table VII beside ours, of traces that are the paper's."""
    return [claim for each in found if judged(each) for claim in _claims(each)]


def judged(each: Replayed) -> bool:
    """Whether it is a trace of the paper, and as much of it as the paper speaks of."""
    minutes = len(each.minutes) * each.scenario.interval_ns / MINUTE_NS
    least = ALL_OF.get(each.trace, TRAIN_MINUTES + TEST_MINUTES)
    return each.trace in PAPER_TRACES and not each.scenario.synthetic and minutes >= least


def _paper(each: Replayed, made: Forecast) -> int | None:
    """Give the paper's error of a forecast in its setting."""
    of_drives = PUBLISHED[made.target]
    if made.setting != "paper" or each.trace not in PAPER_TRACES or each.drive not in of_drives:
        return None
    return of_drives[each.drive][PAPER_TRACES.index(each.trace)]


def _claims(each: Replayed) -> Iterator[Claim]:
    for made in each.forecasts:
        paper = _paper(each, made)
        if paper is not None:
            yield _claim(each, made, paper)


def _claim(each: Replayed, made: Forecast, paper: int) -> Claim:
    ours = 100 * made.to_dict()["mre"]
    row = judging.claim(
        f"{each.trace} on {each.drive}: error of {UNITS[made.target][0]}",
        paper, round(ours, 2), "%", holds=ours <= max(TIMES * paper, paper + POINTS),
        why="the drive is a preset, and the paper's model had other settings",
    )  # fmt: skip
    if each.behind > BEHIND:
        late = f"in {each.behind:.0%} of the minutes requests were late by more than a second"
        return judging.explained(row, "the drive cannot follow: requests wait ever longer", late)
    train, test = split(len(each.minutes))
    if train < TRAIN_MINUTES:
        said = f"{train} minutes are learnt from, {test} predicted"
        return judging.explained(row, "the trace has no third hour", said)
    return row


def table(found: Sequence[Replayed]) -> Table:
    """Give every error beside those of the baselines."""
    rows = []
    for each in found:
        rows += [_row(each, made, made.setting) for made in each.forecasts]
        rows += [_row(each, made, f"{made.setting}, rolling") for made in each.rolled]
    return Table(COLUMNS, tuple(rows))


def _row(each: Replayed, made: Forecast, setting: str) -> list[str]:
    errors = made.to_dict()
    name, unit, scale = UNITS[made.target]
    percent = ("mre_median", "mre_last")
    paper = _paper(each, made)
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
    told = []
    for trace in dict.fromkeys(each.trace for each in found):
        of = [each for each in found if each.trace == trace]
        told += [_about(of[0]), *_late(of), _skilful(of, "arrivals"), _skilful(of, "online")]
    told.append(
        "settings: paper has the eight characteristics (queue depth: rate times the last minute's "
        "latency) and GUIDE; arrivals has all that the requests tell and nothing measured; online "
        "is that, corrected by the last minute's error"
    )
    told.append(
        "arrivals and online know the rate of requests, which bandwidth and throughput are as "
        "long as the drive follows: only their latency says how good a model is"
    )
    told.append(
        "model: what was chosen on the minutes learnt from; a number before it is how far the "
        "forecast goes from their median to it"
    )
    told.append("skill is the share of a baseline's mean relative error that the model takes away")
    return told


def _about(each: Replayed) -> str:
    rows, (train, test) = each.scenario.rows, split(len(each.minutes))
    kind = "synthetic, not the trace itself; " if each.scenario.synthetic else ""
    seconds = each.scenario.interval_ns // SECOND_NS
    unit = "minutes" if seconds == 60 else f"intervals of {seconds} s"
    told = (
        f"{each.trace}: {kind}{len(rows):,} requests, {len(each.minutes)} {unit}; {train} are "
        f"learnt from, the next {test} predicted"
    )
    if each.trace not in PAPER_TRACES or judged(each):
        return told
    whole = f"--trace {each.trace}=FILE takes the whole trace"
    return f"{told}. That is too little to be held to table VII: {whole}"


def _late(of: Sequence[Replayed]) -> list[str]:
    told = []
    for each in of:
        if each.wrapped:
            told.append(
                f"{each.trace} on {each.drive}: {each.wrapped:,} requests past the drive's end "
                "were wrapped"
            )
        if each.behind > BEHIND:
            told.append(
                f"{each.trace} on {each.drive}: the drive cannot follow, {each.behind:.0%} of the "
                "minutes end with requests that wait for more than a second"
            )
    return told


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
