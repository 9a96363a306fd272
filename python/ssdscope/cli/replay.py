"""``ssdscope replay``: a trace, on a drive."""

from pathlib import PurePath
from typing import Annotated, Any

import typer

from ssdscope.cli import choices, options
from ssdscope.cli.help import command
from ssdscope.cli.outputs import guard
from ssdscope.cli.running import (
    OverTime,
    Presentation,
    TargetOptions,
    execute,
    interval_of,
    set_quiet_queue,
)
from ssdscope.cli.session import Session

EXAMPLES = """
At the times of the trace:
  ssdscope replay sim:mqsim-512g trace.ssdsim.zst --mode open
A trace of a larger drive, with requests that are no whole pages:
  ssdscope replay sim:msr-32gb Financial1.spc.gz --align expand --fit compact -o json
As fast as the drive takes it, 8 requests in flight:
  ssdscope replay sim:nvme-tlc hm_0.csv.gz --mode asap --iodepth 8 --fit wrap
What blktrace recorded, the files of all processors, as requests were issued to the disk:
  ssdscope replay sim:nvme-tlc examples/blktrace/loop --times issued --fit compact
"""


def register(app: typer.Typer) -> None:
    """Add the command."""
    command(app, examples=EXAMPLES)(replay)


def replay(
    context: typer.Context,
    target: options.TargetArgument,
    trace: options.TraceArgument,
    mode: Annotated[
        str,
        typer.Option(
            "--mode",
            metavar="MODE",
            help="When requests come.",
            autocompletion=choices.MODES.complete,
        ),
        choices.MODES,
    ] = "open",
    iodepth: Annotated[
        int,
        typer.Option(
            "--iodepth",
            metavar="N",
            min=1,
            help="Requests in flight in the modes closed and asap.",
            show_default="1 request",
        ),
    ] = 1,
    thinktime: Annotated[
        str | None,
        typer.Option(
            "--thinktime",
            metavar="TIME",
            help="Pause after each request in these modes: 80us.",
            show_default="0 us",
        ),
    ] = None,
    time_scale: Annotated[
        float,
        typer.Option(
            "--time-scale",
            metavar="FACTOR",
            help="Multiply the times of the trace; 0.5 is twice as fast.",
        ),
    ] = 1.0,
    align: Annotated[
        str,
        typer.Option(
            "--align",
            metavar="HOW",
            help="Requests that are no whole sectors or pages of the drive.",
            autocompletion=choices.ALIGNMENTS.complete,
        ),
        choices.ALIGNMENTS,
    ] = "refuse",
    fit: Annotated[
        str,
        typer.Option(
            "--fit",
            metavar="HOW",
            help="Requests beyond the end of the drive.",
            autocompletion=choices.FITS.complete,
        ),
        choices.FITS,
    ] = "refuse",
    size: Annotated[
        str | None,
        typer.Option(
            "--size",
            metavar="SIZE",
            help="Size of the region that stands for the whole drive.",
            show_default="up to its end",
        ),
    ] = None,
    offset: Annotated[
        str,
        typer.Option(
            "--offset",
            metavar="SIZE",
            help="Where this region starts.",
            show_default="0 bytes",
        ),
    ] = "0",
    trace_format: options.TraceFormat = None,
    columns: options.Columns = None,
    times: options.Times = "queued",
    volume: options.Volume = None,
    overlay_volumes: options.OverlayVolumes = False,
    reads_only: options.ReadsOnly = False,
    skip_bad: options.SkipBad = False,
    limit: options.Limit = None,
    spread_ties: options.SpreadTies = False,
    log: options.Log = None,
    timeline: options.Timeline = False,
    timeline_interval: options.TimelineInterval = None,
    timeline_output: options.TimelineOutput = None,
    force: options.Force = False,
    state: options.State = None,
    sets: options.Sets = None,
    write_cache: options.WriteCache = None,
    read_cache: options.ReadCache = None,
    destroy_data: options.DestroyData = None,
    overwrite_existing: options.OverwriteExisting = False,
    allow_virtual: options.AllowVirtual = False,
    write_limit: options.WriteLimit = None,
    quiet_queue: options.QuietQueue = False,
    seed: options.Seed = None,
    output_format: options.OutputFormat = "normal",
    progress: options.ProgressMode = "auto",
) -> int:
    """Replay a trace on a drive, and print the statistics of its requests.

    Volumes of a trace are laid end to end, in the order of their numbers. Requests that the
    drive cannot take are refused with their number; --align and --fit say what to do instead.
    """
    from ssdscope.targets.sources import require_file
    from ssdscope.workloads.replaying import replay_options

    session: Session = context.obj
    plan = replay_options(
        format=trace_format,
        columns=columns,
        times=times,
        overlay_volumes=overlay_volumes,
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
    over_time = OverTime.typed(context.params)
    used_seed = session.seed(seed)
    set_quiet_queue(context, target, asked=quiet_queue)
    opened = TargetOptions.typed(context.params).open(used_seed)
    workload: dict[str, Any] = {"replay": trace, **plan.to_dict()}
    return execute(
        session,
        opened,
        workload,
        used_seed,
        Presentation(f"replay {PurePath(trace).name}", output_format, progress, log, over_time),
        lambda on_progress, on_chunk: opened.device.replay(
            trace, plan, progress=on_progress, chunk=on_chunk, timeline_ns=interval_of(over_time)
        ),
    )
