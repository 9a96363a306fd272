"""The main job: measure a drive, detect, model, twin, advise, and write it down as it goes."""

import contextlib
import time
from collections.abc import Callable, Sequence
from dataclasses import asdict, dataclass, field, replace
from datetime import UTC, datetime
from functools import partial
from pathlib import Path
from typing import Any

from ssdscope import advise, probes, twin
from ssdscope.errors import DeviceError, OutputError, UsageError
from ssdscope.findings import Findings
from ssdscope.probes.budget import Budget, StageProgress, silent
from ssdscope.report import looking, modelling, performance, replay, spending, survey, sustaining
from ssdscope.report.identity import Disclosure, Masked
from ssdscope.report.page import render
from ssdscope.results import envelope
from ssdscope.results.files import destination, is_special, write_text
from ssdscope.results.record import strict_json
from ssdscope.seeds import stream
from ssdscope.targets import Device, Target
from ssdscope.targets.metered import Limits, MeteredDevice
from ssdscope.targets.names import shell_words
from ssdscope.targets.native_build import native_build
from ssdscope.targets.spare import spare_bytes

STAGES: tuple[tuple[str, float], ...] = (
    ("findings", 0.35),
    ("performance", 0.08),
    ("sustained", 0.25),
    ("distribution", 0.04),
    ("trace", 0.04),
    ("models", 0.20),
    ("twin", 0.03),
    ("advice", 0.01),
)
"""Stages in order, with their share of the time; what one leaves is for those behind it."""
PAGE_SHARE = 0.08
"""Of the time, for making the page."""
WRITING = ("performance", "sustained", "distribution", "models")
"""Stages that write behind the probes; a trace writes what is in it, until its time is over."""


@dataclass
class Characterization:
    """Everything found about a drive.

    Attributes
    ----------
    document
        What the JSON holds; keys of stages that were not reached hold nothing.
    interrupted
        Whether Ctrl-C ended it early.
    """

    document: dict[str, Any]
    interrupted: bool = False

    @property
    def findings(self) -> Findings:
        """What was found, typed."""
        return Findings.from_json(self.document["findings"])

    def to_json(self) -> dict[str, Any]:
        """Give the whole document."""
        return self.document


@dataclass
class _Job:
    """What the stages share."""

    target: Target
    budget: Budget
    seed: int
    trace: replay.TraceFile | None
    document: dict[str, Any]
    findings: Findings = field(default_factory=Findings)
    held_out: list[survey.Measurement] = field(default_factory=list)
    settled: sustaining.Settled = field(default_factory=sustaining.Settled)


class _Files:
    """The page, and the document while it grows; nothing gets there that is not masked."""

    def __init__(self, page: Path, data: Path | None, masked: Masked) -> None:
        self.page = page
        self.data = data
        self._masked = masked
        beside = data or page.with_suffix(".partial.json")
        # What is no plain file, as /dev/null, is written once, and nothing is put beside it.
        self._growing = None if is_special(destination(data or page)) else beside
        destination(page)

    def keep(self, document: dict[str, Any]) -> None:
        if self._growing is not None:
            write_text(self._growing, _json(self._masked.document(document)))

    def finish(self, document: dict[str, Any]) -> None:
        self.keep(document)
        document = self._masked.document(document)
        write_text(self.page, render(document))
        if self.data is None and self._growing is not None:
            self._growing.unlink()
        elif self.data is not None and self._growing is None:
            write_text(self.data, _json(document))


def characterize(
    target: Target,
    *,
    budget: Budget,
    seed: int,
    out_html: Path,
    out_json: Path | None = None,
    trace: replay.TraceFile | None = None,
    sets: Sequence[str] = (),
    progress: StageProgress = silent,
    rated_bytes: int | None = None,
    begun_s: float | None = None,
    disclosure: Disclosure = Disclosure.MASKED,
) -> Characterization:
    """Characterise a drive and write the page.

    After each stage the JSON on disk holds what is known so far. Ctrl-C ends the measuring;
    the page is then made of what there is.

    Parameters
    ----------
    target
        The drive. A simulated one is left as it was found.
    budget
        How long to measure.
    seed
        Of everything drawn.
    out_html, out_json
        The page and the document; without a place of its own the document lies beside the
        page until the page is complete.
    trace
        A trace to replay on the drive.
    sets
        The changes to a drive file that `target` was opened with, for the record.
    progress
        Told the stage and the share that is done.
    rated_bytes
        What the drive is rated to take in its life, if its data sheet says so.
    begun_s
        When the budget's time began, by `time.monotonic`; now if absent.
    disclosure
        How much the page and the document say of whose drive it is.

    Raises
    ------
    UsageError
        If there can be no file where the page or the document shall be, the target is tiny, or
        more would be written to a real drive than only a full budget allows.
    TraceError
        If the trace is of no known format.
    OutputError
        If the page or the document cannot be written; its `partial` is then what was found.
    """
    if not survey.grid(target.device.info):
        raise UsageError(
            f"target {target.uri!r} holds {target.capacity_bytes} bytes, too few to measure",
            hint="four of the smallest requests, 16 KiB in most cases, is the least",
        )
    if trace is not None:
        trace.require_readable()
    plan = planned(target, budget, rated_bytes)
    plan.require_asked()
    account = spending.Account(plan)
    account.begun_s = begun_s or account.begun_s
    # From here on nothing knows the target by a name that the page may not hold.
    masked = Masked(target, trace, disclosure)
    sets, declared = [masked.text(each) for each in sets], masked.declared(target)
    named = masked.target(target).uri
    look = looking.left_out(target, budget, ["characterize"], rated_bytes, named=named)
    target, trace = masked.target(target), masked.trace(trace)
    document = _empty_document(target, budget, seed, sets)
    document["target"]["declared"] = declared
    document["provenance"] |= masked.provenance()
    document["provenance"]["left_out"] = None if look is None else look.to_json()
    document["provenance"]["command"] = _command(target, budget, seed, trace, sets, masked)
    job = _Job(target, budget, seed, trace, document)
    files = _Files(out_html, out_json, masked)
    interrupted, broken = False, None
    done = 0.0
    files.keep(document)
    try:
        for name, share in STAGES:
            _run_stage(name, job, account, partial(_scaled, progress, done, share))
            document["provenance"]["stages_done"].append(name)
            done += share
            with contextlib.suppress(OutputError):  # told at the end, if it is still so
                files.keep(document)
    except KeyboardInterrupt:
        interrupted = True
    except DeviceError as error:
        broken = error
    document["provenance"] |= {
        "broken": None if broken is None else broken.message,
        "interrupted": interrupted,
        "seconds": account.used_s,
        "spent": account.to_json(),
    }
    progress("writing the page", 1.0)
    result = Characterization(masked.document(document), interrupted)
    try:
        files.finish(document)
    except OutputError as error:
        error.partial = result
        raise
    if broken is not None:
        broken.partial = result
        raise broken
    return result


def planned(target: Target, budget: Budget, rated_bytes: int | None = None) -> spending.Plan:
    """Say what a page about a drive may spend, before anything is measured."""
    return spending.of_page(target, budget, WRITING, rated_bytes)


def _run_stage(name: str, job: _Job, account: spending.Account, progress: StageProgress) -> None:
    """Run a stage on a drive with a meter, in its share of the time that is left.

    On a simulated drive counts decide, which are the budget's whatever the time.
    """
    whole_target, whole_budget = job.target, job.budget
    rest = dict(STAGES[[each for each, _ in STAGES].index(name) :])
    idle = {"trace": job.trace is None, "sustained": not whole_budget.heavy}
    rest = {each: share for each, share in rest.items() if each == name or not idle.get(each)}
    whole = sum(rest.values()) + PAGE_SHARE
    allowed_s = None if account.plan.simulated else account.left_s * rest[name] / whole
    limits, begun = Limits(), time.monotonic()
    if allowed_s is not None:
        job.budget = replace(whole_budget, wall_s=allowed_s)
        if name in WRITING:
            limits = Limits(begun + allowed_s, account.plan.writes_of(name))
    device = MeteredDevice(whole_target.device, limits)
    job.target = replace(whole_target, device=device)
    try:
        _RUN[name](job, progress)
        _require_there(whole_target.device)
    finally:
        job.target, job.budget = whole_target, whole_budget
        seconds = time.monotonic() - begun
        job.document["provenance"]["stage_seconds"][name] = seconds
        account.add(name, seconds, allowed_s, device.spent)
        job.document["provenance"]["spent"] = account.to_json()


def _require_there(device: Device) -> None:
    """Raise what a real drive broke down by, if it did.

    A stage takes a request that fails for a place that cannot be measured, and goes on.
    """
    if device.info.clock == "wall":
        device.idle(1)


def _json(document: dict[str, Any]) -> str:
    return strict_json(document) + "\n"


def _scaled(progress: StageProgress, done: float, share: float, stage: str, part: float) -> None:
    progress(stage, done + share * part)


def _command(
    target: Target,
    budget: Budget,
    seed: int,
    trace: replay.TraceFile | None,
    sets: Sequence[str],
    masked: Masked,
) -> str:
    """Give the command that measures the same again, quoted for a shell.

    The token that allows writing is left out: a page should not hold a line that destroys data.
    """
    words = ["ssdscope", "characterize", target.uri, "--budget", budget.name, "--seed", str(seed)]
    words += [] if target.state is None else ["--state", target.state]
    words += [word for change in sets for word in ("--set", change)]
    words += [] if trace is None else trace.words()
    words += masked.options()
    written = target.kind in ("file", "block") and target.device.info.writable
    return shell_words(words) + (" --destroy-data TOKEN" if written else "")


def _empty_document(
    target: Target, budget: Budget, seed: int, sets: Sequence[str]
) -> dict[str, Any]:
    known = {"sets": list(sets), "info": asdict(target.device.info), "declared": None}
    return {
        **envelope(seed=seed),
        "target": target.describe() | known,
        "findings": [],
        "performance": {"points": [], "sustained": [], "distributions": [], "trace": None},
        "models": [],
        "twin": None,
        "advice": [],
        "studies": [],
        "provenance": {
            "started": datetime.now(UTC).isoformat(timespec="seconds"),
            "budget": budget.name,
            "build": asdict(native_build()),
            "stages_done": [],
            "stage_seconds": {},
            "spent": None,
        },
    }


def _detect(job: _Job, progress: StageProgress) -> None:
    found: list[probes.Finding] = []
    try:
        for finding in probes.each(["all"], job.target.device, job.budget, job.seed, progress):
            found.append(finding)  # noqa: PERF402 - an interrupt keeps what is known
    finally:
        job.findings = Findings(probes.reconciled(found))
        job.document["findings"] = job.findings.to_json()


def _measure(job: _Job, progress: StageProgress) -> None:
    rows = job.document["performance"]["points"]
    info = job.target.device.info
    rng = stream(job.seed, "report.characterize.held_out")
    held_out = survey.off_grid(info, performance.HELD_OUT, rng)
    # Held-out reads come before grid writes: on a real drive writes change what follows.
    plan = [(point, "grid") for point in survey.grid(info)]
    plan += [(point, "off-grid") for point in held_out]
    plan.sort(key=lambda each: each[0].writes)
    points = [point for point, _ in plan]
    effort = performance.effort(job.budget, len(points))
    measured = survey.collect(job.target.device, points, effort, seed=job.seed, progress=progress)
    for (_, split), row in zip(plan, measured, strict=True):
        if split == "off-grid":
            job.held_out.append(row)
        rows.append(row.to_json() | {"split": split})


def _sustain(job: _Job, progress: StageProgress) -> None:
    job.settled = sustaining.settle(
        job.target.device, job.budget, seed=job.seed, progress=progress,
        spare_bytes=spare_bytes(job.target),
    )  # fmt: skip
    job.document["performance"]["sustained"] = list(sustaining.rows(job.settled))


def _distribute(job: _Job, progress: StageProgress) -> None:
    job.document["performance"]["distributions"] = performance.distributions(
        job.target.device, job.budget, job.seed, progress, job.settled
    )


def _replay(job: _Job, progress: StageProgress) -> None:
    if job.trace is not None:
        job.document["performance"]["trace"] = replay.replay_trace(
            job.target.device, job.trace, job.budget, progress
        )


def _model(job: _Job, progress: StageProgress) -> None:
    if job.target.kind != "null":
        job.document["models"] = modelling.model(
            job.target.device, job.target.uri, job.budget, job.seed, progress,
            job.document["performance"], job.settled,
        )  # fmt: skip


def _twin(job: _Job, progress: StageProgress) -> None:
    progress("building a twin", 0.0)
    if job.target.kind == "null":
        job.document["twin"] = {"reason": "there is no drive behind it"}
        return
    built = twin.build(
        job.findings,
        job.target.device.info,
        [row.to_json() for row in job.held_out],
        name=job.target.uri,
        seed=job.seed,
    )
    absent = {"reason": built} if isinstance(built, str) else built.to_json()
    job.document["twin"] = absent


def _advise(job: _Job, progress: StageProgress) -> None:
    progress("advice", 0.0)
    if job.target.kind == "null":
        return
    given = advise.advise(job.findings, job.target.uri)
    job.document["advice"] = [each.to_json() for each in given]


_RUN: dict[str, Callable[[_Job, StageProgress], None]] = {
    "findings": _detect,
    "performance": _measure,
    "sustained": _sustain,
    "distribution": _distribute,
    "trace": _replay,
    "models": _model,
    "twin": _twin,
    "advice": _advise,
}
