"""``ssdscope run TARGET --fio-job FILE``: a job file of fio as a run of ours."""

from contextlib import ExitStack
from typing import TYPE_CHECKING, Any

from ssdscope.cli.output import emit_json, error, note
from ssdscope.cli.progress import run_progress
from ssdscope.cli.run_plan import tell_run_plan
from ssdscope.cli.running import (
    Presentation,
    TargetOptions,
    execute,
    exit_code,
    interval_of,
    run_kept,
    tell,
)
from ssdscope.cli.session import Session
from ssdscope.errors import EXIT_DONE, UsageError

if TYPE_CHECKING:
    from ssdscope.results import LogWriter
    from ssdscope.targets import Target
    from ssdscope.workloads.fio_job import FioJob


def run_job_file(
    session: Session,
    path: str,
    section: str | None,
    target: TargetOptions,
    show: Presentation,
    seed: int | None,
    dry_run: tuple[str | None, str] | None = None,
) -> int:
    """Run a job file, and give the exit code.

    One stage is a run like any other. Of several the document is a list ``stages`` of runs.

    Parameters
    ----------
    dry_run
        Rated writes and output format, where the plan is shown and nothing is run.
    """
    from ssdscope.workloads.execution import require_writable
    from ssdscope.workloads.fio_job import read_fio_job
    from ssdscope.workloads.stages import perform_stage, plan_of, seeded

    job = read_fio_job(path, section)
    for text in job.notes:
        note(f"{path}: {text}")
    used_seed = session.seed(seed)
    job = seeded(job, used_seed)
    if dry_run is not None and len(job.stages) > 1:
        raise UsageError(
            "--dry-run: this job file has several stages", hint="name one with --section"
        )
    opened = target.open(used_seed)
    if dry_run is not None:
        plan = plan_of(job.stages[0], opened.device.info.capacity_bytes)
        return tell_run_plan(opened, plan, *dry_run)
    if job.writes:
        require_writable(opened)
    if len(job.stages) > 1:
        if show.over_time is not None and show.over_time.output is not None:
            raise UsageError(
                "--timeline-output: this job file has several stages",
                hint="name one with --section; -o json has the timelines of all",
            )
        return _several(session, job, opened, show, used_seed)
    plan = plan_of(job.stages[0], opened.device.info.capacity_bytes)
    return execute(
        session,
        opened,
        plan.to_dict(),
        used_seed,
        show,
        lambda on_progress, on_chunk: perform_stage(
            opened, job, 0, progress=on_progress, chunk=on_chunk,
            timeline_ns=interval_of(show.over_time),
        ),
    )  # fmt: skip


def _several(
    session: Session, job: "FioJob", target: "Target", show: Presentation, seed: int
) -> int:
    """Run stages until one fails or is interrupted, and tell of all that ran."""
    from ssdscope.results import LogWriter
    from ssdscope.results.record import envelope

    code, records = EXIT_DONE, []
    with ExitStack() as stack:
        log = None
        if show.log is not None:
            attribution = target.device.info.attribution
            log = stack.enter_context(LogWriter(show.log, attribution=attribution, flows=True))
        for number in range(len(job.stages)):
            record, code = _stage(job, number, target, show, seed, log)
            records.append(record)
            if code != EXIT_DONE:
                break
        document = {**envelope(seed=seed), "target": target.describe(), "stages": records}
        if log is not None:
            log.finish(document)
    if show.output_format == "json":
        emit_json(document)
    session.repeat(seed)
    return code


def _stage(
    job: "FioJob",
    number: int,
    target: "Target",
    show: Presentation,
    seed: int,
    log: "LogWriter | None",
) -> tuple[dict[str, Any], int]:
    """Run one stage: its document, and the exit code that it alone would have."""
    from ssdscope.results import run_record
    from ssdscope.workloads.stages import perform_stage, plan_of

    names = ", ".join(flow.name for flow in job.stages[number].flows.flows)
    title = f"stage {number + 1}: {names}"

    def runner(on_progress: Any, on_chunk: Any) -> Any:
        return perform_stage(
            target, job, number, progress=on_progress, chunk=on_chunk,
            timeline_ns=interval_of(show.over_time),
        )  # fmt: skip

    with run_progress(show.progress, title) as progress:
        result, failure = run_kept(runner, progress, log)
    plan = plan_of(job.stages[number], target.device.info.capacity_bytes)
    record = run_record(target, plan.to_dict(), result, seed=seed)
    if show.output_format != "json":
        tell(Presentation(title, show.output_format, show.progress, None), record)
    record = {"names": [flow.name for flow in job.stages[number].flows.flows], **record}
    if failure is not None:
        error(failure.message, failure.hint)
        return record, failure.exit_code
    return record, exit_code(record)


def require_alone(typed: list[str]) -> None:
    """Refuse options of a workload beside a job file, which says all of it.

    Raises
    ------
    UsageError
        If there are any.
    """
    if typed:
        raise UsageError(
            f"--fio-job says what runs, and {', '.join(typed)} would say it again",
            hint="write it into the job file, or leave out --fio-job",
        )
