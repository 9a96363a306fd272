"""One study on a page of its own, as a chapter of the book stands in it."""

import platform
import time
from collections.abc import Sequence
from datetime import UTC, datetime
from pathlib import Path
from typing import Any

from ssdscope import studies
from ssdscope.probes.budget import StageProgress, silent
from ssdscope.report.book import plan
from ssdscope.report.book.page import render
from ssdscope.results import envelope
from ssdscope.results.files import write_text
from ssdscope.studies.making import Watch
from ssdscope.studies.record import FigureResult, StudyResult
from ssdscope.targets.names import shell_words


class Timing(Watch):
    """Progress that also notes when a study was begun, and how long each of its figures took.

    Attributes
    ----------
    started
        When it was made.
    seconds
        By figure.
    """

    def __init__(self, progress: StageProgress = silent) -> None:
        super().__init__(progress)
        self.started, self.seconds = datetime.now(UTC), dict[str, float]()
        self._since_s = time.monotonic()

    def begins(self, name: str) -> None:
        """Note when a figure is begun."""
        super().begins(name)
        self._since_s = time.monotonic()

    def made(self, figure: FigureResult) -> None:
        """Note how long it took."""
        self.seconds[figure.id] = time.monotonic() - self._since_s


def write_page(
    page: Path, folder: Path, result: StudyResult, timing: Timing, argv: Sequence[str]
) -> None:
    """Write the page of a study that was run.

    Parameters
    ----------
    page
        The file.
    folder
        Where the study has put its pictures.
    result, timing
        What came of it, and when.
    argv
        The words of the command that makes the page.

    Raises
    ------
    OutputError
        If the page cannot be written.
    """
    command = f"ssdscope {shell_words(list(argv))}"
    info = studies.registry()[result.study]
    document: dict[str, Any] = {
        **envelope(seed=result.seed),
        "study": result.study,
        "target": result.target,
        "quick": False,
        "interrupted": result.interrupted,
        "command": command,
        "started": timing.started.isoformat(timespec="seconds"),
        "seconds": round((datetime.now(UTC) - timing.started).total_seconds(), 1),
        "machine": f"{platform.machine()}, Python {platform.python_version()}",
        "studies": [
            {
                "study": result.study,
                "title": plan.papers().get(result.study, info.summary),
                "summary": info.summary,
                "figures": [_figure(each, timing, command) for each in result.figures],
            }
        ],
    }
    write_text(page, render(document, folder))


def _figure(figure: FigureResult, timing: Timing, command: str) -> dict[str, Any]:
    return {
        **figure.to_json(),
        "cut": None,
        "command": command,
        "seconds": timing.seconds.get(figure.id),
        "status": "made",
        "made": timing.started.isoformat(timespec="seconds"),
    }
