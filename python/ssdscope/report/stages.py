"""The stages of characterising a drive, in order: each works on what those before it left.

All that a later stage needs stands in the document, or is made again from the same seed; nothing
hangs on what only this process knows. So a document that was put away between two stages can be
gone on with (`resuming`), and a simulated drive then gives what it would have given at once.
"""

from collections.abc import Callable
from dataclasses import dataclass
from typing import Any

from ssdscope import advise, twin
from ssdscope.findings import Finding, Findings
from ssdscope.probes import session
from ssdscope.probes.budget import Budget, StageProgress
from ssdscope.probes.reconcile import reconciled
from ssdscope.report import mixed, modelling, outcome, performance, replay, survey, sustaining
from ssdscope.report.resuming import UNFINISHED
from ssdscope.seeds import stream
from ssdscope.targets import Device, Target
from ssdscope.targets.metered import MeteredDevice
from ssdscope.targets.spare import spare_bytes

STAGES: tuple[tuple[str, float], ...] = (
    ("findings", 0.33),
    ("performance", 0.08),
    ("sustained", 0.20),
    ("distribution", 0.04),
    ("trace", 0.04),
    ("models", 0.15),
    ("twin", 0.15),
    ("advice", 0.01),
)
"""Stages in order, with their share of the time; what one leaves is for those behind it."""
TWIN_WORK_SHARE = 0.5
"""Of the budget of a simulated drive, that a twin is fitted for: two cores take half as long."""
PAGE_SHARE = 0.08
"""Of the time, for making the page."""
WRITING = ("performance", "sustained", "distribution", "models")
"""Stages that write behind the probes; a trace writes what is in it, until its time is over."""


@dataclass
class Job:
    """What the stages share.

    Attributes
    ----------
    target
        The drive, under the name that the page may hold; its device is that of the stage.
    device
        The drive as it was found, without a meter.
    budget
        What the stage may spend.
    document
        What is known so far, as it stands in the file between two stages.
    found
        Told in a few words what has been found so far.
    settled
        Drives that writes were brought to rest on; None where that was another process.
    """

    target: Target
    device: Device
    budget: Budget
    seed: int
    trace: replay.TraceFile | None
    document: dict[str, Any]
    found: Callable[[str], None]
    settled: sustaining.Settled | None = None

    @property
    def findings(self) -> Findings:
        """The answers of the probes."""
        return Findings.from_json(self.document["findings"])


def left_idle(job: Job) -> set[str]:
    """Name the stages that have nothing to do, and need no time."""
    idle = {"trace": job.trace is None, "sustained": not job.budget.heavy}
    return {name for name, nothing in idle.items() if nothing}


def _detect(job: Job, progress: StageProgress) -> None:
    found: list[Finding] = []
    try:
        for finding in session.each(["all"], job.target.device, job.budget, job.seed, progress):
            found.append(finding)
            job.found(outcome.found_so_far(Findings(found)))
    finally:  # an interrupt keeps what is known
        job.document["findings"] = Findings(reconciled(found)).to_json()


def _measure(job: Job, progress: StageProgress) -> None:
    rows = job.document["performance"]["points"] = []
    info = job.target.device.info
    rng = stream(job.seed, "report.characterize.held_out")
    # Held-out reads come before grid writes: on a real drive writes change what follows.
    plan = survey.planned(info, performance.HELD_OUT, rng)
    points = [point for point, _ in plan]
    effort = performance.effort(job.budget, len(points))
    measured = survey.collect(job.target.device, points, effort, seed=job.seed, progress=progress)
    for (_, split), row in zip(plan, measured, strict=True):
        rows.append(row.to_json() | {"split": split})
    mixes = mixed.measure(job.target.device, effort, job.seed)
    job.document["performance"]["mixed"] = list(mixes)


def _sustain(job: Job, progress: StageProgress) -> None:
    device = job.target.device
    job.settled = sustaining.settle(
        device, job.budget, seed=job.seed, progress=progress, spare_bytes=spare_bytes(job.target)
    )
    job.document["performance"]["sustained"] = list(sustaining.rows(job.settled))
    # The requests behind the figures are not kept: what the next stage shows of them is.
    job.document[UNFINISHED]["distributions"] = performance.settled_distributions(
        device, job.settled
    )


def _distribute(job: Job, progress: StageProgress) -> None:
    job.document["performance"]["distributions"] = performance.distributions(
        job.target.device, job.budget, job.seed, progress, job.document[UNFINISHED]["distributions"]
    )


def _replay(job: Job, progress: StageProgress) -> None:
    if job.trace is not None:
        job.document["performance"]["trace"] = replay.replay_trace(
            job.target.device, job.trace, job.budget, progress
        )


def _model(job: Job, progress: StageProgress) -> None:
    if job.target.kind != "null":
        job.document["models"] = modelling.model(
            job.target.device, job.target.uri, job.budget, job.seed, progress,
            job.document["performance"], _settled_again(job, progress),
        )  # fmt: skip


def _settled_again(job: Job, progress: StageProgress) -> sustaining.Settled:
    """Give the settled drives; made again by the same writes where another process had them."""
    meter = job.target.device
    if job.settled is None:
        job.settled = sustaining.settle_again(
            job.device, job.budget, job.document["performance"]["sustained"],
            seed=job.seed, progress=progress, spare_bytes=spare_bytes(job.target),
        )  # fmt: skip
    if not isinstance(meter, MeteredDevice):
        return job.settled
    return job.settled.seen_through(meter.around)


def _twin(job: Job, progress: StageProgress) -> None:
    progress("building a twin", 0.0)
    if job.target.kind == "null":
        job.document["twin"] = {"reason": "there is no drive behind it"}
        return
    info = job.target.device.info
    # On a real drive this stage has its part of the time; else it is work that counts.
    share = TWIN_WORK_SHARE if info.clock == "virtual" else 1.0
    built = twin.build(
        job.findings, info, job.document["performance"], name=job.target.uri, seed=job.seed,
        work_s=share * job.budget.wall_s,
    )  # fmt: skip
    absent = {"reason": built} if isinstance(built, str) else built.to_json()
    job.document["twin"] = absent


def _advise(job: Job, progress: StageProgress) -> None:
    progress("advice", 0.0)
    if job.target.kind == "null":
        return
    ground = advise.of_twin(job.document["twin"], job.seed)
    given = advise.of_document(job.document, job.findings, ground=ground)
    job.document["advice"] = [each.to_json() for each in given]


RUN: dict[str, Callable[[Job, StageProgress], None]] = {
    "findings": _detect,
    "performance": _measure,
    "sustained": _sustain,
    "distribution": _distribute,
    "trace": _replay,
    "models": _model,
    "twin": _twin,
    "advice": _advise,
}
"""What each stage does."""
