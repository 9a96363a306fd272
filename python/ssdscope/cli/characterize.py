"""``ssdscope characterize``: the main job, one page about one drive."""

from typing import TYPE_CHECKING, Annotated

import typer

from ssdscope.cli import options
from ssdscope.cli.help import MEASURE, command
from ssdscope.cli.output import emit, emit_json, error, note
from ssdscope.cli.outputs import Given, Input, Output, guard
from ssdscope.cli.probe import (
    BudgetOption,
    findings_text,
    tell_plan,
)
from ssdscope.cli.progress import stage_progress
from ssdscope.cli.running import TargetOptions, set_quiet_queue, window_of
from ssdscope.cli.session import Session
from ssdscope.errors import EXIT_DONE, EXIT_INTERRUPTED, DeviceError, OutputError, UsageError

if TYPE_CHECKING:
    from ssdscope.probes import Budget
    from ssdscope.report import Disclosure
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


def register(app: typer.Typer) -> None:
    """Add the command."""
    short = "Measure a drive and write a page about it: the main job."
    command(app, short=short, examples=EXAMPLES, panel=MEASURE)(characterize)


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


def _note_left_out(target: "Target", spend: "Budget", rated_bytes: int | None) -> None:
    """Say what a look without writing left out, and the command that would find it."""
    from ssdscope.report.looking import left_out

    if look := left_out(target, spend, ["characterize"], rated_bytes):
        note(look.in_words())


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
    rated_writes: options.RatedWrites = None,
    state: options.State = None,
    sets: options.Sets = None,
    destroy_data: options.DestroyData = None,
    overwrite_existing: options.OverwriteExisting = False,
    allow_virtual: options.AllowVirtual = False,
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
    """
    import time
    from pathlib import Path

    begun_s = time.monotonic()  # before what takes seconds to import
    from ssdscope import probes, report
    from ssdscope.report.replay import TraceFile
    from ssdscope.report.spending import in_words, rated

    session: Session = context.obj
    disclosure = _disclosure(anonymous=anonymous, whole=with_identity)
    spend = probes.Budget.parse(budget)
    page, data = Path(out), None if json_out is None else Path(json_out)
    guard(context, force=force)
    used_seed = session.seed(seed)
    set_quiet_queue(context, target, asked=quiet_queue and not dry_run)
    opened = TargetOptions.typed(context.params, window_of(offset, size)).open(used_seed)
    rated_bytes = rated(rated_writes)
    plan = report.planned(opened, spend, rated_bytes)
    if dry_run:
        return tell_plan(plan, output_format)
    plan.require_asked()
    ended: DeviceError | OutputError | None = None
    with stage_progress(progress) as stage:
        try:
            result = report.characterize(
                opened,
                budget=spend,
                seed=used_seed,
                trace=None if trace is None else TraceFile(Path(trace), trace_format, columns),
                sets=sets or (),
                out_html=page,
                out_json=data,
                progress=stage,
                rated_bytes=rated_bytes,
                begun_s=begun_s,
                disclosure=disclosure,
            )
        except (DeviceError, OutputError) as failure:
            if not isinstance(failure.partial, report.Characterization):
                raise
            result, ended = failure.partial, failure
    document = result.to_json()
    if output_format == "json":
        emit_json(document)
    else:
        where = "" if isinstance(ended, OutputError) else f"\n\npage: {page}"
        emit(f"{findings_text(result.findings)}{where}")
        note(f"used {in_words(document['provenance']['spent'])}")
    _note_left_out(opened, spend, rated_bytes)
    session.repeat(used_seed)
    if ended is not None:
        error(ended.message, ended.hint)
        return ended.exit_code
    if result.interrupted:
        done = ", ".join(document["provenance"]["stages_done"]) or "none"
        note(f"interrupted; the page holds what was measured (stages done: {done})")
        return EXIT_INTERRUPTED
    return EXIT_DONE
