"""The stages of characterising a drive, in order: each works on what those before it left.

All that a later stage needs stands in the document, or is made again from the same seed; nothing
hangs on what only this process knows. So a document that was put away between two stages can be
gone on with (`resuming`), and a simulated drive then gives what it would have given at once.
"""

from collections.abc import Callable, Collection
from dataclasses import dataclass, replace
from functools import partial
from typing import Any

from ssdscope import advise, twin
from ssdscope.findings import Finding, Findings
from ssdscope.probes import session
from ssdscope.probes.budget import Budget, StageProgress
from ssdscope.probes.reconcile import reconciled
from ssdscope.report import mixed, modelling, outcome, performance, replay, survey, sustaining
from ssdscope.report.resuming import UNFINISHED
from ssdscope.report.stage_budget import part
from ssdscope.seeds import stream
from ssdscope.targets import Device, Target
from ssdscope.targets.metered import MeteredDevice
from ssdscope.targets.records import DeviceInfo
from ssdscope.targets.spare import spare_bytes

STAGES: tuple[tuple[str, float], ...] = (
    ("overview", 0.02),
    ("findings", 0.27),
    ("performance", 0.14),
    ("sustained", 0.20),
    ("distribution", 0.03),
    ("trace", 0.04),
    ("models", 0.09),
    ("twin", 0.18),
    ("advice", 0.03),
)
"""Stages in order, with their share of the time; what one leaves is for those behind it."""
TWIN_S = 60.0
"""What a twin of a simulated drive is searched for at most, counted, for each minute."""
MIXED_SHARE = 0.03
"""Of the time of the points that reads and writes among each other have, on a real drive."""
OVERVIEW_TRIES = 3
"""How often what tells most is measured, where the machine is busy."""
CORES = dict.fromkeys(("performance", "sustained", "models", "twin", "advice"), sustaining.CORES)
"""Cores that a stage keeps busy on copies of a simulated drive, of two; others hardly gain by the
second one."""
WRITING = ("overview", "performance", "sustained", "distribution", "models")
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
    worked_s
        Work of a stage that its meter does not see, counted: fitting, and other drives.
    """

    target: Target
    device: Device
    budget: Budget
    seed: int
    trace: replay.TraceFile | None
    document: dict[str, Any]
    found: Callable[[str], None]
    settled: sustaining.Settled | None = None
    worked_s: float = 0.0

    @property
    def findings(self) -> Findings:
        """The answers of the probes."""
        return Findings.from_json(self.document["findings"])


def shares(
    info: DeviceInfo, budget: Budget, *, trace: bool, done: Collection[str] = ()
) -> dict[str, float]:
    """List the stages that have something to do, in order, with their shares of the time.

    Parameters
    ----------
    trace
        Whether one is replayed.
    done
        Stages that were done before.
    """
    nothing = {"trace": not trace, "sustained": not sustaining.chains(info, budget)}
    return {name: share for name, share in STAGES if not nothing.get(name) and name not in done}


def _detect(job: Job, progress: StageProgress) -> None:
    found: list[Finding] = []
    device = job.target.device
    try:
        for finding in session.each(["all"], device, job.budget, job.seed, progress):
            found.append(finding)
            job.found(outcome.found_so_far(Findings(found)))
    finally:  # an interrupt keeps what is known
        job.document["findings"] = Findings(reconciled(found)).to_json()


def _look(job: Job, progress: StageProgress) -> None:
    """Measure what tells most, so that who waits has it in the first seconds."""
    effort = replace(performance.effort(job.budget), tries=OVERVIEW_TRIES)
    _survey(job, progress, effort, end=len(survey.overview(job.target.device.info)))


def _measure(job: Job, progress: StageProgress) -> None:
    device, effort = job.target.device, performance.effort(job.budget)
    mixes_s = MIXED_SHARE * effort.wall_s
    points = replace(effort, wall_s=effort.wall_s - mixes_s)
    _survey(job, progress, points, begin=len(survey.overview(device.info)))
    mixes = mixed.measure(device, replace(effort, wall_s=mixes_s), job.seed)
    job.document["performance"]["mixed"] = list(mixes)


def _survey(
    job: Job, progress: StageProgress, effort: survey.Effort, *, begin: int = 0,
    end: int | None = None,
) -> None:  # fmt: skip
    """Measure points of the plan; what a stage that was cut off left of them goes."""
    device, rows = job.target.device, job.document["performance"]["points"]
    del rows[begin:]
    rng = stream(job.seed, "report.characterize.held_out")
    plan = survey.planned(device.info, performance.HELD_OUT, rng)[begin:end]
    measured = survey.collect(
        device, [point for point, _ in plan], effort,
        seed=job.seed, progress=progress, begin=begin,
    )  # fmt: skip
    for (_, split), row in zip(plan, measured, strict=True):
        rows.append(row.to_json() | {"split": split})


def _sustain(job: Job, progress: StageProgress) -> None:
    device = job.target.device
    job.settled = sustaining.settle(
        device, job.budget, seed=job.seed, progress=progress, spare_bytes=spare_bytes(job.target)
    )
    # Time goes by, too, while one core has nothing to do.
    job.worked_s = job.settled.unused_ns / 1e9
    job.document["performance"]["sustained"] = list(sustaining.rows(job.settled))
    # The requests behind the figures are not kept: what the next stage shows of them is.
    job.document[UNFINISHED]["distributions"] = performance.settled_distributions(
        device, job.settled
    )


def _distribute(job: Job, progress: StageProgress) -> None:
    job.document["performance"]["distributions"] = performance.distributions(
        job.target.device, job.budget, job.seed, progress, job.document[UNFINISHED]["distributions"]
    )
    shown = performance.over_time(job.target.device, job.budget, job.seed)
    job.document["performance"]["over_time"] = shown


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
            job.device, _budget_of("sustained", job), job.document["performance"]["sustained"],
            seed=job.seed, progress=progress, spare_bytes=spare_bytes(job.target),
        )  # fmt: skip
    if not isinstance(meter, MeteredDevice):
        return job.settled
    return job.settled.seen_through(meter.around)


def _budget_of(name: str, job: Job) -> Budget:
    """Give what a stage that has ended could spend."""
    spent = job.document["provenance"]["spent"]["stages"]
    allowed_s = next(each["allowed_seconds"] for each in spent if each["name"] == name)
    return part(job.budget, allowed_s)


def _twin(job: Job, progress: StageProgress) -> None:
    progress("building a twin", 0.0)
    if job.target.kind == "null":
        job.document["twin"] = {"reason": "there is no drive behind it"}
        return
    info = job.target.device.info
    work_s = CORES["twin"] * job.budget.wall_s
    if info.clock == "virtual":  # what others leave is not needed: it comes hardly nearer
        work_s = min(work_s, TWIN_S * job.budget.repetitions)
    built = twin.build(
        job.findings, info, job.document["performance"], name=job.target.uri, seed=job.seed,
        work_s=work_s, progress=partial(progress, "building a twin"),
    )  # fmt: skip
    job.worked_s = work_s if isinstance(built, str) else built.worked_s
    absent = {"reason": built} if isinstance(built, str) else built.to_json()
    job.document["twin"] = absent


def _advise(job: Job, progress: StageProgress) -> None:
    progress("advice", 0.0)
    if job.target.kind == "null":
        return
    work_s = CORES["advice"] * job.budget.wall_s
    ground = advise.of_twin(job.document["twin"], job.seed, work_s)
    given = advise.of_document(job.document, job.findings, ground=ground)
    job.document["advice"] = [each.to_json() for each in given]
    if isinstance(ground, advise.Ground):
        job.worked_s = ground.worked_s


RUN: dict[str, Callable[[Job, StageProgress], None]] = {
    "overview": _look,
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
