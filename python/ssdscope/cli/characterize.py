"""``ssdscope characterize``: the main job, one page about one drive."""

from typing import TYPE_CHECKING, Annotated, Any

import typer

from ssdscope.cli import choices, options
from ssdscope.cli.help import READING, command
from ssdscope.cli.output import emit, emit_json, error, note
from ssdscope.cli.outputs import Given, Input, Output, guard
from ssdscope.cli.probe import (
    BudgetOption,
    findings_text,
    tell_plan,
)
from ssdscope.cli.progress import wanted, watched_stages
from ssdscope.cli.running import TargetOptions, set_quiet_queue, window_of
from ssdscope.cli.session import Session
from ssdscope.errors import (
    EXIT_DONE,
    EXIT_INTERRUPTED,
    EXIT_NOT_TRUSTWORTHY,
    DeviceError,
    OutputError,
    UsageError,
)

if TYPE_CHECKING:
    from pathlib import Path

    from ssdscope.probes.budget import Budget
    from ssdscope.report import Characterization, Disclosure
    from ssdscope.report.replay import TraceFile
    from ssdscope.report.spending import Plan
    from ssdscope.targets import Target

EXAMPLES = """
The page about a simulated drive:
  ssdscope characterize sim:mqsim-8g -O report.html
A real file, only read, with all numbers as JSON and a trace replayed:
  ssdscope characterize big.bin -O report.html --json report.json --trace mine.spc.gz
A page to show to others:
  ssdscope characterize /dev/nvme0n1 -O report.html --anonymous
What it would spend and write:
  ssdscope characterize sim:nvme-tlc --budget full --dry-run
"""
RESUME = "--resume"


def register(app: typer.Typer) -> None:
    """Add the command."""
    command(app, examples=EXAMPLES)(characterize)


def _growing(page: str, given: Given) -> list[str]:
    """Name the document that lies beside a page until that is complete."""
    from pathlib import Path

    return [] if given["json_out"] else [str(Path(page).with_suffix(".partial.json"))]


def _disclosure(*, anonymous: bool, whole: bool) -> "Disclosure":
    """Take how much the page may say of whose drive it is about."""
    from ssdscope.report import Disclosure

    if anonymous and whole:
        raise UsageError("--anonymous and --with-identity exclude each other")
    if anonymous:
        return Disclosure.ANONYMOUS
    return Disclosure.WHOLE if whole else Disclosure.MASKED


def _traced(
    trace: str | None, trace_format: str | None, columns: str | None, fit: str, *, skip_bad: bool
) -> "TraceFile | None":
    """Take the trace that was given, if any, and how it is read."""
    from pathlib import Path

    from ssdscope.report.replay import TraceFile

    return None if trace is None else TraceFile(Path(trace), trace_format, columns, fit, skip_bad)


def _note_left_out(target: "Target", spend: "Budget", rated_bytes: int | None) -> None:
    """Say what a look without writing left out, and the command that would find it."""
    from ssdscope.report.looking import left_out

    if look := left_out(target, spend, ["characterize"], rated_bytes):
        note(look.in_words())


def _note_plan(plan: "Plan", stages: list[str], known: "dict[str, Any] | None") -> None:
    """Say what will be measured, how long that takes, and what it writes; and what there is."""
    from ssdscope.report.spending import plan_in_words

    if known is not None:
        given = known["provenance"]
        done = ", ".join(given["stages_done"]) or "none"
        note(f"goes on with what was measured from {given['started']} on (stages done: {done})")
    note(f"plan: {', '.join(stages)}")
    note(f"plan: {plan.uri} {plan_in_words(plan)}")


def _note_missing(document: "dict[str, Any]") -> None:
    """Say what each stage left out, and why."""
    for name, told in document["provenance"]["outcomes"].items():
        for each in told["left_out"]:
            note(f"{name}: left out {each}")


def _tell(
    result: "Characterization",
    ended: DeviceError | OutputError | None,
    page: "Path",
    output_format: str,
) -> None:
    """Show what was found, and what that took."""
    from ssdscope.report import untried
    from ssdscope.report.spending import in_words

    document = result.to_json()
    if output_format == "json":
        emit_json(document)
        return
    where = "" if isinstance(ended, OutputError) else f"\n\npage: {page}"
    reached = untried.of_document(document, result.findings)
    emit(f"{findings_text(result.findings, reached)}{where}")
    note(f"used {in_words(document['provenance']['spent'])}")


def _conclude(
    session: Session,
    seed: int,
    result: "Characterization",
    ended: DeviceError | OutputError | None,
) -> int:
    """Say how it ended and how to go on, and give the exit code."""
    from ssdscope.report.outcome import doubts

    for each in doubts(result.document):
        note(f"not to be trusted: {each}")
    if result.unfinished is None:
        session.repeat(seed, without=RESUME)
    else:
        session.go_on(seed, RESUME)
    if ended is not None:
        error(ended.message, ended.hint)
        return ended.exit_code
    if result.interrupted:
        done = ", ".join(result.document["provenance"]["stages_done"]) or "none"
        note(f"interrupted; the page holds what was measured (stages done: {done})")
        return EXIT_INTERRUPTED
    return EXIT_NOT_TRUSTWORTHY if doubts(result.document) else EXIT_DONE


def characterize(
    context: typer.Context,
    target: options.TargetArgument,
    out: Annotated[
        str,
        typer.Option("--out", "-O", metavar="PAGE.html", help="Where the page goes."),
        Output(beside=_growing),
    ] = "report.html",
    json_out: Annotated[
        str | None,
        typer.Option(
            "--json", metavar="FILE.json", help="Where everything on the page goes as JSON."
        ),
        Output(),
    ] = None,
    trace: Annotated[
        str | None,
        typer.Option("--trace", metavar="FILE", help="A trace to replay as well."),
        Input(),
    ] = None,
    trace_format: options.TraceFormat = None,
    columns: options.Columns = None,
    fit: Annotated[
        str,
        typer.Option(
            "--fit",
            metavar="HOW",
            help="Requests of the trace beyond the end of the drive.",
            rich_help_panel=READING,
            autocompletion=choices.FITS.complete,
        ),
        choices.FITS,
    ] = "compact",
    skip_bad: options.SkipBad = False,
    anonymous: Annotated[
        bool,
        typer.Option(
            "--anonymous", help="Leave out host, kernel build, paths, and serials but for 4 digits."
        ),
    ] = False,
    with_identity: Annotated[
        bool,
        typer.Option("--with-identity", help="Show the host's name and whole serial numbers."),
    ] = False,
    force: options.Force = False,
    budget: BudgetOption = "default",
    dry_run: options.DryRun = False,
    resume: Annotated[
        bool,
        typer.Option(
            RESUME,
            help="Go on with the page that was interrupted there, at the first stage not done. "
            "All other options stay.",
        ),
    ] = False,
    rated_writes: options.RatedWrites = None,
    state: options.State = None,
    sets: options.Sets = None,
    destroy_data: options.DestroyData = None,
    overwrite_existing: options.OverwriteExisting = False,
    allow_virtual: options.AllowVirtual = False,
    preserve_content: options.PreserveContent = False,
    offset: options.WindowOffset = None,
    size: options.WindowSize = None,
    write_limit: options.WriteLimit = None,
    quiet_queue: options.QuietQueue = False,
    seed: options.Seed = None,
    output_format: options.OutputFormat = "normal",
    progress: options.ProgressMode = "auto",
) -> int:
    """Measure a drive, detect what is inside, and write one self-contained page about it.

    The page opens offline. A real drive is only read, unless --destroy-data allows more. Of a
    serial number the page and its JSON hold the last four digits, and they do not name the host.

    What each stage measured is put away when it ends. After Ctrl-C, or a power cut, the same
    command with --resume measures the rest.
    """
    import time
    from pathlib import Path

    begun_s = time.monotonic()  # before what takes seconds to import
    from ssdscope import report
    from ssdscope.probes.budget import Budget
    from ssdscope.report import resuming
    from ssdscope.report.spending import rated

    session: Session = context.obj
    disclosure = _disclosure(anonymous=anonymous, whole=with_identity)
    spend = Budget.parse(budget)
    page, data = Path(out), None if json_out is None else Path(json_out)
    guard(context, force=force)
    growing = report.growing_file(page, data)
    known = resuming.read_unfinished(growing) if resume else None
    if not (resume or force or dry_run):
        resuming.require_nothing_lost(growing)
    used_seed = session.seed(known["seed"] if known is not None and seed is None else seed)
    set_quiet_queue(context, target, asked=quiet_queue and not dry_run)
    opened = TargetOptions.typed(context.params, window_of(offset, size)).open(used_seed)
    rated_bytes = rated(rated_writes)
    done = [] if known is None else known["provenance"]["stages_done"]
    traced = _traced(trace, trace_format, columns, fit, skip_bad=skip_bad)
    plan = report.planned(opened, spend, rated_bytes, done, traced)
    if dry_run:
        return tell_plan(plan, output_format)
    plan.require_asked()
    _note_plan(plan, report.stages_left(spend, trace=trace is not None, done=done), known)
    ended: DeviceError | OutputError | None = None
    with watched_stages(progress) as (stage, watch):
        try:
            result = report.characterize(
                opened,
                budget=spend,
                seed=used_seed,
                trace=traced,
                sets=sets or (),
                out_html=page,
                out_json=data,
                progress=stage,
                watch=watch,
                rated_bytes=rated_bytes,
                begun_s=begun_s,
                disclosure=disclosure,
                resume=resume,
                force=force,
            )
        except (DeviceError, OutputError) as failure:
            if not isinstance(failure.partial, report.Characterization):
                raise
            result, ended = failure.partial, failure
    _tell(result, ended, page, output_format)
    if wanted(progress):  # a bar is gone by now; without one each stage said so itself
        _note_missing(result.document)
    _note_left_out(opened, spend, rated_bytes)
    return _conclude(session, used_seed, result, ended)
