"""``ssdscope replay``: a trace, on a drive."""

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
    from ssdscope.targets.sources import require_file
    from ssdscope.workloads.replaying import replay_options

    session: Session = context.obj
    plan = replay_options(
        format=trace_format,
        columns=columns,
        mode=mode,
        iodepth=iodepth,
        thinktime=thinktime,
        time_scale=time_scale,
        align=align,
        fit=fit,
        volume=volume,
        reads_only=reads_only,
        skip_bad=skip_bad,
        limit=limit,
        spread_ties=spread_ties,
        offset=offset,
        size=size,
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
