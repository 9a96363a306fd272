"""Several runs on one target, one after the other: the stages of a fio job file."""

from __future__ import annotations

from dataclasses import replace
from typing import TYPE_CHECKING, Any

from ssdscope.seeds import numbered
from ssdscope.targets.records import FLOW_TYPE, Log
from ssdscope.workloads.execution import perform
from ssdscope.workloads.flows import Flows

if TYPE_CHECKING:
    from ssdscope.targets import RunResult, Target
    from ssdscope.targets.device import ChunkCallback, ProgressCallback
    from ssdscope.workloads.fio_job import FioJob, Stage
    from ssdscope.workloads.workload import Workload


def seeded(job: FioJob, seed: int) -> FioJob:
    """Return a job with a seed for every flow of every stage."""
    stages = (
        stage.seeded(numbered(seed, number, "workloads.stages"))
        for number, stage in enumerate(job.stages)
    )
    return replace(job, stages=tuple(stages))


def plan_of(stage: Stage, capacity_bytes: int) -> Workload | Flows:
    """Return what runs: a single job is a workload, as on the command line.

    Copies of it that stop each other are a flow: a workload runs all of them to their ends.
    """
    flows = stage.within(capacity_bytes)
    alone = flows.flows[0].workload
    if len(flows.flows) > 1 or (flows.exit_all and alone.numjobs > 1):
        return flows
    return alone


def flows_of(job: FioJob) -> int:
    """Count the flows of all stages."""
    return sum(len(stage.flows.flows) for stage in job.stages)


def perform_stage(
    target: Target,
    job: FioJob,
    number: int,
    *,
    progress: ProgressCallback | None,
    chunk: ChunkCallback | None,
    timeline_ns: int | None = None,
) -> RunResult:
    """Run one stage after its rest.

    Rows of a log of several flows carry the place of their flow in the whole file.
    """
    stage = job.stages[number]
    if stage.start_delay_ns:
        target.device.idle(stage.start_delay_ns)
    before = sum(len(each.flows.flows) for each in job.stages[:number])
    keep = chunk
    if chunk is not None and flows_of(job) > 1:
        keep = _numbered(chunk, before)
    plan = plan_of(stage, target.device.info.capacity_bytes)
    return perform(
        target, plan, progress=progress, chunk=keep, timeline_ns=timeline_ns,
        verification=stage.verification,
    )  # fmt: skip


def _numbered(chunk: ChunkCallback, before: int) -> ChunkCallback:
    def give(log: Log) -> None:
        import numpy as np

        columns: dict[str, Any] = dict(log.columns)
        flow = columns.get("flow", np.zeros(len(log), FLOW_TYPE))
        columns["flow"] = (flow + before).astype(FLOW_TYPE)
        chunk(Log(columns))

    return give
