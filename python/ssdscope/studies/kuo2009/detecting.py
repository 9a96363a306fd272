"""What the figures of the detectors have in common: their drives, and their rows."""

from collections.abc import Sequence
from dataclasses import dataclass
from typing import Any

import numpy.typing as npt

from ssdscope.findings import Finding
from ssdscope.plots.panels import Line, Panel, Values
from ssdscope.probes.bench.ledger import Bench
from ssdscope.recovery.truth import Truth, judged_right
from ssdscope.studies.detectors import refusal, value_of
from ssdscope.studies.kuo2009.bench import Drives, size
from ssdscope.studies.record import Reading

TARGET = "the target"


@dataclass(frozen=True)
class Subject:
    """A drive that a detector of the paper was tried on.

    Attributes
    ----------
    label
        Its name in rows and pictures.
    drive
        The preset, without ``kuo-``.
    """

    label: str
    drive: str


def subjects(drives: Drives, listed: Sequence[Subject]) -> list[Subject]:
    """Give the drives of the paper, or the target in their place."""
    return list(listed) if drives.target is None else [Subject(TARGET, "")]


def bench(drives: Drives, subject: Subject, *sets: str) -> Bench:
    """Put a copy of a drive on a bench, with ``KEY=VALUE`` changes to it."""
    return drives.probed.bench(_uri(subject), (*drives.sets(subject.drive), *sets))


def row(
    drives: Drives, subject: Subject, name: str, row_name: str, literal: int | None, scale: int
) -> dict[str, Reading]:
    """Read off what our probe, the paper's procedure and the drive's file say of a property.

    Parameters
    ----------
    name, row_name
        The property, and the row that asks for it; on a target it is the case of another row.
    literal
        What the procedure finds.
    scale
        Values are bytes; the row has them divided by this.
    """
    uri = _uri(subject)
    sets = drives.sets(subject.drive)
    found = drives.probed.finding(name, uri, sets)
    truth = drives.probed.truth(name, uri, sets)
    if drives.target is not None:
        return {f"detected on a target: {row_name}": of_target(name, found, literal)}
    return {f"{row_name}: {subject.label}": together(found, literal, truth, scale)}


def together(found: Finding, literal: int | None, truth: Truth | None, scale: int) -> Reading:
    """Read off three answers, all of which have to be the paper's."""
    said = [value_of(found), literal, truth.value if truth is not None else None]
    scaled = [float("nan") if each is None else float(each) / scale for each in said]
    shown = [
        "none" if each is None else round(value, 4)
        for each, value in zip(said, scaled, strict=True)
    ]
    ours = refusal(found) if said[0] is None else shown[0]
    return Reading(ours, scaled, literal=shown[1], truth=shown[2])


def of_target(name: str, found: Finding, literal: int | None) -> Reading:
    """Ask whether the probe and the paper's procedure say the same of somebody's own drive."""
    value = value_of(found)
    same = value is not None and literal is not None and judged_right(name, Truth(value), literal)
    ours = refusal(found) if value is None else size(float(value))
    return Reading(ours, bool(same), literal="no answer" if literal is None else size(literal))


def _uri(subject: Subject) -> str:
    return f"sim:kuo-{subject.drive}"


def panel(
    head: str,
    lines: Sequence[Line],
    found: int | None,
    scale: int,
    *,
    name: str,
    y: str = "response time (ms)",
    asked: bool = True,
) -> Panel:
    """Make the panel of a detector, with the size that its procedure finds marked.

    Parameters
    ----------
    asked
        Whether the procedure was asked for a size here.
    """
    head += ": none found" if asked and found is None else ""
    marks = [] if found is None else [(found / scale, f"detected {size(found)}")]
    return Panel(head, lines, name, y, marks=marks, limited=True)


def dots(x: Values, times_ns: npt.NDArray[Any], scale: float, index: int = 0) -> list[Line]:
    """Draw times without a line between them."""
    return [Line(None, x, times_ns / scale, index, 2, dash="")]
