"""The twin on the page: how far it is off, as a drive or as a sketch, and what it is."""

from collections.abc import Mapping
from dataclasses import dataclass, field
from typing import Any

from ssdscope.report import figures, words
from ssdscope.report.document import is_sketch
from ssdscope.report.parts import Chart, Document


@dataclass(frozen=True)
class Twin:
    """What the page shows of a twin.

    Attributes
    ----------
    reason
        Why there is none.
    error
        How far it is off, in a sentence.
    sketch
        Whether that is beyond what stands for a drive.
    """

    reason: str = ""
    error: str = ""
    sketch: bool = False
    chart: Chart | None = None
    not_modelled: list[str] = field(default_factory=list)
    differ: list[str] = field(default_factory=list)
    at_bounds: list[str] = field(default_factory=list)
    toml: str = ""


def twin(document: Document) -> Twin | None:
    """Lay out the twin; None where that stage was not reached."""
    built = document["twin"]
    if built is None:
        return None
    if "reason" in built and not built.get("toml"):
        return Twin(reason=str(built["reason"]))
    errors = built.get("errors") or {}
    return Twin(
        error=_error(errors),
        sketch=is_sketch(built),
        chart=figures.twin_chart(document),
        not_modelled=[str(each) for each in built.get("not_modelled", [])],
        differ=[str(each) for each in built.get("differ", [])],
        at_bounds=[str(each) for each in built.get("at_bounds", [])],
        toml=str(built.get("toml") or ""),
    )


def _error(errors: Mapping[str, Any]) -> str:
    if errors.get("median_ape") is None:
        return "Its error on other workloads is not known."
    tail = "" if errors.get("p90_ape") is None else (
        f", one in ten by more than {words.percent(errors['p90_ape'])}"
    )  # fmt: skip
    return (
        f"Off by {words.percent(errors['median_ape'])} in the median of {errors.get('n', '?')} "
        f"workloads that it was not fitted to{tail}."
    )
