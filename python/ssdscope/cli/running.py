"""What `run` and `replay` have in common: open, run under a progress bar, keep, tell."""

from collections.abc import Callable, Sequence
from contextlib import ExitStack
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any

from ssdscope.cli.output import emit, emit_json, error, note
from ssdscope.cli.progress import run_progress
from ssdscope.cli.session import Session
from ssdscope.errors import (
    EXIT_DONE,
    EXIT_FAILED,
    EXIT_INTERRUPTED,
    EXIT_NOT_TRUSTWORTHY,
    SsdscopeError,
    UsageError,
)

if TYPE_CHECKING:
    from ssdscope.results import LogWriter
    from ssdscope.targets import Log, Progress, RunResult, Target
    from ssdscope.workloads.steady import Steadiness

DROPPED_SHARE_MAX = 0.20
HOLES_SHARE_MAX = 0.01

Runner = Callable[
    ["Callable[[Progress], None] | None", "Callable[[Log], None] | None"], "RunResult"
]


@dataclass(frozen=True)
class TargetOptions:
    """How to open the target, as typed."""

    uri: str
    state: str | None
    sets: Sequence[str]
    destroy_token: str | None = None
    overwrite_existing: bool = False
    write_cache: str | None = None
    read_cache: str | None = None

    def open(self, seed: int) -> "Target":
        """Open it, and switch its caches as asked; say if parts of it are on no drive."""
        from ssdscope.targets import open_target
        from ssdscope.targets.holes import holes_share

        target = open_target(
            self.uri,
            state=self.state,
            sets=self.sets,
            seed=seed,
            destroy_token=self.destroy_token,
            overwrite_existing=self.overwrite_existing,
        )
        _switch("--write-cache", self.write_cache, target.device.set_write_cache)
        _switch("--read-cache", self.read_cache, target.device.set_read_cache)
        _tell_of_holes(target.uri, holes_share(target))
        return target


def _switch(option: str, wanted: str | None, switch: Callable[[bool], None]) -> None:
    """Switch a cache, if that is asked for; a refusal names the option."""
    if wanted is None:
        return
    try:
        switch(wanted == "on")
    except UsageError as error:
        raise UsageError(f"{option} {wanted}: {error.message}", hint=error.hint) from error


def _tell_of_holes(uri: str, share: float) -> None:
    """Say that reads will not reach the drive, where more than a crumb was never written."""
    if share > HOLES_SHARE_MAX:
        note(
            f"warning: {share:.0%} of {uri} was never written; reads of that do not reach the "
            "drive, and say nothing of it: fill the file first, as with dd if=/dev/urandom"
        )


@dataclass(frozen=True)
class Presentation:
    """How to show a run."""

    title: str
    output_format: str
    progress: str
    log: str | None


def require_writable(target: "Target") -> None:
    """Refuse to write where nothing may be written, and say what would allow it."""
    if target.device.info.writable:
        return
    if target.kind == "file":
        hint = f"ssdscope doctor --identify {target.uri} prints the token that --destroy-data takes"
    else:
        hint = "only simulated drives and regular files are written to in this version"
    raise UsageError(
        f"target {target.uri!r} is open for reading only, and this workload writes", hint=hint
    )


def execute(
    session: Session,
    target: "Target",
    workload: dict[str, Any],
    seed: int,
    show: Presentation,
    runner: Runner,
    steady: "Steadiness | None" = None,
) -> int:
    """Run, keep the log where one is asked for, tell the result, and give the exit code.

    Parameters
    ----------
    steady
        How the drive came to rest before, if that was asked for.
    """
    from ssdscope.results import LogWriter, run_record
    from ssdscope.results.unsettled import told

    with ExitStack() as stack:
        log = None
        if show.log is not None:
            log = stack.enter_context(
                LogWriter(
                    show.log,
                    attribution=target.device.info.attribution,
                    flows=len(workload.get("flows", ())) > 1,
                )
            )
        with run_progress(show.progress, show.title) as progress:
            result, failure = _run(runner, progress, log)
        record = run_record(target, workload, result, seed=seed)
        if steady is not None:
            record.pop("unsettled", None)
            record["steady_state"] = steady.to_json()
        failure = _keep(log, record) or failure
        _tell(show, record)
    session.repeat(seed)
    _tell_end_of_life(result)
    if "unsettled" in record:
        note(told(record["unsettled"]))
    tell_of_trace(result.summary.get("trace") or {})
    if failure is not None:
        error(failure.message, failure.hint)
        return failure.exit_code
    status = _exit_code(result, wanted_ci=workload.get("until_ci"))
    if steady is not None and not steady.reached:
        note("the drive had not come to rest: its rate still changed when it was measured")
        return status or EXIT_NOT_TRUSTWORTHY
    return status


def _keep(log: "LogWriter | None", record: dict[str, Any]) -> SsdscopeError | None:
    """Store the document with the log; where that fails it can still be told."""
    if log is not None:
        try:
            log.finish(record)
        except SsdscopeError as failure:
            return failure
    return None


def _run(
    runner: Runner, progress: "Callable[[Progress], None] | None", log: "LogWriter | None"
) -> "tuple[RunResult, SsdscopeError | None]":
    """Run; where the drive or the log breaks on the way, give what there is, and the reason."""
    broken: list[SsdscopeError] = []

    def keep(chunk: "Log") -> None:
        if log is None or broken:
            return
        try:
            log.append(chunk)
        except SsdscopeError as failure:
            broken.append(failure)
            raise KeyboardInterrupt from failure  # the run ends as it does after Ctrl-C

    try:
        result = runner(progress, keep if log else None)
    except SsdscopeError as failure:
        if failure.partial is None:
            raise
        return failure.partial, failure
    return result, broken[0] if broken else None


def _tell(show: Presentation, record: dict[str, Any]) -> None:
    if show.output_format == "json":
        emit_json(record)
    else:
        from ssdscope.cli.tables import run_text

        emit(run_text(show.title, record))


def _tell_end_of_life(result: "RunResult") -> None:
    """Say so if the drive takes no writes any more, which the errors alone do not tell."""
    counters = result.summary.get("counters") or {}
    if counters.get("read_only"):
        note(
            "the drive has reached its end of life and can only be read: "
            f"{counters['retired_blocks']:,} of its blocks were erased as often as they are "
            "made for (nand.endurance_erases)"
        )


def tell_of_trace(about: dict[str, Any]) -> None:
    """Say what of a trace was left out, and whether it was made up."""
    from ssdscope.targets.traces import is_synthetic

    if is_synthetic(about):
        note(f"this trace is {about['remark']}")
    bad = about.get("bad_lines", 0)
    shown = about.get("first_bad_lines", [])
    for line in shown:
        note(f"line {line['line']} left out: expected {line['expected']}, found {line['text']}")
    if bad > len(shown):
        note(f"{bad - len(shown):,} more malformed lines left out")
    if about.get("truncated"):
        note(f"the file breaks off; the {about['requests']:,} requests before that are used")


def trace_is_whole(about: dict[str, Any]) -> bool:
    """Say whether enough of a trace was used for an answer about it."""
    bad = about.get("bad_lines", 0)
    lines = bad + about.get("requests", 0)
    return not about.get("truncated") and bad <= DROPPED_SHARE_MAX * lines


def _exit_code(result: "RunResult", *, wanted_ci: float | None) -> int:
    """Say by the exit code whether the answer may be trusted, and on stderr why not."""
    failed = int(result.summary.get("failed_requests") or 0)
    if result.interrupted:
        note(f"interrupted after {result.requests:,} requests; what was measured is kept")
        return EXIT_INTERRUPTED
    if failed:
        note(f"{failed:,} of {result.requests + failed:,} requests failed and are left out")
        if result.requests == 0:
            return EXIT_FAILED
        if failed > DROPPED_SHARE_MAX * (result.requests + failed):
            return EXIT_NOT_TRUSTWORTHY
    if result.summary.get("until_ci_reached") is False and wanted_ci is not None:
        note(f"the 95 % interval did not come within {100 * wanted_ci:g}% of the mean")
        return EXIT_NOT_TRUSTWORTHY
    whole = trace_is_whole(result.summary.get("trace") or {})
    return EXIT_DONE if whole else EXIT_NOT_TRUSTWORTHY
