"""Workloads and traces on a drive."""

from __future__ import annotations

import os
from collections.abc import Callable, Sequence
from typing import Any, TypeAlias, TypedDict, Unpack

from ssdscope.api.keywords import keyworded
from ssdscope.api.opening import TargetLike, seed_of, target_of
from ssdscope.api.progress import OnProgress
from ssdscope.api.progress import run as bar_of_run
from ssdscope.api.result import Run
from ssdscope.errors import Interrupted, SsdscopeError, UsageError
from ssdscope.targets.device import FITTING
from ssdscope.targets.records import Log, RunResult
from ssdscope.targets.sources import require_file
from ssdscope.units import parse_seconds
from ssdscope.workloads.execution import bring_to_rest, perform, require_writable
from ssdscope.workloads.flow_options import read_flows
from ssdscope.workloads.options import workload_from_options
from ssdscope.workloads.replaying import replay_options
from ssdscope.workloads.verifying import Verification

_Size: TypeAlias = int | str
_SizePair: TypeAlias = int | str | tuple[int | str, int | str]


class WorkloadOptions(TypedDict, total=False):
    """The options of ``ssdscope run`` that say what is run, under their names."""

    rw: str
    bs: _SizePair
    bssplit: str
    rwmixread: int
    iodepth: int
    numjobs: int
    offset: _Size
    offset_increment: _Size
    size: _Size
    io_size: _Size
    number_ios: int
    runtime: str
    until_ci: str
    thinktime: str
    thinktime_blocks: int
    rate_iops: int
    rate: _SizePair
    arrival: str
    fsync: int
    fua: bool
    percentage_random: int | tuple[int, int]
    random_distribution: str
    direct: int
    stride: _SizePair
    partitions: int
    random_start: bool
    ramp_ios: int
    ramp_time: str


@keyworded(also=WorkloadOptions.__annotations__)
def run(
    target: TargetLike,
    /,
    *,
    until_steady: bool = False,
    flow: str | Sequence[str] = (),
    jobs: str | None = None,
    exitall: bool = False,
    verify: str | None = None,
    do_verify: bool = True,
    log: bool = False,
    timeline: bool | str = False,
    seed: int | None = None,
    progress: OnProgress = None,
    **options: Unpack[WorkloadOptions],
) -> Run:
    """Run a workload on a drive, with fio's options under fio's names.

    A drive keeps what a run did to it, as a real one does: `open` it again for a fresh one. On a
    drive just opened the figures are those of ``ssdscope run`` with the same seed.

    Parameters
    ----------
    target
        An open target, or the name of one.
    until_steady
        First run what writes until its rate has come to rest.
    flow, jobs, exitall
        Several workloads at once: each as ``"rw=randread bs=4k"``, or a file of them; whether the
        first that ends stops the others. `options` then hold for all.
    verify, do_verify
        ``"crc32c"``: stamp what is written, and read it back at the end, or not; a run of reads
        compares what it reads. The document then has a key ``verify``.
    log
        Keep every request in memory, as `Run.log`.
    timeline
        Give the rate over time, as `Run.timeline_frame` and in the document: True, or the length
        of a window, ``"100ms"``.
    seed
        Of everything drawn; that of the target if absent.
    progress
        Called about ten times a second. Or whether a bar is shown: if absent, in a notebook and
        in an interactive session.
    **options
        ``rw``, ``bs``, ``iodepth``, ``numjobs``, ``size``, ``number_ios``, ``runtime``,
        ``rwmixread`` and so on, as of ``ssdscope run``. Sizes are bytes or ``"4k"``, times carry
        a unit (``"80us"``); what differs between reads and writes is a pair.

    Returns
    -------
    Run

    Raises
    ------
    UsageError
        If a keyword is unknown or cannot be meant, or the workload does not fit the drive.
    DeviceError
        If the drive fails; its `partial` is then the run so far.
    Interrupted
        After Ctrl-C; its `partial` is the run so far.

    Examples
    --------
    >>> import ssdscope as s
    >>> drive = s.open("sim:ryu-b")
    >>> s.run(drive, rw="randread", bs="4k", number_ios=2000)
    read: 5,797 IOPS, 22.6 MiB/s, mean 172.5 us, p99 172.5 us
    """
    given = {name: _text(value) for name, value in options.items() if value is not None}
    flows = (flow,) if isinstance(flow, str) else flow
    several = read_flows(flows, jobs, given, exit_all=exitall)
    plan = several or workload_from_options(given, seed=0)
    verification = None if verify is None else Verification(verify, do_verify)
    interval_ns = _interval_ns(timeline)
    opened = target_of(target, seed)
    used_seed = seed_of(opened, seed)
    seeded = plan.seeded(used_seed)
    if seeded.writes:
        require_writable(opened)
    steady = bring_to_rest(opened, seeded) if until_steady else None

    def runner(chunk: Callable[[Log], None] | None) -> RunResult:
        with bar_of_run(progress) as told:
            return perform(
                opened, seeded, progress=told, chunk=chunk, verification=verification,
                timeline_ns=interval_ns,
            )  # fmt: skip

    def made(result: RunResult, kept: Log | None) -> Run:
        return Run.of(opened, seeded.to_dict(), result, used_seed, log=kept, steady=steady)

    return _finished(runner, made, log)


@keyworded()
def replay(
    target: TargetLike,
    trace: str | os.PathLike[str],
    /,
    *,
    format: str | None = None,  # noqa: A002 (the name on the command line)
    columns: str | None = None,
    times: str = "queued",
    overlay_volumes: bool = False,
    mode: str = "open",
    iodepth: int = 1,
    thinktime: str | None = None,
    time_scale: float = 1.0,
    align: str = "refuse",
    fit: str = "refuse",
    volume: int | None = None,
    reads_only: bool = False,
    skip_bad: bool = False,
    limit: int | None = None,
    spread_ties: bool = False,
    offset: _Size = 0,
    size: _Size | None = None,
    log: bool = False,
    timeline: bool | str = False,
    seed: int | None = None,
    progress: OnProgress = None,
) -> Run:
    r"""Replay a trace on a drive.

    Parameters
    ----------
    target
        An open target, or the name of one.
    trace
        The file, plain or compressed (gzip, zstd).
    format, columns
        Of the trace, where its content leaves a doubt.
    times
        Of a trace of events, which time a request has: ``"queued"``, ``"issued"``,
        ``"completed"``.
    overlay_volumes
        Lay all volumes over one another, as MQSim does, and not end to end.
    mode
        ``"open"``: at the trace's own times; ``"closed"``: `iodepth` requests in flight, pauses
        kept; ``"asap"``: without pauses.
    iodepth, thinktime
        Requests in flight, and the pause after each (``"80us"``), in the closed modes.
    time_scale
        Arrival times are multiplied by it.
    align, fit
        What to do with requests off the drive's grid (``"refuse"``, ``"expand"``) and past its
        end (``"refuse"``, ``"wrap"``, ``"compact"``).
    volume, reads_only, limit
        Use this volume, reads, or so many requests only.
    skip_bad
        Count malformed lines instead of stopping.
    spread_ties
        Spread requests of one instant evenly until the next.
    offset, size
        The region of the drive that stands for the whole, in bytes or as ``"1g"``.
    log, timeline, seed, progress
        As of `run`.

    Returns
    -------
    Run
        Its document has a key ``trace``.

    Raises
    ------
    UsageError
        If a keyword is unknown or cannot be meant.
    TraceError
        If the trace cannot be read, or does not fit the drive.
    DeviceError
        If the drive fails; its `partial` is then the run so far.
    Interrupted
        After Ctrl-C; its `partial` is the run so far.

    Examples
    --------
    >>> import tempfile
    >>> import ssdscope as s
    >>> with tempfile.NamedTemporaryFile("w", suffix=".spc") as trace:
    ...     lines = [f"0,{number * 8},4096,r,{number / 1000}" for number in range(2000)]
    ...     print(*lines, sep="\n", file=trace, flush=True)
    ...     s.replay("sim:ryu-b", trace.name)
    read: 1,000 IOPS, 3.9 MiB/s, mean 172.5 us, p99 172.5 us
    """
    path = os.fspath(trace)
    plan = replay_options(
        format=format,
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
        offset=str(offset),
        size=None if size is None else str(size),
    )
    require_file(path)
    interval_ns = _interval_ns(timeline)
    opened = target_of(target, seed)
    used_seed = seed_of(opened, seed)

    def runner(chunk: Callable[[Log], None] | None) -> RunResult:
        with bar_of_run(progress) as told:
            return opened.device.replay(
                path, plan, progress=told, chunk=chunk, timeline_ns=interval_ns
            )

    def made(result: RunResult, kept: Log | None) -> Run:
        return Run.of(opened, {"replay": path, **plan.to_dict()}, result, used_seed, log=kept)

    return _finished(runner, made, log)


def _finished(
    runner: Callable[[Callable[[Log], None] | None], RunResult],
    made: Callable[[RunResult, Log | None], Run],
    log: bool,
) -> Run:
    """Run, keep the log if that is wanted, and hand on what there is of a run that broke off."""
    parts: list[Log] = []

    def kept() -> Log | None:
        if not log:
            return None
        return Log.concatenate(parts) if parts else Log.empty()

    try:
        result = runner(parts.append if log else None)
    except SsdscopeError as error:
        if isinstance(error.partial, RunResult):
            error.partial = made(error.partial, kept())
        raise
    run = made(result, kept())
    if result.interrupted:
        raise Interrupted(run)
    return run


def _interval_ns(timeline: bool | str) -> int | None:
    """Read the length of the windows of a timeline; None if none is wanted."""
    if not timeline:
        return None
    if timeline is True:
        return FITTING
    interval_ns = parse_seconds(str(timeline))
    if interval_ns <= 0:
        raise UsageError("timeline: a window takes some time", hint='timeline="100ms", or True')
    return interval_ns


def _text(value: Any) -> str:
    """Write a value as it is typed; a pair as ``READ,WRITE``."""
    return ",".join(map(str, value)) if isinstance(value, tuple) else str(value)
