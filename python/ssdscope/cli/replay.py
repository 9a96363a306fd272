"""``ssdscope replay``: a trace, on a drive."""

from collections.abc import Callable
from pathlib import PurePath
from typing import Annotated, Any

import typer

from ssdscope.cli import options
from ssdscope.cli.outputs import guard
from ssdscope.cli.running import Presentation, TargetOptions, execute
from ssdscope.cli.session import Session

EXAMPLES = """\b
Examples:
  ssdscope replay sim:mqsim-512g trace.ssdsim.zst --mode open
  ssdscope replay sim:msr-32gb Financial1.spc.gz --align expand --fit compact -o json
"""


def register(app: typer.Typer) -> None:
    """Add the command."""
    app.command(short_help="Replay a trace.", epilog=EXAMPLES)(replay)


def replay(
    context: typer.Context,
    target: options.TargetArgument,
    trace: options.TraceArgument,
    trace_format: options.TraceFormat = None,
    columns: options.Columns = None,
    mode: Annotated[
        str, typer.Option("--mode", metavar="MODE", help="open (timestamps), closed or asap.")
    ] = "open",
    iodepth: Annotated[
        int, typer.Option("--iodepth", min=1, help="Requests in flight, in the closed modes.")
    ] = 1,
    thinktime: Annotated[
        str | None,
        typer.Option(
            "--thinktime", metavar="TIME", help="Pause after each request, in the closed modes."
        ),
    ] = None,
    time_scale: Annotated[
        float, typer.Option("--time-scale", help="Arrival times are multiplied by it.")
    ] = 1.0,
    align: Annotated[
        str,
        typer.Option("--align", metavar="HOW", help="Off the drive's grid: refuse or expand."),
    ] = "refuse",
    fit: Annotated[
        str,
        typer.Option("--fit", metavar="HOW", help="Past the end: refuse, wrap or compact."),
    ] = "refuse",
    volume: options.Volume = None,
    reads_only: options.ReadsOnly = False,
    skip_bad: options.SkipBad = False,
    limit: options.Limit = None,
    spread_ties: options.SpreadTies = False,
    offset: Annotated[
        str, typer.Option("--offset", metavar="SIZE", help="Where the region starts.")
    ] = "0",
    size: Annotated[
        str | None, typer.Option("--size", metavar="SIZE", help="Size of the region.")
    ] = None,
    log: options.Log = None,
    force: options.Force = False,
    state: options.State = None,
    sets: options.Sets = None,
    write_cache: options.WriteCache = None,
    read_cache: options.ReadCache = None,
    destroy_data: options.DestroyData = None,
    overwrite_existing: options.OverwriteExisting = False,
    seed: options.Seed = None,
    output_format: options.OutputFormat = "normal",
    progress: options.ProgressMode = "auto",
) -> int:
    """Replay a trace and print its statistics.

    Volumes of a trace are laid end to end. What does not fit the drive is refused with a
    count; --align and --fit say what to do instead.
    """
    from ssdscope.units import parse_duration, parse_size
    from ssdscope.workloads import ReplayOptions

    session: Session = context.obj
    plan = ReplayOptions(
        format=trace_format,
        columns=columns,
        mode=mode,
        iodepth=iodepth,
        thinktime_ns=0 if thinktime is None else _parsed("--thinktime", thinktime, parse_duration),
        time_scale=time_scale,
        align=align,
        fit=fit,
        volume=volume,
        reads_only=reads_only,
        skip_bad=skip_bad,
        limit=limit,
        spread_ties=spread_ties,
        offset_bytes=_parsed("--offset", offset, parse_size),
        size_bytes=None if size is None else _parsed("--size", size, parse_size),
    )
    require_file(trace)
    guard(context, force=force)
    used_seed = session.seed(seed)
    opened = TargetOptions(
        target, state, sets or (), destroy_data, overwrite_existing, write_cache, read_cache
    ).open(used_seed)
    workload: dict[str, Any] = {"replay": trace, **plan.to_dict()}
    return execute(
        session,
        opened,
        workload,
        used_seed,
        Presentation(f"replay {PurePath(trace).name}", output_format, progress, log),
        lambda on_progress, on_chunk: opened.device.replay(
            trace, plan, progress=on_progress, chunk=on_chunk
        ),
    )


def _parsed(option: str, text: str, parse: Callable[[str], int]) -> int:
    """Read a value with its unit; what is wrong with it names the option."""
    from ssdscope.errors import UsageError

    try:
        return parse(text)
    except UsageError as error:
        raise UsageError(f"{option}: {error.message}", hint=error.hint) from error


def require_file(trace: str) -> None:
    """Refuse what is no trace file before a drive is prepared for it."""
    from pathlib import Path

    from ssdscope.errors import UsageError

    path = Path(trace)
    if path.exists() and not path.is_file() and not path.is_dir():
        raise UsageError(
            f"the trace {trace} is not a regular file, and a trace is read twice",
            hint="save the stream to a file (plain, gzip or zstd) first",
        )
    try:
        with path.open("rb"):
            return
    except OSError as error:
        raise UsageError(f"cannot read the trace {trace}: {error.strerror}") from error
