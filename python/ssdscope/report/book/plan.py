"""Which papers the book has, what of them it makes, and what that costs.

A figure that would take too long is cut, or left out, and the page says so with the command that
makes all of it. A study without a line here is made whole.
"""

from collections.abc import Mapping
from dataclasses import dataclass, field
from typing import Any

from ssdscope.studies import registry

PAPERS = {
    "machado2015": "Machado, Boito, Kassick, Navaux: the internal organisation of an SSD, "
    "simulated (ERAD 2015)",
    "ryu2009": "Ryu, Park: solid-state disks as black boxes (KIISE 2009)",
    "kuo2009": "Kuo, Chang: Geometry Detection for Solid-State Drives (thesis, 2009)",
    "huang2011": "Huang, Li, Szalay, Terzis: Performance Modeling and Analysis of Flash-based "
    "Storage Devices (MSST 2011)",
    "uflip": "Bouganim, Jónsson, Bonnet: uFLIP: Understanding Flash IO Patterns (CIDR 2009)",
}
"""In the order of the page."""

GRID_FIGURES = (
    "means", "II", "III", "IV", "V", "VI", "8", "9", "10", "characteristics", "readings",
    "platforms", "unseen", "simulators",
)  # fmt: skip
"""Of huang2011, those that are made of the runs of its grid of 12,000 workloads."""


@dataclass(frozen=True)
class Portion:
    """What the book makes of a study.

    Attributes
    ----------
    extras
        What the study is given.
    cut
        By figure, what is less than the study makes.
    left_out
        By figure, why it is not made.
    """

    extras: Mapping[str, Any] = field(default_factory=dict)
    cut: Mapping[str, str] = field(default_factory=dict)
    left_out: Mapping[str, str] = field(default_factory=dict)


def _part_of_grid(count: int) -> Portion:
    said = f"models learn from {count:,} of the grid's 12,000 workloads, drawn by the seed"
    return Portion({"count": count}, dict.fromkeys(GRID_FIGURES, said))


QUICK_COUNT, FULL_COUNT = 240, 3600
"""Of the first number models can just be made; with the second the book ends within two hours."""
_PORTIONS = {
    True: {"huang2011": _part_of_grid(QUICK_COUNT)},
    False: {"huang2011": _part_of_grid(FULL_COUNT)},
}
"""By whether the book is a quick one."""

USUAL_S = 1.5
"""What a figure takes that has no line below."""
_SECONDS: dict[str, dict[str, float]] = {
    "machado2015": {"1": 3, "reserve": 6, "organisation": 4},
    "ryu2009": {"2": 3, "ageing": 7, "table": 22, "allocation": 12, "13": 12},
    "kuo2009": {"30": 8, "37": 3},
    "huang2011": {
        "3": 6,
        "4": 4,
        "5": 3,
        "6": 4,
        "7": 5,
        "I": 20,
        "mechanisms": 25,
        "VII": 55,
    },
}
_GRID_SECONDS: dict[bool, dict[str, float]] = {
    True: {
        "means": 120, "III": 18, "IV": 4, "VI": 5, "8": 7, "characteristics": 60, "readings": 5,
        "platforms": 30, "unseen": 90,
    },
    False: {
        "means": 2700, "II": 60, "III": 90, "IV": 150, "V": 15, "VI": 20, "8": 15,
        "characteristics": 200, "readings": 5, "unseen": 1600, "simulators": 250,
    },
}  # fmt: skip
"""Processor seconds of each figure's own run on 2026-11-25; by two cores where runs are shared out.
Those of the full grid are of HDD_S, and what `docs/studies.md` has of the others' runs, which the
first figure of the grid makes for all. What learns from fewer kinds of models since, and figures
that are newer, are estimated. They say how much is left, and no more."""


def portion(study: str, *, quick: bool) -> Portion:
    """Say what the book makes of a study."""
    return _PORTIONS[quick].get(study, Portion())


def expected_s(study: str, figure: str, *, quick: bool) -> float:
    """Say how long a figure takes on two idle cores, about."""
    of_grid = _GRID_SECONDS[quick].get(figure) if study == "huang2011" else None
    return of_grid or _SECONDS.get(study, {}).get(figure, USUAL_S)


def papers() -> dict[str, str]:
    """Give the papers that there are studies of, by key, with what they are called."""
    return {key: title for key, title in PAPERS.items() if key in registry()}
