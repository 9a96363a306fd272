"""The studies run one after the other, and what came of every figure."""

import platform
import time
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field
from datetime import UTC, datetime
from pathlib import Path
from typing import Any

from ssdscope import studies
from ssdscope.errors import SsdscopeError
from ssdscope.probes.budget import StageProgress, silent
from ssdscope.report.book import plan
from ssdscope.report.book.page import in_words, render
from ssdscope.report.book.parts import Parts
from ssdscope.results import envelope
from ssdscope.results.files import write_text
from ssdscope.studies.making import Watch
from ssdscope.studies.record import FigureResult
from ssdscope.targets.names import shell_words

PRIOR_S = 20.0
"""So much work counts as done at the expected speed, until more was done."""


@dataclass
class Book:
    """What the book holds.

    Attributes
    ----------
    document
        Everything on the page.
    outdated
        Figures that were there, made by another version of ssdscope.
    """

    document: dict[str, Any]
    outdated: int = 0

    @property
    def interrupted(self) -> bool:
        """Whether Ctrl-C ended it early."""
        return bool(self.document["interrupted"])

    def count(self, key: str, value: str) -> int:
        """Count figures (`key` is "status") or rows of figures ("verdict")."""
        figures = [each for study in self.document["studies"] for each in study["figures"]]
        if key == "status":
            return sum(each["status"] == value for each in figures)
        return sum(row["verdict"] == value for each in figures for row in each["rows"])


@dataclass
class _Job:
    """What the figures of a book have in common, and how far it is."""

    parts: Parts
    seed: int
    quick: bool
    progress: StageProgress
    left: list[tuple[str, str]] = field(default_factory=list)
    failures: dict[tuple[str, str], str] = field(default_factory=dict)
    total_s: float = 0.0
    begun_s: float = field(default_factory=time.monotonic)

    def expect(self, wanted: Sequence[tuple[str, str]]) -> None:
        """Take what is to be made."""
        self.left = list(wanted)
        self.total_s = self._expected_s(wanted)

    def tell(self, study: str, figure: str, stage: str, share: float) -> None:
        """Say what is being made, how much is done and how long the rest will take."""
        now_s = self._expected_s([(study, figure)])
        rest_s = self._expected_s(self.left) - now_s * min(share, 1.0)
        done_s = self.total_s - rest_s
        pace = (time.monotonic() - self.begun_s + PRIOR_S) / (done_s + PRIOR_S)
        doing = "" if stage == f"figure {figure}" else f": {stage}"
        self.progress(
            f"{study} figure {figure}{doing}, {len(self.left)} to go, about "
            f"{in_words(rest_s * pace)} left",
            done_s / self.total_s if self.total_s else 1.0,
        )

    def _expected_s(self, figures: Sequence[tuple[str, str]]) -> float:
        return sum(plan.expected_s(*each, quick=self.quick) for each in figures)


class _Keeping(Watch):
    """Keeps the figures of a study as they come."""

    def __init__(self, job: _Job, study: str, wanted: Sequence[str]) -> None:
        super().__init__()
        self._job, self._study, self._wanted = job, study, wanted
        self._extras = plan.portion(study, quick=job.quick).extras
        self._begun_s = time.monotonic()
        self.now = wanted[0]

    def __call__(self, stage: str, share: float) -> None:
        count, done = len(self._wanted), self._wanted.index(self.now)
        self._job.tell(self._study, self.now, stage, max(share * count - done, 0.0))

    def begins(self, name: str) -> None:
        self.now, self._begun_s = name, time.monotonic()
        self._job.tell(self._study, name, f"figure {name}", 0.0)

    def made(self, figure: FigureResult) -> None:
        seconds = time.monotonic() - self._begun_s
        self._job.parts.keep(self._study, figure, self._extras, seconds)
        self._job.left.remove((self._study, figure.id))


def make(
    out: Path, *, seed: int, quick: bool, argv: Sequence[str], progress: StageProgress = silent
) -> Book:
    """Make the book and write its page.

    What was complete before is not made again. Ctrl-C ends the making; the page is then made of
    what there is.

    Parameters
    ----------
    out
        The page; its parts are kept in a folder beside it.
    seed
        Of everything drawn.
    quick
        Whether figures are cut that take long.
    argv
        The words of the command that makes the book.
    progress
        Told the figure, what is left and the share that is done.

    Raises
    ------
    UsageError
        If the folder beside the page holds parts of another book.
    OutputError
        If the page or its parts cannot be written.
    """
    started, begun_s = datetime.now(UTC), time.monotonic()
    parts = Parts(out, seed, quick=quick)
    try:
        job = _Job(parts, seed, quick, progress)
        interrupted = _make_all(job)
        document = {
            **envelope(seed=seed),
            "study": "all",
            "quick": quick,
            "interrupted": interrupted,
            "command": f"ssdscope {shell_words(list(argv))}",
            "started": started.isoformat(timespec="seconds"),
            "seconds": round(time.monotonic() - begun_s, 1),
            "machine": f"{platform.machine()}, Python {platform.python_version()}",
            "studies": [_study(job, key, title) for key, title in plan.papers().items()],
        }
        write_text(out, render(document, parts.folder))
        return Book(document, parts.outdated)
    finally:
        parts.close()


def _make_all(job: _Job) -> bool:
    """Make what is missing of all studies; say whether Ctrl-C ended it."""
    missing = {key: _missing(job, key) for key in plan.papers()}
    job.expect([(key, name) for key, names in missing.items() for name in names])
    try:
        for key, names in missing.items():
            rest = names
            while rest:
                watch = _Keeping(job, key, rest)
                if _made(job, key, rest, watch):
                    break
                rest = rest[rest.index(watch.now) + 1 :]
    except KeyboardInterrupt:
        return True
    return False


def _made(job: _Job, key: str, wanted: Sequence[str], watch: _Keeping) -> bool:
    """Make figures of a study; say whether all are complete, else one has failed."""
    try:
        result = studies.run(
            key,
            out_dir=job.parts.folder,
            figures=wanted,
            seed=job.seed,
            progress=watch,
            extras=plan.portion(key, quick=job.quick).extras,
        )
    except Exception as error:  # noqa: BLE001 (one figure's failure does not end the book)
        job.failures[key, watch.now] = _reason(error)
        job.left.remove((key, watch.now))
        return False
    if result.interrupted:
        raise KeyboardInterrupt
    return True


def _reason(error: Exception) -> str:
    match error:
        case SsdscopeError():
            return error.message + (f"; {error.hint}" if error.hint else "")
        case MemoryError():
            return "out of memory"
        case OSError():
            return str(error)
    return f"a defect of ssdscope: {type(error).__name__}: {error}"


def _missing(job: _Job, key: str) -> list[str]:
    portion = plan.portion(key, quick=job.quick)
    return [
        name
        for name in studies.registry()[key].figures
        if name not in portion.left_out and job.parts.get(key, name, portion.extras) is None
    ]


def _study(job: _Job, key: str, title: str) -> dict[str, Any]:
    """Give a study as the page shows it: all its figures, whatever became of them."""
    info = studies.registry()[key]
    return {
        "study": key,
        "title": title,
        "summary": info.summary,
        "figures": [_figure(job, key, name, info.figures[name]) for name in info.figures],
    }


def _figure(job: _Job, key: str, name: str, title: str) -> dict[str, Any]:
    portion = plan.portion(key, quick=job.quick)
    empty: dict[str, Any] = {
        "id": name,
        "title": title,
        "rows": [],
        "image": None,
        "data": None,
        "notes": [],
    }
    told: dict[str, Any] = {
        "cut": portion.cut.get(name),
        "command": _command(key, name, job.seed, {}),
        "seconds": None,
    }
    part = job.parts.get(key, name, portion.extras)
    if name in portion.left_out:
        return empty | told | {"status": "left out", "why_not": portion.left_out[name]}
    if part is None:
        failure = job.failures.get((key, name))
        status = "not made" if failure is None else "failed"
        return empty | told | {"status": status, "why_not": failure or "the book was interrupted"}
    made = {"status": "made", "seconds": part["seconds"], "made": part["made"]}
    if name in portion.cut:
        made["cut_command"] = _command(key, name, job.seed, portion.extras)
    return {**part["result"], **told, **made}


def _command(key: str, figure: str, seed: int, extras: Mapping[str, Any]) -> str:
    """Give the command that makes one figure."""
    words = ["ssdscope", "reproduce", key, "--figure", figure, "--seed", str(seed)]
    for name, value in extras.items():
        words += [f"--{name}", str(value)]
    return shell_words(words)
