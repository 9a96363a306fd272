"""What `run` and `replay` have in common: open, run under a progress bar, keep, tell."""

from collections.abc import Callable, Mapping, Sequence
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
    import typer

    from ssdscope.results import LogWriter
    from ssdscope.targets import Log, Progress, RunResult, Target
    from ssdscope.workloads.steady import Steadiness

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
    allow_virtual: bool = False
    window: tuple[int, int | None] | None = None
    write_limit: str | None = None
    preserve_content: bool = False

    @classmethod
    def typed(
        cls, params: Mapping[str, Any], window: tuple[int, int | None] | None = None
    ) -> "TargetOptions":
        """Take them from what was typed, by the names of the commands' parameters.

        Parameters
        ----------
        window
            Of a block device that is written; what ``--offset`` and ``--size`` mean differs.
        """
        return cls(
            uri=params["target"],
            state=params.get("state"),
            sets=params.get("sets") or (),
            destroy_token=params.get("destroy_data"),
            overwrite_existing=params.get("overwrite_existing", False),
            write_cache=params.get("write_cache"),
            read_cache=params.get("read_cache"),
            allow_virtual=params.get("allow_virtual", False),
            window=window,
            write_limit=params.get("write_limit"),
            preserve_content=params.get("preserve_content", False),
        )

    def open(self, seed: int) -> "Target":
        """Open it, and switch its caches as asked; say what of it is not as it seems."""
        from ssdscope.targets import open_target
        from ssdscope.targets.access_notes import access_notes
        from ssdscope.targets.holes import in_words

        limit = _size("--write-limit", self.write_limit)

        target = open_target(
            self.uri,
            state=self.state,
            sets=self.sets,
            seed=seed,
            destroy_token=self.destroy_token,
            overwrite_existing=self.overwrite_existing,
            allow_virtual=self.allow_virtual,
            window=self.window,
            write_limit_bytes=limit,
            preserve_content=self.preserve_content,
        )
        _switch("--write-cache", self.write_cache, target.device.set_write_cache)
        _switch("--read-cache", self.read_cache, target.device.set_read_cache)
        if holes := in_words(target):
            note(f"warning: {holes}")
        for each in access_notes(target):
            note(each)
        return target


def window_of(offset: str | None, size: str | None) -> tuple[int, int | None] | None:
    """Read the window that a user gives by ``--offset`` and ``--size``; None if by neither."""
    if offset is None and size is None:
        return None
    return (_size("--offset", offset) or 0, _size("--size", size))


def _size(option: str, text: str | None) -> int | None:
    """Read a size if one is given; a refusal names the option."""
    from ssdscope.units import parse_size

    try:
        return None if text is None else parse_size(text)
    except UsageError as error:
        raise UsageError(f"{option}: {error.message}", hint=error.hint) from error


def set_quiet_queue(context: "typer.Context", uri: str, *, asked: bool) -> None:
    """Set the disk's queue for measuring, if asked, until the command ends, however it ends."""
    if not asked:
        return
    from ssdscope.targets.attributes import QuietQueue
    from ssdscope.targets.machine import machine_state
    from ssdscope.targets.quieter import quieter

    queue = QuietQueue(uri)
    context.call_on_close(queue.restore)
    changes = [f"{name} {before} -> {now}" for name, (before, now) in queue.changed.items()]
    note(f"queue of {queue.disk}: {', '.join(changes) or 'is set for measuring already'}")
    for each in quieter(machine_state(queue.disk)):
        note(f"left as it is: {each.in_words()}")


def _switch(option: str, wanted: str | None, switch: Callable[[bool], None]) -> None:
    """Switch a cache, if that is asked for; a refusal names the option."""
    if wanted is None:
        return
    try:
        switch(wanted == "on")
    except UsageError as error:
        raise UsageError(f"{option} {wanted}: {error.message}", hint=error.hint) from error


@dataclass(frozen=True)
class Presentation:
    """How to show a run."""

    title: str
    output_format: str
    progress: str
    log: str | None
    over_time: "OverTime | None" = None


@dataclass(frozen=True)
class OverTime:
    """That the rate over time is wanted: in what windows, and in what file.

    Attributes
    ----------
    interval_ns
        Length of a window; 0 lets the run choose.
    output
        Where it is written; None for the terminal and the JSON alone.
    """

    interval_ns: int
    output: str | None

    @classmethod
    def typed(cls, params: Mapping[str, Any]) -> "OverTime | None":
        """Take it from what was typed; each of the three options asks for it."""
        from ssdscope.units import parse_seconds

        text, output = params["timeline_interval"], params["timeline_output"]
        if text is None:
            return cls(0, output) if params["timeline"] or output is not None else None
        try:
            interval_ns = parse_seconds(text)
        except UsageError as error:
            raise UsageError(f"--timeline-interval: {error.message}", hint=error.hint) from error
        if interval_ns <= 0:
            raise UsageError(
                "--timeline-interval: a window takes some time", hint="write 1 or 100ms"
            )
        return cls(interval_ns, output)


def interval_of(over_time: OverTime | None) -> int | None:
    """Give the windows that a device is asked for; None where it is asked for none."""
    return None if over_time is None else over_time.interval_ns


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
    from ssdscope.results.remarks import remarks

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
            result, failure = run_kept(runner, progress, log)
        rest = None if steady is None else steady.to_json()
        record = run_record(target, workload, result, seed=seed, steady_state=rest)
        failure = _keep(log, record) or failure
        tell(show, record)
        failure = _draw(show, record) or failure
    session.repeat(seed)
    for remark in remarks(record):
        note(remark)
    if failure is not None:
        error(failure.message, failure.hint)
        return failure.exit_code
    return exit_code(record)


def _keep(log: "LogWriter | None", record: dict[str, Any]) -> SsdscopeError | None:
    """Store the document with the log; where that fails it can still be told."""
    if log is not None:
        try:
            log.finish(record)
        except SsdscopeError as failure:
            return failure
    return None


def _draw(show: Presentation, record: dict[str, Any]) -> SsdscopeError | None:
    """Write the rate over time where that is asked for; if it fails the rest is told already."""
    if show.over_time is not None and show.over_time.output is not None:
        from ssdscope.report import over_time

        try:
            over_time.write(record, show.title, show.over_time.output)
        except SsdscopeError as failure:
            return failure
    return None


def run_kept(
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


def tell(show: Presentation, record: dict[str, Any]) -> None:
    """Show the document of a run, as asked for."""
    if show.output_format == "json":
        emit_json(record)
    else:
        from ssdscope.cli.tables import run_text

        emit(run_text(show.title, record))


def exit_code(record: dict[str, Any]) -> int:
    """Say by the exit code whether the answer may be trusted, and on stderr why not."""
    from ssdscope.results.remarks import doubts, of_verification, stored_well, trustworthy

    if record.get("interrupted"):
        for doubt in of_verification(record.get("verify") or {}):
            note(doubt)
        note(f"interrupted after {record['requests']:,} requests; what was measured is kept")
        return EXIT_INTERRUPTED
    for doubt in doubts(record):
        note(doubt)
    if record["requests"] == 0 and record.get("failed_requests"):
        return EXIT_FAILED
    if not stored_well(record):
        return EXIT_FAILED
    return EXIT_DONE if trustworthy(record) else EXIT_NOT_TRUSTWORTHY
