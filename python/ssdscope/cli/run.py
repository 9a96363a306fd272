"""``ssdscope run``: one workload, its statistics."""

from typing import Annotated, Any

import typer

from ssdscope.cli import options
from ssdscope.cli.output import note
from ssdscope.cli.outputs import Input, guard
from ssdscope.cli.running import Presentation, TargetOptions, execute
from ssdscope.cli.session import Session

EXAMPLES = """\b
Examples:
  ssdscope run sim:mqsim-8g --rw randread --bs 4k --iodepth 32 --number_ios 100000
  ssdscope run sim:msr-4gb --rw randwrite --bs 8k --until-ci 5% -o json
  ssdscope run sim:mqsim-8g --runtime 50ms --flow rw=randread --flow "rw=write bs=128k"
  ssdscope run sim:ryu-b --rw write --bs 32k --stride -64k --size 1g --number-ios 1000
  ssdscope run sim:ryu-b --rw write --bs 32k --partitions 8 --size 1g --number-ios 1000
  ssdscope run sim:ryu-b --rw randwrite --thinktime 100ms --thinktime-blocks 10 --number-ios 500
  ssdscope run sim:ryu-b --number-ios 90 --flow "rw=randread turn=8" --flow rw=write
  ssdscope run big.bin --rw randread --bs 4k --runtime 10s --log big.parquet
"""


def _option(name: str, metavar: str, text: str) -> Any:
    return typer.Option(f"--{name}", metavar=metavar, help=text)


def register(app: typer.Typer) -> None:
    """Add the command."""
    app.command(short_help="Run one workload, with fio's options.", epilog=EXAMPLES)(run)


def run(
    context: typer.Context,
    target: options.TargetArgument,
    rw: Annotated[
        str, _option("rw", "PATTERN", "read, write, randread, randwrite, rw or randrw.")
    ] = "read",
    bs: Annotated[str, _option("bs", "SIZE[,SIZE]", "Request size; or of reads, writes.")] = "4k",
    rwmixread: Annotated[
        str | None, _option("rwmixread", "PERCENT", "Share of reads in a mix. [50]")
    ] = None,
    iodepth: Annotated[str | None, _option("iodepth", "N", "Requests in flight, per job.")] = None,
    numjobs: Annotated[str | None, _option("numjobs", "N", "Jobs.")] = None,
    offset: Annotated[str | None, _option("offset", "SIZE", "Where the region starts.")] = None,
    offset_increment: Annotated[
        str | None,
        _option("offset-increment", "SIZE", "How far each job's region is behind the last one's."),
    ] = None,
    size: Annotated[str | None, _option("size", "SIZE", "Size of the region.")] = None,
    io_size: Annotated[str | None, _option("io-size", "SIZE", "Stop after this much.")] = None,
    number_ios: Annotated[
        str | None, _option("number-ios", "N", "Stop after so many requests.")
    ] = None,
    runtime: Annotated[str | None, _option("runtime", "TIME", "Stop after this time: 10s.")] = None,
    until_ci: Annotated[
        str | None,
        _option("until-ci", "PERCENT", "Stop when the 95 % interval of the mean is this narrow."),
    ] = None,
    thinktime: Annotated[
        str | None, _option("thinktime", "TIME", "Pause after each request: 80us.")
    ] = None,
    thinktime_blocks: Annotated[
        str | None, _option("thinktime-blocks", "N", "Pause after every N requests only.")
    ] = None,
    rate_iops: Annotated[
        str | None, _option("rate-iops", "N", "At most so many requests a second.")
    ] = None,
    arrival: Annotated[
        str | None,
        _option("arrival", "PROCESS", "closed, fixed or poisson: requests come at --rate-iops."),
    ] = None,
    fsync: Annotated[str | None, _option("fsync", "N", "A flush after so many writes.")] = None,
    fua: Annotated[bool, typer.Option("--fua", help="Writes are durable when served.")] = False,
    percentage_random: Annotated[
        str | None,
        _option("percentage-random", "PERCENT[,PERCENT]", "Share of random offsets."),
    ] = None,
    stride: Annotated[
        str | None,
        _option("stride", "SIZE[,SIZE]", "Gap between one request and the next; may be negative."),
    ] = None,
    partitions: Annotated[
        str | None,
        _option("partitions", "N", "Parts of the region that take requests in turn, in order."),
    ] = None,
    random_start: Annotated[
        bool, typer.Option("--random-start", help="Sequential requests begin anywhere.")
    ] = False,
    ramp_ios: Annotated[
        str | None, _option("ramp-ios", "N", "Requests before measuring begins.")
    ] = None,
    ramp_time: Annotated[
        str | None, _option("ramp-time", "TIME", "How long nothing is measured, at first.")
    ] = None,
    flow: Annotated[
        list[str] | None,
        _option("flow", "WORDS", "One of several workloads at once, as option=value; repeatable."),
    ] = None,
    jobs: Annotated[
        str | None,
        _option("jobs", "FILE.toml", "Several workloads at once, a table each."),
        Input(),
    ] = None,
    exitall: Annotated[
        bool, typer.Option("--exitall", help="The first flow that ends stops the others.")
    ] = False,
    until_steady: Annotated[
        bool,
        typer.Option("--until-steady", help="First run the workload until its rate rests."),
    ] = False,
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
    """Run one workload, with fio's options, and print its statistics.

    Sizes are binary (4k = 4096 bytes), times carry a unit (80us). The run stops at whichever
    of --io-size, --number-ios, --runtime and --until-ci comes first, and without any of them
    after one pass over the region. With --until-steady what writes is run until its rate rests, and
    then measured; exit code 3 if it still changes when the region was written four times.

    With --flow or --jobs several workloads run at the same time, each with its own
    statistics; the other options then hold for every flow that does not say otherwise.
    Flows with turn=N alternate instead, N requests of one and then of the next.

    --stride is the gap from the end of one request to the start of the next: minus the request
    size stays in one place, minus twice that goes backwards.
    """
    from ssdscope.workloads.execution import bring_to_rest, perform, require_writable
    from ssdscope.workloads.flow_options import read_flows
    from ssdscope.workloads.options import OPTIONS, workload_from_options

    session: Session = context.obj
    guard(context, force=force)
    typed = {name: context.params[name] for name in OPTIONS}
    several = read_flows(flow or (), jobs, typed, exit_all=exitall)
    plan = several or workload_from_options(typed, seed=0)
    used_seed = session.seed(seed)
    plan = plan.seeded(used_seed)
    opened = TargetOptions(
        target, state, sets or (), destroy_data, overwrite_existing, write_cache, read_cache
    ).open(used_seed)
    if plan.writes:
        require_writable(opened)
    steady = bring_to_rest(opened, plan) if until_steady else None
    if until_steady and steady is None:
        note("--until-steady: reads move no data, so the run is measured without settling")
    title = f"{len(several.flows)} flows" if several else f"{rw} {bs}"
    show = Presentation(title, output_format, progress, log)

    def runner(on_progress: Any, on_chunk: Any) -> Any:
        return perform(opened, plan, progress=on_progress, chunk=on_chunk)

    return execute(session, opened, plan.to_dict(), used_seed, show, runner, steady)
