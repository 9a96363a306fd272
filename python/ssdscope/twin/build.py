"""The twin: fitted to what was measured, opened, and held to workloads it was not fitted to."""

from __future__ import annotations

from collections.abc import Callable, Iterator, Mapping, Sequence
from dataclasses import dataclass, field
from typing import TYPE_CHECKING, Any

import numpy as np

from ssdscope import stats
from ssdscope.errors import SsdscopeError
from ssdscope.targets.drive_writer import drive_toml, open_drive
from ssdscope.twin.begin import drawn_drives
from ssdscope.twin.fitting import Likeness, fitted
from ssdscope.twin.found import found_of, left_open
from ssdscope.twin.noise import noise
from ssdscope.twin.rows import fitted_rows, held_out_rows
from ssdscope.twin.running import LABEL, Runner, means_ns

if TYPE_CHECKING:
    from ssdscope.findings import Findings
    from ssdscope.targets.records import DeviceInfo
    from ssdscope.twin.design import Design
    from ssdscope.twin.rows import Row

MEDIAN_MAX, P90_MAX = 0.05, 0.15
"""A twin whose errors on held-out workloads are larger is a sketch."""
WORK_S = 60.0
"""Work of a fit, about as long on one core."""
APART = 1000
"""Seeds of held-out runs are other ones than those of the fit."""


@dataclass(frozen=True)
class Twin:
    """A drive file and its error.

    Attributes
    ----------
    toml
        The file.
    rows
        Held-out workloads: measured mean latency, and the twin's.
    fit_error
        Median error on what was fitted, as a share.
    not_modelled
        What was not found, so that the twin has what fits best, as sentences.
    cut_short
        Whether the search ended because its work was done.
    others
        Files of other drives that what was measured allows, the likeliest first.
    differ
        In what they differ from the twin, a sentence for each key.
    at_bounds
        Keys whose numbers ended at the end of their range.
    worked_s
        What the fit took, counted, in seconds of one core.
    """

    toml: str
    rows: list[dict[str, Any]]
    fit_error: float
    not_modelled: tuple[str, ...] = field(default=())
    cut_short: bool = False
    others: tuple[str, ...] = ()
    differ: tuple[str, ...] = ()
    at_bounds: tuple[str, ...] = ()
    worked_s: float = 0.0

    def errors(self) -> stats.PredictionErrors | None:
        """Compare it with the held-out workloads, if there are any."""
        if not self.rows:
            return None
        drive = [row["mean_ns"] for row in self.rows]
        return stats.prediction_errors(drive, [row["predicted_ns"] for row in self.rows])

    @property
    def sketch(self) -> bool:
        """Whether it is too far off, or held to nothing, to be trusted."""
        errors = self.errors()
        return errors is None or errors.median_ape > MEDIAN_MAX or errors.p90_ape > P90_MAX

    def to_json(self) -> dict[str, Any]:
        """Write the twin and its error."""
        errors = self.errors()
        return {
            "toml": self.toml,
            "sketch": self.sketch,
            "fit_error": self.fit_error,
            "held_out": self.rows,
            "errors": None if errors is None else errors.to_json(),
            "not_modelled": list(self.not_modelled),
            "cut_short": self.cut_short,
            "others": list(self.others),
            "differ": list(self.differ),
            "at_bounds": list(self.at_bounds),
        }


def build(
    findings: Findings,
    info: DeviceInfo,
    performance: Mapping[str, Any],
    *,
    name: str,
    seed: int,
    work_s: float = WORK_S,
    progress: Callable[[float], object] | None = None,
) -> Twin | str:
    """Fit a twin, open it, and run the held-out workloads on it.

    Parameters
    ----------
    findings
        Of the measured drive: its structure.
    info
        Of the measured drive.
    performance
        What `characterize` measured: ``points``, ``sustained``, ``distributions`` (for the noise).
        `rows` says which of them are fitted, and which are held out.
    name
        Of the measured drive, for the file's description.
    seed
        Of the twin's workloads.
    work_s
        How much work designs may be run for, counted as about what one core does in that time.
    progress
        Told what share of that is done.

    Returns
    -------
    Twin or str
        The twin, or why there is none.
    """
    rows, held_out = fitted_rows(performance), held_out_rows(performance)
    if not any(row.sort == "read" for row in rows):
        return "the latency of reads could not be measured"
    found = found_of(findings, info, noise(performance.get("distributions", [])))
    like = fitted(drawn_drives(), rows, found, seed, work_s, progress)
    if isinstance(like, str):
        return like
    lacking = tuple(left_open(findings))
    one_line = " ".join(name.split())
    try:
        told = list(_held_to(like.design, held_out, seed + APART))
        draft = Twin("", told, like.error)
        text = _file(like, _verdict(draft), lacking, one_line)
        open_drive(text, LABEL, seed)
        others = tuple(
            drive_toml(each.file(), [f"may as well be {one_line}"]) for each in like.others
        )
    except SsdscopeError as error:
        return f"the fitted drive could not be opened: {error.message}"
    return _useless(draft, rows) or Twin(
        text,
        told,
        like.error,
        lacking,
        like.cut_short,
        others,
        like.differ,
        like.at_bounds,
        like.worked_s,
    )


def _held_to(design: Design, rows: Sequence[Row], seed: int) -> Iterator[dict[str, Any]]:
    """Run held-out workloads on the twin; those that fail are left out."""
    means = means_ns(Runner(rows, seed, all_reads=True), design)
    for row, mean in zip(rows, means, strict=True):
        if np.isfinite(mean):
            yield row.told() | {"predicted_ns": float(mean)}


def _useless(twin: Twin, rows: Sequence[Row]) -> str | None:
    """Say why a twin is no likeness: one that always answers the same would be nearer."""
    errors = twin.errors()
    if errors is None:
        return None
    usual = float(np.exp(np.mean(np.log([row.mean_ns for row in rows]))))
    drive = [row["mean_ns"] for row in twin.rows]
    always = stats.prediction_errors(drive, [usual] * len(drive))
    if errors.median_ape < always.median_ape:
        return None
    return (
        f"what could be fitted misses half of the held-out workloads by more than "
        f"{100 * errors.median_ape:.0f} %, no better than always answering their usual latency"
    )


def _verdict(twin: Twin) -> list[str]:
    errors = twin.errors()
    if errors is None:
        return ["SKETCH: held to no workload."]
    kind = "SKETCH: beyond" if twin.sketch else "Within"
    usual, most = (f"{100 * share:.2g} %" for share in (errors.median_ape, errors.p90_ape))
    return [
        f"Held to {errors.n} workloads it was not fitted to:",
        f"median error {usual}, nine of ten below {most}.",
        f"{kind} {100 * MEDIAN_MAX:.0f} % and {100 * P90_MAX:.0f} %.",
    ]


def _file(like: Likeness, verdict: Sequence[str], lacking: Sequence[str], name: str) -> str:
    header = [
        f"Twin of {name}.",
        *verdict,
        f"Fitted: median miss {100 * like.error:.2g} %.",
        *(f"At the end of its range: {key}" for key in like.at_bounds),
        "",
        "Not found, so that it has what fits best:",
        *(f"- {each}" for each in lacking),
    ]
    return drive_toml({"description": f"twin of {name}", **like.design.file()}, header)
