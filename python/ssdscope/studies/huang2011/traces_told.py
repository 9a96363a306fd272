"""What is said of the replayed traces: table VII beside ours, and our errors beside baselines."""

from collections.abc import Iterator, Sequence

from ssdscope.models.minutes.result import Forecast
from ssdscope.studies.huang2011.traces import PAPER_TRACES, TRAIN_MINUTES, Replayed, split
from ssdscope.studies.record import Claim, Table, Verdict

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
BEHIND = 0.5
"""From this share of late minutes on a drive cannot follow the trace."""
UNITS = {
    "latency_ns": ("latency", "ms", 1e6),
    "bandwidth_bytes_per_s": ("bandwidth", "MB/s", 1e6),
    "iops": ("throughput", "IO/s", 1.0),
}
COLUMNS = (
    "trace", "drive", "setting", "target", "model", "MRE %", "MAE", "R2", "median APE %",
    "train-median %", "last-value %", "skill/median", "skill/last", "in 90 %",
)  # fmt: skip


def compare(found: Sequence[Replayed]) -> list[Claim]:
    """Give each error of table VII beside ours."""
    return [claim for each in found if each.trace in PAPER_TRACES for claim in _claims(each)]


def _claims(each: Replayed) -> Iterator[Claim]:
    for made in each.forecasts:
        paper = PUBLISHED[made.target].get(each.drive)
        if made.setting == "paper" and paper is not None:
            yield _claim(each, made, paper[PAPER_TRACES.index(each.trace)])


def _claim(each: Replayed, made: Forecast, paper: int) -> Claim:
    ours = 100 * made.to_dict()["mre"]
    kind = "synthetic " if each.scenario.synthetic else ""
    what = f"{kind}{each.trace} on {each.drive}: error of {UNITS[made.target][0]}"
    verdict, why = _verdict(each, ours, paper)
    return Claim(what, paper, round(ours, 2), "%", verdict, why)


def _verdict(each: Replayed, ours: float, paper: int) -> tuple[Verdict, str]:
    train, test = split(len(each.minutes))
    if each.scenario.synthetic:
        return Verdict.EXPLAINED, (
            f"the trace is synthetic, {train} + {test} minutes after published statistics: "
            "it says nothing of the real one"
        )
    if train < TRAIN_MINUTES:
        return Verdict.EXPLAINED, (
            f"the trace has {train + test} minutes: {train} are learnt from, {test} predicted"
        )
    if each.behind > BEHIND:
        return Verdict.EXPLAINED, (
            f"the drive cannot follow: in {each.behind:.0%} of the minutes requests were late by "
            "more than a second, and wait ever longer"
        )
    if ours <= max(TIMES * paper, paper + POINTS):
        return Verdict.AGREES, ""
    return Verdict.DIFFERS, "the drive is a preset, and the paper's model had other settings"


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
    return [
        f"synthetic {each.trace}" if each.scenario.synthetic else each.trace,
        each.drive,
        setting,
        name,
        made.chosen,
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
    return (
        f"{each.trace}: {kind}{len(rows):,} requests, {len(each.minutes)} minutes; {train} are "
        f"learnt from, the next {test} predicted"
    )


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
