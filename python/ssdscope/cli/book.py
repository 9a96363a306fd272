"""``ssdscope reproduce all``: the book of all papers."""

from collections.abc import Iterable
from dataclasses import dataclass
from pathlib import Path
from typing import TYPE_CHECKING, Any

import typer

from ssdscope.cli import listing
from ssdscope.cli.layout import table
from ssdscope.cli.output import emit, emit_json, note
from ssdscope.cli.outputs import Given, OutputFolder, guard
from ssdscope.cli.progress import stage_progress
from ssdscope.cli.session import Session
from ssdscope.errors import EXIT_DONE, EXIT_FAILED, EXIT_INTERRUPTED, UsageError

if TYPE_CHECKING:
    from ssdscope.report.book import Book
    from ssdscope.results.guard import Place

ALL, LIST = "all", "list"
PAGE = "book.html"
_TAKEN = {"out", "quick", "strict", "force", "seed", "output_format", "progress"}
"""What of the options of ``reproduce`` the book takes; all others are of one study."""


@dataclass(frozen=True)
class FolderOrBook(OutputFolder):
    """The option names the page of the book or of a study, or a folder for it."""

    def places(self, path: str | None, given: Given) -> list["Place"]:
        """List the folder, and what stands there and may be replaced."""
        if path is None or (given["key"] != ALL and not is_page(path)):
            return super().places(path, given)
        from ssdscope.report.book import folder_of
        from ssdscope.results.guard import Place, require_folder

        page = page_at(path)
        parts = folder_of(page)
        require_folder(str(page.parent) if page == Path(path) else path)
        written = book_writes if given["key"] == ALL else self.patterns
        beside = OutputFolder(written).places(str(parts), given)
        return [Place(str(page)), *beside]


def is_page(out: str) -> bool:
    """Say whether a page is named, and not a folder."""
    return Path(out).suffix in (".html", ".htm")


def page_at(out: str) -> Path:
    """Say where the page goes: the file that is named, or one in the folder that is named."""
    return Path(out) if is_page(out) else Path(out) / PAGE


def book_writes(_given: Given) -> Iterable[str]:
    """Give the names of what is kept beside the book."""
    from ssdscope.report.book.parts import JOURNAL
    from ssdscope.report.book.plan import PAPERS
    from ssdscope.results.marks import LIST as TABLES

    return [*(f"{key}-*" for key in PAPERS), "synthetic-*", TABLES, JOURNAL]


def command(context: typer.Context) -> int:
    """Make the book, or tell which studies there are.

    Raises
    ------
    UsageError
        If an option was given that is of one study.
    """
    given = context.params
    taken = _TAKEN if given["key"] == ALL else {"output_format", "of"}
    for name in _typed(context) - taken:
        option = _option(context, name)
        raise UsageError(
            f"reproduce {given['key']} takes no {option}",
            hint=f"it is of one study: ssdscope reproduce KEY {option} ...",
        )
    if given["key"] == ALL:
        return _all(context)
    return listing.show(given["of"], given["output_format"])


def require_one(quick: bool, of: str | None) -> None:
    """Refuse what is of the book, or of the list, where one study is asked for.

    Raises
    ------
    UsageError
        If it was given.
    """
    if of is not None:
        raise UsageError(
            f"reproduce takes one study, and {of!r} is a second word",
            hint="ssdscope reproduce list KEY shows what a source states",
        )
    if quick:
        raise UsageError(
            "--quick is of the book", hint=f"ssdscope reproduce {ALL} --quick makes a short one"
        )


def _typed(context: typer.Context) -> set[str]:
    """Give the parameters that were typed, but for the argument."""
    names = {str(each.name) for each in context.command.params} - {"key"}
    sources = {name: context.get_parameter_source(name) for name in names}
    return {name for name, each in sources.items() if each and each.name == "COMMANDLINE"}


def _option(context: typer.Context, name: str) -> str:
    return next(each.opts[0] for each in context.command.params if each.name == name)


def _all(context: typer.Context) -> int:
    """Make the book of all papers."""
    from ssdscope.report import book

    given = context.params
    guard(context, force=given["force"])
    session: Session = context.obj
    page = page_at(given["out"])
    seed = session.seed(book.begun(page) if given["seed"] is None else given["seed"])
    with stage_progress(given["progress"]) as stage:
        made = book.make(
            page, seed=seed, quick=given["quick"], argv=session.words(seed), progress=stage
        )
    if given["output_format"] == "json":
        emit_json(made.document)
    else:
        emit(f"{_summary(made.document)}\n\npage: {page}")
    if made.outdated:
        note(f"{made.outdated} figures were of another version of ssdscope, and were made again")
    session.repeat(seed)
    return _status(made, strict=given["strict"])


def _status(made: "Book", *, strict: bool) -> int:
    """Tell what is missing, and give the exit code."""
    failed = made.count("status", "failed")
    for study in made.document["studies"]:
        for each in study["figures"]:
            if each["status"] == "failed":
                note(f"failed: {study['study']} figure {each['id']}: {each['why_not']}")
    if made.interrupted:
        done = made.count("status", "made")
        note(f"interrupted; the page holds {done} figures, and the same command makes the rest")
        return EXIT_INTERRUPTED
    differing = made.count("verdict", "differs")
    if differing:
        note(f"rows that differ: {differing}")
    return EXIT_FAILED if failed or (strict and differing) else EXIT_DONE


def _summary(document: dict[str, Any]) -> str:
    from ssdscope.report.book.page import counted, in_words
    from ssdscope.studies.record import Verdict

    rows = []
    for study in document["studies"]:
        figures = study["figures"]
        made = sum(each["status"] == "made" for each in figures)
        counts = counted([row for each in figures for row in each["rows"]])
        took = in_words(sum(each["seconds"] or 0.0 for each in figures))
        numbers = [str(count) for count in counts.values()]
        rows.append([study["study"], f"{made} of {len(figures)}", *numbers, took])
    return table(["paper", "figures", *map(str, Verdict), "took"], rows)
