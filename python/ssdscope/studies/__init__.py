"""The papers' studies, run again: their procedure, their claims, and ours beside them.

`paper`, `judging`
    What a source states and what is asked of it, as data; the rules that decide.
`running`, `making`
    A study run: measured, judged, explained, refuted, drawn, written; figure by figure.
`measuring`
    What studies do to a drive, and what its counters say.
`record`
    What a study gives: figures, rows of paper / ours / verdict, data files.
`choosing`
    Which figures are wanted, as people write them, and what a study may write.
`forecasts`
    Latency of the minutes of traces, predicted, beside the median of those before.
`machado2015`
    Size, collection policy and share of free blocks kept; four patterns, ten sizes.
`huang2011`
    What each characteristic of a workload does to five devices; traces, predicted.
`kuo2009`
    What effective blocks and pages, buffers and zones do to response times; seven drives.
`presets`
    What was published of the drives that presets stand for, asked of all probes.
`recovery`
    Drives drawn at random and probed blind: what the probes find, and where they are wrong.
`ryu2009`
    Three drives and where their management blocks are: ageing, shifted writes, a table of speeds.
`uflip`
    Nine micro-benchmarks on any drive, and what they advise.

A new study is a folder with a `paper.toml`, what measures, and a `STUDY`, and one line in
`_STUDIES` below. Every number in the column "ours" is computed from runs made now.
"""

import os
from collections.abc import Collection, Iterator, Mapping, Sequence
from importlib import import_module
from pathlib import Path
from typing import Any

from ssdscope.errors import UsageError, nearest
from ssdscope.probes.budget import StageProgress, silent
from ssdscope.studies.record import Claim, FigureResult, StudyInfo, StudyResult, Verdict
from ssdscope.targets import Target

__all__ = [
    "Claim",
    "FigureResult",
    "StudyInfo",
    "StudyResult",
    "Verdict",
    "registry",
    "require_study",
    "run",
]

_STUDIES = (
    "forecasts",
    "huang2011",
    "kuo2009",
    "machado2015",
    "presets",
    "recovery",
    "ryu2009",
    "uflip",
)
"""Modules of this package; each is loaded when it is first asked for."""


class _Registry(Mapping[str, StudyInfo]):
    """All studies by key."""

    def __getitem__(self, key: str) -> StudyInfo:
        if key not in _STUDIES:
            raise KeyError(key)
        return _load(key)

    def __iter__(self) -> Iterator[str]:
        return iter(_STUDIES)

    def __len__(self) -> int:
        return len(_STUDIES)


def _load(key: str) -> StudyInfo:
    study: StudyInfo = import_module(f"{__name__}.{key}").STUDY
    return study


def registry() -> Mapping[str, StudyInfo]:
    """All studies by key."""
    return _Registry()


def require_study(key: str, also: Collection[str] = ()) -> None:
    """Refuse a study that there is not.

    Parameters
    ----------
    also
        What else could have been meant.

    Raises
    ------
    UsageError
        If it is unknown.
    """
    if key not in registry():
        raise UsageError(
            f"there is no study {key!r}",
            hint=nearest(key, [*registry(), *also], listed_by="ssdscope reproduce list"),
        )


def run(
    key: str,
    *,
    out_dir: str | Path,
    figures: Sequence[str] | None = None,
    target: Target | None = None,
    seed: int = 1,
    progress: StageProgress = silent,
    extras: Mapping[str, Any] | None = None,
) -> StudyResult:
    """Run a study and write its pictures and data.

    Parameters
    ----------
    key
        Name of the study.
    out_dir
        Where pictures and data go; created if it is missing.
    figures
        Ids of the figures wanted; all of them if None.
    target
        Run the study's procedure on this drive instead of the paper's own.
    seed
        Of everything drawn.
    progress
        Told what is running, and the share that is done.
    extras
        What only some studies take, by name; None stands for what was not given.

    Raises
    ------
    UsageError
        If the study or a figure is unknown, it does not take an extra, or the folder cannot be
        written.
    """
    require_study(key)
    study = registry()[key]
    wanted = list(study.figures) if figures is None else list(figures)
    for figure in wanted:
        if figure not in study.figures:
            raise UsageError(
                f"{key} has no figure {figure!r}", hint=f"there are: {', '.join(study.figures)}"
            )
    given = _given(study, target, extras or {})
    folder = Path(out_dir)
    try:
        folder.mkdir(parents=True, exist_ok=True)
    except OSError as error:
        raise UsageError(f"cannot write to {folder}: {error.strerror}") from error
    if not os.access(folder, os.W_OK | os.X_OK):
        raise UsageError(f"cannot write to {folder}: permission denied")
    return study.run(wanted, target, folder, seed, progress, **given)


def _given(study: StudyInfo, target: Target | None, extras: Mapping[str, Any]) -> dict[str, Any]:
    """Keep the extras that were given; refuse those that the study does not take."""
    given = {name: value for name, value in extras.items() if value is not None}
    for name in given:
        if name not in study.extras:
            takers = [each.key for each in registry().values() if name in each.extras]
            raise UsageError(
                f"{study.key} takes no --{name.replace('_', '-')}",
                hint=f"studies that do: {', '.join(takers)}",
            )
    elsewhere = "target" if target else "drive" if "drive" in given else None
    if given.get("robust") and elsewhere:
        raise UsageError(
            f"--robust and --{elsewhere}: another drive has no verdicts to refute",
            hint=f"leave --{elsewhere} out",
        )
    return given
