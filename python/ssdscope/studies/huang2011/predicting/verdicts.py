"""What of the paper's tables II to VI agrees with models of our drives' runs.

- *Extended and specific models* (III, IV, VI) shall be as good as the paper's: an error of at
  most its, to the digits that it prints. What is above it but within half a point of the noise
  floor is `explained`: our drive's runs are no better known than that. R2 may fall short by 0.02,
  and of the paper's is `explained` if it does not of the floor's.
- *Basic models* (II, V) are told too little, and how much that costs depends on the drive: an
  error agrees within a factor of 1.5, R2 within 0.25. The paper does not say what exactly they
  are told. Where the reading that comes nearest over all (`readings`) is too far off, and the
  paper's number lies between what that and the other one give, it is `explained`.
- MAE is compared as a share of the mean beside it, since our drives' means are within a fifth of
  the paper's and not the same.
"""

from collections.abc import Callable, Iterator, Sequence
from dataclasses import dataclass

from ssdscope.studies import judging
from ssdscope.studies.huang2011.predicting.accuracy import AVERAGED, Cell, Row
from ssdscope.studies.huang2011.predicting.published import TARGETS, UNITS, Printed
from ssdscope.studies.record import Claim

FLOOR_POINTS = 0.5
BASIC_TIMES = judging.SIMILAR_WITHIN
R2_SHORT = 0.02
BASIC_R2 = 0.25
READ_OTHERWISE = "the paper does not say what its basic models were told of reads and writes"


@dataclass(frozen=True)
class Held:
    """A model beside the paper's.

    Attributes
    ----------
    weighted
        Of a basic model: the one by the other reading of what it is told (`readings`).
    """

    cell: Cell
    printed: Printed
    weighted: Cell | None = None

    @property
    def head(self) -> str:
        """Name the model."""
        cell = self.cell
        kind = "" if cell.workload == "all" else f", {cell.workload}"
        model = "basic" if cell.features == AVERAGED else "extended"
        return f"{cell.device}: {UNITS[cell.target][0]}{kind}, {model} model"


@dataclass(frozen=True)
class Metric:
    """A number that the tables print of a model.

    Attributes
    ----------
    printed
        Gives the paper's; None where a table leaves it out.
    ours
        Gives it of a row of errors of a cell.
    error
        Whether it is an error, which is better small; else R2.
    half_digit
        Of the paper's number: half of the last digit that it prints.
    """

    name: str
    unit: str
    printed: Callable[[Printed], float | None]
    ours: Callable[[Cell, Row], float]
    error: bool = True
    half_digit: Callable[[float], float] = lambda _: 0.0


def _half_digit(percent: float) -> float:
    return 0.5 if float(percent).is_integer() else 0.05


def _printed_share(printed: Printed) -> float | None:
    if printed.mae is None or printed.mean is None:
        return None
    return round(100 * printed.mae / printed.mean, 1)


METRICS = (
    Metric(
        "mean relative error", "%",
        lambda printed: printed.mre, lambda _, row: 100 * row["mre"], half_digit=_half_digit,
    ),
    Metric(
        "mean absolute error as a share of the mean", "%",
        _printed_share, lambda cell, row: 100 * row["mae"] / cell.mean,
    ),
    Metric("R2", "", lambda printed: printed.r2, lambda _, row: row["r2"], error=False),
)  # fmt: skip


def compare(found: Sequence[Held]) -> list[Claim]:
    """Give each cell beside the paper's."""
    return [claim for held in found for claim in _claims(held)]


def _claims(held: Held) -> Iterator[Claim]:
    judged = _basic if held.cell.features == AVERAGED else _extended
    for metric in METRICS:
        paper = metric.printed(held.printed)
        if paper is not None:
            yield judged(held, metric, paper)


def _row(held: Held, metric: Metric, paper: float, *, holds: bool) -> Claim:
    ours = metric.ours(held.cell, held.cell.in_sample)
    said = f"{ours / paper:.2f} times the paper's" if metric.error else f"{ours - paper:+.3f}"
    shown = round(ours, 2 if metric.error else 3)
    return judging.claim(
        f"{held.head}: {metric.name}", paper, shown, metric.unit, holds=holds, why=said
    )


def _extended(held: Held, metric: Metric, paper: float) -> Claim:
    """Ask whether the model is at least as good."""
    cell = held.cell
    ours = metric.ours(cell, cell.in_sample)
    row = _row(held, metric, paper, holds=_as_good(metric, ours, paper, metric.half_digit(paper)))
    if cell.floor is None:
        return row
    floor = metric.ours(cell, cell.floor)
    if not _as_good(metric, ours, floor, FLOOR_POINTS):
        return row
    tried = f"workloads run twice with other draws: {floor:.4g} {metric.unit}".rstrip()
    return judging.explained(row, "decided by the noise floor", tried)


def _as_good(metric: Metric, ours: float, than: float, points: float) -> bool:
    """Say whether an error is at most so many points more, or R2 at most `R2_SHORT` less."""
    return ours <= than + points if metric.error else ours >= than - R2_SHORT


def _basic(held: Held, metric: Metric, paper: float) -> Claim:
    """Ask whether the model fails as much as the paper's."""
    ours = metric.ours(held.cell, held.cell.in_sample)
    row = _row(held, metric, paper, holds=_near(metric, paper, ours))
    if held.weighted is None:
        return row
    other = metric.ours(held.weighted, held.weighted.in_sample)
    if not min(ours, other) <= paper <= max(ours, other):
        return row
    tried = f"the other reading, weighted by requests (`--figure readings`): {other:.3g}"
    return judging.explained(row, READ_OTHERWISE, f"{tried} {metric.unit}".rstrip())


def _near(metric: Metric, paper: float, ours: float) -> bool:
    if metric.error:
        return judging.similar(ours, paper)
    return abs(ours - paper) <= BASIC_R2


def worst(found: Sequence[Held], devices: Sequence[str]) -> list[Claim]:
    """Ask what the paper says of its disk: it is the hardest to predict."""
    claims = []
    for target in TARGETS:
        cells = [held.cell for held in found if held.cell.target == target]
        errors = {cell.device: cell.in_sample["mre"] for cell in cells}
        if set(errors) != set(devices):
            continue
        order = sorted(errors, key=lambda device: errors[device], reverse=True)
        told = ", ".join(f"{device} {100 * errors[device]:.1f} %" for device in order)
        claims.append(
            judging.claim(
                f"{UNITS[target][0]}: the disk is the hardest to predict", "HDD_S", told, "",
                holds=order[0] == "HDD_S", why=f"{order[0]} is harder",
            )
        )  # fmt: skip
    return claims
