"""The main job: measure a drive, detect, model, twin, advise, and write it down as it goes."""

import contextlib
import json
import time
from collections.abc import Callable, Collection, Sequence
from dataclasses import asdict, dataclass, replace
from datetime import UTC, datetime
from functools import partial
from pathlib import Path
from typing import Any

from threadpoolctl import threadpool_limits

from ssdscope.errors import DeviceError, OutputError, UsageError
from ssdscope.findings import Findings
from ssdscope.probes.budget import Budget, StageProgress, silent
from ssdscope.probes.registry import choose
from ssdscope.report import looking, outcome, planning, replay, resuming, spending, stages, survey
from ssdscope.report.identity import Disclosure, Masked
from ssdscope.report.page import render
from ssdscope.report.resuming import UNFINISHED
from ssdscope.report.stage_budget import part
from ssdscope.report.stages import Job
from ssdscope.results import envelope
from ssdscope.results.files import Together, destination, is_special, write_text
from ssdscope.results.record import strict_json
from ssdscope.targets import Device, Target
from ssdscope.targets.metered import Limits, MeteredDevice
from ssdscope.targets.names import printable, shell_words
from ssdscope.targets.native_build import native_build
from ssdscope.targets.records import DeviceInfo


@dataclass
class Characterization:
    """Everything found about a drive.

    Attributes
    ----------
    document
        What the JSON holds; keys of stages that were not reached hold nothing.
    interrupted
        Whether Ctrl-C ended it early.
    unfinished
        Where the document lies that can be gone on with; None if it is whole.
    """

    document: dict[str, Any]
    interrupted: bool = False
    unfinished: Path | None = None

    @property
    def findings(self) -> Findings:
        """What was found, typed."""
        return Findings.from_json(self.document["findings"])

    def to_json(self) -> dict[str, Any]:
        """Give the whole document."""
        return self.document


@dataclass(frozen=True)
class Watch:
    """Who is told what comes out while a drive is measured.

    Attributes
    ----------
    found
        Told in a few words what has been found so far, whenever it is more.
    ended
        Told the name of a stage when it has ended, and in a line what it came to.
    """

    found: Callable[[str], None] = lambda _found: None
    ended: Callable[[str, str], None] = lambda _name, _said: None


UNWATCHED = Watch()
MEASURED_TIMES = 1.25
"""By so many times a stage on a real drive may pass its time."""


class _Files:
    """The page, and the document while it grows; nothing gets there that is not masked."""

    def __init__(self, page: Path, data: Path | None, masked: Masked) -> None:
        self.page = page
        self.data = data
        self.growing = growing_file(page, data)
        self._masked = masked
        destination(page)

    def shown(self, document: dict[str, Any]) -> dict[str, Any]:
        """Give the document without names that it may not hold."""
        return self._masked.document(document)

    def keep(self, document: dict[str, Any]) -> dict[str, Any]:
        """Put the document away, and give it as it stands there."""
        text = _json(self.shown(document))
        if self.growing is not None:
            with contextlib.suppress(OutputError):  # told at the end, if it is still so
                write_text(self.growing, text)
        kept: dict[str, Any] = json.loads(text)
        return kept

    def finish(self, document: dict[str, Any]) -> None:
        """Write the page; the document stays beside it if it can be gone on with."""
        document = self.shown(document)
        beside = self.growing or self.data
        with Together() as files:
            files.write(self.page, printable(render(document)).encode())
            if beside is not None and beside != self.data and UNFINISHED not in document:
                files.remove(beside)
            elif beside is not None:
                files.write(beside, printable(_json(document)).encode())


def growing_file(page: Path, data: Path | None) -> Path | None:
    """Say where the document lies while it grows; None where nothing is put beside the page.

    What is no plain file, as /dev/null, is written once, at the end.
    """
    if is_special(destination(data or page)):
        return None
    return data or page.with_suffix(".partial.json")


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
    watch: Watch = UNWATCHED,
    rated_bytes: int | None = None,
    begun_s: float | None = None,
    disclosure: Disclosure = Disclosure.MASKED,
    resume: bool = False,
    force: bool = False,
) -> Characterization:
    """Characterise a drive and write the page.

    After each stage the JSON on disk holds what is known so far. Ctrl-C ends the measuring;
    the page is then made of what there is, and the JSON can be gone on with.

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
        Told what is being done, and the share of the whole that is done.
    watch
        Who is told what comes out.
    rated_bytes
        What the drive is rated to take in its life, if its data sheet says so.
    begun_s
        When the budget's time began, by `time.monotonic`; now if absent.
    disclosure
        How much the page and the document say of whose drive it is.
    resume
        Go on with the document that an interrupted run left there, at the first stage that it
        has not; a stage that was cut off is measured anew.
    force
        Whether the page or the document of another drive may be replaced.

    Raises
    ------
    UsageError
        If there can be no file where the page or the document shall be, the target is tiny, or
        more would be written to a real drive than only a full budget allows; if there is nothing
        to go on with, or it was begun otherwise; if what would be replaced is of another drive.
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
    plan = planned(target, budget, rated_bytes, trace=trace)
    plan.require_asked()
    account = spending.Account(plan)
    account.begun_s = begun_s or account.begun_s
    # From here on nothing knows the target by a name that the page may not hold.
    masked = Masked(target, trace, disclosure)
    files = _Files(out_html, out_json, masked)
    job = _job(target, budget, seed, trace, sets, masked, rated_bytes, watch)
    if resume:
        _go_on(job, account, files.growing)
    elif not force:
        for path in filter(None, (out_html, out_json)):
            resuming.require_same_drive(path, files.shown(job.document))
    job.document["provenance"]["spent"] = account.to_json()
    job.document = files.keep(job.document)
    account.ready_s = time.monotonic()
    interrupted, broken = _run_stages(job, account, files, progress, watch)
    progress("writing the page", 1.0)
    return _finish(job, account, files, interrupted, broken)


def planned(
    target: Target,
    budget: Budget,
    rated_bytes: int | None = None,
    done: Collection[str] = (),
    trace: replay.TraceFile | None = None,
) -> spending.Plan:
    """Say what a page about a drive may spend, before anything is measured.

    Parameters
    ----------
    target, budget, rated_bytes
        As of `characterize`.
    done
        Stages that were done before.
    trace
        What is replayed.
    """
    left = stages.shares(target.device.info, budget, trace=trace is not None, done=done)
    return planning.of_page(target, budget, left, rated_bytes, trace)


def stages_left(budget: Budget, *, trace: bool, done: Collection[str] = ()) -> list[str]:
    """Name the stages of a page that are to be measured, the probes among them with their number.

    Parameters
    ----------
    budget
        As of `characterize`.
    trace
        Whether one is replayed.
    done
        Stages that were done before.
    """
    count = len(choose("all", budget))
    named = {name: name for name, _ in stages.STAGES} | {"findings": f"findings ({count} probes)"}
    idle = set(done) if trace else {*done, "trace"}
    return [told for name, told in named.items() if name not in idle]


def _job(
    target: Target,
    budget: Budget,
    seed: int,
    trace: replay.TraceFile | None,
    sets: Sequence[str],
    masked: Masked,
    rated_bytes: int | None,
    watch: Watch,
) -> Job:
    """Compose the job, and the head of its document."""
    sets, declared = [masked.text(each) for each in sets], masked.declared(target)
    named = masked.target(target).uri
    look = looking.left_out(target, budget, ["characterize"], rated_bytes, named=named)
    fingerprint = target.fingerprint()
    target, trace = masked.target(target), masked.trace(trace)
    document = _empty_document(target, budget, seed, sets)
    document["target"]["declared"] = declared
    document["provenance"] |= masked.provenance()
    document["provenance"]["left_out"] = None if look is None else look.to_json()
    document["provenance"]["command"] = _command(target, budget, seed, trace, sets, masked)
    words = [] if trace is None else trace.words()
    document[UNFINISHED] = resuming.begun(
        document, fingerprint=fingerprint, trace=shell_words(words)
    )
    return Job(target, target.device, budget, seed, trace, document, watch.found)


def _go_on(job: Job, account: spending.Account, path: Path | None) -> None:
    """Take up a document that was put away, and what had been used of the budget by then."""
    known = resuming.read_unfinished(path)
    resuming.require_same(known, job.document, str(path))
    job.document = known
    known["provenance"]["resumed"].append(_now())
    for name in ("interrupted", "broken", "seconds"):
        known["provenance"].pop(name, None)
    done = known["provenance"]["stages_done"]
    for row in known["provenance"]["spent"]["stages"]:
        # What a stage that was cut off wrote to a real drive wears it all the same.
        if row["name"] in done or not account.plan.simulated:
            account.take_up(row)


def _run_stages(
    job: Job,
    account: spending.Account,
    files: _Files,
    progress: StageProgress,
    watch: Watch,
) -> tuple[bool, DeviceError | None]:
    """Run what is left, and put each away; say how it ended."""
    done = 0.0
    try:
        for name, share in stages.STAGES:
            told = job.document["provenance"]
            if name not in told["stages_done"]:
                _run_stage(name, job, account, partial(_scaled, progress, done, share))
                told["stages_done"].append(name)
                told["stages_ended"][name] = _now()
                _tell(name, job, files.shown(job.document), watch)
                job.document = files.keep(job.document)
            elif name == "findings":
                job.found(outcome.found_so_far(job.findings))
            done += share
    except KeyboardInterrupt:
        return True, None
    except DeviceError as error:
        return False, error
    return False, None


def _tell(name: str, job: Job, shown: dict[str, Any], watch: Watch) -> None:
    """Note what a stage came to and what it left out, and tell who waits.

    It is said of the document as it is shown: what is quoted in it may name somebody.
    """
    said = outcome.line(name, shown)
    missing = outcome.left_out(name, shown, job.budget)
    job.document["provenance"]["outcomes"][name] = {"outcome": said, "left_out": missing}
    told = [*([said] if said else []), *(f"left out {each}" for each in missing)]
    if told:
        watch.ended(name, "; ".join(told))


def _finish(
    job: Job,
    account: spending.Account,
    files: _Files,
    interrupted: bool,
    broken: DeviceError | None,
) -> Characterization:
    """Write the page and the document."""
    document = job.document
    document["provenance"] |= {
        "broken": None if broken is None else broken.message,
        "interrupted": interrupted,
        "seconds": account.used_s,
        "spent": account.to_json(),
    }
    if len(document["provenance"]["stages_done"]) == len(stages.STAGES):
        del document[UNFINISHED]
    shown = files.shown(document)
    result = Characterization(shown, interrupted, files.growing if UNFINISHED in shown else None)
    try:
        files.finish(document)
    except OutputError as error:
        error.partial = result
        raise
    if broken is not None:
        broken.partial = result
        raise broken
    return result


def _run_stage(name: str, job: Job, account: spending.Account, progress: StageProgress) -> None:
    """Run a stage on a drive with a meter, in its share of what is left.

    On a simulated drive that is counted, so that a page hangs on the seed alone; each stage has a
    copy of it as it was found, so that no stage hangs on what those before it did.
    """
    job.worked_s = 0.0
    whole_target, whole_budget = job.target, job.budget
    found = whole_target.device
    allowed_s = _allowed_s(name, job, account)
    job.budget = part(whole_budget, allowed_s)
    limits = _limits(name, found.info, account.plan, allowed_s)
    begun, worked = time.monotonic(), time.process_time()
    device = MeteredDevice(found.fork() if found.info.snapshot else found, limits)
    job.target = replace(whole_target, device=device)
    cut_off = True
    try:
        # Of small matrices threads of BLAS wait for each other longer than they compute.
        with threadpool_limits(limits=1, user_api="blas"):
            stages.RUN[name](job, progress)
        _require_there(found)
        cut_off = False
    finally:
        job.target, job.budget = whole_target, whole_budget
        counted_s = (device.spent.work_s + job.worked_s) / stages.CORES.get(name, 1)
        took = spending.Took(
            time.monotonic() - begun,
            time.process_time() - worked,
            counted_s if account.plan.simulated else 0.0,
        )
        job.document["provenance"]["stage_seconds"][name] = took.seconds
        account.add(name, took, allowed_s, device.spent, cut_off=cut_off)
        job.document["provenance"]["spent"] = account.to_json()


def _allowed_s(name: str, job: Job, account: spending.Account) -> float:
    """Give a stage its share of what is left; what one leaves is for those behind it."""
    names = [each for each, _ in stages.STAGES]
    behind = stages.shares(
        job.device.info,
        job.budget,
        trace=job.trace is not None,
        done=names[: names.index(name) + 1],
    )
    own = dict(stages.STAGES)[name]
    share_s = account.left_s * own / (own + sum(behind.values()))
    # A few figures there are always.
    return max(share_s, planning.LEAST_S) if name == "overview" else share_s


def _limits(name: str, info: DeviceInfo, plan: spending.Plan, allowed_s: float) -> Limits:
    """Say what the meter of a stage lets through."""
    writes = None if info.kind == "null" else plan.writes_of(name)
    if info.clock == "virtual":
        # Probes keep to their time themselves: they say what a step costs before they begin it.
        work_s = None if name == "findings" else allowed_s * stages.CORES.get(name, 1)
        return Limits(None, writes, work_s)
    # The overview paces itself, and is there however long it takes to load what measures.
    ends = name in stages.WRITING and name != "overview"
    return Limits(time.monotonic() + MEASURED_TIMES * allowed_s if ends else None, writes)


def _require_there(device: Device) -> None:
    """Raise what a real drive broke down by, if it did.

    A stage takes a request that fails for a place that cannot be measured, and goes on.
    """
    if device.info.clock == "wall":
        device.idle(1)


def _now() -> str:
    return datetime.now(UTC).isoformat(timespec="seconds")


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
        "performance": {
            "points": [],
            "sustained": [],
            "distributions": [],
            "over_time": None,
            "trace": None,
        },
        "models": [],
        "twin": None,
        "advice": [],
        "studies": [],
        "provenance": {
            "started": _now(),
            "resumed": [],
            "budget": budget.name,
            "build": asdict(native_build()),
            "stages_done": [],
            "stages_ended": {},
            "stage_seconds": {},
            "outcomes": {},
            "spent": None,
        },
    }
