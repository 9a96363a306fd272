"""Studies with figures that cost nothing, under the names of the papers'."""

import tempfile
from collections.abc import Callable
from dataclasses import replace
from functools import cache
from pathlib import Path
from typing import Any

import pytest
from matplotlib.figure import Figure

from ssdscope.plots import save
from ssdscope.studies.making import make_figures
from ssdscope.studies.record import Claim, FigureResult, StudyInfo, Table, Verdict

HOSTILE = '<script>alert(1)<img src=x onerror="alert(2)">'
FIGURES = {"1": "First", "wear": f"Second {HOSTILE}"}


@cache
def drawn() -> bytes:
    """Draw a picture with a line, hatched bars, and a text."""
    picture = Figure(figsize=(4, 3))
    axes = picture.subplots()
    axes.plot([0, 1], [0, 1], marker="o", label="a $x$ & <b>")
    axes.bar([0, 1], [1, 2], hatch="//")
    axes.legend()
    with tempfile.TemporaryDirectory() as folder:
        save(picture, Path(folder) / "a.svg")
        return (Path(folder) / "a.svg").read_bytes()


def result(key: str, name: str, folder: Path) -> FigureResult:
    rows = [
        Claim("a number", 5.5, 5.47123, "%", Verdict.AGREES, literal=5.0, truth=6.0),
        Claim(HOSTILE, "the same", HOSTILE, "", Verdict.EXPLAINED, "a cause", tried="a run"),
        Claim("a wrong one", 1.0, float("nan"), "ms", Verdict.DIFFERS, "no reason found"),
    ]
    image = folder / f"{key}-figure{name}.svg"
    image.write_bytes(drawn())
    table = Table(("drive", HOSTILE), (("A", 1), (HOSTILE, 2)))
    return FigureResult(name, FIGURES[name], rows, image, None, [HOSTILE], table)


def register(monkeypatch: pytest.MonkeyPatch, *infos: StudyInfo) -> None:
    """Make these all the studies that there are."""
    studies = {each.key: each for each in infos}
    monkeypatch.setattr("ssdscope.studies._STUDIES", tuple(studies))
    monkeypatch.setattr("ssdscope.studies._load", studies.__getitem__)


class Studies:
    """Registers made-up studies, and counts what they make.

    Attributes
    ----------
    made
        Study and figure of all that were made.
    troubles
        By study and figure, what is raised instead of making it.
    extras
        What each study was given.
    titles
        What some figures are called instead.
    """

    def __init__(self, monkeypatch: pytest.MonkeyPatch, *keys: str) -> None:
        self.made: list[tuple[str, str]] = []
        self.troubles: dict[tuple[str, str], BaseException] = {}
        self.extras: dict[str, dict[str, Any]] = {}
        self.titles: dict[str, str] = {}
        drawn()  # here, as pictures of a figure that is made appear when that is complete
        register(
            monkeypatch,
            *(
                StudyInfo(key, f"about {key}", FIGURES, self._run(key), frozenset({"count"}))
                for key in keys
            ),
        )

    def _run(self, key: str) -> Callable[..., Any]:
        def run(wanted, _target, folder, seed, progress, **extras):
            self.extras[key] = extras

            def make(name, progress):
                progress("half of it", 0.5)
                if (key, name) in self.troubles:
                    raise self.troubles[key, name]
                self.made.append((key, name))
                made = result(key, name, folder)
                return replace(made, title=self.titles.get(name, made.title))

            return make_figures(key, wanted, make, seed, progress)

        return run
