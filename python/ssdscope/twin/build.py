"""The twin: fitted to what was measured, opened, and held to workloads it was not fitted to."""

from __future__ import annotations

from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass, field, replace
from typing import TYPE_CHECKING, Any

import numpy as np

from ssdscope import stats
from ssdscope.errors import SsdscopeError
from ssdscope.targets.crew import Crew
from ssdscope.targets.drive_writer import drive_toml, open_drive
from ssdscope.twin import fitting, settling, structure
from ssdscope.twin.likeness import LABEL, Allowance, Measured, means_ns, measured
from ssdscope.twin.noise import noise

if TYPE_CHECKING:
    from ssdscope.findings import Findings
    from ssdscope.targets import Device
    from ssdscope.targets.records import DeviceInfo
    from ssdscope.twin.design import Design

MEDIAN_MAX, P90_MAX = 0.05, 0.15
"""A twin whose errors on held-out workloads are larger is a sketch."""
FITTED, HELD_OUT = ("grid", "between"), "off-grid"
"""Splits of the measured points."""
WORK_S = 30.0
"""Work of a fit, about as long on one core."""
SETTLING_SHARE, SETTLING_SPARE_SHARE = 0.5, 0.7
"""Of that, beside it, to bring writes to rest; and of this, what finds the spare space. The rest is
for held-out workloads."""
APART = 1000
"""Seeds of held-out runs are other ones than those of the fit."""


@dataclass(frozen=True)
class Twin:
    """A drive file and its error.

    Attributes
    ----------
    toml
        The file.
    design
        What was fitted.
    rows
        Held-out workloads: measured mean latency, and the twin's.
    fit_error
        Median error on what was fitted, as a share.
    not_modelled
        What the twin has in its simplest form, as sentences.
    cut_short
        Whether the search ended because its work was done.
    """

    toml: str
    design: Design
    rows: list[dict[str, Any]]
    fit_error: float
    not_modelled: tuple[str, ...] = field(default=())
    cut_short: bool = False

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
        errors, times = self.errors(), self.design.times
        return {
            "toml": self.toml,
            "sketch": self.sketch,
            "units": self.design.units,
            "unit_ns": times["read"] + self.design.page_bytes * times["transfer"],
            "start_ns": times["firmware"],
            "ns_per_byte": times["link"],
            "fit_error": self.fit_error,
            "held_out": self.rows,
            "errors": None if errors is None else errors.to_json(),
            "not_modelled": list(self.not_modelled),
            "cut_short": self.cut_short,
        }


def build(
    findings: Findings,
    info: DeviceInfo,
    performance: Mapping[str, Any],
    *,
    name: str,
    seed: int,
    work_s: float = WORK_S,
) -> Twin | str:
    """Fit a twin, open it, and run the held-out workloads on it.

    Parameters
    ----------
    findings
        Of the measured drive: its structure.
    info
        Of the measured drive.
    performance
        What `characterize` measured: ``points``, of which those of the splits ``grid`` and
        ``between`` are fitted and those ``off-grid`` are held out; and ``sustained``, of which
        the smallest random write is fitted and its other depths and sizes are held out; and
        ``distributions``, for the noise.
    name
        Of the measured drive, for the file's description.
    seed
        Of the twin's workloads.
    work_s
        How much work designs may be run for, counted as about what one core does in that time.

    Returns
    -------
    Twin or str
        The twin, or why there is none.
    """
    points = performance["points"]
    rows = measured(row for row in points if row["split"] in FITTED)
    held_out = measured(row for row in points if row["split"] == HELD_OUT)
    disturbed = noise(performance.get("distributions", []))
    known = structure.known(findings, info, disturbed)
    kept, kept_held_out = settling.told_apart(settling.settled(performance.get("sustained", [])))
    allowance = Allowance(work_s)
    settles = Allowance(SETTLING_SHARE * work_s)
    spares = settles.part(SETTLING_SPARE_SHARE)
    found = fitting.fitted(known, rows, findings, kept, seed, allowance, spares)
    if isinstance(found, str):
        return found
    one_line = " ".join(name.split())
    try:
        text = _file(found, [], known.not_modelled, one_line)
        twin = open_drive(text, LABEL, seed + APART)
        told = _held_to(twin, held_out, seed + APART)
        told += _kept_up(found.design, kept_held_out, seed + APART, settles)
        told += _gone_on(twin, settling.written_on(performance.get("sustained", [])), seed + APART)
        draft = Twin(text, found.design, told, found.error, known.not_modelled)
        text = _file(found, _verdict(draft), known.not_modelled, one_line)
    except SsdscopeError as error:
        return f"the fitted drive could not be opened: {error.message}"
    return _useless(draft, rows) or replace(draft, toml=text, cut_short=allowance.spent)


def _held_to(twin: Device, rows: Sequence[Measured], seed: int) -> list[dict[str, Any]]:
    """Run held-out workloads on the twin, each on a copy."""
    return _told(rows, means_ns(twin, rows, seed, whole=True))


def _told(rows: Sequence[Measured], means: Iterable[float]) -> list[dict[str, Any]]:
    """Tell what the twin takes; those that fail are told as no number."""
    return [
        row.told() | {"sort": "burst" if row.writes else "read", "predicted_ns": float(mean)}
        for row, mean in zip(rows, means, strict=True)
        if np.isfinite(mean)
    ]


def _kept_up(
    design: Design, rows: Sequence[settling.Settled], seed: int, allowance: Allowance
) -> list[dict[str, Any]]:
    """Bring held-out workloads to rest on the twin, made smaller, as many as the work allows."""
    compared = []
    for row in rows:
        if allowance.spent:
            break
        mean = settling.latency_ns(design, row, seed, allowance)
        if mean is not None:
            compared.append(row.told() | {"predicted_ns": mean})
    return compared


def _gone_on(twin: Device, rows: Sequence[settling.WrittenOn], seed: int) -> list[dict[str, Any]]:
    """Write on as long as the drive did, each workload on a copy of the twin."""
    copies = [twin.fork() for _ in rows]
    with Crew() as crew:
        return _told(rows, crew.map(settling.latency_then_ns, copies, rows, [seed] * len(rows)))


def _useless(twin: Twin, rows: Sequence[Measured]) -> str | None:
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


def _file(
    found: fitting.Likeness, verdict: Sequence[str], not_modelled: Sequence[str], name: str
) -> str:
    design = found.design
    header = [
        f"Twin of {name}.",
        *verdict,
        f"Fitted: {design.units} units side by side; median miss {100 * found.error:.2g} %.",
        "",
        "In its simplest form:",
        *(f"- {each}" for each in not_modelled),
    ]
    return drive_toml({"description": f"twin of {name}", **design.values()}, header)
