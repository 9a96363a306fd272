"""``ssdscope run``: one workload, its statistics."""

from typing import TYPE_CHECKING, Annotated, Any

import typer

from ssdscope.cli import choices, options
from ssdscope.cli.choices import Choices
from ssdscope.cli.fio_job import require_alone, run_job_file
from ssdscope.cli.help import command
from ssdscope.cli.output import note
from ssdscope.cli.outputs import Input, guard
from ssdscope.cli.run_plan import tell_run_plan
from ssdscope.cli.running import (
    OverTime,
    Presentation,
    TargetOptions,
    execute,
    interval_of,
    set_quiet_queue,
)
from ssdscope.cli.session import Session
from ssdscope.errors import UsageError

if TYPE_CHECKING:
    from ssdscope.workloads.verifying import Verification

EXAMPLES = """
Random reads of 4 KiB, 32 in flight:
  ssdscope run sim:mqsim-8g --rw randread --bs 4k --iodepth 32 --number_ios 100000
Random writes in a full drive, until the mean is known within 5 %:
  ssdscope run sim:msr-4gb --rw randwrite --bs 8k --state random --until-ci 5% -o json
A reader beside a writer, and how their rates change, as a page:
  ssdscope run sim:mqsim-8g --runtime 50ms --flow rw=randread --flow "rw=write bs=128k" -O both.html
A real file, only read, with a row per request:
  ssdscope run big.bin --rw randread --bs 4k --runtime 10s --log big.parquet
"""

WORKLOAD, END = "Workload", "Start and end of the run"
PLACES, PACE = "Where requests go", "Pace and durability"
FLOWS = "Several workloads at once"
CHECK = "What the drive stores"


def _option(
    group: str, names: str, metavar: str, text: str, default: str = "", of: Choices | None = None
) -> Any:
    """Describe an option that takes a value."""
    return typer.Option(
        *names.split(),
        metavar=metavar,
        help=text,
        show_default=default or False,
        rich_help_panel=group,
        autocompletion=of.complete if of else None,
    )


def _flag(group: str, name: str, text: str) -> Any:
    return typer.Option(name, help=text, rich_help_panel=group)


def register(app: typer.Typer) -> None:
    """Add the command."""
    command(app, examples=EXAMPLES)(run)


def run(
    context: typer.Context,
    target: options.TargetArgument,
    rw: Annotated[
        str,
        _option(
            WORKLOAD, "--rw --readwrite", "PATTERN", "Access pattern.", "read", choices.PATTERNS
        ),
        choices.PATTERNS,
    ] = "read",
    bs: Annotated[
        str,
        _option(
            WORKLOAD,
            "--bs --blocksize",
            "SIZE[,SIZE]",
            "Size of a request; two sizes: of reads, of writes.",
            "4k, 4096 bytes",
        ),
    ] = "4k",
    bssplit: Annotated[
        str | None,
        _option(
            WORKLOAD,
            "--bssplit",
            "SIZE/PERCENT:...",
            "Several sizes with their shares: 4k/60:64k/40; behind a comma those of writes.",
        ),
    ] = None,
    iodepth: Annotated[
        str | None,
        _option(WORKLOAD, "--iodepth", "N", "Requests in flight, per job.", "1 request"),
    ] = None,
    numjobs: Annotated[
        str | None, _option(WORKLOAD, "--numjobs", "N", "Jobs at the same time.", "1 job")
    ] = None,
    rwmixread: Annotated[
        str | None, _option(WORKLOAD, "--rwmixread", "PERCENT", "Share of reads in a mix.", "50%")
    ] = None,
    size: Annotated[
        str | None,
        _option(
            WORKLOAD, "--size", "SIZE|PERCENT", "Size of the region.", "up to the end of the target"
        ),
    ] = None,
    offset: Annotated[
        str | None,
        _option(WORKLOAD, "--offset", "SIZE|PERCENT", "Where the region starts.", "0 bytes"),
    ] = None,
    number_ios: Annotated[
        str | None, _option(END, "--number-ios", "N", "End after N requests, per job.")
    ] = None,
    runtime: Annotated[
        str | None,
        _option(
            END, "--runtime --timeout", "TIME", "End after this time: 60 (seconds), 10s, 500ms."
        ),
    ] = None,
    io_size: Annotated[
        str | None,
        _option(END, "--io-size --io-limit", "SIZE|PERCENT", "End after so many bytes, per job."),
    ] = None,
    until_ci: Annotated[
        str | None,
        _option(
            END,
            "--until-ci",
            "PERCENT",
            "End when the 95 % interval of the mean latency is within this share of it.",
        ),
    ] = None,
    until_steady: Annotated[
        bool,
        _flag(
            END,
            "--until-steady",
            "First run the workload until its rate no longer changes. Reads need no settling.",
        ),
    ] = False,
    ramp_ios: Annotated[
        str | None,
        _option(END, "--ramp-ios", "N", "Requests at the start that do not count.", "0 requests"),
    ] = None,
    ramp_time: Annotated[
        str | None,
        _option(END, "--ramp-time", "TIME", "Time at the start that does not count.", "0 s"),
    ] = None,
    percentage_random: Annotated[
        str | None,
        _option(
            PLACES,
            "--percentage-random",
            "PERCENT[,PERCENT]",
            "Share of random offsets; two shares: of reads, of writes.",
            "100% in rand*, 0% in others",
        ),
    ] = None,
    random_distribution: Annotated[
        str | None,
        _option(
            PLACES,
            "--random-distribution",
            "NAME[:NUMBER]",
            "Where random requests fall.",
            "random",
            choices.DISTRIBUTIONS,
        ),
        choices.DISTRIBUTIONS,
    ] = None,
    stride: Annotated[
        str | None,
        _option(
            PLACES,
            "--stride",
            "SIZE[,SIZE]",
            "Gap from the end of a request to the start of the next; may be negative.",
            "0 bytes",
        ),
    ] = None,
    partitions: Annotated[
        str | None,
        _option(
            PLACES,
            "--partitions",
            "N",
            "Equal parts of the region that take requests in turn, each in order.",
            "1 part",
        ),
    ] = None,
    random_start: Annotated[
        bool, _flag(PLACES, "--random-start", "Sequential requests begin at a random offset.")
    ] = False,
    offset_increment: Annotated[
        str | None,
        _option(
            PLACES,
            "--offset-increment",
            "SIZE",
            "From the start of each job's region to the next job's.",
            "0 bytes, one region for all",
        ),
    ] = None,
    thinktime: Annotated[
        str | None, _option(PACE, "--thinktime", "TIME", "Pause after each request.", "0 us")
    ] = None,
    thinktime_blocks: Annotated[
        str | None,
        _option(PACE, "--thinktime-blocks", "N", "Requests between two pauses.", "1 request"),
    ] = None,
    rate_iops: Annotated[
        str | None,
        _option(PACE, "--rate-iops", "N", "Requests per second at most, per job.", "no limit"),
    ] = None,
    arrival: Annotated[
        str | None,
        _option(PACE, "--arrival", "PROCESS", "When a request comes.", "closed", choices.ARRIVALS),
        choices.ARRIVALS,
    ] = None,
    fsync: Annotated[
        str | None, _option(PACE, "--fsync", "N", "Flush after every N writes.", "0, never")
    ] = None,
    rate: Annotated[
        str | None,
        _option(
            PACE, "--rate", "SIZE[,SIZE]", "Bytes per second at most, per job: of reads, of writes."
        ),
    ] = None,
    fua: Annotated[bool, _flag(PACE, "--fua", "Each write is durable when it is served.")] = False,
    direct: Annotated[
        str | None, _option(PACE, "--direct", "1", "Always on, and taken as fio writes it.")
    ] = None,
    verify: Annotated[
        str | None,
        _option(
            CHECK,
            "--verify",
            "METHOD",
            "Read back at the end what was written, and compare; a run of reads compares them.",
            "",
            choices.VERIFICATIONS,
        ),
        choices.VERIFICATIONS,
    ] = None,
    do_verify: Annotated[
        str | None,
        _option(CHECK, "--do-verify", "0|1", "0: leave reading back to a later run.", "1"),
    ] = None,
    flow: Annotated[
        list[str] | None,
        _option(
            FLOWS,
            "--flow",
            "WORDS",
            'A workload as words: "name=web rw=randread iodepth=8"; repeatable.',
        ),
    ] = None,
    jobs: Annotated[
        str | None,
        _option(FLOWS, "--jobs", "FILE.toml", "A file with a table for each workload."),
        Input(),
    ] = None,
    fio_job: Annotated[
        str | None,
        _option(FLOWS, "--fio-job", "FILE", "Run a job file of fio."),
        Input(),
    ] = None,
    section: Annotated[
        str | None, _option(FLOWS, "--section", "NAME", "Run only this section of it.")
    ] = None,
    exitall: Annotated[
        bool, _flag(FLOWS, "--exitall", "End the run when the first workload ends.")
    ] = False,
    log: options.Log = None,
    timeline: options.Timeline = False,
    timeline_interval: options.TimelineInterval = None,
    timeline_output: options.TimelineOutput = None,
    force: options.Force = False,
    state: options.State = None,
    sets: options.Sets = None,
    write_cache: options.WriteCache = None,
    read_cache: options.ReadCache = None,
    quiet_queue: options.QuietQueue = False,
    destroy_data: options.DestroyData = None,
    overwrite_existing: options.OverwriteExisting = False,
    allow_virtual: options.AllowVirtual = False,
    preserve_content: options.PreserveContent = False,
    write_limit: options.WriteLimit = None,
    dry_run: options.DryRun = False,
    rated_writes: options.RatedWrites = None,
    seed: options.Seed = None,
    output_format: options.OutputFormat = "normal",
    progress: options.ProgressMode = "auto",
) -> int:
    """Run a workload, with fio's options, and print its statistics.

    Sizes are binary (4k is 4096 bytes). Times have a unit (80us, 10s), or fio's own: --runtime
    60 is a minute. fio's underscores are taken, too: --number_ios. Options of fio that have no
    equal are refused with what to write.

    The run ends at the first limit that it reaches. Without any limit it ends after one pass
    over the region. With --until-steady the exit code is 3 if the rate still changes after four
    times the region was written.

    Shares are of the target (--size, --offset) or of the region (--io-size): --size 50%.

    A job file of fio runs with --fio-job FILE, which says all of the workload.

    With --flow or --jobs several workloads run at the same time, each with its own statistics.
    The options beside them hold for every workload that does not say otherwise.
    """
    from ssdscope.workloads.execution import bring_to_rest, perform, require_writable
    from ssdscope.workloads.flow_options import overriding, read_flows
    from ssdscope.workloads.options import OPTIONS, workload_from_options

    session: Session = context.obj
    guard(context, force=force)
    over_time = OverTime.typed(context.params)
    whole = None if offset is None and size is None else (0, None)
    goal = TargetOptions.typed(context.params, whole)
    set_quiet_queue(context, target, asked=quiet_queue and not dry_run)
    if fio_job is not None:
        require_alone(_typed(context))
        show = Presentation(fio_job, output_format, progress, log, over_time)
        told = (rated_writes, output_format) if dry_run else None
        return run_job_file(session, fio_job, section, goal, show, seed, told)
    if section is not None:
        raise UsageError("--section: there is no job file", hint="name one with --fio-job FILE")
    typed = {name: context.params[name] for name in OPTIONS}
    several = read_flows(flow or (), jobs, typed, exit_all=exitall)
    plan = several or workload_from_options(typed, seed=0)
    if several is not None:
        beside = {name: typed[name] for name in OPTIONS if _is_typed(context, name)}
        for line in overriding(several, beside):
            note(line)
    verification = _verification(verify, do_verify)
    used_seed = session.seed(seed)
    plan = plan.seeded(used_seed)
    opened = goal.open(used_seed)
    plan = plan.within(opened.device.info.capacity_bytes)
    if dry_run:
        return tell_run_plan(opened, plan, rated_writes, output_format)
    if plan.writes:
        require_writable(opened)
    steady = bring_to_rest(opened, plan) if until_steady else None
    if until_steady and steady is None:
        note("--until-steady: reads move no data, so the run is measured without settling")
    title = f"{len(several.flows)} flows" if several else f"{rw} {bs}"
    show = Presentation(title, output_format, progress, log, over_time)

    def runner(on_progress: Any, on_chunk: Any) -> Any:
        return perform(
            opened, plan, progress=on_progress, chunk=on_chunk, verification=verification,
            timeline_ns=interval_of(over_time),
        )  # fmt: skip

    return execute(session, opened, plan.to_dict(), used_seed, show, runner, steady)


def _verification(method: str | None, do_verify: str | None) -> "Verification | None":
    """Read how to verify, as typed."""
    from ssdscope.workloads.verifying import Verification

    if do_verify not in (None, "0", "1"):
        raise UsageError(f"--do-verify: {do_verify!r} is neither 0 nor 1")
    if method is None:
        if do_verify is not None:
            raise UsageError("--do-verify: nothing is verified", hint="add --verify crc32c")
        return None
    try:
        return Verification(method, do_verify != "0")
    except UsageError as error:
        raise UsageError(f"--verify: {error.message}", hint=error.hint) from error


def _typed(context: typer.Context) -> list[str]:
    """List the options of a workload that stand on the command line."""
    from ssdscope.workloads.options import OPTIONS

    names = (*OPTIONS, "until_steady", "flow", "jobs", "exitall", "verify", "do_verify")
    return [f"--{name.replace('_', '-')}" for name in names if _is_typed(context, name)]


def _is_typed(context: typer.Context, name: str) -> bool:
    return getattr(context.get_parameter_source(name), "name", "") == "COMMANDLINE"
