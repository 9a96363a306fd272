"""``ssdscope reproduce``: a paper's study, its claims beside ours; all of them; what they state."""

import textwrap
from pathlib import Path
from typing import Annotated, Any

import typer

from ssdscope.cli import book, choices, options
from ssdscope.cli.book import FolderOrBook
from ssdscope.cli.help import command
from ssdscope.cli.layout import table
from ssdscope.cli.output import emit, emit_json, error, note
from ssdscope.cli.outputs import Given, Input, OutputFolder, guard
from ssdscope.cli.progress import stage_progress
from ssdscope.cli.session import Session
from ssdscope.cli.target_names import complete_target
from ssdscope.cli.terminal import paragraph, width
from ssdscope.errors import (
    EXIT_DONE,
    EXIT_FAILED,
    EXIT_INTERRUPTED,
    OutputError,
)

EXAMPLES = """
What a source states, with our verdicts; without a name, which studies there are:
  ssdscope reproduce list machado2015
Some figures of a paper:
  ssdscope reproduce kuo2009 --figure 25-28 --seed 1
The procedure of a study on a drive of your own:
  ssdscope reproduce machado2015 --figure 1 --target big.bin -o json
All papers on one page, in minutes rather than hours:
  ssdscope reproduce all --quick -O book.html --seed 1
"""
OF_SOME = "Options of some studies"
EXTRAS = ("count", "flat", "second", "without_flash", "only", "jobs", "series", "drive")
"""Options that some studies take, by name."""

_VERDICT_WIDTH = 11
_LINE_WIDTH = 96
_LEAST_BESIDE = 60
"""With fewer columns the verdict does not stand in a column of its own."""


def register(app: typer.Typer) -> None:
    """Add the command."""
    command(app, examples=EXAMPLES)(reproduce)


def _written(given: Given) -> list[str]:
    """Give the names of what a study may write."""
    from ssdscope.studies.choosing import written_names

    return written_names(given["key"])


def _how_many(option: str, of: str, usual: str = "those of the study") -> Any:
    """Declare an option for how many of something a study draws."""
    return typer.Option(
        option, metavar="N", min=0, help=of, show_default=usual, rich_help_panel=OF_SOME
    )


def reproduce(
    context: typer.Context,
    key: Annotated[
        str,
        typer.Argument(
            metavar="KEY",
            help="Which study; `ssdscope reproduce list` shows the figures of each.",
            autocompletion=choices.STUDIES.complete,
        ),
        choices.STUDIES,
    ],
    of: Annotated[
        str | None,
        typer.Argument(
            metavar="[STUDY]",
            help="Behind `list`: show what the source of this study states, with our verdicts.",
            show_default=False,
            autocompletion=choices.STUDIES.complete,
        ),
    ] = None,
    figure: Annotated[
        str | None,
        typer.Option(
            "--figure",
            metavar="LIST",
            help="Which figures, by number or name: 1, 3-7,9, wear.",
            show_default="all of them",
            autocompletion=choices.FIGURES.complete,
        ),
        choices.FIGURES,
    ] = None,
    out: Annotated[
        str,
        typer.Option(
            "--out",
            "-O",
            metavar="FOLDER|PAGE.html",
            help="A folder for pictures and data, and for the book.html of all; or a page with "
            "all of it.",
        ),
        FolderOrBook(_written),
    ] = "out",
    target: Annotated[
        str | None,
        typer.Option(
            "--target",
            metavar="TARGET",
            help="Run the procedure of the study on this drive instead of the paper's drives.",
            autocompletion=complete_target,
        ),
        options.TARGET,
    ] = None,
    strict: Annotated[
        bool, typer.Option("--strict", help="End with exit code 1 if a verdict is `differs`.")
    ] = False,
    robust: Annotated[
        bool,
        typer.Option(
            "--robust",
            help="Judge the rows again with other seeds, sizes and lengths, and say what becomes "
            "of them.",
            rich_help_panel=OF_SOME,
        ),
    ] = False,
    quick: Annotated[
        bool,
        typer.Option(
            "--quick", help="all: shorten the figures that take long.", rich_help_panel=OF_SOME
        ),
    ] = False,
    count: Annotated[
        int | None,
        _how_many(
            "--count", "recovery: number of drives. huang2011: number of workloads of the grid."
        ),
    ] = None,
    flat: Annotated[
        int | None,
        _how_many("--flat", "recovery: number of drives without any mechanism."),
    ] = None,
    second: Annotated[
        int | None,
        _how_many("--second", "recovery: number of drives of the second generator.", "0"),
    ] = None,
    without_flash: Annotated[
        int | None,
        _how_many("--without-flash", "recovery: number of targets without flash.", "0"),
    ] = None,
    only: Annotated[
        str | None,
        typer.Option(
            "--only",
            metavar="WHICH",
            help="recovery: one drive, SEED:INDEX. huang2011: models of these devices, SSD_I,...",
            rich_help_panel=OF_SOME,
        ),
    ] = None,
    jobs: Annotated[
        int | None,
        typer.Option(
            "--jobs",
            metavar="N",
            min=1,
            help="recovery, huang2011: drives or runs at the same time.",
            show_default="all cores",
            rich_help_panel=OF_SOME,
        ),
    ] = None,
    series: Annotated[
        str | None,
        typer.Option(
            "--series",
            metavar="FOLDER",
            help="recovery: keep what is measured of each drive; decide upon what is there again.",
            rich_help_panel=OF_SOME,
        ),
        OutputFolder(lambda _given: ["*.npz"]),
    ] = None,
    trace: Annotated[
        list[str] | None,
        typer.Option(
            "--trace",
            metavar="NAME=FILE",
            help="forecasts, huang2011 (figure traces): a trace; repeatable.",
            rich_help_panel=OF_SOME,
        ),
        Input(lambda named: [named.partition("=")[2]]),
    ] = None,
    drive: Annotated[
        str | None,
        typer.Option(
            "--drive",
            metavar="FIRMWARE",
            help="machado2015: run its configurations with another firmware",
            rich_help_panel=OF_SOME,
            autocompletion=choices.FIRMWARES.complete,
        ),
        choices.FIRMWARES,
    ] = None,
    force: options.Force = False,
    state: options.State = None,
    sets: options.Sets = None,
    destroy_data: options.DestroyData = None,
    overwrite_existing: options.OverwriteExisting = False,
    allow_virtual: options.AllowVirtual = False,
    seed: options.Seed = None,
    output_format: options.OutputFormat = "normal",
    progress: options.ProgressMode = "auto",
) -> int:
    """Reproduce a study of a paper: its data, its pictures, and a table of claims.

    Each row of the table has the figure of the paper, ours, and a verdict: agrees, explained
    (by a trial that the whole study survives), easier (of models) or differs, with the reason.
    """
    from ssdscope import studies
    from ssdscope.cli.running import TargetOptions
    from ssdscope.report.book import folder_of, single
    from ssdscope.studies.choosing import parse_figures

    if key in (book.ALL, book.LIST):
        return book.command(context)
    book.require_one(quick, of)
    session: Session = context.obj
    studies.require_study(key, also=(book.ALL, book.LIST))
    guard(context, force=force)
    figures = None if figure is None else parse_figures(figure, studies.registry()[key].figures)
    used_seed = session.seed(seed)
    opened = None
    if target is not None:
        opened = TargetOptions.typed(context.params).open(used_seed)
    unwritten: OutputError | None = None
    page = Path(out) if book.is_page(out) else None
    folder = out if page is None else folder_of(page)
    with stage_progress(progress) as stage:
        timing = single.Timing(stage)
        try:
            result = studies.run(
                key,
                figures=figures,
                target=opened,
                out_dir=folder,
                seed=used_seed,
                progress=timing,
                extras={name: context.params[name] for name in EXTRAS}
                | {"trace": trace or None, "robust": robust or None},
            )
        except OutputError as failure:
            if failure.partial is None:
                raise
            result, unwritten = failure.partial, failure
    if page is not None and unwritten is None:
        single.write_page(page, folder_of(page), result, timing, session.words(used_seed))
    document = result.to_json()
    if output_format == "json":
        from ssdscope.results.record import envelope

        emit_json({**envelope(seed=used_seed), **document})
    else:
        emit(_text(document) + ("" if page is None else f"\n\npage: {page}"))
    session.repeat(used_seed)
    if unwritten is not None:
        error(unwritten.message, unwritten.hint)
        return unwritten.exit_code
    if result.interrupted:
        note(f"interrupted; {len(result.figures)} figures were complete")
        return EXIT_INTERRUPTED
    verdicts = [row["verdict"] for each in document["figures"] for row in each["rows"]]
    differing = verdicts.count("differs")
    if differing:
        note(f"rows that differ: {differing} of {len(verdicts)}")
    return EXIT_FAILED if strict and differing else EXIT_DONE


def _text(document: dict[str, Any]) -> str:
    """Lay out the claims one under the other: their texts are too long for columns."""
    parts = []
    for figure in document["figures"]:
        parts.append(paragraph(figure["title"]))
        parts += [_claim(row) for row in figure["rows"]]
        if "table" in figure:
            texts = [[str(cell) for cell in row] for row in figure["table"]["rows"]]
            parts.append(table(figure["table"]["columns"], texts))
        parts += [textwrap.fill(f"note: {each}", _room()) for each in figure["notes"]]
        if figure["image"]:
            parts.append(f"picture: {figure['image']}")
    return "\n\n".join(parts)


def _claim(row: dict[str, Any]) -> str:
    from ssdscope.studies.record import shown

    said = [
        ("", row["what"]),
        ("paper", shown(row["paper"], row["unit"])),
        ("its procedure", shown(row["literal"], row["unit"]) if "literal" in row else ""),
        ("ours", shown(row["ours"], row["unit"])),
        ("truth", shown(row["truth"], row["unit"]) if "truth" in row else ""),
        ("why", row.get("why")),
        ("tried", row.get("tried")),
        ("robust", row.get("robust")),
    ]
    room = _room()
    verdict, hang = f"{row['verdict']:<{_VERDICT_WIDTH}}", _VERDICT_WIDTH
    if room < _LEAST_BESIDE:
        verdict, hang = f"{row['verdict']}: ", 2
    indent = " " * hang
    lines = [
        line
        for label, text in said
        if text
        for line in textwrap.wrap(
            f"{label}: {text}" if label else text,
            room,
            initial_indent=indent if label else verdict,
            subsequent_indent=indent + "  " * bool(label),
        )
    ]
    return "\n".join(lines)


def _room() -> int:
    return min(width() or _LINE_WIDTH, _LINE_WIDTH)
