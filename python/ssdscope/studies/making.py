"""Making a study's figures one by one, so that those that are complete are never lost.

The pictures and tables of a figure appear together.
"""

from collections.abc import Callable, Sequence
from functools import partial

from ssdscope.errors import OutputError
from ssdscope.probes.budget import StageProgress, silent
from ssdscope.results.files import together
from ssdscope.studies.record import FigureResult, StudyResult


class Watch:
    """Progress that is also told of each figure: when it is begun, and when it is complete.

    Parameters
    ----------
    progress
        Called with the stage and the share that is done.
    """

    def __init__(self, progress: StageProgress = silent) -> None:
        self._progress = progress

    def __call__(self, stage: str, share: float) -> None:
        """Take what every callback takes."""
        self._progress(stage, share)

    def begins(self, name: str) -> None:
        """Note that a figure is begun."""

    def made(self, figure: FigureResult) -> None:
        """Take a figure that is complete."""


def make_figures(
    key: str,
    wanted: Sequence[str],
    make: Callable[[str, StageProgress], FigureResult],
    seed: int,
    progress: StageProgress,
    target: str | None = None,
) -> StudyResult:
    """Make the figures of a study, in order.

    Parameters
    ----------
    key
        The study.
    wanted
        Ids of its figures.
    make
        Makes one of them, and tells how far it is.
    seed, target
        As the result tells them.
    progress
        Called with the stage and the share of the whole study that is done; a `Watch` is told
        of every figure too.

    Returns
    -------
    StudyResult
        After Ctrl-C the figures that were complete.

    Raises
    ------
    OutputError
        If a figure could not be written; what was complete is its ``partial``.
    """
    figures: list[FigureResult] = []
    watch = progress if isinstance(progress, Watch) else Watch(progress)
    try:
        for done, name in enumerate(wanted):
            watch.begins(name)
            with together():
                figure = make(name, within(progress, done, len(wanted)))
            figures.append(figure)
            watch.made(figure)
    except KeyboardInterrupt:
        return StudyResult(key, figures, seed, target, interrupted=True)
    except OutputError as error:
        error.partial = StudyResult(key, figures, seed, target)
        raise
    return StudyResult(key, figures, seed, target)


def within(progress: StageProgress, done: int, count: int) -> StageProgress:
    """Give what tells `progress` of one of several parts, of which some are done."""
    return partial(_of_all, progress, done, count)


def _of_all(progress: StageProgress, done: int, count: int, stage: str, share: float) -> None:
    progress(stage, (done + share) / count)
