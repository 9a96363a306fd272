"""Making a study's figures one by one, so that those that are complete are never lost."""

from collections.abc import Callable, Sequence
from functools import partial

from ssdscope.errors import OutputError
from ssdscope.probes.budget import StageProgress
from ssdscope.studies.record import FigureResult, StudyResult


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
        Called with the stage and the share of the whole study that is done.

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
    try:
        for done, name in enumerate(wanted):
            figures.append(make(name, within(progress, done, len(wanted))))
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
