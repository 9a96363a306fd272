"""Studies of papers, run again."""

from __future__ import annotations

import os
from collections import Counter
from collections.abc import Sequence
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any

from ssdscope import studies
from ssdscope.api.frames import frame
from ssdscope.api.keywords import keyworded
from ssdscope.api.opening import SEED, TargetLike, files_behind, target_of
from ssdscope.api.progress import OnStage, stages
from ssdscope.api.shown import Shown
from ssdscope.errors import Interrupted, OutputError
from ssdscope.results.guard import claim_places, places_in
from ssdscope.seeds import require_seed
from ssdscope.studies.choosing import parse_figures, written_names
from ssdscope.studies.record import FigureResult, StudyResult, Verdict

if TYPE_CHECKING:
    import pyarrow as pa

    from ssdscope.report.sheet import Sheet

_COLUMNS = ("figure", "what", "paper", "ours", "unit", "verdict", "why")


@dataclass(frozen=True, repr=False)
class Study(Shown):
    """A study that was run again: the paper's claims beside ours.

    Attributes
    ----------
    result
        All of it.
    """

    result: StudyResult

    @property
    def figures(self) -> list[FigureResult]:
        """Its figures: claims, picture, data."""
        return self.result.figures

    def to_dict(self) -> dict[str, Any]:
        """Give what ``reproduce -o json`` prints, without its head."""
        return self.result.to_json()

    def to_frame(self) -> pa.Table:
        """Make a table of a row per claim; numbers are written as text, as some are words.

        Returns
        -------
        pyarrow.Table

        Raises
        ------
        UsageError
            If pyarrow is not installed.
        """
        rows = (
            {name: None if each is None else str(each) for name, each in row.items()}
            for figure in self.figures
            for row in ({"figure": figure.id, **claim.to_json()} for claim in figure.rows)
        )
        return frame(rows, dict.fromkeys(_COLUMNS, "string"))

    def _sheet(self) -> Sheet:
        from ssdscope.report.parts import Table
        from ssdscope.report.sheet import Sheet
        from ssdscope.studies.record import shown

        rows = [
            (
                figure.id,
                claim.what,
                shown(claim.paper, claim.unit),
                shown(claim.ours, claim.unit),
                str(claim.verdict),
                claim.why,
            )
            for figure in self.figures
            for claim in figure.rows
        ]
        images = [f"figure {each.id}: {each.image}" for each in self.figures if each.image]
        return Sheet(repr(self), tables=[Table(_COLUMNS[:4] + _COLUMNS[5:], rows)], remarks=images)

    def __repr__(self) -> str:
        """Count figures and verdicts."""
        counted = Counter(row.verdict for figure in self.figures for row in figure.rows)
        words = {Verdict.AGREES: "agree", Verdict.EXPLAINED: "are explained",
                 Verdict.EASIER: "are easier", Verdict.DIFFERS: "differ"}  # fmt: skip
        said = ", ".join(
            f"{counted[verdict]} {word}"
            for verdict, word in words.items()
            if counted[verdict] or verdict != Verdict.EASIER
        )
        return f"{self.result.study}: {len(self.figures)} figures; rows: {said}"


@keyworded()
def reproduce(
    key: str,
    /,
    *,
    figure: str | Sequence[str] | None = None,
    target: TargetLike | None = None,
    out: str | os.PathLike[str] = "out",
    count: int | None = None,
    flat: int | None = None,
    only: str | None = None,
    jobs: int | None = None,
    trace: Sequence[str] | None = None,
    drive: str | None = None,
    robust: bool = False,
    force: bool = False,
    seed: int = SEED,
    progress: OnStage = None,
) -> Study:
    """Run a paper's study again: its data, its pictures, its claims beside ours.

    Parameters
    ----------
    key
        The study: ``"machado2015"``, ``"ryu2009"``, ``"kuo2009"``, ``"huang2011"``, ``"uflip"``
        and so on; `studies.registry()` has all.
    figure
        Only these, as ``"3-7,9"`` or a list.
    target
        Its procedure on this drive instead of the paper's own.
    out
        The folder of pictures and data.
    count, flat, only, jobs, trace, drive, robust
        What single studies take, as of ``ssdscope reproduce``.
    force
        Also replace files that ssdscope did not write.
    seed
        Of everything drawn.
    progress
        As of `probe`.

    Returns
    -------
    Study

    Raises
    ------
    UsageError
        If the study, a figure or a keyword is unknown, or the folder cannot be written.
    OutputError
        If a file cannot be written; its `partial` is the study.
    Interrupted
        After Ctrl-C; its `partial` has the figures that were complete.

    Examples
    --------
    >>> import tempfile
    >>> import ssdscope as s
    >>> with tempfile.TemporaryDirectory() as folder:
    ...     s.reproduce("kuo2009", figure="25-28", out=folder)
    kuo2009: 4 figures; rows: 18 agree, 0 are explained, 0 differ
    """
    studies.require_study(key)
    known = studies.registry()[key].figures
    figures = parse_figures(figure, known) if isinstance(figure, str) else figure
    used_seed = require_seed(seed)
    folder = os.fspath(out)
    read = [named.partition("=")[2] for named in trace or ()]
    read += [] if target is None else files_behind(target)
    extras = {
        "count": count,
        "flat": flat,
        "only": only,
        "jobs": jobs,
        "trace": None if not trace else list(trace),
        "drive": drive,
        "robust": robust or None,
    }
    try:
        with (
            claim_places(places_in(folder, written_names(key)), read, force=force),
            stages(progress) as stage,
        ):
            result = studies.run(
                key,
                figures=figures,
                target=None if target is None else target_of(target, used_seed),
                out_dir=folder,
                seed=used_seed,
                progress=stage,
                extras=extras,
            )
    except OutputError as error:
        if isinstance(error.partial, StudyResult):
            error.partial = Study(error.partial)
        raise
    if result.interrupted:
        raise Interrupted(Study(result))
    return Study(result)
